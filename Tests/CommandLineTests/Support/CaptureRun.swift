import TestOracles

/// One run of `vaenc capture --json …` on simulated cameras, in its own folder.
struct CaptureRun {
    var encode: EncodeRun
    var folder: String

    var status: Int { encode.status }
    var errors: String { encode.errors }
    var capture: JSONValue? { encode.report?["capture"] }
    func count(_ name: String) -> Int? { capture?[name]?.int }

    /// A camera without pictures has stalled only after ten minutes, unless `arguments` has another limit.
    init(
        _ cameras: String, _ arguments: [String], in folder: String, command: String = "capture",
        environment: [String: String?] = [:], timeout: Double = 600
    ) throws {
        let all = try FakeCameras.environment(cameras).merging(environment) { $1 }
        let limit = arguments.contains("--stall-timeout") ? [] : ["--stall-timeout", "600"]
        self.folder = folder
        encode = EncodeRun(
            try ProcessRunner.run(
                Checkout.vaenc, [command] + arguments + limit + ["--json"], environment: all, directory: folder, timeout: timeout))
    }

    /// Returns the pictures of an H.264 output in Annex B.
    func frames(_ name: String = "a.h264") throws -> [PlanarFrame] {
        let video = ForeignDecoder.libavcodec.decode(try Files.read(folder + "/" + name))
        return video.messages.isEmpty ? video.frames : []
    }

    /// Returns the sorted presentation times of a container's pictures, in seconds.
    func times(_ name: String) throws -> [Double] {
        let result = try ProcessRunner.run(
            "ffprobe", ["-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time", "-of", "csv=p=0", name],
            directory: folder)
        return result.output.split(separator: "\n").compactMap { Double($0.split(separator: ",")[0]) }.sorted()
    }
}
