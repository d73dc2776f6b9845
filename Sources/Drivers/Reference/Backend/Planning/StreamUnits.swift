internal import CVA

/// The NAL units around a picture's slices, from packed headers and generated ones.
struct StreamUnits {
    /// Before the slices, in order; after them.
    private(set) var leading: [[UInt8]] = []
    private(set) var trailing: [[UInt8]] = []
    /// Packed slice headers, in order.
    private(set) var slices: [SliceHeaderBits] = []
    private let codec: DriverCodec

    /// Takes the client's headers in the order they were rendered; `note` is shown all that are not slices'.
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

    /// Puts the driver's parameter sets first, or after the access unit delimiter that starts the picture.
    mutating func insert(_ sets: [[UInt8]]) {
        guard let first = leading.first, firstUnitType(first) == codec.delimiter else {
            leading.insert(contentsOf: sets, at: 0)
            return
        }
        // Whatever the client packed together with its delimiter comes after the sets.
        let end = Self.endOfFirstUnit(first)
        let rest = Array(first[end...])
        leading[0] = Array(first[..<end])
        leading.insert(contentsOf: sets + (rest.isEmpty ? [] : [rest]), at: 1)
    }

    /// Rewrites H.264 picture parameter sets, with pic_init_qp 26.
    mutating func rewritePictureSets() {
        rewrite { type, rbsp in
            guard type == 8, var picture = PictureParameterSet(rbsp: rbsp) else { return nil }
            picture.initialQP = PictureParameterSet.usualQP
            return picture.nalUnit()
        }
    }

    /// Puts what `change` makes of a type and an RBSP in the place of each NAL unit before the slices; nil leaves it.
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

    /// Puts a NAL unit before all others.
    mutating func insertFirst(_ unit: [UInt8]) { leading.insert(unit, at: 0) }

    /// The NAL units in bytes that begin with a start code, each with its start code.
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

    /// Adds what `last_picture` asks for.
    mutating func end(_ flags: UInt8) {
        if flags & UInt8(H264_LAST_PICTURE_EOSEQ) != 0 { trailing.append([0, 0, 1] + codec.endOfSequence) }
        if flags & UInt8(H264_LAST_PICTURE_EOSTREAM) != 0 { trailing.append([0, 0, 1] + codec.endOfStream) }
    }

    /// Throws unless there are headers for all slices, or none where the driver writes them.
    func checkSlices(count: Int, _ behavior: DriverBehavior) throws {
        try require(
            slices.isEmpty || slices.count == count, "\(slices.count) packed slice headers for \(count) slices")
        try require(
            !behavior.needsSliceHeaders || !slices.isEmpty, "this driver needs packed slice headers")
    }

    private func belongsAfterSlices(_ bytes: [UInt8]) -> Bool {
        firstUnitType(bytes).map { codec.typesAfterSlices.contains($0) } ?? false
    }

    /// nal_unit_type of the first NAL unit.
    private func firstUnitType(_ bytes: [UInt8]) -> UInt8? {
        Self.startCode(in: bytes, from: 0).map { codec.unitType(bytes[$0 + 3]) }
    }

    /// Where the second unit's start code, with its leading zero, begins.
    private static func endOfFirstUnit(_ bytes: [UInt8]) -> Int {
        guard let first = startCode(in: bytes, from: 0), let next = startCode(in: bytes, from: first + 3) else {
            return bytes.count
        }
        return next > 0 && bytes[next - 1] == 0 ? next - 1 : next
    }

    /// The next 0, 0, 1 with a byte after it.
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
    /// nal_unit_type of the access unit delimiter.
    var delimiter: UInt8 {
        switch self {
        case .h264: 9
        case .hevc: 35
        }
    }

    /// End of sequence, end of stream, filler; suffix SEI.
    fileprivate var typesAfterSlices: [UInt8] {
        switch self {
        case .h264: [10, 11, 12]
        case .hevc: [36, 37, 38, 40]
        }
    }

    /// A NAL unit that ends the coded video sequence.
    fileprivate var endOfSequence: [UInt8] {
        switch self {
        case .h264: [10]
        case .hevc: [36 << 1, 1]
        }
    }

    /// A NAL unit that ends the stream.
    fileprivate var endOfStream: [UInt8] {
        switch self {
        case .h264: [11]
        case .hevc: [37 << 1, 1]
        }
    }
}
