public import VideoBase

/// Opens outputs by name.
public enum MediaOutput {
    /// The format that `open` would use; the codec that the extension binds (`.h264`, `.264`, `.avc`: H.264; `.h265`,
    /// `.hevc`, `.265`: HEVC), nil where it binds none.
    public static func format(
        of output: String, options: SinkOptions = SinkOptions()
    ) throws -> (format: OutputFormat, codec: VideoCodec?) {
        throw VaencError(.unavailable, "writing \(output) is not built yet")
    }

    /// Opens a file or `-` (standard output) for writing.
    /// - Throws: `DescribedError`: `cannotCreate` where the file exists (without `overwrite`) or its folder is missing,
    ///   `noPermission`, `unavailable` for formats not built yet or missing libraries.
    public static func open(_ output: String, options: SinkOptions = SinkOptions()) throws -> any PacketSink {
        throw VaencError(.unavailable, "writing \(output) is not built yet")
    }
}
