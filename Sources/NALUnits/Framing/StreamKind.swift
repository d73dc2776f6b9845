public import VideoBase

/// What a stream of NAL units is, guessed by its first bytes.
public struct StreamKind: Sendable, Hashable {
    public var framing: StreamConverter.Framing
    /// nil where the first NAL units may be either's.
    public var codec: VideoCodec?

    public init(framing: StreamConverter.Framing, codec: VideoCodec?) {
        self.framing = framing
        self.codec = codec
    }

    /// nil for bytes that are neither a byte stream of NAL units nor length-prefixed as far as they reach.
    ///
    /// 00 00 01 may be a start code or the beginning of a length; it is a length where that leads to the head of a NAL
    /// unit, and from there to the next.
    /// - Parameters:
    ///   - head: the stream's first bytes; a few thousand decide.
    ///   - byteCount: of the whole stream; nil where that is not known.
    public init?(head: [UInt8], byteCount: Int? = nil) {
        if Self.isTransportStream(head) { return nil }
        for size in [LengthSize.four, .two, .one] {
            guard let heads = Self.heads(head, size, byteCount ?? AnnexB.longestUnit) else { continue }
            framing = .lengthPrefixed(size)
            codec = heads.lazy.compactMap(Self.codec).first
            return
        }
        let zeros = head.prefix { $0 == 0 }.count
        guard zeros >= 2, zeros < head.count, head[zeros] == 1 else { return nil }
        let units = AnnexB.units(in: head.span)
        // MPEG-1, MPEG-2 and MPEG-4 part 2 begin with start codes above 7F: forbidden_zero_bit of both codecs' NAL units.
        if let first = units.first, head[first.lowerBound] & 0x80 != 0 { return nil }
        framing = .annexB
        codec = units.lazy.compactMap { Self.codec(head[$0]) }.first
    }

    /// Whether the bytes are packets of MPEG-TS, of M2TS (behind four bytes of time) or with error correction (204 bytes): what
    /// stands before and in them may look like lengths and NAL units.
    private static func isTransportStream(_ head: [UInt8]) -> Bool {
        [(first: 0, length: 188), (4, 192), (0, 204)].contains { first, length in
            let places = stride(from: first, to: head.count, by: length)
            return head.count > first + 2 * length && places.allSatisfy { head[$0] == 0x47 }
        }
    }

    /// The beginnings of NAL units behind lengths; nil where they are not that.
    private static func heads(_ bytes: [UInt8], _ size: LengthSize, _ byteCount: Int) -> [ArraySlice<UInt8>]? {
        var heads: [ArraySlice<UInt8>] = []
        var index = 0
        while index + size.rawValue + 2 <= bytes.count {
            let start = index + size.rawValue
            let length = bytes[index..<start].reduce(0) { $0 << 8 | Int($1) }
            // The end of a sequence and of a stream in H.264 have one byte: they do not come first.
            guard length > (heads.isEmpty ? 1 : 0), length <= byteCount - start, bytes[start] & 0x80 == 0 else { return nil }
            heads.append(bytes[start..<min(start + length, bytes.count)])
            index = start + length
        }
        // One NAL unit alone says little, and nothing where its length may be a start code.
        let isAlone = heads.count == 1 && (size != .four || bytes.starts(with: [0, 0, 1]))
        guard let first = heads.first, codec(first) != nil, !isAlone else { return nil }
        // The time before M2TS's first packet may be a length, and the packet's first byte that of a parameter set: one of
        // thousands of bytes is none.
        if heads.count == 1, index > Self.longestSet, isSmall(first) { return nil }
        return heads
    }

    private static let longestSet = 4096

    /// Whether it is a NAL unit of a kind that never has more than a few hundred bytes: a parameter set or a delimiter.
    private static func isSmall(_ unit: ArraySlice<UInt8>) -> Bool {
        if unit.isEmpty { return true }
        let kind = NALUnitKind(of: unit, codec(unit) ?? .h264)
        return kind.isParameterSet || kind == .accessUnitDelimiter
    }

    /// Whose NAL unit it is; nil where it may be either's, or does not begin a stream in either.
    private static func codec(_ unit: ArraySlice<UInt8>) -> VideoCodec? {
        guard let first = unit.first, let second = unit.dropFirst().first else { return nil }
        // H.265 7.3.1.2: layer 0, TemporalId 0.
        if first & 1 == 0, second == 1, [0, 1, 16, 17, 18, 19, 20, 21, 32, 33, 34, 35, 39].contains(first >> 1) { return .hevc }
        // H.264 7.4.1: nal_ref_idc is 0 for delimiters and SEI, and not for parameter sets and IDR slices.
        switch (first & 0x1F, first >> 5 & 3) {
        case (6, 0), (9, 0), (7, 1...), (8, 1...), (5, 1...), (1, _): return .h264
        default: return nil
        }
    }
}
