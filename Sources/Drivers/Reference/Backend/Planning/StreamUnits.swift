internal import CVA

/// The NAL units before and after a picture's slices, from packed headers and from the driver.
struct StreamUnits {
    /// The NAL units before the slices, in order. An element may contain several.
    private(set) var leading: [[UInt8]] = []
    /// The NAL units after the slices, in order.
    private(set) var trailing: [[UInt8]] = []
    /// The packed slice headers, in order.
    private(set) var slices: [SliceHeaderBits] = []
    private let codec: DriverCodec

    /// Sorts the client's packed headers, in the order in which they were rendered. Calls `note` for each that is not a
    /// slice header.
    init(_ headers: [RenderedHeader], codec: DriverCodec, note: (PackedHeader) throws -> Void) throws {
        self.codec = codec
        for header in headers {
            let packed = PackedHeader(
                data: header.bytes, bitLength: header.bitCount, hasEmulationBytes: header.hasEmulationBytes,
                codec: codec)
            if header.type == UInt32(VAEncPackedHeaderSlice.rawValue) {
                guard let slice = packed.sliceHeader else {
                    throw Refusal.invalidParameter("a packed slice header has no NAL unit header of a slice")
                }
                slices.append(slice)
                continue
            }
            try note(packed)
            let bytes = packed.streamBytes(isRaw: header.type == UInt32(VAEncPackedHeaderRawData.rawValue))
            if belongsAfterSlices(bytes) {
                trailing.append(bytes)
            } else {
                leading.append(bytes)
            }
        }
    }

    /// Inserts the driver's parameter sets at the start, or after the access unit delimiter if the picture begins with
    /// one.
    mutating func insert(_ sets: [[UInt8]]) {
        guard let first = leading.first, firstUnitType(first) == codec.delimiter else {
            leading.insert(contentsOf: sets, at: 0)
            return
        }
        // NAL units in the same packed header as the delimiter follow the parameter sets.
        let end = Self.endOfFirstUnit(first)
        let rest = Array(first[end...])
        leading[0] = Array(first[..<end])
        leading.insert(contentsOf: sets + (rest.isEmpty ? [] : [rest]), at: 1)
    }

    /// Rewrites H.264 picture parameter sets with a pic_init_qp of 26.
    mutating func rewritePictureSets() {
        rewrite { type, rbsp in
            guard type == 8, var picture = H264PictureParameterSet(rbsp: rbsp) else { return nil }
            picture.pic_init_qp = H264PictureParameterSet.usual_pic_init_qp
            return picture.nalUnit()
        }
    }

    /// Replaces each NAL unit before the slices by the result of `change`. If the result is nil, the NAL unit remains;
    /// if it is empty, the NAL unit is removed.
    mutating func rewrite(_ change: (_ type: UInt8, _ rbsp: [UInt8]) -> [UInt8]?) {
        leading = leading.map { bytes in
            Self.units(in: bytes).flatMap { range in
                let unit = Array(bytes[range])
                guard let start = Self.startCode(in: unit, from: 0), start + 3 + codec.unitHeaderBytes <= unit.count,
                    let changed = change(
                        codec.unitType(unit[start + 3]),
                        EmulationPrevention.unescape(unit[(start + 3 + codec.unitHeaderBytes)...]))
                else { return unit }
                return changed
            }
        }.filter { !$0.isEmpty }
    }

    /// Inserts a NAL unit before all others.
    mutating func insertFirst(_ unit: [UInt8]) { leading.insert(unit, at: 0) }

    /// Returns the byte ranges of the NAL units in `bytes`, which begin with a start code. Each range includes the
    /// start code.
    static func units(in bytes: [UInt8]) -> [Range<Int>] {
        var starts: [Int] = []
        var next = startCode(in: bytes, from: 0)
        while let found = next {
            starts.append(found > 0 && bytes[found - 1] == 0 ? found - 1 : found)
            next = startCode(in: bytes, from: found + 3)
        }
        guard !starts.isEmpty else { return [0..<bytes.count] }
        starts[0] = 0
        return zip(starts, starts.dropFirst() + [bytes.count]).map { $0..<$1 }
    }

    /// Adds the end of sequence and end of stream NAL units that the flags in `last_picture` request.
    mutating func end(_ flags: UInt8) {
        if flags & UInt8(H264_LAST_PICTURE_EOSEQ) != 0 { trailing.append([0, 0, 1] + codec.endOfSequence) }
        if flags & UInt8(H264_LAST_PICTURE_EOSTREAM) != 0 { trailing.append([0, 0, 1] + codec.endOfStream) }
    }

    /// Throws unless each slice has a packed header, or none has one and the driver writes slice headers itself.
    func checkSlices(count: Int, _ behavior: DriverBehavior) throws {
        try require(
            slices.isEmpty || slices.count == count, "\(slices.count) packed slice headers for \(count) slices")
        try require(
            !behavior.needsSliceHeaders || !slices.isEmpty, "this driver needs packed slice headers")
    }

    private func belongsAfterSlices(_ bytes: [UInt8]) -> Bool {
        firstUnitType(bytes).map { codec.typesAfterSlices.contains($0) } ?? false
    }

    /// Returns the nal_unit_type of the first NAL unit; nil if there is none.
    private func firstUnitType(_ bytes: [UInt8]) -> UInt8? {
        Self.startCode(in: bytes, from: 0).map { codec.unitType(bytes[$0 + 3]) }
    }

    /// Returns the offset of the second NAL unit's start code, including its leading zero byte.
    private static func endOfFirstUnit(_ bytes: [UInt8]) -> Int {
        guard let first = startCode(in: bytes, from: 0), let next = startCode(in: bytes, from: first + 3) else {
            return bytes.count
        }
        return next > 0 && bytes[next - 1] == 0 ? next - 1 : next
    }

    /// Returns the offset of the next start code (0, 0, 1) that a byte follows; nil if there is none.
    private static func startCode(in bytes: [UInt8], from start: Int) -> Int? {
        var index = start
        while index + 3 < bytes.count {
            if bytes[index] == 0 && bytes[index + 1] == 0 && bytes[index + 2] == 1 { return index }
            index += 1
        }
        return nil
    }
}

extension DriverCodec {
    /// The nal_unit_type of the access unit delimiter.
    var delimiter: UInt8 {
        switch self {
        case .h264: 9
        case .hevc: 35
        }
    }

    /// The nal_unit_type values that follow the slices: end of sequence, end of stream, filler data and, in HEVC,
    /// suffix SEI.
    fileprivate var typesAfterSlices: [UInt8] {
        switch self {
        case .h264: [10, 11, 12]
        case .hevc: [36, 37, 38, 40]
        }
    }

    /// The bytes of the end of sequence NAL unit, without a start code.
    fileprivate var endOfSequence: [UInt8] {
        switch self {
        case .h264: [10]
        case .hevc: [36 << 1, 1]
        }
    }

    /// The bytes of the end of stream NAL unit (end of bitstream in HEVC), without a start code.
    fileprivate var endOfStream: [UInt8] {
        switch self {
        case .h264: [11]
        case .hevc: [37 << 1, 1]
        }
    }
}
