package import VideoBase

/// The framing and codec of a stream of NAL units, detected from its first bytes.
package struct StreamKind: Sendable, Hashable {
    /// The framing.
    package var framing: StreamConverter.Framing
    /// The codec, or nil if the first NAL units are valid in both codecs.
    package var codec: VideoCodec?

    /// Creates a value from its parts.
    package init(framing: StreamConverter.Framing, codec: VideoCodec?) {
        self.framing = framing
        self.codec = codec
    }

    /// Detects the kind of a stream. Returns nil if the bytes are neither a byte stream of NAL units nor
    /// length-prefixed units.
    ///
    /// 00 00 01 may be a start code or the beginning of a length. It is treated as a length if that length leads to a
    /// NAL unit's header, and from there to the next.
    ///
    /// - Parameters:
    ///   - head: The first bytes of the stream. A few thousand are sufficient.
    ///   - byteCount: The size of the whole stream in bytes, or nil if it is unknown.
    package init?(head: [UInt8], byteCount: Int? = nil) {
        if Self.isTransportStream(head) { return nil }
        for size in [LengthSize.four, .two, .one] {
            guard let heads = Self.heads(head, size: size, byteCount: byteCount ?? AnnexB.longestUnit) else { continue }
            framing = .lengthPrefixed(size)
            codec = heads.lazy.compactMap(Self.codec).first
            return
        }
        let zeros = head.prefix { $0 == 0 }.count
        guard zeros >= 2, zeros < head.count, head[zeros] == 1 else { return nil }
        let units = AnnexB.units(in: head.span)
        // MPEG-1, MPEG-2 and MPEG-4 Part 2 streams begin with start codes above 7F. That bit is forbidden_zero_bit in
        // NAL units of both codecs.
        if let first = units.first, head[first.lowerBound] & 0x80 != 0 { return nil }
        framing = .annexB
        codec = units.lazy.compactMap { Self.codec(head[$0]) }.first
    }

    /// Returns whether the bytes are packets of MPEG-TS, of M2TS (each after a time of four bytes), or of MPEG-TS with
    /// error correction (204 bytes). The bytes before and in such packets may look like lengths and NAL units.
    private static func isTransportStream(_ head: [UInt8]) -> Bool {
        [(first: 0, length: 188), (4, 192), (0, 204)].contains { first, length in
            let offsets = stride(from: first, to: head.count, by: length)
            return head.count > first + 2 * length && offsets.allSatisfy { head[$0] == 0x47 }
        }
    }

    /// Returns the beginnings of length-prefixed NAL units, or nil if the bytes are not such units.
    private static func heads(_ bytes: [UInt8], size: LengthSize, byteCount: Int) -> [ArraySlice<UInt8>]? {
        var heads: [ArraySlice<UInt8>] = []
        var index = 0
        while index + size.rawValue + 2 <= bytes.count {
            let start = index + size.rawValue
            let length = bytes[index..<start].reduce(0) { $0 << 8 | Int($1) }
            // H.264's end-of-sequence and end-of-stream units have one byte, and they do not come first.
            guard length > (heads.isEmpty ? 1 : 0), length <= byteCount - start, bytes[start] & 0x80 == 0 else { return nil }
            heads.append(bytes[start..<min(start + length, bytes.count)])
            index = start + length
        }
        // A single NAL unit is weak evidence, and none at all if its length may be a start code.
        let isAlone = heads.count == 1 && (size != .four || bytes.starts(with: [0, 0, 1]))
        guard let first = heads.first, codec(first) != nil, !isAlone else { return nil }
        // The time before the first packet of M2TS may look like a length, and the packet's first byte like that of a
        // parameter set. A parameter set of thousands of bytes is therefore not accepted.
        if heads.count == 1, index > Self.longestSet, isSmall(first) { return nil }
        return heads
    }

    /// The maximum size of a stream's first NAL unit in bytes, with its length, if it is a parameter set or a delimiter
    /// and the only unit in the given bytes.
    private static let longestSet = 4096

    /// Returns whether a NAL unit is empty, a parameter set or a delimiter. Such a unit has at most a few hundred
    /// bytes.
    private static func isSmall(_ unit: ArraySlice<UInt8>) -> Bool {
        if unit.isEmpty { return true }
        let kind = NALUnitKind(of: unit, codec(unit) ?? .assumedForUnknownStreams)
        return kind.isParameterSet || kind == .accessUnitDelimiter
    }

    /// Returns the codec of a NAL unit, or nil if the unit is valid in both codecs or cannot begin a stream in either.
    private static func codec(_ unit: ArraySlice<UInt8>) -> VideoCodec? {
        guard let first = unit.first, let second = unit.dropFirst().first else { return nil }
        // H.265 7.3.1.2: layer 0, TemporalId 0.
        if first & 1 == 0, second == 1, [0, 1, 16, 17, 18, 19, 20, 21, 32, 33, 34, 35, 39].contains(first >> 1) { return .hevc }
        // H.264 7.4.1: nal_ref_idc is 0 for delimiters and SEI, and not 0 for parameter sets and IDR slices.
        switch (first & 0x1F, first >> 5 & 3) {
        case (6, 0), (9, 0), (7, 1...), (8, 1...), (5, 1...), (1, _): return .h264
        default: return nil
        }
    }
}
