import LibAV
public import VideoBase

/// Opens outputs by their names.
public enum MediaOutput {
    /// The error for an empty output name.
    static let emptyName = VaencError(.usage, "the name of the output is empty", remedy: "name the output file")

    /// Returns the format that `open` would use, and the codec that the extension requires: H.264 for `.h264`, `.264`
    /// and `.avc`; HEVC for `.h265`, `.265`, `.hevc` and `.hvcc`; nil for other extensions. `.avcc` may hold either
    /// codec.
    /// - Throws: `usage` for an empty name, for the prefixes `pipe:` and `file:`, and for an extension that determines
    ///   no format; `cannotCreate` for a folder.
    public static func format(
        of output: String, options: SinkOptions = SinkOptions()
    ) throws -> (format: OutputFormat, codec: VideoCodec?) {
        if output.isEmpty { throw emptyName }
        try FileName.rejectPrefix(output)
        let ending = output.contains("://") ? "" : pathExtension(output)
        let codec = VideoCodec(fileExtension: ending)
        if let format = options.format {
            if let named = Self.format(extension: ending), !named.isRelated(to: format) {
                throw VaencError(
                    .usage, "`format` \(format.rawValue) contradicts the name \(output)",
                    remedy: "leave out `format`, or choose another name")
            }
            return (format, codec)
        }
        if output == "-" { return (.annexb, nil) }
        if output.hasPrefix("rtmp") && output.contains("://") { return (.flv, nil) }
        if output.hasPrefix("srt://") { return (.ts, nil) }
        if output.contains("://") { throw unbuilt(output) }
        if let format = Self.format(extension: ending) { return (format, codec) }
        // Devices such as /dev/null have no extension.
        if output.hasPrefix("/dev/") { return (.annexb, nil) }
        try rejectFolder(output)
        if MediaInput.codedExtensions.contains(ending) {
            throw VaencError(
                .usage, "vaenc does not write .\(ending) files (\(output))",
                remedy: "end the name in .mp4, .mov, .mkv, .ts, .flv, .m3u8, .h264, .h265, .avcc or .hvcc")
        }
        throw VaencError(
            .usage, "the name \(output) does not determine the output format",
            remedy: "end it in .mp4, .mov, .mkv, .ts, .flv, .m3u8, .h264, .h265, .avcc or .hvcc, or add `format`")
    }

    /// Checks that the output's format can hold a codec.
    /// - Throws: `usage` if it cannot.
    public static func check(_ output: String, holds codec: VideoCodec, options: SinkOptions = SinkOptions()) throws {
        let format = try format(of: output, options: options).format
        if format.holds(codec) { return }
        throw VaencError(
            .usage, "vaenc does not write HEVC into \(format.rawValue.uppercased()) (\(output))",
            remedy: output.hasPrefix("rtmp")
                ? "use `codec` h264, or send to an srt:// address" : "use `codec` h264, or another format: mp4, mov, mkv or ts")
    }

