import TestOracles

/// Cases on other drivers than the null driver.
extension HostCase {
    /// The vendors' drivers over faked kernels. They copy each frame to memory that is slow to write.
    static var onFakedGPUs: [HostCase] {
        [
            HostCase("tgl", "NV12 1920×1080 on iHD, Tiger Lake", Limits(cpu: 0.35)) { try faked($0, "intel-tgl", .nv12, lowPower: true) },
            HostCase("icl", "NV12 1920×1080 on iHD, Ice Lake", Limits(cpu: 0.35)) { try faked($0, "intel-icl", .nv12, lowPower: true) },
            HostCase("navi21", "NV12 1920×1080 on radeonsi, Navi 21", Limits(cpu: 0.25)) { try faked($0, "amd-navi21", .nv12) },
            HostCase("navi21-i420", "I420 1920×1080 on radeonsi, Navi 21", Limits(cpu: 0.25)) { try faked($0, "amd-navi21", .i420) },
        ]
    }

    /// The reference driver in null mode. It writes pictures that can be decoded.
    static var onReferenceDriver: [HostCase] {
        [
            HostCase("reference", "NV12 1920×1080 on the reference driver in null mode") { try reference($0, .nv12) },
            HostCase("reference-one-cpu", "NV12 1920×1080 on the reference driver in null mode, both programs on one CPU", Limits(cpu: nil)) {
                bench in
                let programs = try reference(bench, .nv12)
                return Programs(programs.ours.onOneCPU, programs.theirs.onOneCPU, frames: programs.frames)
            },
            HostCase("reference-i420", "I420 1920×1080 on the reference driver in null mode", Limits(cpu: 0.6)) { try reference($0, .i420) },
        ]
    }

    static var inSoftware: [HostCase] {
        [
            HostCase("software", "MP4 to MP4 with libx264, 1280×720", Limits(cpu: 1.02, wall: 1.02)) { try software($0) }
        ]
    }

    /// All cases, in the order in which they run.
    static var all: [HostCase] { onNullDevice + onReferenceDriver + inSoftware + onFakedGPUs }

    private static func faked(_ bench: Workbench, _ gpu: String, _ pixels: Workbench.Pixels, lowPower: Bool = false) throws -> Programs {
        func onGPU(_ contender: Contender) -> Contender {
            var result = contender
            result.environment = [:]
            result.fakedGPU = gpu
            return result
        }
        let clip = try bench.raw(pixels, width: 1920, height: 1080, frames: 600)
        // Debian's free build of iHD has only the low-power entry point.
        let options = lowPower ? ["-low_power", "1"] : []
        var programs = Programs(onGPU(try bench.vaenc(clip)), onGPU(try bench.ffmpeg(clip, options: options)), frames: clip.frames)
        programs.read = try bench.bareRead(clip)
        programs.first = (onGPU(try bench.vaenc(clip, frames: 1)), onGPU(try bench.ffmpeg(clip, frames: 1, options: options)))
        return programs
    }

    /// FFmpeg opens this driver through an X display.
    private static func reference(_ bench: Workbench, _ pixels: Workbench.Pixels) throws -> Programs {
        let clip = try bench.raw(pixels, width: 1920, height: 1080, frames: 600)
        let nullMode: [String: String?] = ["VAENC_REFERENCE_MODE": "null"]
        let ours = Contender(
            name: "vaenc", program: Checkout.vaenc,
            arguments: ["encode"] + clip.vaenc + ["--device", "reference", "--codec", "h264"] + Workbench.settings()
                + ["--format", "annexb", "-o", bench.output("vaenc.h264")],
            environment: nullMode)
        let theirs = Contender(
            name: "FFmpeg", program: "ffmpeg",
            arguments: ["-v", "error", "-nostdin", "-init_hw_device", "vaapi=va:,connection_type=x11", "-filter_hw_device", "va"] + clip.ffmpeg
                + ["-vf", clip.upload] + Workbench.ffmpegEncoder(.h264) + ["-flush_packets", "1", "-f", "h264", "-y", bench.output("ffmpeg.h264")],
            environment: Checkout.driverEnvironment.merging(nullMode) { $1 })
        var programs = Programs(ours, theirs, frames: clip.frames)
        programs.read = try bench.bareRead(clip)
        return programs
    }

    /// The same parameters of libx264 for both programs.
    private static func software(_ bench: Workbench) throws -> Programs {
        let clip = try bench.mp4(width: 1280, height: 720, frames: 200)
        let ours = Contender(
            name: "vaenc", program: Checkout.vaenc,
            arguments: ["encode"] + clip.vaenc + [
                "--device", "software", "--codec", "h264", "--preset", "medium", "--audio", "none", "--bframes", "2", "--qp", "26", "--gop", "120",
                "--overwrite", "-o", bench.output("vaenc.mp4"),
            ])
        let parameters =
            "keyint=120:min-keyint=1:scenecut=0:open-gop=0:bframes=2:b-adapt=0:b-pyramid=normal:qp=26:ipratio=1:pbratio=1"
        let theirs = Contender(
            name: "FFmpeg", program: "ffmpeg",
            arguments: ["-v", "error", "-nostdin"] + clip.ffmpeg
                + ["-c:v", "libx264", "-preset", "medium", "-x264-params", parameters, "-an", "-y", bench.output("ffmpeg.mp4")])
        var programs = Programs(ours, theirs, frames: clip.frames)
        programs.clip = clip
        return programs
    }
}
