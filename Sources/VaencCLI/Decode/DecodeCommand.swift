import ArgumentParser
import MediaFiles
import VAAPI
import Vaenc
import VideoBase

struct DecodeCommand: ParsableCommand, InterruptibleCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode", _superCommandName: VaencCommand.name,
        abstract: "Decode a file into Y4M or raw pictures.",
        discussion: """
            INPUT is any file that libavformat reads, or - for stdin. Examples:
              vaenc decode movie.mp4 -o movie.y4m
              vaenc decode movie.mkv -o - --device /dev/dri/renderD128 | player -
            """)

    @Argument(help: "The input.")
    var input: String

    @Option(name: [.short, .long], help: ArgumentHelp("Output: .y4m, .yuv, .nv12, .p010, or - for Y4M on stdout.", valueName: "FILE"))
    var output: String

    @Flag(help: "Replace an existing file.")
    var overwrite = false

    @OptionGroup(title: "Device") var device: DecodeDeviceOptions
    @OptionGroup(title: "Input") var inputOptions: InputOptions

    @Flag(help: "Print one JSON object at the end, on stdout (on stderr if the output is stdout).")
    var json = false

    func run() throws {
        let selection = try device.selection()
        let interruption = Interruption()
        interruption.watch()
        if let same = MediaOutput.overwritten(input, by: output) {
            throw VaencError.usage("\(same) is the input itself", remedy: "name another output")
        }
        let source = try MediaInput.open(input, options: try inputOptions.sourceOptions())
        defer { source.close() }
        interruption.whenFirst { source.cancel() }
        let decoding = try InputDecoding(source, on: selection, requireHardware: device.requireHardware)
        let sink = try PictureSink(output, of: source.info, overwrite: overwrite)
        let isInterrupted: Bool
        var times = PictureTimes(source.info.frameRate)
        do {
            isInterrupted = try copy(from: decoding, to: sink, &times, interruption)
            if sink.pictures == 0 {
                if isInterrupted { throw VaencError(.interrupted, "interrupted before the first picture: nothing was written") }
                throw VaencError(
                    .badInput, "the input has no pictures to decode", remedy: "check --start, --duration and the input")
            }
            if device.requireHardware, decoding.backend.kind == .software {
                throw VaencError(
                    .unavailable, "the input was decoded in software: \(decoding.backend.why)",
                    remedy: "leave out --require-hardware")
            }
            try sink.finish()
        } catch {
            sink.cancel()
            throw error
        }
        try printReport(decoding, sink: sink, times: times, isInterrupted: isInterrupted)
        if isInterrupted { throw ExitCode(ErrorCategory.interrupted.exitStatus) }
    }

    /// Copies pictures until the end of the input or an interruption. Returns whether it was interrupted.
    private func copy(
        from decoding: InputDecoding, to sink: PictureSink, _ times: inout PictureTimes, _ interruption: Interruption
    ) throws -> Bool {
        let buffer = try SystemPixelBuffer(format: sink.format, size: sink.size)
        let info = decoding.source.info
        let isScaled = info.size != info.nativeSize
        let converter = PixelConverter(color: info.color)
        // SAFETY: `withUnsafePlanes` keeps the planes valid during the closure. The source writes, and the sink reads,
        // only inside them.
        while !interruption.isRequested {
            do {
                if isScaled {
                    guard let frame = try decoding.nextFrame(makeBuffer: { buffer }) else { return false }
                    if frame.buffer !== buffer {
                        try unsafe frame.buffer.withUnsafePlanes { scaled in
                            try unsafe buffer.withUnsafePlanes { unsafe try converter.convert(scaled, to: $0) }
                        }
                    }
                    times.add(frame.timing)
                } else {
                    guard let timing = try unsafe buffer.withUnsafePlanes({ unsafe try decoding.source.readFrame(into: $0) }) else { return false }
                    times.add(timing)
                }
            } catch let error as any DescribedError where error.category == .interrupted && interruption.isRequested {
                return true
            }
            try unsafe buffer.withUnsafePlanes { unsafe try sink.write($0) }
        }
        return true
    }

    private func printReport(
        _ decoding: InputDecoding, sink: PictureSink, times: PictureTimes, isInterrupted: Bool
    ) throws {
        let backend = decoding.backend
        let report = DecodeReport(decoding, sink: sink, times: times, output: output, isInterrupted: isInterrupted)
        if json {
            try Terminal.report(try JSON.text(report) + "\n", to: output == "-" ? 2 : 1)
            return
        }
        for notice in report.notices { Terminal.note(notice) }
        let skipped = report.frames.skipped
        Terminal.note(
            """
            \(FileName.printable(output)): \(counted(report.frames.decoded, "picture")), \(report.width)×\(report.height) \
            \(report.format), decoded \(backend.kind == .software ? "in software (\(backend.why))" : "on \(backend.driver)")\
            \(skipped > 0 ? ", \(counted(skipped, "picture")) at the start LEFT OUT: they cannot be decoded" : "")\
            \(isInterrupted ? ", interrupted" : "")
            """)
    }
}

/// The options that select the device for decoding.
struct DecodeDeviceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Device: auto (hardware if it decodes the input, otherwise software), reference, software, a render node or "
                + "a PCI address.",
            valueName: "auto|reference|software|PATH|PCI"))
    var device = "auto"

    @Flag(help: "Refuse to decode in software.")
    var requireHardware = false

    func selection() throws -> DeviceSelector {
        let selection = try DeviceOptions.selector(device)
        if requireHardware, selection == .software || selection == .reference {
            throw VaencError.usage("--require-hardware contradicts --device \(device)", remedy: "leave out one of them")
        }
        return selection
    }
}
