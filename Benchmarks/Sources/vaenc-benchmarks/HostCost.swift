import Glibc
import TestOracles

/// A program that encodes, with its arguments and environment.
struct Contender {
    var name: String
    var program: String
    var arguments: [String]
    var environment: [String: String?] = [:]

    /// The same program on one CPU. The result excludes the cost of threads that run in parallel, which differs between
    /// machines.
    var onOneCPU: Contender {
        Contender(
            name: name, program: "taskset", arguments: ["-c", "0", program] + arguments, environment: environment)
    }

    func run() throws -> ProcessRunner.Result {
        let result = try ProcessRunner.run(program, arguments, environment: environment, timeout: 600)
        guard result.status == 0 else {
            throw Unmeasurable(
                description: "\(name) ended with status \(result.status): \(result.errorLines.last ?? "")")
        }
        return result
    }
}

/// The measurements of one program's runs.
struct Cost {
    var cpu: [Double] = []
    var wall: [Double] = []
    var peak: [Double] = []
    var first: [Double] = []

    mutating func add(_ result: ProcessRunner.Result) {
        cpu.append(result.cpuSeconds)
        wall.append(result.wallSeconds)
        peak.append(Double(result.peakKB))
        if let firstOutput = result.firstOutputSeconds { first.append(firstOutput) }
    }

    /// Runs each contender once without measuring, and then `rounds` times. In each round, the contenders run one after
    /// the other.
    static func measure(_ contenders: [Contender], rounds: Int) throws -> [Cost] {
        for contender in contenders { _ = try contender.run() }
        var costs = [Cost](repeating: Cost(), count: contenders.count)
        for _ in 0..<rounds {
            for (index, contender) in contenders.enumerated() { costs[index].add(try contender.run()) }
        }
        return costs
    }
}

/// Measures the cost on the host with a device that costs nothing: the reference driver in null mode.
enum HostCost {
    static let size = (width: 1920, height: 1080)
    static var nullDriver: [String: String?] {
        Checkout.driverEnvironment.merging(["VAENC_REFERENCE_MODE": "null"]) { $1 }
    }

    static func vaenc(_ raw: String, format: String, frames: Int, output: String, device: String = "reference")
        -> Contender
    {
        Contender(
            name: "vaenc", program: Checkout.vaenc,
            arguments: [
                "encode", raw, "--input-size", "\(size.width)x\(size.height)", "--input-format", format, "--fps", "30",
                "--device", device, "--codec", "h264", "--qp", "26", "--gop", "120", "--bframes", "0", "--frames",
                "\(frames)", "--format", "annexb", "--overwrite", "-o", output,
            ],
            environment: device == "reference" ? ["VAENC_REFERENCE_MODE": "null"] : [:])
    }

    static func ffmpeg(_ raw: String, format: String, frames: Int, output: String, device: String? = nil) -> Contender {
        let pixels = format == "i420" ? "yuv420p" : format
        return Contender(
            name: "ffmpeg", program: "ffmpeg",
            arguments: [
                "-v", "error", "-nostdin", "-init_hw_device",
                device.map { "vaapi=va:\($0)" } ?? "vaapi=va:,connection_type=x11", "-filter_hw_device", "va", "-f",
                "rawvideo", "-pix_fmt", pixels, "-s", "\(size.width)x\(size.height)", "-r", "30", "-i", raw,
                "-frames:v",
                "\(frames)", "-vf", format == "nv12" ? "hwupload" : "format=nv12,hwupload", "-c:v", "h264_vaapi", "-qp",
                "26", "-g", "120", "-bf", "0", "-flush_packets", "1", "-f", "h264", "-y", output,
            ],
            environment: device == nil ? nullDriver : [:])
    }

