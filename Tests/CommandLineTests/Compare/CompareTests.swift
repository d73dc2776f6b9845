import TestOracles
import Testing

/// `vaenc compare` against FFmpeg's psnr and ssim filters.
@Suite struct CompareTests {
    /// The filters' values for each picture and overall: y, u, v and combined.
    private struct Judged {
        var psnr: [[Double]] = []
        var ssim: [[Double]] = []
        var overallPSNR: [Double] = []
        var overallSSIM: [Double] = []

        init(_ reference: String, _ distorted: String, format: String, in folder: String) throws {
            let (psnr, ssim) = ("\(folder)/psnr.log", "\(folder)/ssim.log")
            let graph =
                "[0:v]format=\(format),settb=AVTB,setpts=N,split[a][c];[1:v]format=\(format),settb=AVTB,setpts=N,split[b][d];"
                + "[a][b]psnr=stats_file=\(psnr)[e];[e]nullsink;[c][d]ssim=stats_file=\(ssim)"
            let run = try ProcessRunner.run(
                "ffmpeg", ["-nostdin", "-hide_banner", "-i", distorted, "-i", reference, "-lavfi", graph, "-f", "null", "-"])
            try #require(run.status == 0, "\(run.errors)")
            for line in String(decoding: try Files.read(psnr), as: UTF8.self).split(separator: "\n") {
                self.psnr.append(Self.values(line, ["psnr_y", "psnr_u", "psnr_v", "psnr_avg"]))
            }
            for line in String(decoding: try Files.read(ssim), as: UTF8.self).split(separator: "\n") {
                self.ssim.append(Self.values(line, ["Y", "U", "V", "All"]))
            }
            for line in run.errorLines {
                if line.contains("PSNR y:") { overallPSNR = Self.values(line, ["y", "u", "v", "average"]) }
                if line.contains("SSIM Y:") { overallSSIM = Self.values(line, ["Y", "U", "V", "All"]) }
            }
        }

        private static func values(_ line: Substring, _ names: [String]) -> [Double] {
            let words = line.split(separator: " ")
            return names.compactMap { name in
                words.first { $0.hasPrefix(name + ":") }.flatMap { Double($0.dropFirst(name.count + 1)) }
            }
        }
    }

    private func expectNear(_ value: JSONValue?, _ keys: [String], _ expected: [Double], _ context: String) {
        for (key, expectedValue) in zip(keys, expected) {
            // FFmpeg writes inf where the planes are equal.
            let found = value?[key] == .null ? Double.infinity : value?[key]?.double ?? .nan
            let isNear = found == expectedValue || abs(found - expectedValue) <= 0.01
            #expect(isNear, "\(context) \(key): \(found), FFmpeg \(expectedValue)")
        }
        #expect(expected.count == keys.count)
    }

    private func expectAgreement(_ reference: String, _ distorted: String, format: String, count: Int, in folder: String) throws {
        let judged = try Judged(reference, distorted, format: format, in: folder)
        let run = try ToolRun(["compare", reference, distorted, "--json"])
        #expect(run.status == 0, "\(run.errorLines)")
        let report = try #require(run.report)
        #expect(report["frames"]?.int == count)
        let frames = try #require(report["perFrame"]?.array)
        try #require(frames.count == count && judged.psnr.count == count && judged.ssim.count == count)
        let (psnr, ssim) = (["y", "u", "v", "average"], ["y", "u", "v", "all"])
        expectNear(report["psnr"], psnr, judged.overallPSNR, "all")
        expectNear(report["ssim"], ssim, judged.overallSSIM, "all")
        for (index, frame) in frames.enumerated() {
            #expect(frame["index"]?.int == index)
            expectNear(frame["psnr"], psnr, judged.psnr[index], "picture \(index)")
            expectNear(frame["ssim"], ssim, judged.ssim[index], "picture \(index)")
        }
    }

    /// A whole clip, and the beginnings of two larger ones.
    @Test(arguments: [(Fixture.carphone, 120), (.bikes, 50), (.bigBuckBunny, 25)]) func realClipsMatchFFmpegsFilters(_ clip: Fixture, _ count: Int)
        throws
    {
        try Files.withTemporaryFolder { folder in
            let (reference, distorted) = ("\(folder)/r.mp4", "\(folder)/d.mp4")
            try ffmpeg("-i", clip.path(), "-an", "-c", "copy", "-frames:v", "\(count)", reference)
            try ffmpeg("-i", reference, "-c:v", "libx264", "-preset", "ultrafast", "-crf", "35", distorted)
            try expectAgreement(reference, distorted, format: "yuv420p", count: count, in: folder)
        }
    }

