import ArgumentParser
import Glibc
import MediaFiles
import Vaenc

struct EncodeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encode",
        abstract: "Encode a file, raw frames, stdin or a test pattern.",
        discussion: """
            INPUT is any file that libavformat reads, Y4M, raw frames (with --input-size), - for stdin, or \
            testsrc:WxH@FPS:FRAMES. With none, ten seconds of the test pattern become test.h264.

              vaenc encode movie.mp4 -o movie.h264 --qp 26
              vaenc encode --device /dev/dri/renderD128 clip.y4m -o clip.mp4 --gop-seconds 2 --slices 4
              camera | vaenc encode - --input-size 1280x720 --input-format nv12 -o - | player
            """)

    @Argument(help: "The input.")
    var input: String?

    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Device") var device: DeviceOptions
    @OptionGroup(title: "Codec") var codec: CodecOptions
    @OptionGroup(title: "Rate and quality") var rate: RateOptions
    @OptionGroup(title: "Structure") var structure: StructureOptions
    @OptionGroup(title: "Input") var inputOptions: InputOptions
    @OptionGroup(title: "Colour") var color: ColorOptions
    @OptionGroup(title: "Reporting") var reporting: ReportingOptions

    func run() throws {
        try refuseWhatIsNotBuilt()
        let selection = try device.selection()
        var sinkOptions = try output.sinkOptions()
        let name = try outputName()
        let bound = try MediaOutput.format(of: name, options: sinkOptions)
        let codec = try boundCodec(extensionCodec: bound.codec, output: name)
        // What can be refused before the input is opened, is.
        var draft = EncoderConfiguration(size: VideoSize(width: 16, height: 16))
        try apply(to: &draft, codec: codec.value)

        let interruption = Interruption()
        interruption.watch()
        if let input, input != "-", Self.isSameFile(input, name) {
            throw VaencError.usage("\(name) is the input itself", remedy: "name another output")
        }
        let source = try MediaInput.open(input ?? "testsrc:1280x720@30:300", options: try inputOptions.sourceOptions())
        defer { source.close() }
        interruption.whenFirst { source.cancel() }

        var configuration = EncoderConfiguration(size: source.info.size)
        configuration.frameRate = source.info.frameRate
        configuration.frameRateVaries = source.info.frameRateVaries
        try apply(to: &configuration, codec: codec.value)
        configuration.color = try color.description(over: source.info.color)
        configuration.sampleAspectRatio = source.info.sampleAspectRatio
        sinkOptions.color = configuration.color
        sinkOptions.sampleAspectRatio = configuration.sampleAspectRatio

        let job = EncodeJob(
            source: source, configuration: configuration, rateChanges: try rate.changes(), device: selection,
            requireHardware: device.requireHardware, output: name, sinkOptions: sinkOptions, interruption: interruption,
            progress: progressStyle(output: name), codecWhy: codec.why, unasked: unasked,
            tellsNotices: !(reporting.json && name == "-"))
        let report = try job.run()
        try show(report, toStandardError: name == "-")
        if report.interrupted { throw ExitCode(Int32(ErrorCategory.interrupted.rawValue)) }
    }

    /// What the effective configuration names as if it had been asked for, where it comes from the input or from
    /// another option.
    private var unasked: Set<String> {
        var names: Set<String> = []
        if inputOptions.size == nil { names.insert("size") }
        if inputOptions.fps == nil { names.insert("frameRate") }
        if rate.rateControl == nil { names.insert("rateControl") }
        return names
    }

    private func refuseWhatIsNotBuilt() throws {
        guard output.output.count <= 1 else { throw VaencError.notBuilt("writing several outputs", remedy: "run vaenc once for each") }
        if let audio = inputOptions.audio, audio != "none" {
            guard ["copy", "aac"].contains(audio) else {
                throw VaencError.usage("--audio \(audio) is not known", remedy: "use copy, aac or none")
            }
            throw VaencError.notBuilt("--audio \(audio)", remedy: "use --audio none, and add the sound with ffmpeg")
        }
        if let progress = reporting.progress, progress != "json" {
            throw VaencError.usage("--progress \(progress) is not known", remedy: "use json")
        }
        guard let input else { return }
        if input.hasPrefix("/dev/video") { throw VaencError.notBuilt("capturing from \(input)", remedy: "pipe raw frames in with - and --input-size") }
        if input.contains("://") { throw VaencError.notBuilt(
                "reading from the network (\(input))", remedy: "fetch the file first, or pipe it in with - as the input") }
    }

    private static func isSameFile(_ a: String, _ b: String) -> Bool {
        var first = stat()
        var second = stat()
        // SAFETY: stat reads the strings and fills the structures.
        guard unsafe stat(FileName.cString(a), &first) == 0, unsafe stat(FileName.cString(b), &second) == 0, first.st_mode & S_IFMT == S_IFREG
        else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    private func progressStyle(output: String) -> ProgressLine.Style {
        if reporting.progress == "json" { return .json }
        return Terminal.isInteractive ? .terminal : .none
    }

    private func apply(to configuration: inout EncoderConfiguration, codec: VideoCodec) throws {
        configuration.codec = codec
        try self.codec.apply(to: &configuration)
        try rate.apply(to: &configuration)
        try structure.apply(to: &configuration)
        _ = try color.description(over: .unspecified)
        configuration.accessUnitDelimiters = output.aud
        configuration.lowPower = device.lowPower.value
    }

    private func outputName() throws -> String {
        if let given = output.output.first { return given }
        if let input, !input.hasPrefix("testsrc:") {
            throw VaencError.usage("no output for \(input)", remedy: "name one with -o FILE")
        }
        return codec.codec == .hevc ? "test.h265" : "test.h264"
    }

    /// `--codec`, the output's extension, and what `auto` means.
    private func boundCodec(extensionCodec: VideoCodec?, output: String) throws -> (value: VideoCodec, why: String) {
        let asked: VideoCodec? = codec.codec == .auto ? nil : codec.codec == .hevc ? .hevc : .h264
        if let asked, let extensionCodec, asked != extensionCodec {
            throw VaencError.usage(
                "--codec \(asked.rawValue) contradicts the output \(output)",
                remedy: "name it .\(asked == .hevc ? "h265" : "h264")")
        }
        if let asked { return (asked, "asked") }
        if let extensionCodec { return (extensionCodec, "the output's extension") }
        return (.h264, "HEVC through VA-API is not built yet")
    }

    private func show(_ report: EncodeReport, toStandardError: Bool) throws {
        if reporting.json {
            // Beside other objects on stderr it is one line too.
            let pretty = !(toStandardError && reporting.progress == "json")
            guard Terminal.write(try JSON.text(report, pretty: pretty) + "\n", to: toStandardError ? 2 : 1) else {
                throw VaencError(
                    .inputOutput, "cannot write the report to stdout", remedy: "look at what reads it")
            }
            return
        }
        for entry in report.effective where entry.differs {
            Terminal.note("\(entry.option): asked \(entry.asked ?? ""), used \(entry.used) (\(entry.why))")
        }
        let broken = report.statistics.limitsBroken
        let fps = report.seconds.wall > 0 ? Double(report.frames.encoded) / report.seconds.wall : 0
        Terminal.note(
            """
            \(report.output): \(counted(report.frames.encoded, "frame")), \(report.width)×\(report.height) \
            \(report.codec == .h264 ? "H.264" : "HEVC") \(report.profile)@\(report.level), \(report.bytes) bytes, \
            \(report.bitrate / 1000) kbit/s, \(decimal(fps, 0)) fps, on \(report.device.driver)\
            \(report.frames.dropped > 0 ? ", \(counted(report.frames.dropped, "frame")) DROPPED" : "")\
            \(report.statistics.rebuilds > 0 ? ", device made anew \(counted(report.statistics.rebuilds, "time"))" : "")\
            \(broken > 0 ? ", \(counted(broken, "picture")) TOO LARGE for the rate's limits" : "")\
            \(report.interrupted ? ", interrupted" : "")
            """)
    }
}

/// `1 frame`, `2 frames`.
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