    /// Opens a file, `-` (standard output), or a connection (`rtmp://…`, `srt://…`) for writing.
    ///
    /// vaenc's own code writes Annex B and length-prefixed streams. libavformat, which is loaded for this, writes
    /// containers. MP4 and MOV are written fragmented to a pipe, because a pipe cannot seek back. Connecting blocks for
    /// up to ten seconds.
    /// - Parameter isCancelled: Called while a connection is being opened, or while a named pipe has no reader; returns
    ///   whether to stop. It must not block.
    /// - Throws: `DescribedError`: `interrupted` if `isCancelled` returns true; `cannotCreate` if the file exists
    ///   (without `overwrite`) or its folder is missing; `noPermission`; `usage` for a name that determines no format;
    ///   `inputOutput` if no server answers; `unavailable` for missing libraries.
    public static func open(
        _ output: String, options: SinkOptions = SinkOptions(), isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws -> any PacketSink {
        try options.check()
        let format = try format(of: output, options: options).format
        if format == .annexb || format == .avcc, !output.contains("://") {
            let file = try openFile(output, format: format, options: options, isCancelled: isCancelled)
            return ElementarySink(file, lengthPrefixed: format == .avcc)
        }
        return ContainerSink(
            output, try destination(output, format: format, options: options, isCancelled: isCancelled), format: format,
            options: options)
    }

    /// Opens the destination of a container.
    static func destination(
        _ output: String, format: OutputFormat, options: SinkOptions,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws -> sending any SinkDestination {
        if output.contains("://") { return try connect(output, format: format, isCancelled: isCancelled) }
        if format == .hls {
            if output == "-" {
                throw VaencError(
                    .usage, "HLS is a playlist and several files, and cannot be written to standard output",
                    remedy: "name a .m3u8 file")
            }
            return try SegmentFolder(playlist: output, overwrite: options.overwrite)
        }
        let file = try openFile(output, format: format, options: options, isCancelled: isCancelled)
        let av = unsafe try LibAV.load([.codec, .format])
        guard let context = unsafe WriteContext(file, av, lengthPrefixed: format == .avcc) else { throw MediaTrack.noMemory }
        return context
    }

    private static func openFile(
        _ output: String, format: OutputFormat, options: SinkOptions, isCancelled: () -> Bool
    ) throws -> OutputFile {
        try OutputFile(
            path: output, overwrite: options.overwrite, survives: options.survivesKill,
            plays: format == .avcc ? UnfinishedFiles.holdsUnits : ContainerSink.plays, isCancelled: isCancelled)
    }

    private static func connect(
        _ output: String, format: OutputFormat, isCancelled: @escaping @Sendable () -> Bool
    ) throws -> NetworkOutput {
        let scheme = output.prefix { $0 != ":" }
        let requiredFormat: OutputFormat? = scheme.hasPrefix("rtmp") ? .flv : scheme == "srt" ? .ts : nil
        guard let requiredFormat else { throw unbuilt(output) }
        if format != requiredFormat {
            throw VaencError(
                .usage, "\(scheme) transports \(requiredFormat.rawValue), not \(format.rawValue)",
                remedy: "leave out `format`")
        }
        return try NetworkOutput(output, isCancelled: isCancelled)
    }

    private static func unbuilt(_ output: String) -> VaencError {
        VaencError(
            .unavailable, "sending by \(output.prefix { $0 != ":" }) is not implemented",
            remedy: "use rtmp:// or srt://, or write to - (standard output) and pipe it into a program that sends it")
    }

    private static func format(extension ending: String) -> OutputFormat? {
        switch ending {
        case "h264", "264", "avc", "h265", "265", "hevc": .annexb
        case "avcc", "hvcc": .avcc
        case "mp4", "m4v": .mp4
        case "mov", "qt": .mov
        case "mkv": .mkv
        case "ts", "m2ts", "mts": .ts
        case "flv": .flv
        case "m3u8": .hls
        default: nil
        }
    }

    /// Returns the codec that a name implies if no other setting determines it; nil if it implies none.
    package static func usualCodec(of output: String) -> VideoCodec? {
        !output.contains("://") && pathExtension(output) == "avcc" ? .h264 : nil
    }

    static func pathExtension(_ path: String) -> String {
        let file = path.split(separator: "/").last ?? ""
        guard let dot = file.lastIndex(of: "."), dot != file.startIndex else { return "" }
        return file[file.index(after: dot)...].lowercased()
    }
}

extension OutputFormat {
    /// Whether a name with this format may hold the other: both are bare streams, or both belong to the MP4 family.
    fileprivate func isRelated(to other: OutputFormat) -> Bool {
        let families: [Set<OutputFormat>] = [[.annexb, .avcc], [.mp4, .fmp4, .mov]]
        return self == other || families.contains { $0.contains(self) && $0.contains(other) }
    }
}

extension VideoCodec {
    /// Returns the codec that the extension of a bare stream requires; nil for `avcc` and for containers.
    ///
    /// - Parameter fileExtension: The extension in lower case.
    package init?(fileExtension: String) {
        switch fileExtension {
        case "h264", "264", "avc": self = .h264
        case "h265", "265", "hevc", "hvcc": self = .hevc
        default: return nil
        }
    }
}
