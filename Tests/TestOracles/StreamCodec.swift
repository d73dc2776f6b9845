/// The codec of a stream under test.
public enum StreamCodec: String, Sendable, Hashable, CaseIterable {
    case h264
    case hevc

    /// FFmpeg's name of the elementary stream's format.
    public var format: String { rawValue }
    /// The extension of elementary stream files.
    public var fileExtension: String { self == .h264 ? "h264" : "h265" }
}
