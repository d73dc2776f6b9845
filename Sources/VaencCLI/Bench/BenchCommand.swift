import ArgumentParser
import MediaFiles
import Vaenc

struct BenchCommand: ParsableCommand, InterruptibleCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench", _superCommandName: VaencCommand.name,
        abstract: "Compare the device's encoders with libx264 and libx265, and with FFmpeg on the same driver.",
        discussion: """
            Every encoder gets the same raw NV12 frames and runs in a separate process. The quality is measured on the \
            decoded output. Without inputs, vaenc uses its test pattern; the results of real clips are more meaningful.
            """)

    @Argument(help: "Inputs: files that libavformat reads, Y4M, or testsrc:WxH@FPS:FRAMES.")
    var inputs: [String] = []

    @OptionGroup(title: "Device") var device: DeviceOptions

    @Option(help: ArgumentHelp("QPs to encode with, \(SettingRange.qp.words).", valueName: "22,27,32,37"))
    var qp = "22,27,32,37"

    @Option(help: ArgumentHelp("Speed: 1 (best quality) to 7 (fastest), or slow, medium, fast.", valueName: "1…7|slow|medium|fast"))
    var preset: String?

    @Option(
        help: ArgumentHelp("Maximum number of frames of each input, \(OptionRange.benchFrames.words).", valueName: "N"))
    var frames = 120

    @Option(help: ArgumentHelp("Scale the inputs to this size; both numbers must be even.", valueName: "WxH"))
    var size: String?

    @Flag(help: "Leave out FFmpeg.")
    var noFfmpeg = false

    @Option(help: .hidden) var plot: String?

    @Flag(help: "Print one JSON object instead of the table.")
    var json = false

    func run() throws {
        if plot != nil { throw VaencError.notImplemented("--plot") }
        let qps = try qp.split(separator: ",", omittingEmptySubsequences: false).map { text in
            guard let value = Int(text) else { throw VaencError.usage("--qp \(qp) is not a list of QPs", remedy: "write it as 22,27,32,37") }
            try OptionValue.check("--qp", value: value, in: SettingRange.qp)
            return value
        }
        guard !qps.isEmpty, Set(qps).count == qps.count else {
            throw VaencError.usage("--qp \(qp) is empty or names a QP twice", remedy: "write it as 22,27,32,37")
        }
        try OptionValue.check("--frames", value: frames, in: OptionRange.benchFrames)
        let preset = try self.preset.map(OptionValue.preset)
        let outputSize = try size.map { try SourceOptions.size("--size", $0) }
        let selection = try device.selection()
        let interruption = Interruption()
        let resources = try BenchResources()
        defer { resources.remove() }
        interruption.whenFirst { resources.interrupt() }
        interruption.watch()
        let report = try measure(qps, outputSize: outputSize, preset: preset, selection: selection, resources: resources)
        if !json { for note in report.notices { Terminal.note(note) } }
        try Terminal.report(json ? try JSON.text(report) + "\n" : Terminal.visible(BenchTable.text(report), keepsLines: true), to: 1)
    }

    private func measure(
        _ qps: [Int], outputSize: VideoSize?, preset: Int?, selection: DeviceSelector, resources: BenchResources
    ) throws -> BenchReport {
        var progress = BenchProgress()
        progress.step("looking for encoders")
        defer { progress.finish() }
        let contenders = try Contenders(
            selection: selection, requireHardware: device.requireHardware, preset: preset, withFFmpeg: !noFfmpeg, resources: resources)
        defer { contenders.stop() }

        var report = BenchReport(device: contenders.deviceName)
        let inputs = inputs.isEmpty ? ["testsrc:1280x720@30:\(frames)"] : inputs
        progress.total = inputs.count * contenders.all.count * qps.count
        for input in inputs {
            progress.step("reading \(input)")
            let clip = try BenchClip(input, frames: frames, size: outputSize, resources: resources)
            for contender in contenders.all {
                for qp in qps {
                    progress.run(contender.encoder, input: clip.name, qp: qp)
                    report.runs.append(try clip.run(contender, qp: qp))
                }
            }
            report.bdRate += differences(report.runs.filter { $0.input == clip.name }, clip: clip.name, contenders: contenders)
        }
        report.notices = contenders.notes
        return report
    }

    /// Returns the BD-rate of each contender against x264, the usual anchor.
    private func differences(_ runs: [BenchReport.Run], clip: String, contenders: Contenders) -> [BenchReport.Difference] {
        func curve(_ encoder: String) -> [BDRate.Point] {
            runs.filter { $0.encoder == encoder }.compactMap { run in
                run.psnr.wrapped.map { BDRate.Point(bitrate: Double(run.bytes), psnr: $0) }
            }
        }
        let anchor = curve("libx264")
        guard anchor.count >= 4 else { return [] }
        return contenders.all.map(\.encoder).filter { $0 != "libx264" }.map {
            .init(input: clip, of: $0, against: "libx264", percent: Nullable(BDRate.percent(of: curve($0), against: anchor).map(rounded)))
        }
    }
}
