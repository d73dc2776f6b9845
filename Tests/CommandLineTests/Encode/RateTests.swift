import TestOracles
import Testing

/// Rates and buffers as the CLI reports them, compared with what ffprobe and `inspect` find in the files.
@Suite struct RateTests {
    private func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

    /// Rate changes after the end of the input are reported once, or end a strict run.
    @Test func rateChangesAfterTheEndAreReported() throws {
        try Files.withTemporaryFolder { folder in
            let line = "testsrc:64x48@25:20 --device reference --codec h264 --bitrate 100k --hrd off --overwrite --change-bitrate 5=150k -o a.h264"
            let some = try EncodeRun(words(line) + ["--json", "--change-bitrate", "20=90k", "--change-bitrate", "1000=80k"], in: folder)
            #expect(some.status == 0)
            let notice = "the input ended before the frames of --change-bitrate: 20, 1000"
            #expect(some.report?["notices"]?.array.compactMap(\.string) == [notice])
            #expect(some.errorLines.count { $0.contains(notice) } == 1, "\(some.errors)")
            let none = try EncodeRun(words(line) + ["--json", "--strict", "--change-bitrate", "19=90k"], in: folder)
            #expect(none.status == 0 && none.report?["notices"]?.array.isEmpty == true, "\(none.errors)")
            let strict = try EncodeRun(words(line.replacing("a.h264", with: "b.h264")) + ["--strict", "--change-bitrate", "20=90k"], in: folder)
            #expect(strict.status == 69 && strict.errors.contains("--change-bitrate: 20"), "\(strict.errors)")
            #expect(!Files.exists("\(folder)/b.h264"))
            for key in ["20", "0.9s"] {
                let forced = try EncodeRun(words(line.replacing("a.h264", with: "b.h264")) + ["--strict", "--force-key", key], in: folder)
                #expect(forced.status == 69 && forced.errors.contains("forced key frames at \(key)"), "\(forced.errors)")
            }
            let last = try EncodeRun(words(line) + ["--strict", "--force-key", "19,0.7s"], in: folder)
            #expect(last.status == 0, "\(last.errors)")
        }
    }

