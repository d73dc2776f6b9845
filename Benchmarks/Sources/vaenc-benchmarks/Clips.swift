import Glibc
import TestOracles

/// A clip, and how each program is told to read it.
struct Clip {
    var path: String
    var frames: Int
    /// The bytes that a bare read takes at once.
    var frameBytes: Int
    var vaenc: [String]
    var ffmpeg: [String]
    /// FFmpeg's filters from a decoded frame to a surface.
    var upload = "hwupload"
    /// The elements of GStreamer before the encoder; nil if GStreamer cannot read the clip.
    var gstreamer: [String]?
}

extension Workbench {
    /// The formats of raw clips.
    enum Pixels: String {
        case nv12, i420, p010

        var ffmpegName: String {
            switch self {
            case .nv12: "nv12"
            case .i420: "yuv420p"
            case .p010: "p010le"
            }
        }
        var bytesOfTwoPixels: Int { self == .p010 ? 6 : 3 }
    }

    /// The number of different pictures. They are repeated: reading them costs the same, and the clip is made in
    /// seconds instead of minutes.
    private static let pictures = 40

    /// Returns a raw clip of moving content. `frames` is a multiple of 40.
    func raw(_ pixels: Pixels, width: Int, height: Int, frames: Int) throws -> Clip {
        let size = "\(width)x\(height)", bytes = width * height * pixels.bytesOfTwoPixels / 2
        let path = "\(folder)/\(pixels)-\(size)-\(frames).yuv"
        if Files.size(path) != bytes * frames {
            try makeClip("\(path).part", ["-f", "lavfi", "-i", "testsrc2=size=\(size):rate=30"], ["-pix_fmt", pixels.ffmpegName, "-f", "rawvideo"])
            let script = "for i in $(seq $1); do cat \"$0.part\"; done > \"$0\"; rm \"$0.part\""
            try shell(script, path, "\(frames / Self.pictures)")
        }
        let gstreamer = [
            "filesrc", "location=" + path, "blocksize=\(bytes)", "!", "rawvideoparse", "width=\(width)", "height=\(height)", "format=\(pixels)",
            "framerate=30/1",
        ]
        return Clip(
            path: path, frames: frames, frameBytes: bytes, vaenc: [path, "--input-size", size, "--input-format", pixels.rawValue, "--fps", "30"],
            ffmpeg: ["-f", "rawvideo", "-pix_fmt", pixels.ffmpegName, "-s", size, "-r", "30", "-i", path],
            upload: pixels == .i420 ? "format=nv12,hwupload" : "hwupload",
            gstreamer: pixels == .p010 ? nil : pixels == .i420 ? gstreamer + ["!", "videoconvert"] : gstreamer)
    }

    /// Returns a Y4M clip of 1920×1080. `frames` is a multiple of 40.
    func y4m(frames: Int) throws -> Clip {
        let path = "\(folder)/\(frames).y4m"
        if !Files.exists(path) {
            try makeClip("\(path).part", ["-f", "lavfi", "-i", "testsrc2=size=1920x1080:rate=30"], ["-pix_fmt", "yuv420p", "-f", "yuv4mpegpipe"])
            // The header, and the frames without it.
            let script = """
                first=$(head -n 1 "$0.part" | wc -c)
                head -n 1 "$0.part" > "$0"
                for i in $(seq $1); do tail -c +$((first + 1)) "$0.part"; done >> "$0"
                rm "$0.part"
                """
            try shell(script, path, "\(frames / Self.pictures)")
        }
        return Clip(
            path: path, frames: frames, frameBytes: 1920 * 1080 * 3 / 2, vaenc: [path], ffmpeg: ["-i", path], upload: "format=nv12,hwupload",
            gstreamer: nil)
    }

    /// Returns an MP4 clip with H.264 that costs little to decode, so that what else a program does is visible.
    func mp4(width: Int, height: Int, frames: Int) throws -> Clip {
        let size = "\(width)x\(height)"
        let path = "\(folder)/\(size)-\(frames).mp4"
        if !Files.exists(path) {
            try makeClip(
                path, ["-f", "lavfi", "-i", "testsrc2=size=\(size):rate=30"],
                ["-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "veryfast", "-tune", "fastdecode", "-b:v", "6M", "-f", "mp4"], frames: frames)
        }
        return Clip(
            path: path, frames: frames, frameBytes: 65536, vaenc: [path], ffmpeg: ["-i", path], upload: "format=nv12,hwupload",
            gstreamer: ["filesrc", "location=" + path, "!", "qtdemux", "!", "h264parse", "!", "avdec_h264", "!", "videoconvert"])
    }

    /// Removes a clip that no later case uses.
    func discard(_ clip: Clip) { unsafe unlink(clip.path) }

    private func makeClip(_ path: String, _ input: [String], _ output: [String], frames: Int = Workbench.pictures) throws {
        let arguments = ["-v", "error", "-nostdin"] + input + ["-frames:v", "\(frames)"] + output + ["-y", path]
        let result = try ProcessRunner.run("ffmpeg", arguments)
        guard result.status == 0 else { throw Unmeasurable(description: "ffmpeg cannot make a clip: \(result.errors)") }
    }

    private func shell(_ script: String, _ arguments: String...) throws {
        let result = try ProcessRunner.run("bash", ["-e", "-c", script] + arguments)
        guard result.status == 0 else { throw Unmeasurable(description: "cannot make a clip: \(result.errors)") }
    }
}
