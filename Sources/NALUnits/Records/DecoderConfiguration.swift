public import VideoBase

/// The content of an avcC or hvcC record (ISO/IEC 14496-15 5.3.3.1, 8.3.3.1). The parser is independent of the types
/// that write records.
public struct DecoderConfiguration: Sendable, Hashable {
    /// The codec.
    public let codec: VideoCodec
    /// The size of the length fields in samples.
    public let lengthSize: LengthSize
    /// AVCProfileIndication or general_profile_idc.
    public let profile: Int
    /// AVCLevelIndication (41 for level 4.1) or general_level_idc (123 for level 4.1).
    public let level: Int
    /// general_tier_flag; false for H.264.
    public let isHighTier: Bool
    /// chroma_format_idc, or nil if an avcC omits it, as it does outside the High profiles.
    public let chromaFormat: Int?
    /// The bit depth of luma samples, or nil if an avcC omits it.
    public let bitDepthLuma: Int?
    /// The bit depth of chroma samples, or nil if an avcC omits it.
    public let bitDepthChroma: Int?
    /// Whether samples contain no parameter sets in addition to these, as `avc1` and `hvc1` guarantee.
    public let isComplete: Bool
    /// The NAL units without start codes, in the order of the record: VPS, SPS, PPS, SPS extensions and SEI messages.
    public let units: [[UInt8]]

    /// Parses a record of either kind.
    ///
    /// - Parameter codec: The codec, or nil if it is unknown. The record is then parsed as an avcC, and as an hvcC if
    ///   that fails.
    /// - Throws: A `MalformedStream` if the record is truncated or invalid.
    public init(record: [UInt8], codec: VideoCodec? = nil) throws(MalformedStream) {
        switch codec {
        case .h264: self = try Self(avcC: record)
        case .hevc: self = try Self(hvcC: record)
        case nil:
            do { self = try Self(avcC: record) } catch {
                do { self = try Self(hvcC: record) } catch let other {
                    throw Self.resemblesHVCC(record) ? other : error
                }
            }
        }
    }

    /// Returns whether the reserved bits match those of an hvcC.
    private static func resemblesHVCC(_ record: [UInt8]) -> Bool {
        record.count > 18 && record[13] & 0xF0 == 0xF0 && record[15] & 0xFC == 0xFC && record[16] & 0xFC == 0xFC
    }

    /// Parses an avcC.
    private init(avcC record: [UInt8]) throws(MalformedStream) {
        var reader = RecordReader(record)
        try reader.version()
        codec = .h264
        profile = try reader.number(1, "AVCProfileIndication")
        _ = try reader.number(1, "profile_compatibility")
        level = try reader.number(1, "AVCLevelIndication")
        lengthSize = try reader.lengthSize()
        isHighTier = false
        isComplete = true
        var units: [[UInt8]] = []
        for (name, type, mask) in [("SPS", UInt8(7), 0x1F), ("PPS", 8, 0xFF)] {
            let count = try reader.number(1, "the number of \(name)") & mask
            for _ in 0..<count { units.append(try reader.unit(name) { $0[0] & 0x1F == type }) }
        }
        // Older writers omit the fields of the High profiles.
        guard ![66, 77, 88].contains(profile), reader.left >= 4 else {
            (chromaFormat, bitDepthLuma, bitDepthChroma) = (nil, nil, nil)
            self.units = units
            return
        }
        chromaFormat = try reader.number(1, "chroma_format") & 3
        bitDepthLuma = try reader.number(1, "bit_depth_luma_minus8") & 7 + 8
        bitDepthChroma = try reader.number(1, "bit_depth_chroma_minus8") & 7 + 8
        for _ in 0..<(try reader.number(1, "the number of SPS extensions")) {
            units.append(try reader.unit("SPS extension") { $0[0] & 0x1F == 13 })
        }
        self.units = units
    }

    /// Parses an hvcC.
    private init(hvcC record: [UInt8]) throws(MalformedStream) {
        var reader = RecordReader(record)
        try reader.version()
        codec = .hevc
        let space = try reader.number(1, "general_profile_idc")
        profile = space & 0x1F
        isHighTier = space & 0x20 != 0
        _ = try reader.bytes(10, "the compatibility and constraint flags")
        level = try reader.number(1, "general_level_idc")
        _ = try reader.bytes(3, "min_spatial_segmentation_idc and parallelismType")
        chromaFormat = try reader.number(1, "chromaFormat") & 3
        bitDepthLuma = try reader.number(1, "bitDepthLumaMinus8") & 7 + 8
        bitDepthChroma = try reader.number(1, "bitDepthChromaMinus8") & 7 + 8
        _ = try reader.bytes(2, "avgFrameRate")
        lengthSize = try reader.lengthSize()
        var units: [[UInt8]] = []
        var isComplete = true
        for _ in 0..<(try reader.number(1, "numOfArrays")) {
            let head = try reader.number(1, "NAL_unit_type")
            let type = head & 0x3F
            if (32...34).contains(type), head & 0x80 == 0 { isComplete = false }
            for _ in 0..<(try reader.number(2, "numNalus")) {
                units.append(try reader.unit("NAL unit of type \(type)") { $0.count > 2 && Int($0[0] >> 1) & 0x3F == type })
            }
        }
        self.isComplete = isComplete
        self.units = units
    }
}

/// A reader for the bytes of a record, from front to back.
private struct RecordReader {
    private let record: [UInt8]
    private var index = 0

    init(_ record: [UInt8]) { self.record = record }

    /// The number of bytes that are not read yet.
    var left: Int { record.count - index }

    /// Reads `count` bytes. `name` describes them in the error.
    mutating func bytes(_ count: Int, _ name: String) throws(MalformedStream) -> ArraySlice<UInt8> {
        guard count <= left else {
            throw MalformedStream(.record("the record ends before the end of \(name)"), at: index)
        }
        index += count
        return record[index - count..<index]
    }

    /// Reads a big-endian number of `count` bytes.
    mutating func number(_ count: Int, _ name: String) throws(MalformedStream) -> Int {
        try bytes(count, name).reduce(0) { $0 << 8 | Int($1) }
    }

    /// Reads configurationVersion, which must be 1.
    mutating func version() throws(MalformedStream) {
        let version = try number(1, "configurationVersion")
        if version != 1 { throw MalformedStream(.record("configurationVersion is \(version)"), at: 0) }
    }

    /// Reads lengthSizeMinusOne from the low two bits of the next byte.
    mutating func lengthSize() throws(MalformedStream) -> LengthSize {
        let value = try number(1, "lengthSizeMinusOne")
        guard let size = LengthSize(rawValue: value & 3 + 1) else {
            throw MalformedStream(.record("lengthSizeMinusOne is 2"), at: index - 1)
        }
        return size
    }

    /// Reads a NAL unit after its length of two bytes. Throws if the unit is empty or `isRight` returns false.
    mutating func unit(_ name: String, _ isRight: ([UInt8]) -> Bool) throws(MalformedStream) -> [UInt8] {
        let length = try number(2, "the length of a \(name)")
        let start = index
        let unit = Array(try bytes(length, "a \(name)"))
        guard !unit.isEmpty, isRight(unit) else {
            throw MalformedStream(.record("the record contains no valid \(name) here"), at: start)
        }
        return unit
    }
}
