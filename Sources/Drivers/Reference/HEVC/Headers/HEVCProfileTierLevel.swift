/// profile_tier_level, H.265 7.3.3: the general entry, and those of sub-layers if a client wrote them.
package struct HEVCProfileTierLevel: Equatable, Sendable {
    /// general_profile_idc: 1 Main, 2 Main 10.
    package var general_profile_idc: Int
    package var general_tier_flag: Bool
    /// general_level_idc, 30 times the level.
    package var general_level_idc: Int
    /// The bits of the structure as in the stream.
    private(set) var bits: HeaderBits

    /// Creates the structure for one sub-layer and progressive frames.
    package init(profile: Int, isHighTier: Bool, level: Int) {
        self.general_profile_idc = profile
        self.general_tier_flag = isHighTier
        self.general_level_idc = level
        var writer = HeaderBitWriter()
        writer.put(0, 2)  // general_profile_space
        writer.put(isHighTier)
        writer.put(UInt32(profile), 5)
        // general_profile_compatibility_flag: a Main stream also conforms to Main 10.
        for index in 0..<32 { writer.put(index == profile || profile == 1 && index == 2) }
        writer.put(true)  // general_progressive_source_flag
        writer.put(false)  // general_interlaced_source_flag
        writer.put(true)  // general_non_packed_constraint_flag
        writer.put(true)  // general_frame_only_constraint_flag
        writer.put(0, 32)
        writer.put(0, 12)
        writer.put(UInt32(level), 8)
        bits = HeaderBits(writer)
    }

    /// Reads the structure for `maxSubLayers` sub-layers.
    init(_ reader: inout HeaderBitReader, maxSubLayers: Int) {
        let count = maxSubLayers - 1
        let start = reader.position
        _ = reader.get(2)
        general_tier_flag = reader.flag()
        general_profile_idc = Int(reader.get(5))
        for length in [32, 32, 16] { _ = reader.get(length) }
        general_level_idc = Int(reader.get(8))
        let present = (0..<count).map { _ in (profile: reader.flag(), level: reader.flag()) }
        if count > 0 { for _ in count..<8 { _ = reader.get(2) } }
        for layer in present {
            if layer.profile { for length in [32, 32, 24] { _ = reader.get(length) } }
            if layer.level { _ = reader.get(8) }
        }
        bits = reader.bits(from: start)
    }

    /// MaxTileCols and MaxTileRows, table A.8. A level that is not in the table gets the limits of the next higher one,
    /// or the greatest limits.
    var maxTiles: (columns: Int, rows: Int) {
        switch general_level_idc {
        case ...63: (1, 1)
        case ...90: (2, 2)
        case ...93: (3, 3)
        case ...123: (5, 5)
        case ...156: (10, 11)
        default: (20, 22)
        }
    }

    func write(to writer: inout HeaderBitWriter) { writer.put(bits) }
}

/// A sequence of bits that is copied unchanged.
struct HeaderBits: Equatable, Sendable {
    private(set) var bytes: [UInt8] = []
    private(set) var count = 0

    init() {}

    init(_ writer: HeaderBitWriter) {
        bytes = writer.bytes
        count = writer.bitCount
    }
}

extension HeaderBitWriter {
    mutating func put(_ bits: HeaderBits) {
        var reader = HeaderBitReader(bits.bytes, bitCount: bits.count)
        for _ in 0..<bits.count { put(reader.flag()) }
    }
}

extension HeaderBitReader {
    /// Returns the bits from `start` up to the current position.
    func bits(from start: Int) -> HeaderBits {
        var copy = self
        copy.move(to: start)
        var writer = HeaderBitWriter()
        while copy.position < position && !copy.failed { writer.put(copy.flag()) }
        return HeaderBits(writer)
    }

    /// Reads the remaining bits up to the RBSP's stop bit, which is at position `end`.
    mutating func rest(endingAt end: Int) -> HeaderBits {
        var writer = HeaderBitWriter()
        while position < end && !failed { writer.put(flag()) }
        return HeaderBits(writer)
    }

    /// Returns the position of an RBSP's stop bit in bits; nil if there is none.
    static func end(of rbsp: [UInt8]) -> Int? {
        rbsp.lastIndex { $0 != 0 }.map { 8 * $0 + 7 - rbsp[$0].trailingZeroBitCount }
    }
}