    @Test func tenBitClipsMatchFFmpegsFilters() throws {
        try Files.withTemporaryFolder { folder in
            let (reference, distorted) = ("\(folder)/r.mkv", "\(folder)/d.h265")
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc2=s=178x146:r=25:d=1,format=yuv420p10le,noise=alls=9", "-c:v", "ffv1", reference)
            try ffmpeg("-i", reference, "-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none:crf=32", distorted)
            try expectAgreement(reference, distorted, format: "yuv420p10le", count: 25, in: folder)
        }
    }

    /// FFmpeg's filters convert in the same way, and round otherwise.
    @Test(arguments: [("full", "limited"), ("limited", "full")]) func fullRangeIsConvertedIfTheOtherIsLimited(_ from: String, _ to: String) throws {
        try Files.withTemporaryFolder { folder in
            func make(_ name: String, _ input: [String], _ range: String, _ qp: Int) throws {
                let run = try ProcessRunner.run(
                    "ffmpeg",
                    ["-v", "error"] + input + [
                        "-pix_fmt", range == "full" ? "yuvj420p" : "yuv420p", "-color_range", range == "full" ? "pc" : "tv", "-c:v", "libx264", "-qp",
                        "\(qp)", "\(folder)/\(name)",
                    ])
                try #require(run.status == 0, "\(run.errors)")
            }
            try make("r.mp4", ["-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=0.4"], from, 10)
            try make("d.mp4", ["-i", "\(folder)/r.mp4", "-vf", "scale=in_range=\(from):out_range=\(to)"], to, 15)
            let run = try ToolRun(["compare", "\(folder)/r.mp4", "\(folder)/d.mp4", "--json"])
            #expect(run.status == 0, "\(run.errorLines)")
            let judged = try Judged("\(folder)/r.mp4", "\(folder)/d.mp4", format: "yuv420p", in: folder)
            for (key, expected) in zip(["y", "u", "v"], judged.overallPSNR) {
                let found = try #require(run.report?["psnr"]?[key]?.double)
                #expect(abs(found - expected) < 0.5, "\(key): \(found), FFmpeg \(expected)")
            }
            #expect(run.report?["notices"]?.array.contains { $0.string?.contains("has full range, and was converted") == true } == true)
        }
    }

