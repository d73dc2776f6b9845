import TestOracles

extension HostCase {
    private static let raw = Limits(peak: 0.5)
    /// Raw NV12 frames of a size for which the cost of the bytes exceeds that of the calls.
    private static let rawNV12 = Limits(peak: 0.5, read: 1.1)

    /// Every case, in the order in which they run. Clips are kept while later cases use them.
    static var onNullDevice: [HostCase] {
        [
            HostCase("nv12", "NV12 1920×1080, H.264", rawNV12) { try rawCase($0, try hd($0), keeps: true) },
            HostCase("hevc", "NV12 1920×1080, HEVC", raw) { try rawCase($0, try hd($0), codec: .hevc, keeps: true) },
            HostCase("mp4out", "NV12 1920×1080, pictures of 1 kB, MP4") { try sized($0, try hd($0), bytes: 1000, container: "mp4") },
            HostCase("25kb", "NV12 1920×1080, pictures of 25 kB, Annex B") { try sized($0, try hd($0), bytes: 25_000, container: "h264") },
            HostCase("25kb-mp4", "NV12 1920×1080, pictures of 25 kB, MP4") { try sized($0, try hd($0), bytes: 25_000, container: "mp4") },
            HostCase("100kb", "NV12 1920×1080, pictures of 100 kB, Annex B") { try sized($0, try hd($0), bytes: 100_000, container: "h264") },
            HostCase("100kb-mp4", "NV12 1920×1080, pictures of 100 kB, MP4") { try sized($0, try hd($0), bytes: 100_000, container: "mp4") },
            HostCase("two", "NV12 1920×1080, two outputs") { try twoOutputs($0, try hd($0)) },
            HostCase("four", "NV12 1920×1080, four processes at once") { try fourProcesses($0, try hd($0)) },
            HostCase("one-cpu", "NV12 1920×1080, both programs on one CPU") { bench in
                let clip = try hd(bench)
                return Programs(try bench.vaenc(clip).onOneCPU, try bench.ffmpeg(clip).onOneCPU, frames: clip.frames)
            },
            HostCase("i420", "I420 1920×1080, H.264", raw) { bench in
                try rawCase(bench, try bench.raw(.i420, width: 1920, height: 1080, frames: 600))
            },
            HostCase("y4m", "Y4M 1920×1080, H.264", raw) { try rawCase($0, try $0.y4m(frames: 600)) },
            HostCase("p010", "P010 1920×1080, HEVC Main 10", raw) { bench in
                try rawCase(bench, try bench.raw(.p010, width: 1920, height: 1080, frames: 320), codec: .hevc)
            },
            HostCase("2160p", "NV12 3840×2160, H.264", rawNV12) { bench in
                try rawCase(bench, try bench.raw(.nv12, width: 3840, height: 2160, frames: 160))
            },
            HostCase("180p", "NV12 320×180, H.264", raw) { bench in
                try rawCase(bench, try bench.raw(.nv12, width: 320, height: 180, frames: 6000))
            },
            HostCase("180p-100kb", "NV12 320×180, pictures of 100 kB, Annex B") { bench in
                try sized(bench, try bench.raw(.nv12, width: 320, height: 180, frames: 1000), bytes: 100_000, container: "h264")
            },
            HostCase("180p-100kb-mp4", "NV12 320×180, pictures of 100 kB, MP4") { bench in
                try sized(bench, try bench.raw(.nv12, width: 320, height: 180, frames: 1000), bytes: 100_000, container: "mp4")
            },
            HostCase("mp4", "MP4 (H.264) 1920×1080, H.264") { try decoded($0) },
        ]
    }

    private static func hd(_ bench: Workbench) throws -> Clip { try bench.raw(.nv12, width: 1920, height: 1080, frames: 600) }

    private static func rawCase(_ bench: Workbench, _ clip: Clip, codec: StreamCodec = .h264, keeps: Bool = false) throws -> Programs {
        var programs = Programs(try bench.vaenc(clip, codec: codec), try bench.ffmpeg(clip, codec: codec), frames: clip.frames)
        programs.gstreamer = try bench.gstreamer(clip, codec: codec)
        programs.read = try bench.bareRead(clip)
        programs.first = (try bench.vaenc(clip, codec: codec, frames: 1), try bench.ffmpeg(clip, codec: codec, frames: 1))
        if !keeps { programs.clip = clip }
        return programs
    }

    /// Coded pictures of a size.
    private static func sized(_ bench: Workbench, _ clip: Clip, bytes: Int, container: String) throws -> Programs {
        let output = bench.output("vaenc." + container)
        let encode = ["-vf", clip.upload] + Workbench.ffmpegEncoder(.h264) + ["-f", container, "-y", bench.output("ffmpeg." + container)]
        var programs = Programs(
            try bench.vaenc(clip, bytes: bytes, output: ["-o", output]), try bench.ffmpeg(clip, bytes: bytes, output: encode), frames: clip.frames)
        programs.read = try bench.bareRead(clip)
        if container == "h264" { programs.gstreamer = try bench.gstreamer(clip, bytes: bytes) }
        return programs
    }

    private static func twoOutputs(_ bench: Workbench, _ clip: Clip) throws -> Programs {
        func encode(_ label: String, _ name: String) -> [String] {
            ["-map", "[\(label)]"] + Workbench.ffmpegEncoder(.h264) + ["-f", "h264", "-y", bench.output(name)]
        }
        let split = ["-filter_complex", "hwupload,split=2[a][b]"] + encode("a", "ffmpeg-1.h264") + encode("b", "ffmpeg-2.h264")
        var programs = Programs(
            try bench.vaenc(clip, output: ["-o", bench.output("vaenc-1.h264"), "-o", bench.output("vaenc-2.h264")]),
            try bench.ffmpeg(clip, output: split), frames: clip.frames)
        programs.read = try bench.bareRead(clip)
        return programs
    }

    private static func fourProcesses(_ bench: Workbench, _ clip: Clip) throws -> Programs {
        func four(_ contender: Contender) -> Contender {
            var result = contender
            result.jobs = 4
            return result
        }
        let toPipe = ["-vf", clip.upload] + Workbench.ffmpegEncoder(.h264) + ["-f", "h264", "-"]
        var programs = Programs(
            four(try bench.vaenc(clip, output: ["--format", "annexb", "-o", "-"])), four(try bench.ffmpeg(clip, output: toPipe)),
            frames: clip.frames * 4)
        programs.read = four(try bench.bareRead(clip))
        return programs
    }

    private static func decoded(_ bench: Workbench) throws -> Programs {
        let clip = try bench.mp4(width: 1920, height: 1080, frames: 300)
        var programs = Programs(try bench.vaenc(clip, options: ["--audio", "none"]), try bench.ffmpeg(clip), frames: clip.frames)
        programs.gstreamer = try bench.gstreamer(clip)
        programs.decode = try bench.decode(clip)
        programs.clip = clip
        return programs
    }
}
