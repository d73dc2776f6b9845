import ArgumentParser
import MediaFiles
import Vaenc

struct BenchCommand: ParsableCommand, InterruptibleCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench", _superCommandName: VaencCommand.name,
        abstract: "Compare the device's encoders with libx264 and libx265, and with FFmpeg on the same driver.",
        discussion: """
            Every encoder gets the same raw NV12 frames and runs in a separate process. The quality is measured on the \
            decoded output. Without inputs, vaenc uses its test pattern; the results of real clips are more meaningful. \
            Ctrl-C ends the benchmark with a report of the finished runs.

              vaenc bench clip.mp4 --quick --html report.html
            """)

    @Argument(help: "Inputs: files that libavformat reads, Y4M, or testsrc:WxH@FPS:FRAMES.")
    var inputs: [String] = []

    @OptionGroup(title: "Device") var device: DeviceOptions

    @Option(help: ArgumentHelp("QPs to encode with, \(SettingRange.qp.words).", valueName: "22,27,32,37"))
    var qp = "22,27,32,37"

    @Option(help: ArgumentHelp("Speed: 1 (best quality) to 7 (fastest), or slow, medium, fast.", valueName: "1…7|slow|medium|fast"))
    var preset: String?

    @Option(
        help: ArgumentHelp(
            "Maximum number of frames of each input, \(OptionRange.benchFrames.words) (default 120).", valueName: "N"))
    var frames: Int?

    @Option(help: ArgumentHelp("Scale the inputs to this size; both numbers must be even.", valueName: "WxH"))
    var size: String?

    @Flag(
        help: ArgumentHelp(
            "Take less than a minute: the first \(BenchMeasurement.quickFrames) frames, scaled down to about "
                + "\(BenchMeasurement.quickSize) if they are larger. --frames and --size override this."))
    var quick = false

    @Flag(help: "Leave out FFmpeg.")
    var noFfmpeg = false

    @Option(
        help: ArgumentHelp(
            "Write a report with charts, tables and pictures as one HTML file that needs no other file.", valueName: "FILE.html"))
    var html: String?

    @Option(help: ArgumentHelp("Draw the charts into an SVG file.", valueName: "FILE.svg"))
    var svg: String?

    @Flag(help: "Replace existing files.")
    var overwrite = false

    @Option(help: .hidden) var plot: String?

    @Flag(help: "Print one JSON object instead of the table.")
    var json = false

    func run() throws {
        if plot != nil { throw VaencError.notImplemented("--plot", remedy: "use --svg FILE") }
        let qps = try qp.split(separator: ",", omittingEmptySubsequences: false).map { text in
            guard let value = Int(text) else { throw VaencError.usage("--qp \(qp) is not a list of QPs", remedy: "write it as 22,27,32,37") }
            try OptionValue.check("--qp", value: value, in: SettingRange.qp)
            return value
        }
        guard !qps.isEmpty, Set(qps).count == qps.count else {
            throw VaencError.usage("--qp \(qp) is empty or names a QP twice", remedy: "write it as 22,27,32,37")
        }
        if let frames { try OptionValue.check("--frames", value: frames, in: OptionRange.benchFrames) }
        let preset = try self.preset.map(OptionValue.preset)
        let outputSize = try size.map { try SourceOptions.size("--size", $0) }
        let selection = try device.selection()
        let outputs = BenchOutputs(json: json, html: html, svg: svg, overwrite: overwrite)
        try outputs.check(inputs)
        let interruption = Interruption()
        let resources = try BenchResources()
        defer { resources.remove() }
        let progress = BenchProgress()
        let outcome = BenchOutcome(outputs, progress: progress)
        interruption.whenFirst { resources.interrupt { outcome.writeInterrupted() } }
        interruption.watch()
        defer { progress.finish() }
        progress.start()
        let measurement = BenchMeasurement(
            qps: qps, size: outputSize, frames: frames ?? (quick ? BenchMeasurement.quickFrames : 120), isQuick: quick,
            wantsPictures: html != nil, resources: resources, progress: progress, outcome: outcome)
        try measure(measurement, preset: preset, selection: selection)
        try outcome.write()
    }

    private func measure(_ measurement: BenchMeasurement, preset: Int?, selection: DeviceSelector) throws {
        let date = Clock.date
        measurement.progress.step("looking for encoders")
        let contenders = try Contenders(
            selection: selection, requireHardware: device.requireHardware, preset: preset, withFFmpeg: !noFfmpeg,
            resources: measurement.resources)
        defer { contenders.stop() }
        var report = BenchReport(
            device: contenders.deviceName, deviceKind: contenders.deviceKind.rawValue, devicePath: Nullable(contenders.devicePath), date: date,
            machine: .current, qps: measurement.qps, preset: Nullable(preset), quick: quick, notices: contenders.notes)
        let inputs = inputs.isEmpty ? ["testsrc:1280x720@30:\(measurement.frames)"] : inputs
        try measurement.run(inputs, contenders.all, into: &report)
        measurement.outcome.update(report)
    }
}
