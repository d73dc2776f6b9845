import Vaenc
import VideoBase

/// States the results of a clip in words.
struct BenchVerdict {
    private let report: BenchReport
    private let clip: BenchReport.Clip
    private let summaries: [BenchSummary]

    init(_ clip: BenchReport.Clip, in report: BenchReport) {
        (self.report, self.clip) = (report, clip)
        summaries = BenchSummary.all(of: clip.input, in: report)
    }

    /// One sentence or two for each result; empty without runs.
    var lines: [String] { (VideoCodec.allCases.map(comparison) + [fewestBits, speed]).compactMap(\.self) }

    /// Compares vaenc with FFmpeg on the same driver, or with the software encoder if FFmpeg has no run.
    private func comparison(_ codec: VideoCodec) -> String? {
        let ofCodec = summaries.filter { $0.codec == codec.rawValue }
        guard let ours = ofCodec.first(where: \.isVaenc),
            let other = ofCodec.first(where: { $0.path == "ffmpeg" }) ?? ofCodec.first(where: { $0.path == "software" })
        else { return nil }
        let name = other.path == "ffmpeg" ? "FFmpeg (\(other.encoder.split(separator: " ").last ?? "")) on the same driver" : other.encoder
        var parts: [String] = []
        if let percent = percent(ours.encoder, other.encoder) { parts.append("needs \(Self.bits(percent)) at the same PSNR") }
        if let speed = Self.difference(ours.fps, other.fps) {
            parts.append(speed == 0 ? "is as fast" : "is \(Self.words(speed, "faster", "slower"))")
        }
        if let time = Self.difference(ours.cpuMsPerFrame, other.cpuMsPerFrame) {
            parts.append("uses \(time == 0 ? "the same" : Self.words(time, "more", "less")) CPU time")
        }
        guard let last = parts.popLast() else { return nil }
        let list = parts.isEmpty ? last : parts.joined(separator: ", ") + " and " + last
        return "\(codec.standardName), compared with \(name): vaenc \(list)."
    }

    private var fewestBits: String? {
        let all = report.bdRate.filter { $0.input == clip.input && $0.against == "libx264" }
        let known = all.compactMap { entry in entry.percent.wrapped.map { (name: entry.of, percent: $0) } } + [(name: "libx264", percent: 0)]
        guard !all.isEmpty, let best = known.min(by: { $0.percent < $1.percent }) else { return nil }
        return best.name == "libx264"
            ? "Fewest bits at the same PSNR: libx264." : "Fewest bits at the same PSNR: \(best.name), \(Self.bits(best.percent)) than libx264."
    }

    private var speed: String? {
        guard let fastest = summaries.max(by: { $0.fps < $1.fps }), let slowest = summaries.min(by: { $0.fps < $1.fps }), fastest.fps > 0 else {
            return nil
        }
        let rate = clip.framesPerSecond
        let late = summaries.filter { $0.fps < rate }.map(\.encoder)
        let times =
            rate <= 0
            ? "" : late.isEmpty ? " All encoders are faster than the clip plays." : " Slower than the clip plays: \(late.joined(separator: ", "))."
        let range = fastest.encoder == slowest.encoder ? "" : " Slowest: \(slowest.encoder), \(decimal(slowest.fps, 1)) frames/s."
        return "Fastest: \(fastest.encoder), \(decimal(fastest.fps, 1)) frames/s.\(range)\(times)"
    }

    private func percent(_ encoder: String, _ anchor: String) -> Double? {
        report.bdRate.first { $0.input == clip.input && $0.of == encoder && $0.against == anchor }?.percent.wrapped
    }

    /// Returns a difference in bits in words, such as `12.3 % fewer bits`.
    private static func bits(_ percent: Double) -> String {
        let text = decimal(abs(percent), 1)
        return text == "0.0" ? "the same number of bits" : "\(text) % \(percent < 0 ? "fewer" : "more") bits"
    }

    /// Returns the difference in whole percent; nil if a figure is not positive.
    private static func difference(_ ours: Double, _ theirs: Double) -> Double? {
        guard ours > 0, theirs > 0 else { return nil }
        let percent = ((ours / theirs - 1) * 100).rounded()
        return percent.isFinite ? percent : nil
    }

    private static func words(_ percent: Double, _ more: String, _ less: String) -> String {
        "\(decimal(abs(percent), 0)) % \(percent > 0 ? more : less)"
    }
}