    /// Noise of 160×96 at the lowest QP exceeds what the level's minimum compression ratio allows for the first picture
    /// (H.264 level 2: 192 bytes for each of the 69 macroblocks that it decodes in 1/172 s; HEVC level 2: 0.75 bytes
    /// for each of 15360 samples). The later pictures, and the level's rate and buffer, are not exceeded.
    @Test(arguments: [("reference", "h264", 13_261), ("software", "h264", 13_261), ("reference", "h265", 11_520)])
    func minimumCompressionRatioViolationIsReported(_ device: String, _ ending: String, _ bytes: Int) throws {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.make(
                "ffmpeg -v error -nostdin -f lavfi -i color=gray:size=160x96:rate=25:duration=0.2,noise=alls=100:all_seed=1 -pix_fmt yuv420p a.y4m",
                in: folder)
            let line = "a.y4m --device \(device) --qp 1 --level 2 --gop 40 --json -o"
            let run = try EncodeRun(words(line) + ["a.\(ending)"], in: folder)
            #expect(run.status == 0, "\(run.errors)")
            let sizes = try ProcessRunner.run(
                "ffprobe", ["-v", "error", "-show_entries", "packet=size", "-of", "csv=p=0", "a.\(ending)"], directory: folder
            ).output.split { !$0.isNumber }.compactMap { Int($0) }
            #expect(sizes.count == 5 && sizes[0] > bytes && sizes.dropFirst().allSatisfy { $0 < 90_000 }, "\(sizes)")
            #expect(run.report?["statistics"]?["broken"]?["overLevel"]?.int == 1, "\(sizes)")
            let notices = (run.report?["notices"]?.array ?? []).compactMap(\.string)
            #expect(
                notices.contains {
                    $0.contains("1 picture exceeded the bit rate, the buffer, the picture size or the number of slices of the stream's level")
                }, "\(notices)")
            let strict = try EncodeRun(words(line) + ["b.\(ending)", "--strict"], in: folder)
            #expect(strict.status == 69 && strict.errors.contains("strict: frame 0"), "\(strict.errors)")
        }
    }

    /// The first picture after black, which vaenc's own controller codes finely, obeys the level's minimum compression
    /// ratio: at 320×180 and level 1.2, half of 384 bytes for each of 240 macroblocks.
    @Test func minimumCompressionRatioIsKeptAfterBlack() throws {
        try Files.withTemporaryFolder { folder in
            let clip = try Fixture.bigBuckBunny.path()
            try RemuxTests.make(
                "ffmpeg -v error -nostdin -f lavfi -i color=black:s=320x180:r=25:d=2.8 -i '\(clip)' -filter_complex "
                    + "'[1:v]scale=320:180,fps=25,setsar=1,noise=alls=12:allf=t:all_seed=1,trim=end_frame=6,format=yuv420p[v];"
                    + "[0:v]setsar=1,format=yuv420p[b];[b][v]concat' -pix_fmt yuv420p a.y4m", in: folder)
            let run = try EncodeRun(
                words("a.y4m --device reference --codec h264 --rate-control cbr --bitrate 450k --rate-controller vaenc --level 1.2 --json -o a.h264"),
                in: folder)
            #expect(run.status == 0 && run.report?["statistics"]?["broken"]?["overLevel"]?.int == 0, "\(run.errors)")
            let sizes = try ProcessRunner.run(
                "ffprobe", ["-v", "error", "-show_entries", "packet=size", "-of", "csv=p=0", "a.h264"], directory: folder
            ).output.split { !$0.isNumber }.compactMap { Int($0) }
            #expect(sizes.count == 76 && sizes.allSatisfy { $0 <= 46_080 }, "\(sizes)")
            let faults = try #require(try ToolRun(["inspect", "\(folder)/a.h264", "--json"]).report?["hrd"]?["violations"]?.array)
            #expect(!faults.contains { $0["rule"]?.string == "level" }, "\(faults)")
        }
    }

    /// The buffer has room for a first picture that exceeds the minimum compression ratio. The driver's controllers
    /// obey the level all the same.
    @Test(arguments: [
        ("h264", "--level 1.2 --rate-control cbr --bitrate 450k --vbv-size 1M"), ("h264", "--level 1.2 --rate-control avbr --bitrate 450k"),
        ("hevc", "--level 2 --rate-control cbr --bitrate 1M --vbv-size 1500k"),
        ("hevc", "--level 2 --rate-control vbr --bitrate 1M --vbv-size 1500k"),
        ("hevc", "--level 2 --rate-control avbr --bitrate 1M"),
    ]) func driverKeepsTheMinimumCompressionRatio(_ codec: String, _ options: String) throws {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.make(
                "ffmpeg -v error -nostdin -i '\(Fixture.bigBuckBunny.path())' -vf scale=320:180,setsar=1,noise=alls=12:allf=t:all_seed=1 -frames:v 12 "
                    + "-pix_fmt yuv420p a.y4m", in: folder)
            let run = try EncodeRun(words("a.y4m --device reference --codec \(codec) \(options) --json -o a.\(codec)"), in: folder)
            #expect(run.status == 0 && run.report?["statistics"]?["broken"]?["overLevel"]?.int == 0, "\(run.errors)")
            if options.contains("avbr") { return }
            let faults = try #require(try ToolRun(["inspect", "\(folder)/a.\(codec)", "--json"]).report?["hrd"]?["violations"]?.array)
            #expect(!faults.contains { $0["rule"]?.string == "level" }, "\(faults)")
        }
    }

    /// With a maximum size of slices, the driver decides how many there are. HEVC levels limit their number: 20 at level
    /// 2.1.
    @Test func slicesBeyondTheLevelAreCounted() throws {
        try Files.withTemporaryFolder { folder in
            let line =
                "\(try Fixture.bikes.path()) --start 4 --frames 3 --audio none --codec hevc --device reference --qp 10 --level 2.1 --max-slice-bytes 1500 -o a.h265"
            let run = try EncodeRun(words(line) + ["--json"], in: folder)
            #expect(run.status == 0 && (run.report?["statistics"]?["broken"]?["overLevel"]?.int ?? 0) > 0, "\(run.errors)")
            let found = try ToolRun(["inspect", "\(folder)/a.h265"])
            #expect(String(decoding: found.output, as: UTF8.self).contains("slice segments, but the level allows 20"))
            let strict = try EncodeRun(words(line) + ["--strict", "--overwrite"], in: folder)
            #expect(strict.status == 69 && strict.errors.contains("exceeds the limits of --level"), "\(strict.errors)")
        }
    }

    /// Without a bit rate there is nothing to control.
    @Test(arguments: ["reference", "software"], ["", "--qp 30", "--quality 30"]) func rateControllerNeedsABitRate(
        _ device: String, _ mode: String
    ) throws {
        try Files.withTemporaryFolder { folder in
            let line = "testsrc:64x48@25:5 --device \(device) --codec h264 --rate-controller vaenc --overwrite -o a.h264 --json \(mode)"
            let run = try EncodeRun(words(line), in: folder)
            let entry = run.effective("rateController")
            #expect(run.status == 0 && entry?["asked"]?.string == "vaenc" && entry?["used"]?.string == "none", "\(run.errors)")
            let strict = try EncodeRun(words(line) + ["--strict"], in: folder)
            #expect(strict.status == 69 && strict.errors.contains("has no bit rate"), "\(strict.errors)")
        }
    }

    /// A data rate limit below the maximum bit rate does not lower that maximum, so that a strict run succeeds.
    @Test func dataRateLimitIsNoMaximum() throws {
        try Files.withTemporaryFolder { folder in
            let line =
                "testsrc:320x192@25:60 --device software --codec h264 --preset 7 --bitrate 400k --max-bitrate 900k --data-rate-limit 110000/2 -o a.h264"
            let run = try EncodeRun(words(line) + ["--json"], in: folder)
            #expect(run.status == 0 && run.report?["statistics"]?["broken"]?["overMaxBitrate"]?.int == 0, "\(run.errors)")
        }
    }

    /// An output above the maximum bit rate ends a strict run with any encoder.
    @Test(arguments: ["h264", "hevc"]) func exceededMaximumEndsAStrictRun(_ codec: String) throws {
        try Files.withTemporaryFolder { folder in
            let line =
                "testsrc:96x96@25:50 --device software --codec \(codec) --bitrate 20k --max-bitrate 21k --vbv-size 100k --gop 10 --max-qp 30 -o a.mp4"
            let run = try EncodeRun(words(line) + ["--strict"], in: folder)
            #expect(run.status == 69 && run.errors.contains("exceeds --max-bitrate within one second"), "\(run.errors)")
            #expect(!Files.exists("\(folder)/a.mp4"))
            let counted = try EncodeRun(words(line) + ["--json"], in: folder)
            #expect(counted.report?["statistics"]?["broken"]?["overMaxBitrate"]?.int ?? 0 > 0)
        }
    }

    /// A buffer of little more than one picture is kept to the bit, in a bare stream and in a file whose header has the
    /// parameter sets.
    @Test(arguments: ["driver", "vaenc"], ["h264", "hevc"]) func onePictureBufferIsKept(_ controller: String, _ codec: String) throws {
        let raw = try Fixture.bikes.rawPath(width: 320, height: 136, frames: 100)
        try Files.withTemporaryFolder { folder in
            for (size, used) in [(12_000, 12_064), (12_500, 12_500)] {
                for name in ["a.\(codec)", "a.mp4"] {
                    let line =
                        "--input-size 320x136 --input-format i420 --fps 25 --device reference --codec \(codec) --preset 7 --gop 40 "
                        + "--rate-control cbr --bitrate 300k --vbv-size \(size) --vbv-initial 100 --rate-controller \(controller) "
                        + "--json --overwrite -o \(name)"
                    let run = try EncodeRun([raw] + words(line), in: folder)
                    #expect(run.report?["statistics"]?["limitsBroken"]?.int == 0, "\(size), \(name): \(run.errors)")
                    #expect(run.effective("vbvSize")?["used"]?.string == "\(used)")
                    let hrd = try ToolRun(["inspect", "\(folder)/\(name)", "--json"]).report?["hrd"]
                    #expect(hrd?["violations"]?.array.count == 0, "\(size), \(name): \(hrd?["violations"]?.array.first as Any)")
                }
            }
        }
    }

    /// The maximum frame size makes a key frame coarse: the following pictures reach the quality that their size
    /// permits. If the limit is below the rate, one notice reports it.
    @Test(arguments: ["driver", "vaenc"], ["h264", "hevc"]) func frameSizeLimitIsKeptWithoutLosingRate(_ controller: String, _ codec: String) throws {
        try Files.withTemporaryFolder { folder in
            for (clip, bytes, least, notices) in [(Fixture.bikes, 4000, 270_000, 0), (.bigBuckBunny, 1600, 70_000, 1)] {
                let line =
                    "--size 256x144 --device reference --codec \(codec) --bitrate 300k --max-frame-bytes \(bytes) --audio none "
                    + "--rate-controller \(controller) --overwrite --json -o a.mp4"
                let run = try EncodeRun([try clip.path()] + words(line), in: folder)
                let reported = run.report?["notices"]?.array.compactMap(\.string).count { $0.contains("--max-frame-bytes") }
                #expect(run.report?["statistics"]?["limitsBroken"]?.int == 0 && reported == notices, "\(bytes): \(run.errors)")
                let probe = try ProcessRunner.run(
                    "ffprobe", ["-v", "error", "-select_streams", "v", "-show_entries", "packet=size", "-of", "csv=p=0", "\(folder)/a.mp4"])
                let sizes = probe.output.split(separator: "\n").compactMap { Int($0.prefix { $0.isNumber }) }
                let rate = sizes.reduce(0, +) * 8 * 25 / max(sizes.count, 1)
                #expect(sizes.count == clip.frameCount && (sizes.max() ?? 0) <= bytes && rate > least, "\(bytes): \(rate) bit/s")
            }
        }
    }
}
