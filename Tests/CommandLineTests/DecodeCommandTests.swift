import Testing
import TestOracles

/// `vaenc decode`, against what ffmpeg decodes.
@Suite struct DecodeCommandTests {
    private func decode(_ arguments: [String], input: [UInt8] = [], in folder: String? = nil) throws -> ProcessRunner.Result {
        try ProcessRunner.run(Checkout.vaenc, ["decode"] + arguments, input: input, directory: folder, timeout: 60)
    }

    private func ffmpeg(_ arguments: [String]) throws -> [UInt8] {
        let result = try ProcessRunner.run("ffmpeg", ["-v", "error", "-nostdin"] + arguments)
        #expect(result.status == 0, "\(result.errors)")
        return result.stdout
    }

    @Test(arguments: [Fixture.bikes, .carphone])
    func picturesAreFFmpegs(clip: Fixture) throws {
        try Files.withTemporaryFolder { folder in
            let path = try clip.path()
            let result = try decode([path, "-o", folder + "/out.y4m", "--json"])
            #expect(result.status == 0, "\(result.errors)")
            let report = JSONValue(result.output)
            #expect(report?["frames"]?["decoded"]?.int == clip.frameCount && report?["frames"]?["skipped"]?.int == 0)
            #expect(report?["device"]?["kind"]?.string == "software")
            #expect(report?["width"]?.int == clip.width && report?["height"]?.int == clip.height)
            // The first lines may differ in what they say beside size and rate.
            func pictures(_ bytes: [UInt8]) -> ArraySlice<UInt8> { bytes[(bytes.firstIndex(of: 10) ?? 0)...] }
            let expected = try ffmpeg(["-i", path, "-f", "yuv4mpegpipe", "-"])
            #expect((pictures(try Files.read(folder + "/out.y4m")) == pictures(expected)) as Bool)
            // ffmpeg reads the file as it was written.
            let again = try ffmpeg(["-i", folder + "/out.y4m", "-f", "rawvideo", "-pix_fmt", "nv12", "-"])
            #expect(try decode([path, "-o", folder + "/out.nv12"]).status == 0)
            #expect(try Files.read(folder + "/out.nv12") == again)
        }
    }

    /// Of 10 bits, 4:2:2 and 4:4:4, planes stay as they are.
    @Test(arguments: ["yuv420p10le", "yuv422p", "yuv444p", "gray"])
    func layoutsStay(layout: String) throws {
        try Files.withTemporaryFolder { folder in
            let input = folder + "/in.mkv"
            _ = try ffmpeg(["-f", "lavfi", "-i", "testsrc=96x64:rate=25", "-frames:v", "8", "-pix_fmt", layout, "-c:v", "libx265",
                            "-x265-params", "log-level=none", input])
            let result = try decode([input, "-o", "-"])
            #expect(result.status == 0, "\(result.errors)")
            let expected = try ffmpeg(["-i", input, "-f", "yuv4mpegpipe", "-strict", "-1", "-"])
            #expect((result.stdout.drop { $0 != 10 } == expected.drop { $0 != 10 }) as Bool)
        }
    }

    @Test func startDurationFramesAndSize() throws {
        let path = try Fixture.carphone.path()
        let all = try Fixture.carphone.frames()
        let some = try decode([path, "-o", "-", "--start", "1", "--frames", "5"])
        // 30000/1001 frames/s: the first picture from 1 s on is the 30th.
        let expected: [UInt8] = all[30..<35].flatMap { frame -> [UInt8] in Array("FRAME\n".utf8) + frame.bytes }
        let given: [UInt8] = Array(some.stdout.drop { $0 != 10 }.dropFirst())
        #expect((given == expected) as Bool)
        let second = try decode([path, "-o", "-", "--duration", "0.5", "--size", "88x72"])
        let rest = second.stdout.drop { $0 != 10 }.dropFirst()
        #expect(rest.count == 15 * (6 + 88 * 72 * 3 / 2))
    }

    @Test func whatCannotBeDone() throws {
        try Files.withTemporaryFolder { folder in
            let path = try Fixture.carphone.path()
            try Files.write([1], to: folder + "/there.y4m")
            let bytes = try Files.read(path)
            try Files.write(Array(bytes.prefix(bytes.count / 2)), to: folder + "/cut.mp4")
            _ = try ffmpeg(["-i", path, "-c:v", "copy", "-bsf:v", "h264_mp4toannexb", folder + "/whole.h264"])
            var damaged = try Files.read(folder + "/whole.h264")
            // Inside a slice's macroblocks.
            let starts = damaged.indices.dropLast(2).filter { damaged[$0..<$0 + 3].elementsEqual([0, 0, 1]) }
            let index = try #require(starts.indices.dropLast().first { $0 > 60 && starts[$0 + 1] - starts[$0] > 2000 })
            for place in (starts[index] + 500)..<(starts[index] + 700) { damaged[place] ^= 0x5A }
            try Files.write(damaged, to: folder + "/damaged.h264")
            let cases: [([String], Int)] = [
                ([path], 64), ([path, "-o", "out.mp4"], 64), ([path, "-o", "there.y4m"], 73), (["none.mp4", "-o", "a.y4m"], 66),
                (["cut.mp4", "-o", "a.y4m"], 65), (["damaged.h264", "-o", "a.y4m"], 65),
                ([path, "-o", "a.y4m", "--device", "/dev/dri/renderD999"], 69), ([path, "-o", "a.y4m", "--device", "tv"], 69),
                ([path, "-o", "a.y4m", "--require-hardware", "--device", "software"], 64), ([path, "-o", path, "--overwrite"], 64),
                ([path, "-o", "a.y4m", "--start", "99"], 65), ([path, "-o", "a.y4m", "--fit", "crop"], 64), ([path, "-o", "a.y4m", "--duration", "0"], 64), ([path, "-o", "none/a.y4m"], 73),
            ]
            for (arguments, status) in cases {
                let result = try decode(arguments, in: folder)
                #expect(result.status == status, "\(arguments): \(result.errors)")
                #expect(result.errorLines.count == 1 || status == 64, "\(result.errors)")
                #expect(!Files.exists(folder + "/a.y4m") && !Files.exists(folder + "/a.y4m.part"), "\(arguments)")
            }
            #expect(try decode([path, "-o", "there.y4m", "--overwrite"], in: folder).status == 0)
            // A pipe gets the good pictures, and the error comes after them.
            let piped = try decode(["damaged.h264", "-o", "-"], in: folder)
            let good = piped.stdout.drop { $0 != 10 }.dropFirst()
            let count = good.count / (6 + 176 * 144 * 3 / 2)
            #expect(piped.status == 65 && count > 40 && count < 100)
            // B pictures that are shown before the damaged one may refer to it: two, as this stream is reordered.
            let sure = max(0, count - 2)
            let expected = try Fixture.carphone.frames().prefix(sure).flatMap { Array("FRAME\n".utf8) + $0.bytes }
            #expect((Array(good.prefix(expected.count)) == expected) as Bool)
        }
    }
}
