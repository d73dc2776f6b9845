import TestOracles

/// Measures the latency of frames that arrive at a fixed rate.
enum LiveLatency {
    static let defaultRounds = 5
    /// The frames of a run. The first ones wait for the program's start, and are not counted.
    private static let frames = 260
    private static let uncounted = 20
    private static let framesPerSecond = 60.0

    private struct Entry {
        var name: String
        var contender: Contender
        var isOurs = false
    }

    static func run(_ options: BenchmarkOptions, _ report: Report) throws {
        try Workbench.with(rounds: options.runs ?? defaultRounds) { bench in
            let clip = try bench.raw(.nv12, width: 1920, height: 1080, frames: 40)
            let frame = Array(try Files.read(clip.path)[..<clip.frameBytes])
            let entries = try entries(bench, clip)
            for milliseconds in [0, 4, 8] {
                do { try measure(entries, frame, milliseconds, bench, report) } catch { report.fail("\(milliseconds) ms", error) }
            }
        }
    }

    private static func entries(_ bench: Workbench, _ clip: Clip) throws -> [Entry] {
        let size = "1920x1080"
        var live = clip
        live.vaenc = ["-", "--input-size", size, "--input-format", "nv12", "--fps", "60"]
        live.ffmpeg = ["-f", "rawvideo", "-pix_fmt", "nv12", "-s", size, "-r", "60", "-i", "-"]
        func vaenc(_ options: [String]) throws -> Contender { try bench.vaenc(live, options: options, output: ["--format", "annexb", "-o", "-"]) }
        func ffmpeg(depth: Int) throws -> Contender {
            let encoder = Workbench.ffmpegEncoder(.h264) + ["-async_depth", "\(depth)"]
            return try bench.ffmpeg(live, output: ["-vf", "hwupload"] + encoder + ["-flush_packets", "1", "-f", "h264", "-"])
        }
        var result = [
            Entry(name: "vaenc", contender: try vaenc([]), isOurs: true),
            Entry(name: "vaenc --low-latency", contender: try vaenc(["--low-latency"]), isOurs: true),
            Entry(name: "FFmpeg, depth 1", contender: try ffmpeg(depth: 1)),
            Entry(name: "FFmpeg, depth 2", contender: try ffmpeg(depth: 2)),
        ]
        if try bench.runsGStreamer(.h264) {
            let source = [
                "fdsrc", "fd=0", "blocksize=\(clip.frameBytes)", "!", "rawvideoparse", "width=1920", "height=1080", "format=nv12", "framerate=60/1",
            ]
            let contender = try bench.gstreamer(source, codec: .h264, sink: ["fdsink", "fd=1", "sync=false"])
            result.append(Entry(name: "GStreamer", contender: contender))
        }
        return result
    }

    private static func measure(_ entries: [Entry], _ frame: [UInt8], _ milliseconds: Int, _ bench: Workbench, _ report: Report) throws {
        var middles = [[Double]](repeating: [], count: entries.count), tails = middles
        var failures = [Int: any Error]()
        for _ in 0..<bench.rounds {
            for (index, entry) in entries.enumerated() where failures[index] == nil {
                var contender = entry.contender
                contender.environment["VAENC_NULL_MS"] = "\(milliseconds)"
                do {
                    let latencies = try PacedRun.latencies(contender, frame: frame, count: frames, period: 1 / framesPerSecond)
                    let sorted = latencies.dropFirst(uncounted).map { $0 * 1000 - Double(milliseconds) }.sorted()
                    middles[index].append(median(sorted))
                    tails[index].append(sorted[sorted.count * 99 / 100])
                } catch { failures[index] = error }
            }
        }
        for (index, entry) in entries.enumerated() {
            let name = "\(milliseconds) ms, \(entry.name): latency above the device"
            if let failure = failures[index] {
                report.fail(name, failure)
                continue
            }
            report.add(Figure("\(name), median", median(middles[index]), "ms", atMost: entry.isOurs ? 0.7 : nil))
            report.add(Figure("\(name), 99 %", median(tails[index]), "ms", atMost: entry.isOurs ? 3 : nil))
        }
    }
}