    /// Measures CPU time, memory and wall time for 1000 frames.
    static func run() throws -> [Figure] {
        let frames = 1000
        return try withRaw { folder, raw in
            // A child starts as a copy of this program, so its measured peak is at least this program's own.
            let floor = try Contender(name: "true", program: "true", arguments: []).run()
            var figures = [Figure("minimum measurable peak memory", Double(floor.peakKB) / 1024, "MiB")]
            for (format, limit) in [("nv12", 0.75), ("i420", 0.6)] {
                let reading = Contender(
                    name: "dd", program: "dd", arguments: ["if=\(raw)", "of=/dev/null", "bs=3110400", "status=none"])
                let our = vaenc(raw, format: format, frames: frames, output: folder + "/vaenc.h264")
                let their = ffmpeg(raw, format: format, frames: frames, output: folder + "/ffmpeg.h264")
                let costs = try Cost.measure([our, their, reading, our.onOneCPU, their.onOneCPU], rounds: 5)
                let (ours, theirs, read) = (costs[0], costs[1], costs[2])
                let name = "\(format) 1920×1080"
                figures += [
                    Figure("\(name): CPU time per frame, vaenc", median(ours.cpu) * 1000 / Double(frames), "ms"),
                    Figure("\(name): CPU time per frame, FFmpeg", median(theirs.cpu) * 1000 / Double(frames), "ms"),
                    Figure(
                        "\(name): CPU time per frame, dd (reading only)", median(read.cpu) * 1000 / Double(frames), "ms"),
                    Figure("\(name): CPU time relative to FFmpeg", median(ours.cpu) / median(theirs.cpu), "", atMost: limit),
                    Figure(
                        "\(name): CPU time relative to FFmpeg, both on one CPU", median(costs[3].cpu) / median(costs[4].cpu), ""),
                    Figure("\(name): peak memory, vaenc", median(ours.peak) / 1024, "MiB"),
                    Figure("\(name): peak memory, FFmpeg", median(theirs.peak) / 1024, "MiB"),
                    Figure(
                        "\(name): peak memory relative to FFmpeg", median(ours.peak) / median(theirs.peak), "", atMost: 0.7),
                    Figure("\(name): elapsed time relative to FFmpeg", median(ours.wall) / median(theirs.wall), ""),
                ]
            }
            return figures
        }
    }

    /// Measures CPU time for coded pictures of 1, 25 and 100 kB, which are 0.2, 6 and 24 Mbit/s at 30 frames per second.
    static func coded() throws -> [Figure] {
        let frames = 500
        return try withRaw(frames: frames) { folder, raw in
            var figures: [Figure] = []
            for (format, muxer) in [("annexb", "h264"), ("mp4", "mp4")] {
                for bytes in [1_000, 25_000, 100_000] {
                    func sized(_ contender: Contender, _ muxerOption: String, _ value: String) -> Contender {
                        var result = contender
                        result.environment["VAENC_REFERENCE_NULL_BYTES"] = "\(bytes)"
                        if let index = result.arguments.lastIndex(of: muxerOption) { result.arguments[index + 1] = value }
                        return result
                    }
                    let costs = try Cost.measure(
                        [
                            sized(vaenc(raw, format: "nv12", frames: frames, output: folder + "/vaenc." + muxer), "--format", format),
                            sized(ffmpeg(raw, format: "nv12", frames: frames, output: folder + "/ffmpeg." + muxer), "-f", muxer),
                        ], rounds: 5)
                    let (ours, theirs) = (median(costs[0].cpu), median(costs[1].cpu))
                    let name = "\(format), pictures of \(bytes / 1000) kB"
                    figures += [
                        Figure("\(name): CPU time per frame, vaenc", ours * 1000 / Double(frames), "ms"),
                        Figure("\(name): CPU time per frame, FFmpeg", theirs * 1000 / Double(frames), "ms"),
                        Figure("\(name): CPU time relative to FFmpeg", ours / theirs, "", atMost: 0.9),
                    ]
                }
            }
            return figures
        }
    }

    /// Measures the time from the program's start to the first byte of the stream.
    static func startup() throws -> [Figure] {
        try withRaw(frames: 30) { _, raw in
            let costs = try Cost.measure(
                [
                    vaenc(raw, format: "nv12", frames: 30, output: "-"),
                    ffmpeg(raw, format: "nv12", frames: 30, output: "-"),
                ], rounds: 9)
            let (ours, theirs) = (median(costs[0].first), median(costs[1].first))
            return [
                Figure("time to first packet, vaenc", ours * 1000, "ms"), Figure("time to first packet, FFmpeg", theirs * 1000, "ms"),
                Figure("time to first packet relative to FFmpeg", ours / theirs, "", atMost: 0.33),
            ]
        }
    }

