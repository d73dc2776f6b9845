public import ArgumentParser
public import MediaFiles
import Vaenc
import VideoBase

struct OutputOptions: ParsableArguments {
    @Option(
        name: [.customShort("o"), .long],
        help: ArgumentHelp(
            "Output: a file, - for stdout, or an rtmp:// or srt:// address. May be repeated: every output has the same "
                + "frames.",
            valueName: "FILE"))
    var output: [String] = []

    @Option(
        help: ArgumentHelp(
            "Container (default: from the output's extension).", valueName: "annexb|avcc|mp4|fmp4|mov|mkv|ts|flv|hls"))
    var format: String?

    @Option(
        help: ArgumentHelp(
            "Sample entry of HEVC in MP4 and MOV: parameter sets only in the header (hvc1, the default), or also in "
                + "key frames (hev1).",
            valueName: "hvc1|hev1"))
    var sampleEntry: HEVCSampleEntry?

    @Flag(help: "Write an access unit delimiter before every picture.")
    var aud = false

    @Flag(help: "Replace an existing file.")
    var overwrite = false

    @Option(
        help: ArgumentHelp(
            "none: do not report that subtitles are left out. Subtitles are not supported yet.", valueName: "none"))
    var subtitles: String?

    @Flag(help: "Leave out the input's tags (title, artist, …) and chapters.")
    var noMetadata = false

    /// The kinds of streams whose absence in an output is not reported.
    var unreportedStreams: Set<MediaTrack.Kind> { subtitles == nil ? [] : [.subtitle] }

    /// Rejects options that are planned but not implemented.
    ///
    /// - Throws: `unavailable`.
    func rejectUnimplemented() throws {
        if let subtitles, subtitles.lowercased() != "none" { throw VaencError.notImplemented("--subtitles \(subtitles)", remedy: "use none") }
    }

    /// Rejects a sample entry if no output can have one.
    ///
    /// - Parameter outputs: The format of each output, and the codec that it must have.
    func checkSampleEntry(_ outputs: [(format: OutputFormat, codec: VideoCodec?)]) throws {
        guard let sampleEntry, !outputs.contains(where: { $0.format.hasSampleEntries && $0.codec?.hasSampleEntryNames ?? true }) else { return }
        throw VaencError.usage(
            "--sample-entry \(sampleEntry.rawValue) applies to HEVC in MP4 and MOV, and there is no such output",
            remedy: "leave it out, or write HEVC into .mp4 or .mov")
    }

    static func format(_ name: String) throws -> OutputFormat {
        if let known = OutputFormat(rawValue: name.lowercased()) { return known }
        throw VaencError.usage(
            "--format \(name) is not known",
            remedy: "use one of " + OutputFormat.allCases.map(\.rawValue).joined(separator: ", "))
    }

    func sinkOptions() throws -> SinkOptions {
        var options = SinkOptions()
        options.overwrite = overwrite
        options.hevcSampleEntry = sampleEntry ?? .hvc1
        options.format = try format.map(Self.format)
        return options
    }
}

extension HEVCSampleEntry: ExpressibleByArgument {}

struct ReportingOptions: ParsableArguments {
    @Option(help: ArgumentHelp("json: print the progress on stderr, one JSON object per line.", valueName: "json"))
    var progress: String?

    @Flag(help: "Print one JSON object at the end, on stdout (on stderr if the output is stdout).")
    var json = false
}

extension OutputOptions: PlainOptions {
    mutating func read(_ line: PlainCommandLine) {
        output = line.values("-o", "--output")
        format = line.value("--format")
        sampleEntry = line.value("--sample-entry")
        aud = line.flag("--aud")
        overwrite = line.flag("--overwrite")
        subtitles = line.value("--subtitles")
        noMetadata = line.flag("--no-metadata")
    }
}

extension ReportingOptions: PlainOptions {
    mutating func read(_ line: PlainCommandLine) {
        progress = line.value("--progress")
        json = line.flag("--json")
    }
}