    /// Equal pictures, also raw ones, have no PSNR value.
    @Test func equalClipsHaveFullSimilarity() throws {
        let raw = try Fixture.carphone.rawPath(frames: 10)
        let run = try ToolRun([
            "compare", try Fixture.carphone.path(), raw, "--input-size", "176x144", "--input-format", "i420", "--frames", "10", "--json",
        ])
        #expect(run.status == 0, "\(run.errorLines)")
        #expect(run.report?["frames"]?.int == 10)
        for key in ["y", "u", "v", "average"] { #expect(run.report?["psnr"]?[key] == .null) }
        for key in ["y", "u", "v", "all"] { #expect(run.report?["ssim"]?[key]?.double == 1) }
    }

    @Test func incomparableClipsAreRefused() throws {
        let (clip, bikes) = (try Fixture.carphone.path(), try Fixture.bikes.path())
        let raw = try Fixture.carphone.rawPath(frames: 10)
        let layout = ["--input-size", "176x144"]
        try ToolRun(["compare", clip, bikes]).expectRefusal(65, "--size")
        try ToolRun(["compare", clip, raw] + layout).expectRefusal(65, "--frames 10")
        try ToolRun(["compare", raw, clip] + layout).expectRefusal(65, "--frames 10")
        try ToolRun(["compare", clip, "/nowhere/a.mp4"]).expectRefusal(66, "no file")
        try ToolRun(["compare", "-", "-"]).expectRefusal(64, "standard input")
        try ToolRun(["compare", clip, raw]).expectRefusal(64, "--input-size")
        // No input uses the size; an input whose name implies no format uses it.
        try ToolRun(["compare", clip, clip] + layout).expectRefusal(64, "--input-size 176x144 applies to raw frames")
        try ToolRun(["compare", clip, clip, "--input-format", "nv12"]).expectRefusal(64, "--input-format nv12 applies to raw frames")
        try Files.withTemporaryFolder { folder in
            // The remedy works: the name implies no format, so the options give it.
            try Files.write(Array("no video".utf8), to: "\(folder)/text.mp4")
            try ToolRun(["compare", clip, "\(folder)/text.mp4"]).expectRefusal(65, "use the extension .yuv for raw frames")
            try Files.write(Files.read(raw), to: "\(folder)/raw.bin")
            let run = try ToolRun(["compare", clip, "\(folder)/raw.bin", "--frames", "10", "--json"] + layout)
            #expect(run.status == 0 && run.report?["ssim"]?["all"]?.double == 1, "\(run.errorLines)")
        }
        let scaled = try ToolRun(["compare", clip, bikes, "--size", "64x48", "--frames", "3", "--json"])
        #expect(scaled.status == 0, "\(scaled.errorLines)")
        #expect(scaled.report?["width"]?.int == 64)
        #expect(scaled.report?["notices"]?.array.count == 2)
    }

    /// Odd sides are padded by one sample for encoding. A clip is compared with its encode without the padding.
    @Test(arguments: ["65x49", "64x49", "65x48"]) func paddingOfOddSidesIsNotCompared(_ size: String) throws {
        try Files.withTemporaryFolder { folder in
            let (reference, encoded, cropped) = ("\(folder)/r.y4m", "\(folder)/e.mp4", "\(folder)/c.mkv")
            try ffmpeg("-f", "lavfi", "-i", "testsrc=s=\(size):r=25:d=0.4", "-pix_fmt", "yuv420p", reference)
            let encode = try EncodeRun([reference, "-o", encoded, "--device", "software", "--codec", "h264", "--qp", "35"])
            #expect(encode.status == 0, "\(encode.errors)")
            let sides = size.replacing("x", with: ":")
            try ffmpeg("-i", encoded, "-vf", "crop=\(sides):0:0:exact=1", "-pix_fmt", "yuv420p", "-c:v", "ffv1", cropped)
            try expectAgreement(reference, cropped, format: "yuv420p", count: 10, in: folder)
            let expected = try ToolRun(["compare", reference, cropped, "--json"]).report
            for clips in [[reference, encoded], [encoded, reference]] {
                let run = try ToolRun(["compare"] + clips + ["--json"])
                #expect(run.status == 0, "\(run.errorLines)")
                for key in ["width", "height", "psnr", "ssim", "perFrame"] { #expect(run.report?[key] == expected?[key], "\(key)") }
                let notices = run.report?["notices"]?.array.compactMap(\.string) ?? []
                #expect(notices.count == 1 && notices.first?.contains("only the") == true, "\(notices)")
            }
            // A difference of more than the padding is another size.
            try ffmpeg("-i", encoded, "-vf", "crop=60:44:0:0", "-pix_fmt", "yuv420p", "-c:v", "ffv1", "\(folder)/small.mkv")
            try ToolRun(["compare", reference, "\(folder)/small.mkv"]).expectRefusal(65, "--size")
        }
    }

    /// Pictures are compared as stored. If only one clip has a rotation, a notice reports it.
    @Test func differentRotationIsReported() throws {
        try Files.withTemporaryFolder { folder in
            for name in ["a.mp4", "turned.mp4"] {
                let setup = try ProcessRunner.run(
                    "ffmpeg",
                    [
                        "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc=64x48:rate=25", "-frames:v", "3", "-pix_fmt", "yuv420p", "-c:v",
                        "libx264", "\(folder)/\(name)",
                    ])
                #expect(setup.status == 0, "\(setup.errors)")
            }
            try TurnedClip.turn(folder + "/turned.mp4")
            func notices(_ reference: String, _ other: String) throws -> [String] {
                let run = try ToolRun(["compare", "\(folder)/\(reference)", "\(folder)/\(other)", "--json"])
                #expect(run.status == 0, "\(run.errorLines)")
                return run.report?["notices"]?.array.compactMap(\.string) ?? ["no report"]
            }
            let one = try notices("a.mp4", "turned.mp4")
            #expect(one.count == 1 && one.first?.contains("turned.mp4 is displayed turned 90° clockwise") == true, "\(one)")
            #expect(try notices("turned.mp4", "turned.mp4").isEmpty)
            #expect(try notices("a.mp4", "a.mp4").isEmpty)
        }
    }
}
