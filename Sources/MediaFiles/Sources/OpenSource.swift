import VideoBase

/// Opens inputs by name.
public enum MediaInput {
    /// Opens a file, `-` (standard input) or `testsrc:WxH@FPS:FRAMES`.
    ///
    /// Y4M, raw pictures (`options.inputSize` given) and the test pattern are read by vaenc's own code; anything else
    /// through libavformat and libavcodec, which are loaded then. Scaling loads libswscale.
    /// - Throws: `DescribedError`: `noInput` for no such file, `noPermission`, `badInput` for what is not a video,
    ///   `usage` for a test pattern's or option's wrong spelling, `unavailable` without the libraries.
    public static func open(_ input: String, options: SourceOptions = SourceOptions()) throws -> any FrameSource {
        throw VaencError(.unavailable, "reading \(input) is not built yet")
    }
}
