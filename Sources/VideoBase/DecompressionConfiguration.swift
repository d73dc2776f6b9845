/// The framing of NAL units in a decoder's input.
public enum UnitFraming: Sendable, Hashable {
    /// Each NAL unit follows a start code of three or four bytes (Annex B of either standard).
    case annexB
    /// Each NAL unit follows its length, a big-endian integer of 1, 2 or 4 bytes (ISO/IEC 14496-15).
    case lengthPrefixed(Int)
    /// The input is one NAL unit without framing.
    case bare
}

/// The configuration of a decompression session: the stream to decode and the pictures to deliver.
public struct DecompressionConfiguration: Sendable, Hashable {
    /// The codec of the stream.
    public var codec: VideoCodec
    /// The framing of the input. If `record` is set, the record determines it, except for `.bare`.
    public var framing = UnitFraming.annexB
    /// The avcC or hvcC record, or nil if the stream itself contains everything. The record has parameter sets and the
    /// size of the length fields.
    public var record: [UInt8]?
    /// The pixel format of the delivered pictures. nil: NV12, or P010 if the stream has more than 8 bits.
    public var pixelFormat: PixelFormat?
    /// The size of the delivered pictures; pictures of another size are scaled. nil: the coded size, which may change.
    public var size: VideoSize?
    /// The number of threads for software decoding. nil: the number of processors, at most eight; one for H.264.
    ///
    /// Before FFmpeg 7.1, libavcodec may not report a missing slice of an H.264 picture if it decodes pictures in
    /// parallel.
    public var threads: Int?
    /// Whether no picture is held back in order to decode several pictures in parallel. This avoids one picture of
    /// delay per thread.
    public var isRealTime = false

    /// Creates a configuration with default values.
    public init(codec: VideoCodec) { self.codec = codec }
}
