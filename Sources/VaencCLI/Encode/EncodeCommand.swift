import ArgumentParser
import MediaFiles
import Vaenc
import VideoBase

struct EncodeCommand: ParsableCommand, InterruptibleCommand {
    static let configuration = CommandConfiguration(
        commandName: "encode", _superCommandName: VaencCommand.name,
        abstract: "Encode a file, raw frames, stdin or a test pattern.",
        discussion: """
            INPUT is any file that libavformat reads, Y4M, raw frames (with --input-size), a camera (/dev/videoN), - for \
            stdin, or testsrc:WxH@FPS:FRAMES for the test pattern. Without INPUT, vaenc encodes ten seconds of the test \
            pattern into test.h265, or into test.h264 if --codec auto chooses H.264.

              vaenc encode movie.mp4 -o movie.h264 --qp 26
              vaenc encode --device /dev/dri/renderD128 in.y4m -o out.mp4 --slices 4
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
    @OptionGroup(title: "Sound") var soundOptions: SoundOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions
    @OptionGroup(title: "Color") var color: ColorOptions
    @OptionGroup(title: "Reporting") var reporting: ReportingOptions

    func run() throws {
        try rejectUnimplemented()
        let selection = try device.selection()
        let sinkOptions = try output.sinkOptions()
        let names = try OutputNames(output.output, input: input, codec: codec, options: sinkOptions)
        let named = names.all
        // Everything that can be rejected before the input is opened is rejected here.
        let drafts = try named.enumerated().map { index, one in
            var draft = EncoderConfiguration(size: VideoSize(width: 16, height: 16))
            try apply(to: &draft, codec: one.codec, others: names.others(of: index))
            return (format: one.format, codec: CodecChoice.codec(determinedBy: draft)?.codec)
        }
        try output.checkSampleEntry(drafts)

        let interruption = Interruption()
        interruption.watch()
        for one in named {
            guard let input, let name = one.name, let same = MediaOutput.overwritten(input, by: name, options: one.options) else { continue }
            throw VaencError.usage("\(same) is the input itself", remedy: "name another output")
        }
        var sourceOptions = try inputOptions.sourceOptions(isCamera: input.map(CaptureOptions.isCamera) ?? false)
        sourceOptions.outputSizeIsAsShown = true
        sourceOptions.colorOfRGB = try color.description(over: .unspecified)
        sourceOptions.readsSound = soundOptions.audio != AudioMode.none && named.contains(where: \.format.holdsTracks)
        if let device = capture.audioDevice, !sourceOptions.readsSound {
            let why =
                soundOptions.audio == AudioMode.none ? "--audio none" : "\(named[0].format.rawValue), which holds only video"
            throw VaencError.usage(
                "--audio-device \(device) cannot be combined with \(why)", remedy: "leave out one of them")
        }
        if input.map(CaptureOptions.isCamera) ?? false {
            for one in named { if let name = one.name { try MediaOutput.checkLocation(name, options: one.options) } }
        }
        let isOnStdout = named.contains { $0.name == "-" }
        let camera = try capture.open(
            input, options: inputOptions, readsSound: sourceOptions.readsSound, printsNotices: !reporting.json)
        defer { camera?.preview?.close() }
        let source = try camera?.source ?? MediaInput.open(input ?? "testsrc:1280x720@30:300", options: sourceOptions)
        defer { source.close() }
        interruption.whenFirst { source.cancel() }

        let outputs = try named.enumerated().map { index, one in
            let configuration = try configuration(of: source.info, codec: one.codec, others: names.others(of: index))
            var result = Transcoder.Output(one.name, configuration, options: one.options)
            // The input from a camera or a pipe may end unexpectedly, so its output must survive the end of the
            // process.
            result.options.survivesKill = camera != nil || input.map(MediaInput.isPipe) == true && source.info.frameCount == nil
            result.audio = soundOptions.audio
            result.keepsMetadata = !output.noMetadata
            result.unreportedStreams = output.unreportedStreams
            result.requestedSampleEntry = output.sampleEntry
            result.codecReason = one.why
            return result
        }
        var options = Transcoder.Options()
        (options.device, options.requireHardware) = (selection, device.requireHardware)
        options.rateChanges = try rate.changes()
        options.soundFitsPictures = inputOptions.fps == nil || camera != nil
        options.inheritedSettings = inheritedSettings
        let job = EncodeJob(
            transcoder: Transcoder(source, outputs: outputs, options: options), info: source.info, interruption: interruption,
            progress: progressStyle(), printsNotices: !(reporting.json && isOnStdout), hints: rate.hints)
        var (report, failure) = try job.run()
        camera?.complete(&report, printsNotices: !reporting.json)
        try show(report, toStandardError: isOnStdout)
        if let failure { throw failure }
        if report.interrupted { throw ExitCode(ErrorCategory.interrupted.exitStatus) }
        if let ended = camera?.source.failure { throw ended }
    }

    /// Returns the configuration of an output: the input's properties, overridden by the options.
    private func configuration(
        of info: SourceInfo, codec: VideoCodec?, others: Set<VideoCodec>
    ) throws -> EncoderConfiguration {
        var configuration = EncoderConfiguration(encoding: info)
        try apply(to: &configuration, codec: codec, others: others)
        configuration.display.color = try color.description(over: info.color)
        configuration.display.masteringDisplay = try color.display(over: info.masteringDisplay)
        configuration.display.contentLight = try color.light(over: info.contentLight)
        return configuration
    }

    /// The options that the effective configuration reports as requested although their values come from the input or
    /// from another option.
    private var inheritedSettings: Set<String> {
        var names: Set<String> = []
        if inputOptions.size == nil { names.insert("size") }
        if inputOptions.fps == nil { names.insert("frameRate") }
        if rate.rateControl == nil { names.insert("rateControl") }
        if color.masteringDisplay == nil { names.insert("masteringDisplay") }
        if color.contentLight == nil { names.insert("contentLight") }
        return names
    }

    private func rejectUnimplemented() throws {
        if let progress = reporting.progress, progress != "json" {
            throw VaencError.usage("--progress \(progress) is not known", remedy: "use json")
        }
        try rate.rejectUnimplemented()
        try output.rejectUnimplemented()
        guard let input else { return }
        if input.contains("://") {
            throw VaencError.notImplemented(
                "reading from the network (\(input))",
                remedy: "download the file first, or pipe it in with - as the input")
        }
    }

    private func progressStyle() -> ProgressLine.Style {
        if reporting.progress == "json" { return .json }
        return Terminal.isInteractive ? .terminal : .none
    }

    private func apply(
        to configuration: inout EncoderConfiguration, codec: VideoCodec?, others: Set<VideoCodec>
    ) throws {
        configuration.codec = codec
        try self.codec.apply(to: &configuration, others: others)
        try rate.apply(to: &configuration)
        try structure.apply(to: &configuration)
        _ = try color.description(over: .unspecified)
        _ = try (color.display(over: nil), color.light(over: nil))
        configuration.headers.accessUnitDelimiters = output.aud
        configuration.lowPower = device.lowPower.value
    }

    private func show(_ report: EncodeReport, toStandardError: Bool) throws {
        if reporting.json {
            // Next to other objects on stderr, the report is a single line too.
            let pretty = !(toStandardError && reporting.progress == "json")
            try Terminal.report(try JSON.text(report, pretty: pretty) + "\n", to: toStandardError ? 2 : 1)
            return
        }
        guard let outputs = report.outputs else { return summarize(report.wholeOutput, of: report) }
        // The first failure is reported as the run's error.
        let failed = outputs.first { $0.error.wrapped != nil }?.output
        for output in outputs where output.output != failed { summarize(output, of: report) }
    }

    private func summarize(_ output: EncodeReport.Output, of report: EncodeReport) {
        if let error = output.error.wrapped { return Terminal.note("\(output.output): \(error)") }
        let prefix = report.outputs == nil ? "" : "\(output.output): "
        // A change of speed was reported at the start.
        for entry in output.effective where entry.differs && entry.option != SourceInfo.speedOption {
            Terminal.note(
                "\(prefix)\(OptionNames.name(of: entry, hasSize: inputOptions.size != nil)): asked \(entry.asked ?? ""), used \(entry.used) (\(entry.why))"
            )
        }
        // The codec is explained only if the device or the format decided it. An extension that names the codec needs
        // no explanation.
        let codec = output.effective.first {
            $0.option == "codec" && $0.asked == nil && $0.why != .outputExtension
        }
        let broken = output.statistics.limitsBroken
        let fps = report.seconds.wall > 0 ? Double(output.frames.encoded) / report.seconds.wall : 0
        Terminal.note(
            """
            \(output.output): \(counted(output.frames.encoded, "frame")), \(report.width)×\(report.height) \
            \(output.codec.standardName) \(output.profile)@\(output.level)\
            \(codec.map { " (\($0.why))" } ?? ""), \(output.bytes) bytes, \
            \(output.bitrate / 1000) kbit/s, \(decimal(fps, 0)) fps, on \(output.driver)\
            \(output.frames.dropped > 0 ? ", \(counted(output.frames.dropped, "frame")) DROPPED" : "")\
            \(output.statistics.rebuilds > 0 ? ", device reinitialized \(counted(output.statistics.rebuilds, "time"))" : "")\
            \(broken > 0 ? ", \(counted(broken, "picture")) EXCEEDED the rate limits" : "")\
            \(report.interrupted ? ", interrupted" : "")
            """)
    }
}

extension EncodeCommand: PlainOptions {
    mutating func read(_ line: PlainCommandLine) {
        output = line.options(OutputOptions())
        device = line.options(DeviceOptions())
        codec = line.options(CodecOptions())
        rate = line.options(RateOptions())
        structure = line.options(StructureOptions())
        inputOptions = line.options(InputOptions())
        soundOptions = line.options(SoundOptions())
        capture = line.options(CaptureOptions())
        color = line.options(ColorOptions())
        reporting = line.options(ReportingOptions())
        input = line.input()
    }
}