    /// Measures CPU time on AMD's own driver over the faked kernel.
    static func amd() throws -> [Figure] {
        let frames = 300
        let node = "/dev/dri/renderD128"
        return try withRaw(frames: frames) { folder, raw in
            var figures: [Figure] = []
            for format in ["nv12", "i420"] {
                let costs = try Cost.measure(
                    try [
                        vaenc(raw, format: format, frames: frames, output: folder + "/a.h264", device: node),
                        ffmpeg(raw, format: format, frames: frames, output: folder + "/b.h264", device: node),
                    ].map { try onFakeGPU("amd-navi21", $0) }, rounds: 5)
                let (ours, theirs) = (median(costs[0].cpu), median(costs[1].cpu))
                figures += [
                    Figure("AMD navi21, \(format): CPU time per frame, vaenc", ours * 1000 / Double(frames), "ms"),
                    Figure("AMD navi21, \(format): CPU time per frame, FFmpeg", theirs * 1000 / Double(frames), "ms"),
                    Figure("AMD navi21, \(format): CPU time relative to FFmpeg", ours / theirs, "", atMost: 0.5),
                ]
            }
            return figures
        }
    }

    /// Measures how long it takes to query a device's capabilities.
    static func probe() throws -> [Figure] {
        let node = "/dev/dri/renderD128"
        var figures: [Figure] = []
        for gpu in ["amd-navi21", "intel-tgl"] {
            let costs = try Cost.measure(
                try [
                    Contender(
                        name: "vaenc probe", program: Checkout.vaenc, arguments: ["probe", "--device", node, "--json"]),
                    Contender(
                        name: "vainfo -a", program: "vainfo", arguments: ["-a", "--display", "drm", "--device", node]),
                ].map { try onFakeGPU(gpu, $0) }, rounds: 15)
            let (ours, theirs) = (median(costs[0].wall) * 1000, median(costs[1].wall) * 1000)
            figures += [
                Figure("\(gpu): vaenc probe", ours, "ms"), Figure("\(gpu): vainfo -a", theirs, "ms"),
                Figure("\(gpu): vaenc probe minus vainfo -a", ours - theirs, "ms", atMost: 15),
            ]
        }
        return figures
    }

    private static func onFakeGPU(_ gpu: String, _ contender: Contender) throws -> Contender {
        guard let tools = unsafe getenv("VAENC_FAKEGPU") else {
            throw Unmeasurable(description: "needs the faked GPUs: SHARED=… names the folder with tools/fakegpu")
        }
        var result = contender
        result.program = unsafe String(cString: tools) + "/run"
        result.arguments = [gpu, contender.program] + contender.arguments
        return result
    }

    /// Calls `body` with a temporary folder and the path of a raw file of 1920×1080 frames with moving content.
    private static func withRaw<R>(frames: Int = 1000, _ body: (String, String) throws -> R) throws -> R {
        try Files.withTemporaryFolder { folder in
            let raw = folder + "/in.yuv"
            let setup = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=1920x1080:rate=30", "-frames:v",
                    "40",
                    "-pix_fmt", "nv12", "-f", "rawvideo", "-y", raw,
                ])
            guard setup.status == 0 else { throw Unmeasurable(description: setup.errors) }
            // The 40 pictures are repeated. Reading them costs the same, and the file is made in seconds instead of minutes.
            let repeated = try ProcessRunner.run(
                "bash",
                [
                    "-c",
                    "n=$(( ($1 + 39) / 40 )); for i in $(seq $n); do cat \"$0\"; done > \"$0.all\"; mv \"$0.all\" \"$0\"",
                    raw, "\(frames)",
                ])
            guard repeated.status == 0 else { throw Unmeasurable(description: repeated.errors) }
            return try body(folder, raw)
        }
    }
}
