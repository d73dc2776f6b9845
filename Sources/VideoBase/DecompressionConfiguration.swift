/// How NAL units lie in the bytes that a decoder is given.
public enum UnitFraming: Sendable, Hashable {
    /// Behind start codes of three or four bytes (annex B of either standard).
    case annexB
    /// Behind their lengths, big-endian, of 1, 2 or 4 bytes (ISO/IEC 14496-15).
    case lengthPrefixed(Int)
    /// One NAL unit, by itself.
    case bare
}

/// What a decompression session decodes, and what it makes of it.
public struct DecompressionConfiguration: Sendable, Hashable {
    public var codec: VideoCodec
    public var framing = UnitFraming.annexB
    /// avcC or hvcC: parameter sets, and how long the lengths are, which then is the framing. nil: the stream says it all.
    public var record: [UInt8]?
    /// Of the pictures given; nil: NV12, or P010 of more than 8 bits.
    public var pixelFormat: PixelFormat?
    /// Of the pictures given, scaled where they are coded in another; nil: as coded, whatever that changes to.
    public var size: VideoSize?
    /// Threads that decode in software; nil: as many as there are processors, eight at most, and one of H.264: of pictures
    /// decoded side by side, libavcodec before 7.1 may not say that one lacks a slice.
    public var threads: Int?
    /// No picture is held back so that others can be decoded beside it: a delay less for every thread.
    public var isRealTime = false

    public init(codec: VideoCodec) { self.codec = codec }
}
