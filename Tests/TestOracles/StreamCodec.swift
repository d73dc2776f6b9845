/// What a judged stream is coded in.
public enum StreamCodec: String, Sendable, Hashable, CaseIterable {
    case h264
    case hevc

    /// Of an elementary stream, as FFmpeg names its format and files are named.
    public var format: String { rawValue }
    public var fileExtension: String { self == .h264 ? "h264" : "h265" }
}
