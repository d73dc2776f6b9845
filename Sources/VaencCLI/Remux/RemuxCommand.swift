import ArgumentParser
import MediaFiles
import Vaenc

struct RemuxCommand: ParsableCommand, InterruptibleCommand {
    static let configuration = CommandConfiguration(
        commandName: "remux", _superCommandName: VaencCommand.name,
        abstract: "Copy a file's streams into another container without encoding them again.",
        discussion: """
            vaenc copies every stream that the container can hold, with its metadata.

              vaenc remux in.mp4 -o out.mov
              vaenc remux in.mp4 -o out.m3u8
              vaenc remux in.mkv -o part.mp4 --start 60 --duration 10
            """)

    @Argument(help: "The input: a file that libavformat reads, or - for stdin.")
    var input: String

    @Option(
        name: [.customShort("o"), .long],
        help: ArgumentHelp("Output: a file, - for stdout, or an rtmp:// or srt:// address.", valueName: "FILE"))
    var output: String

    @Option(
        help: ArgumentHelp(
            "Container (default: from the output's extension).", valueName: "annexb|avcc|mp4|fmp4|mov|mkv|ts|flv|hls"))
    var format: String?

    @Flag(help: "Replace an existing file.")
    var overwrite = false

    @Flag(help: "Fail instead of changing or leaving out anything that is requested.")
    var strict = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Begin with the key frame at or before this time, in seconds or as HH:MM:SS.mmm.", valueName: "TIME"))
    var start: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Duration to copy, in seconds or as HH:MM:SS.mmm (default: to the end).", valueName: "TIME"))
    var duration: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Frame rate of a bare stream, for example 25, 29.97 or 30000/1001 "
                + "(default: the rate that it declares, or 25).",
            valueName: "R"))
    var fps: String?

    @Flag(help: "Print one JSON object at the end, on stdout (on stderr if the output is stdout).")
    var json = false

    /// The object that `--json` prints.
    private struct Report: Encodable {
        var schema = 1
        var streams: [RemuxReport.Stream]
        var seconds: Double
        var bytes: Int
        var effective: [EffectiveEntry]
        var notices: [String]
        var output: String
        var interrupted: Bool
    }

    func run() throws {
        var options = RemuxOptions()
        options.format = try format.map(OutputOptions.format)
        options.overwrite = overwrite
        options.strict = strict
        options.start = try start.map(SourceOptions.start)
        options.duration = try duration.map(SourceOptions.duration)
        options.frameRate = try fps.map(SourceOptions.rate)
        let interruption = Interruption()
        interruption.watch()
        let remuxer = try Remuxer(input, to: output, options: options)
        interruption.whenFirst { remuxer.cancel() }
        let report = try remuxer.run()
        try show(report)
        if report.isInterrupted { throw ExitCode(ErrorCategory.interrupted.exitStatus) }
    }

    private func show(_ report: RemuxReport) throws {
        let isOnStdout = output == "-"
        for entry in report.effective where entry.differs && !(json && isOnStdout) {
            Terminal.note("\(OptionNames.name(of: entry)): asked \(entry.asked ?? "nothing"), used \(entry.used) (\(entry.why))")
        }
        for notice in report.notices where !(json && isOnStdout) { Terminal.note(notice) }
        if let part = report.keptPart { Terminal.note(KeptRecording.notice(part)) }
        guard json else {
            let kept = report.streams.count { $0.leftOut == nil }
            return Terminal.note(
                "\(output): \(counted(kept, "stream")), \(decimal(report.duration.seconds, 2)) s, \(report.bytes) bytes"
                    + (report.isInterrupted ? ", interrupted" : ""))
        }
        let one = Report(
            streams: report.streams, seconds: rounded(report.duration.seconds), bytes: report.bytes, effective: report.effective.translated,
            notices: report.notices.map(OptionNames.translate), output: FileName.printable(output), interrupted: report.isInterrupted)
        try Terminal.report(try JSON.text(one) + "\n", to: isOnStdout ? 2 : 1)
    }
}
