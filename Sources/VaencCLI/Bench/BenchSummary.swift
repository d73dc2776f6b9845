import Vaenc
import VideoBase

/// The figures of one encoder for one clip, over all its QPs.
struct BenchSummary {
    let encoder: String
    let path: String
    let codec: String
    /// The runs in the order of the QPs.
    let runs: [BenchReport.Run]
    /// The frames of all runs divided by the time of all runs, in frames per second.
    let fps: Double
    /// The mean processor time per frame in milliseconds.
    let cpuMsPerFrame: Double
    /// The mean time from the start of the program to the first byte, in milliseconds.
    let firstPacketMs: Double
    /// The largest peak of the memory, in MiB.
    let peakMiB: Double

    private init(_ runs: [BenchReport.Run], first: BenchReport.Run) {
        (encoder, path, codec, self.runs) = (first.encoder, first.path, first.codec, runs)
        let count = Double(runs.count)
        let seconds = runs.reduce(0) { $0 + ($1.fps > 0 ? 1 / $1.fps : 0) }
        fps = seconds > 0 ? count / seconds : 0
        cpuMsPerFrame = runs.reduce(0) { $0 + $1.cpuMsPerFrame } / count
        firstPacketMs = runs.reduce(0) { $0 + $1.firstPacketMs } / count
        peakMiB = Double(runs.map(\.peakKB).max() ?? 0) / 1024
    }

    /// Returns the summaries of all encoders that have runs of a clip: those of H.264 first, each codec in the order of
    /// the runs.
    static func all(of input: String, in report: BenchReport) -> [BenchSummary] {
        let all = report.encoders(of: input).compactMap { encoder in
            let runs = report.runs.filter { $0.input == input && $0.encoder == encoder }.sorted { $0.qp < $1.qp }
            return runs.first.map { BenchSummary(runs, first: $0) }
        }
        return VideoCodec.allCases.flatMap { codec in all.filter { $0.codec == codec.rawValue } }
    }

    /// Whether this is vaenc with a VA-API driver.
    var isVaenc: Bool { path != "ffmpeg" && path != "software" }

    /// The name of the encoder's styles: the same one for a path, whatever the codec.
    var style: String { isVaenc ? "vaenc" : path }

    /// The mark of the encoder's points.
    var marker: SVGDrawing.Marker { isVaenc ? .circle : path == "ffmpeg" ? .square : .triangle }
}
