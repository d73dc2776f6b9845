import TestOracles
import Testing

/// FFmpeg reads what `vaenc remux` copies unchanged. What a container cannot describe is refused.
@Suite struct RemuxReadbackTests {
    private func remux(_ input: String, _ output: String, _ more: [String] = [], in folder: String) throws -> ProcessRunner.Result {
        try ProcessRunner.run(Checkout.vaenc, ["remux", input, "-o", output] + more, directory: folder)
    }

    /// Returns a hash of the decoded pictures or sound of a file, which must decode without errors.
    private func decoded(_ path: String, _ kind: String, in folder: String) throws -> String {
        let form = kind == "v" ? ["-pix_fmt", "rgb24"] : ["-c:a", "pcm_s16le"]
        let run = try ProcessRunner.run(
            "ffmpeg", ["-v", "error", "-nostdin", "-i", path, "-map", "0:" + kind] + form + ["-f", "md5", "-"], directory: folder)
        #expect(run.status == 0 && run.errors.isEmpty, "\(path): \(run.errors)")
        return run.output
    }

    /// Matroska can describe some raw pixel formats. QuickTime can too, but readers take its codes for other formats. The
    /// others can describe none, so each format is tried in one of them.
    @Test(
        arguments: [
            ("yuv420p", "y4m", ["mkv"]), ("yuv422p", "y4m", ["mkv"]), ("gray", "y4m", ["mkv"]), ("yuv420p10le", "y4m", []),
            ("yuv420p", "nut", ["mkv"]),
            ("nv12", "nut", ["mkv"]), ("yuyv422", "nut", ["mkv"]), ("uyvy422", "nut", ["mkv"]), ("rgb24", "nut", []),
            ("bgr24", "nut", []), ("argb", "nut", []), ("bgra", "nut", []), ("rgba", "nut", ["mkv"]), ("abgr", "nut", []),
            ("rgb48be", "nut", []), ("rgb555le", "nut", []), ("gray", "nut", ["mkv"]),
            ("pal8", "nut", []), ("monob", "nut", []), ("yuv422p10le", "nut", []), ("uyvy422", "avi", ["mkv"]),
        ] as [(String, String, [String])])
    func rawPicturesAreCopiedOrRefused(_ layout: String, _ input: String, _ held: [String]) throws {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.make(
                "ffmpeg -v error -nostdin -f lavfi -i testsrc2=size=64x48:rate=25:duration=0.2 -pix_fmt \(layout) -strict -1 "
                    + "\(input == "y4m" ? "" : "-c:v rawvideo -fflags +bitexact") in.\(input)", in: folder)
            let expected = try decoded("in.\(input)", "v", in: folder)
            for output in ["mov", "mkv", ["mp4", "ts", "flv"][layout.utf8.reduce(0) { $0 + Int($1) } % 3]] {
                let run = try remux("in.\(input)", "a.\(output)", ["--strict"], in: folder)
                let what = "\(layout) of \(input) in \(output)"
                guard held.contains(output) else {
                    #expect(
                        run.status == 64 && run.errorLines.count == 1 && run.errors.contains("\(output) cannot contain rawvideo"),
                        "\(what): \(run.errors)")
                    #expect(
                        Files.list(folder) == held.map { "a." + $0 }.filter { Files.exists("\(folder)/\($0)") }.sorted() + ["in.\(input)"], "\(what)")
                    continue
                }
                #expect(run.status == 0, "\(what): \(run.errors)")
                #expect(try decoded("a.\(output)", "v", in: folder) == expected, "\(what)")
            }
        }
    }

    /// The headers of MPEG-4 Visual, which MP4 and MOV store separately, are before the key pictures of MPEG-TS.
    @Test(arguments: ["mpeg4", "libxvid"]) func transportStreamsHaveMPEG4Headers(_ codec: String) throws {
        try Files.withTemporaryFolder { folder in
            for input in ["in.mov", "in.avi"] {
                try RemuxTests.make(
                    "ffmpeg -v error -nostdin -f lavfi -i testsrc2=size=96x64:rate=25:duration=2 -pix_fmt yuv420p -g 10 -c:v \(codec) \(input)",
                    in: folder)
                let expected = try decoded(input, "v", in: folder)
                for output in ["a.ts", "a.m3u8"] {
                    let run = try remux(input, output, ["--overwrite"], in: folder)
                    #expect(run.status == 0, "\(input) \(output): \(run.errors)")
                    #expect(try decoded(output, "v", in: folder) == expected, "\(input) \(output)")
                }
            }
        }
    }

    /// FLV cannot describe the byte order of this sound, and Matroska cannot delimit these blocks without their size.
    @Test func undescribableSoundIsRefused() throws {
        try Files.withTemporaryFolder { folder in
            for (codec, input, output) in [("pcm_s16be", "in.mov", "a.flv"), ("adpcm_ms", "in.nut", "a.mkv"), ("adpcm_ima_wav", "in.nut", "a.mkv")] {
                try RemuxTests.make(
                    "ffmpeg -v error -nostdin -y -f lavfi -i testsrc2=size=96x64:rate=25:duration=1 -f lavfi -i sine=duration=1:r=44100 "
                        + "-c:v libx264 -pix_fmt yuv420p -ac 2 -c:a \(codec) \(input)", in: folder)
                let run = try remux(input, output, in: folder)
                #expect(run.status == 64 && run.errors.contains("cannot contain \(codec)"), "\(codec): \(run.errors)")
            }
            // The input gives the block size.
            try RemuxTests.make("ffmpeg -v error -nostdin -f lavfi -i sine=duration=1:r=44100 -c:a adpcm_ms s.avi", in: folder)
            #expect(try remux("s.avi", "s.mkv", in: folder).status == 0)
            #expect(try decoded("s.mkv", "a", in: folder) == decoded("s.avi", "a", in: folder))
        }
    }

    /// NUT labels E-AC-3 as AC-3, which MP4 cannot describe. For fragmented files, libavformat does not report this.
    @Test func mislabeledSoundIsRefused() throws {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.make(
                "ffmpeg -v error -nostdin -f lavfi -i testsrc2=size=96x64:rate=25:duration=1 -f lavfi -i sine=duration=1:r=48000 "
                    + "-c:v libx264 -pix_fmt yuv420p -c:a eac3 in.nut", in: folder)
            for format in ["mp4", "fmp4"] {
                let run = try remux("in.nut", "a.mp4", ["--format", format], in: folder)
                #expect(run.status == 65 && run.errorLines.count == 1, "\(format): \(run.status) \(run.errors)")
                #expect(Files.list(folder) == ["in.nut"], "\(format)")
            }
        }
    }
}
