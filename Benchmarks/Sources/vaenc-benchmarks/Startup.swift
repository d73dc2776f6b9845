import TestOracles

/// Measures short runs: one frame, the first packet, a query; and the program's size.
enum Startup {
    static let defaultRounds = 15

    static func run(_ options: BenchmarkOptions, _ report: Report) throws {
        try Workbench.with(rounds: options.runs ?? defaultRounds) { bench in
            let clip = try bench.raw(.nv12, width: 1920, height: 1080, frames: 40)
            for (name, measure) in [("one frame", oneFrame), ("first packet", firstPacket), ("version", version), ("probe", query)] {
                do { try measure(bench, clip, report) } catch { report.fail(name, error) }
            }
            do { try size(bench, report) } catch { report.fail("program size", error) }
        }
    }

    private static func oneFrame(_ bench: Workbench, _ clip: Clip, _ report: Report) throws {
        var contenders = [try bench.vaenc(clip, frames: 1), try bench.ffmpeg(clip, frames: 1)]
        if let gstreamer = try bench.gstreamer(clip, frames: 1) { contenders.append(gstreamer) }
        // The floor: a program that does nothing.
        contenders.append(Contender(name: "true", program: "true", arguments: [], environment: try NullDevice.environment()))
        let costs = try Cost.measure(contenders, rounds: bench.rounds)
        let names = contenders.map(\.name)
        report.list("one frame: elapsed time", "ms", Array(zip(names, costs.map { median($0.wall) * 1000 })))
        report.list("one frame: CPU time", "ms", Array(zip(names, costs.map { median($0.cpu) * 1000 })))
        report.list("one frame: peak memory", "MiB", Array(zip(names, costs.map { median($0.peak) / 1024 })))
        report.add(Figure("one frame: elapsed time", median(costs[0].wall) * 1000, "ms", atMost: 20))
        report.add(Figure("one frame: elapsed time relative to FFmpeg", costs[0].ratio(\.wall, to: costs[1]), ""))
        report.add(Figure("one frame: CPU relative to FFmpeg", costs[0].ratio(\.cpu, to: costs[1]), ""))
    }

    /// Measures the time from the program's start to the first byte of the stream.
    private static func firstPacket(_ bench: Workbench, _ clip: Clip, _ report: Report) throws {
        let upload = ["-vf", clip.upload] + Workbench.ffmpegEncoder(.h264)
        let contenders = [
            try bench.vaenc(clip, output: ["--format", "annexb", "-o", "-"]),
            try bench.ffmpeg(clip, output: upload + ["-flush_packets", "1", "-f", "h264", "-"]),
        ]
        var times: [[Double]] = [[], []]
        for round in 0...bench.rounds {
            for (index, contender) in contenders.enumerated() {
                guard let first = try contender.run().firstOutputSeconds else {
                    throw Unmeasurable(description: "\(contender.name) wrote nothing")
                }
                if round > 0 { times[index].append(first) }
            }
        }
        let ratio = median(zip(times[0], times[1]).map { $0 / $1 })
        report.list("first packet: time", "ms", [("vaenc", median(times[0]) * 1000), ("FFmpeg", median(times[1]) * 1000)])
        report.add(Figure("first packet: time relative to FFmpeg", ratio, "", atMost: 0.33))
    }

    private static func version(_ bench: Workbench, _ clip: Clip, _ report: Report) throws {
        let contenders = [
            Contender(name: "vaenc", program: Checkout.vaenc, arguments: ["--version"]),
            Contender(name: "FFmpeg", program: "ffmpeg", arguments: ["-version"]),
        ]
        let costs = try Cost.measure(contenders, rounds: bench.rounds)
        report.list("version: elapsed time", "ms", Array(zip(contenders.map(\.name), costs.map { median($0.wall) * 1000 })))
    }

    private static func query(_ bench: Workbench, _ clip: Clip, _ report: Report) throws {
        try compareQueries("null device", gpu: nil, environment: try NullDevice.environment(), rounds: bench.rounds, report)
    }

    /// Measures how long it takes to query a device's capabilities on the vendors' drivers.
    static func probe(_ options: BenchmarkOptions, _ report: Report) throws {
        for gpu in ["amd-navi21", "intel-tgl"] {
            try compareQueries(gpu, gpu: gpu, environment: [:], rounds: options.runs ?? defaultRounds, report)
        }
    }

    private static func compareQueries(
        _ name: String, gpu: String?, environment: [String: String?], rounds: Int, _ report: Report
    ) throws {
        let contenders = [
            Contender(
                name: "vaenc probe", program: Checkout.vaenc, arguments: ["probe", "--device", NullDevice.node, "--json"], environment: environment,
                fakedGPU: gpu),
            Contender(
                name: "vainfo -a", program: "vainfo", arguments: ["-a", "--display", "drm", "--device", NullDevice.node], environment: environment,
                fakedGPU: gpu),
        ]
        let costs = try Cost.measure(contenders, rounds: rounds)
        let difference = median(zip(costs[0].wall, costs[1].wall).map { ($0 - $1) * 1000 })
        report.list("\(name): elapsed time", "ms", Array(zip(contenders.map(\.name), costs.map { median($0.wall) * 1000 })))
        report.add(Figure("\(name): vaenc probe minus vainfo -a", difference, "ms", atMost: 3))
    }

    /// Measures the program without its symbols, as `make install` installs it.
    private static func size(_ bench: Workbench, _ report: Report) throws {
        let stripped = bench.output("stripped")
        let result = try ProcessRunner.run("strip", ["-o", stripped, Checkout.vaenc])
        guard result.status == 0, let size = Files.size(stripped) else { throw Unmeasurable(description: "strip: \(result.errors)") }
        report.add(Figure("program size, stripped", Double(size) / 1e6, "MB", atMost: 15))
    }
}
