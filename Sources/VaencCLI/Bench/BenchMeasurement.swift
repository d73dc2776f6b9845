import Vaenc
import VideoBase

/// Runs all encoders on all inputs.
struct BenchMeasurement {
    let qps: [Int]
    let size: VideoSize?
    let frames: Int
    /// Whether larger inputs are scaled down to about `quickSize`.
    let isQuick: Bool
    let wantsPictures: Bool
    let resources: BenchResources
    let progress: BenchProgress
    let outcome: BenchOutcome

    /// The number of frames of `--quick`, and the size to which it scales larger inputs.
    static let (quickFrames, quickSize) = (30, VideoSize(width: 640, height: 360))

    /// Measures everything, and gives the outcome the report after each run.
    ///
    /// Each QP is measured with all encoders before the next one. So an interrupted benchmark has figures of all of
    /// them, and the remaining time can be estimated early.
    func run(_ inputs: [String], _ contenders: [Contender], into report: inout BenchReport) throws {
        let perEncoder = inputs.count * (qps.count + (wantsPictures ? 1 : 0))
        progress.plan(contenders.map { ($0.encoder, perEncoder) })
        report.plannedRuns = inputs.count * contenders.count * qps.count
        for input in inputs {
            progress.step("reading \(input)")
            var clip = try BenchClip(input, frames: frames, size: size, fitting: isQuick ? Self.quickSize : nil, resources: resources)
            clip.name = Self.unique(clip.name, report.clips.map(\.input))
            report.clips.append(clip.facts)
            try measure(clip, contenders, into: &report)
            if wantsPictures { try addPictures(of: clip, contenders, to: &report) }
        }
    }

    private func measure(_ clip: BenchClip, _ contenders: [Contender], into report: inout BenchReport) throws {
        let before = report.runs
        var runs = contenders.map { _ in [BenchReport.Run]() }
        for qp in qps {
            for (index, contender) in contenders.enumerated() {
                progress.run(contender.encoder, "at QP \(qp)", input: clip.name)
                runs[index].append(try clip.run(contender, qp: qp))
                progress.runEnds()
                // The runs of an encoder are reported together.
                report.runs = before + runs.joined()
                outcome.update(report)
            }
        }
    }

    private func addPictures(of clip: BenchClip, _ contenders: [Contender], to report: inout BenchReport) throws {
        let runs = report.runs.filter { $0.input == clip.name }
        guard let target = BenchPictures.target(runs) else { return }
        report.originals.append(try clip.original(frame: clip.frameCount / 2))
        for contender in contenders {
            progress.run(contender.encoder, "for its picture", input: clip.name)
            let points = runs.filter { $0.encoder == contender.encoder }.map { (qp: $0.qp, bytes: $0.bytes) }
            report.pictures.append(try clip.picture(contender, frame: clip.frameCount / 2, target: target, points))
            progress.runEnds()
            outcome.update(report)
        }
    }

    /// Returns a name that no other clip has.
    private static func unique(_ name: String, _ others: [String]) -> String {
        if !others.contains(name) { return name }
        return (2...max(others.count + 1, 2)).lazy.map { "\(name) (\($0))" }.first { !others.contains($0) } ?? name
    }
}
