import Glibc
import TestOracles

/// A temporary folder with clips and outputs, and the contenders that encode the clips on the
/// null device.
final class Workbench {
    let folder: String
    let rounds: Int
    private var gstreamerRuns: [StreamCodec: Bool] = [:]

    /// Calls `body` with a workbench in a folder of VAENC_BENCHMARK_FOLDER, and then removes the folder.
    static func with<R>(rounds: Int, _ body: (Workbench) throws -> R) throws -> R {
        guard let root = unsafe getenv("VAENC_BENCHMARK_FOLDER") else {
            return try Files.withTemporaryFolder { try body(Workbench(folder: $0, rounds: rounds)) }
        }
        var template = Array("\(unsafe String(cString: root))/XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw Unmeasurable(description: "cannot make a folder in \(unsafe String(cString: root))")
        }
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { _ = try? ProcessRunner.run("rm", ["-rf", folder]) }
        return try body(Workbench(folder: folder, rounds: rounds))
    }

    private init(folder: String, rounds: Int) {
        self.folder = folder
        self.rounds = rounds
    }

    /// The beginning of the names of all outputs.
    static let outputPrefix = "out-"

    /// Returns the path of an output. Each program has its own, which is removed before its next run.
    func output(_ name: String) -> String { "\(folder)/\(Self.outputPrefix)\(name)" }

    // MARK: Contenders

    /// vaenc on the null device.
    func vaenc(
        _ clip: Clip, codec: StreamCodec = .h264, frames: Int? = nil, bFrames: Int = 0, bytes: Int = 1000, options: [String] = [],
        output: [String]? = nil
    ) throws -> Contender {
        Contender(
            name: "vaenc", program: Checkout.vaenc,
            arguments: ["encode"] + clip.vaenc + ["--device", NullDevice.node, "--codec", codec.rawValue] + Self.settings(bFrames: bFrames)
                + (frames.map { ["--frames", "\($0)"] } ?? []) + options
                + (output ?? ["--format", "annexb", "-o", self.output("vaenc." + codec.format)]),
            environment: try NullDevice.environment(bytes: bytes))
    }

    static func settings(bFrames: Int = 0) -> [String] { ["--qp", "26", "--gop", "120", "--bframes", "\(bFrames)", "--overwrite"] }

    /// FFmpeg on the null device.
    func ffmpeg(
        _ clip: Clip, codec: StreamCodec = .h264, frames: Int? = nil, bFrames: Int = 0, bytes: Int = 1000, options: [String] = [],
        output: [String]? = nil
    ) throws -> Contender {
        let encoder = Self.ffmpegEncoder(codec, bFrames: bFrames)
        return Contender(
            name: "FFmpeg", program: "ffmpeg",
            arguments: ["-v", "error", "-nostdin", "-init_hw_device", "vaapi=va:\(NullDevice.node)", "-filter_hw_device", "va"] + clip.ffmpeg
                + (frames.map { ["-frames:v", "\($0)"] } ?? [])
                + (output ?? ["-vf", clip.upload] + encoder + options + ["-an", "-f", codec.format, "-y", self.output("ffmpeg." + codec.format)]),
            environment: try NullDevice.environment(bytes: bytes))
    }

    static func ffmpegEncoder(_ codec: StreamCodec, bFrames: Int = 0) -> [String] {
        ["-c:v", "\(codec.format)_vaapi", "-qp", "26", "-g", "120", "-bf", "\(bFrames)"]
    }

    /// FFmpeg that decodes a clip and drops the frames.
    func decode(_ clip: Clip) throws -> Contender {
        Contender(
            name: "decoding", program: "ffmpeg", arguments: ["-v", "error", "-nostdin"] + clip.ffmpeg + ["-f", "null", "-"],
            environment: try NullDevice.environment())
    }

    /// The floor of every program that reads raw frames.
    func bareRead(_ clip: Clip) throws -> Contender {
        Contender(
            name: "bare read", program: try NullDevice.folder() + "/bare-read", arguments: [clip.path, "\(clip.frameBytes)"],
            environment: try NullDevice.environment())
    }

    /// GStreamer on the null device; nil if it is not installed or does not run there.
    func gstreamer(_ clip: Clip, codec: StreamCodec = .h264, frames: Int? = nil, bytes: Int = 1000) throws -> Contender? {
        guard let source = clip.gstreamer, try runsGStreamer(codec) else { return nil }
        // The element ends the stream instead of passing the last buffer on.
        let limit = frames.map { ["!", "identity", "eos-after=\($0 + 1)"] } ?? []
        return try gstreamer(source + limit, codec: codec, sink: ["filesink", "location=" + output("gstreamer." + codec.format)], bytes: bytes)
    }

    func gstreamer(_ source: [String], codec: StreamCodec, sink: [String], bytes: Int = 1000, update: Bool = false) throws -> Contender {
        let encoder = codec == .h264 ? "vaapih264enc" : "vaapih265enc"
        let variables: [String: String?] = [
            "GST_VAAPI_DRM_DEVICE": NullDevice.node, "GST_VAAPI_ALL_DRIVERS": "1", "XDG_RUNTIME_DIR": "/tmp", "GST_REGISTRY": folder + "/registry",
            "GST_REGISTRY_UPDATE": update ? "yes" : "no",
        ]
        var result = Contender(
            name: "GStreamer", program: "gst-launch-1.0",
            arguments: ["-q"] + source
                + ["!", encoder, "rate-control=cqp", "init-qp=26", "keyframe-period=120", "max-bframes=0", "!"] + sink,
            environment: try NullDevice.environment(bytes: bytes).merging(variables) { $1 })
        // With a fast device, one of some hundred runs fails: the encoder gives up if a coded buffer that becomes free is not
        // in its pool yet (gst_vaapi_encoder_create_coded_buffer, 1.22).
        result.attempts = 5
        return result
    }

    /// Returns whether GStreamer encodes on the null device. The first call writes its registry.
    func runsGStreamer(_ codec: StreamCodec) throws -> Bool {
        if let known = gstreamerRuns[codec] { return known }
        let source = ["videotestsrc", "num-buffers=3", "!", "video/x-raw,format=NV12,width=320,height=180"]
        let trial = try gstreamer(source, codec: codec, sink: ["fakesink"], update: true)
        let works = (try? trial.run()) != nil
        gstreamerRuns[codec] = works
        return works
    }
}
