import Testing
import TestOracles

/// `vaenc decode`, compared with ffmpeg.
@Suite struct DecodeCommandTests {
    private func decode(_ arguments: [String], input: [UInt8] = [], in folder: String? = nil) throws -> ProcessRunner.Result {
        try ProcessRunner.run(Checkout.vaenc, ["decode"] + arguments, input: input, directory: folder)
    }

    private func ffmpeg(_ arguments: [String]) throws -> [UInt8] {
        let result = try ProcessRunner.run("ffmpeg", ["-v", "error", "-nostdin"] + arguments)
        #expect(result.status == 0, "\(result.errors)")
        return result.stdout
    }

    /// Gray is the luma, with the range of the pictures, for samples of 8 and 10 bits.
    @Test(arguments: ["yuv420p", "yuv420p10le"]) func grayIsTheLuma(_ format: String) throws {
        try Files.withTemporaryFolder { folder in
            _ = try ffmpeg(
                [
                    "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=0.04", "-pix_fmt", format, "-c:v", "libx265", "-x265-params", "log-level=none",
                    folder + "/a.mp4",
                ])
            #expect(try decode(["a.mp4", "-o", "a.gray"], in: folder).status == 0)
            let gray = try Files.read(folder + "/a.gray")
            let planes = try ffmpeg(["-i", folder + "/a.mp4", "-f", "rawvideo", "-pix_fmt", format, "-"])
            let luma: [Int] = (0..<64 * 48).map { (index: Int) -> Int in
                if format == "yuv420p" { return Int(planes[index]) }
                let (low, high) = (Int(planes[2 * index]), Int(planes[2 * index + 1]))
                return (low + high * 256) / 4
            }
            #expect(gray.count == luma.count && zip(gray, luma).allSatisfy { abs(Int($0) - $1) <= 2 })
        }
    }

    /// Gray pictures have neutral chroma and unchanged luma in every format, in both ranges. Each format and each range
    /// occurs with each output.
    @Test(arguments: ["gray", "gray10le", "gray12le", "gray16le"], [1, 2]) func grayHasNeutralChroma(_ format: String, _ range: Int) throws {
        try Files.withTemporaryFolder { folder in
            let turn = range + ["gray", "gray12le"].count { $0 == format }
            func part<T>(_ all: [T]) -> [T] { all.indices.filter { ($0 + turn) % 2 == 0 }.map { all[$0] } }
            let (width, height, depth) = (66, 50, Int(format.filter(\.isNumber)) ?? 8)
            // FFmpeg 5 takes the range of gray from the encoder's option, FFmpeg 7 from the filter.
            let source = "testsrc2=s=\(width)x\(height):r=25:d=0.04,format=\(format),setparams=range=\(range == 1 ? "tv" : "pc")"
            _ = try ffmpeg(["-f", "lavfi", "-i", source, "-c:v", "ffv1", "-color_range", "\(range)", folder + "/a.mkv"])
            let samples = try ffmpeg(["-i", folder + "/a.mkv", "-f", "rawvideo", "-"])
            func values(_ bytes: some Collection<UInt8>, _ depth: Int) -> [Int] {
                let bytes = Array(bytes)
                return depth == 8 ? bytes.map(Int.init) : stride(from: 0, to: bytes.count, by: 2).map { Int(bytes[$0]) | Int(bytes[$0 + 1]) << 8 }
            }
            let expected = values(samples, depth).map { Double($0) / Double(1 << depth) }
            for (name, depth, shift) in part([("a.nv12", 8, 0), ("a.i420", 8, 0), ("a.p010", 10, 6), ("a.i420p10", 10, 0)]) {
                let run = try decode(["a.mkv", "-o", name, "--overwrite"], in: folder)
                try #require(run.status == 0, "\(name): \(run.errors)")
                let found = values(try Files.read(folder + "/" + name), depth).map { Double($0 >> shift) / Double(1 << depth) }
                #expect(found.count == width * height * 3 / 2, "\(name)")
                #expect(found.dropFirst(width * height).allSatisfy { abs($0 - 0.5) < 0.002 }, "\(name)")
                #expect(zip(found, expected).allSatisfy { abs($0 - $1) < 0.008 }, "\(name)")
            }
            for options in part([
                "--codec h264", "--codec hevc", "--codec hevc --bit-depth 10", "--codec h264 --device reference",
                "--codec hevc --bit-depth 10 --device reference",
            ]) {
                let run = try EncodeRun(
                    ["a.mkv", "-o", "b.mp4", "--qp", "12", "--overwrite"] + options.split(separator: " ").map(String.init), in: folder)
                try #require(run.status == 0, "\(options): \(run.errors)")
                let colors = try ffmpeg(["-i", folder + "/b.mp4", "-pix_fmt", "rgb24", "-f", "rawvideo", "-"])
                // ffmpeg takes all gray as full range.
                let shown = expected.map { range == 1 ? min(max(($0 * 256 - 16) * 255 / 219, 0), 255) : $0 * 256 }
                let errors = colors.enumerated().map { abs(Double($1) - shown[$0 / 3]) }
                #expect(
                    errors.count == width * height * 3 && errors.reduce(0, +) < Double(errors.count) * 3,
                    "\(options): \(errors.reduce(0, +) / Double(max(errors.count, 1)))")
            }
        }
    }

    /// The lower layers of a stream have gaps in frame_num. The pictures are libavcodec's, in software and on a device.
    @Test(arguments: [1, 2, 4]) func lowerTemporalLayersAreDecoded(references: Int) throws {
        try Files.withTemporaryFolder { folder in
            let run = try EncodeRun(
                [
                    Fixture.carphone.path(), "-o", "a.h264", "--device", "reference", "--frames", "30", "--bframes", "0", "--temporal-layers", "3",
                    "--refs", "\(references)",
                ], in: folder)
            try #require(run.status == 0, "\(run.errors)")
            for kept in [0, 1] {
                let units = AnnexBUnits.lowerLayers(AnnexBUnits.split(try Files.read(folder + "/a.h264")), through: kept)
                try Files.write(Array(units.joined()), to: folder + "/b.h264")
                let expected = try ffmpeg(["-i", folder + "/b.h264", "-fps_mode", "passthrough", "-f", "rawvideo", "-"])
                #expect(expected.count == (kept == 0 ? 8 : 15) * 176 * 144 * 3 / 2)
                for device in ["software", "reference"] {
                    let decoded = try decode(["b.h264", "--device", device, "-o", "b.i420", "--overwrite"], in: folder)
                    #expect(decoded.status == 0, "\(decoded.errors)")
                    #expect((try Files.read(folder + "/b.i420") == expected) as Bool, "layer \(kept), \(device)")
                }
            }
        }
    }

    /// A whole clip, and the beginning of a larger one.
    @Test(arguments: [(Fixture.bikes, 100), (.carphone, 120)])
    func decodedPicturesMatchFFmpeg(clip: Fixture, count: Int) throws {
        try Files.withTemporaryFolder { folder in
            let path = try clip.path()
            let result = try decode([path, "-o", folder + "/out.y4m", "--json"] + (count < clip.frameCount ? ["--frames", "\(count)"] : []))
            #expect(result.status == 0, "\(result.errors)")
            let report = JSONValue(result.output)
            #expect(report?["frames"]?["decoded"]?.int == count && report?["frames"]?["skipped"]?.int == 0)
            #expect(report?["device"]?["kind"]?.string == "software")
            #expect(report?["width"]?.int == clip.width && report?["height"]?.int == clip.height)
            // The header lines may differ in more than size and rate.
            func pictures(_ bytes: [UInt8]) -> ArraySlice<UInt8> { bytes[(bytes.firstIndex(of: 10) ?? 0)...] }
            let expected = try ffmpeg(["-i", path, "-frames:v", "\(count)", "-f", "yuv4mpegpipe", "-"])
            #expect((pictures(try Files.read(folder + "/out.y4m")) == pictures(expected)) as Bool)
            // ffmpeg reads the written file, of one clip.
            guard clip == .carphone else { return }
            let again = try ffmpeg(["-i", folder + "/out.y4m", "-f", "rawvideo", "-pix_fmt", "nv12", "-"])
            #expect(try decode([path, "-o", folder + "/out.nv12"]).status == 0)
            #expect(try Files.read(folder + "/out.nv12") == again)
        }
    }

    /// Planes of 10 bits, 4:2:2 and 4:4:4 are not converted.
    @Test(arguments: ["yuv420p10le", "yuv422p", "yuv444p", "gray"])
    func pixelFormatsAreKept(layout: String) throws {
        try Files.withTemporaryFolder { folder in
            let input = folder + "/in.mkv"
            _ = try ffmpeg([
                "-f", "lavfi", "-i", "testsrc=96x64:rate=25", "-frames:v", "8", "-pix_fmt", layout, "-c:v", "libx265",
                "-x265-params", "log-level=none", input,
            ])
            let result = try decode([input, "-o", "-"])
            #expect(result.status == 0, "\(result.errors)")
            let expected = try ffmpeg(["-i", input, "-f", "yuv4mpegpipe", "-strict", "-1", "-"])
            #expect((result.stdout.drop { $0 != 10 } == expected.drop { $0 != 10 }) as Bool)
        }
    }

    @Test func startDurationFramesAndSizeAreApplied() throws {
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

    /// The decoding device scales too, also with bars and to odd sizes. The report says where pictures are scaled.
    @Test(arguments: ["software", "reference"], ["88x72", "61x97", "300x200"]) func scalingRunsWhereDecodingDoes(_ device: String, _ size: String)
        throws
    {
        try Files.withTemporaryFolder { folder in
            let output = folder + "/a.y4m"
            let some = [try Fixture.carphone.path(), "--device", device, "--frames", "3", "--json", "--overwrite", "-o", output]
            let scaled = try #require(JSONValue(try decode(some + ["--size", size, "--fit", "letterbox"]).output))
            #expect(scaled["scaling"]?["used"]?.string == (device == "software" ? "software" : "device"))
            #expect(scaled["scaling"]?["why"]?.string?.contains(device == "software" ? "the CPU decodes" : "video processor") == true)
            #expect(scaled["frames"]?["decoded"]?.int == 3)
            if device == "reference" {
                let inMemory = folder + "/b.y4m"
                _ = try decode([some[0], "--device", "software", "--frames", "3", "-o", inMemory, "--size", size, "--fit", "letterbox"])
                let likeness = try ProcessRunner.run(
                    "ffmpeg", ["-v", "info", "-i", output, "-i", inMemory, "-lavfi", "psnr", "-f", "null", "-"])
                let psnr = likeness.errors.firstMatch(of: #/average:([0-9.]+|inf)/#).flatMap { Double($0.1) }
                #expect(try #require(psnr) > 30, "\(size)")
            }
            if size == "88x72" { #expect(JSONValue(try decode(some).output)?["scaling"] == .null) }
        }
    }

    /// Whichever call fails during scaling, every picture is output, scaled on the device or in memory.
    @Test(arguments: [
        "vaEndPicture@25=lost", "vaBeginPicture@2+=status:1", "vaSyncSurface2@3=status:7", "vaDeriveImage@4=lost", "vaMapBuffer@6=lost",
        "vaCreateContext@2=status:2", "vaCreateSurfaces@2+=status:2", "vaRenderPicture@*/7=status:1",
    ])
    func failedScalingLosesNoPicture(_ fault: String) throws {
        try Files.withTemporaryFolder { folder in
            let run = try ProcessRunner.run(
                Checkout.vaenc,
                ["decode", try Fixture.carphone.path(), "--device", "reference", "--frames", "30", "--json", "--size", "88x72", "-o", "a.y4m"],
                environment: ["VAENC_FAULT": fault], directory: folder)
            #expect(run.status == 0, "\(fault): \(run.errors)")
            let pictures = try Files.read(folder + "/a.y4m").drop { $0 != 10 }.count - 1
            #expect(pictures == 30 * (6 + 88 * 72 * 3 / 2), "\(fault)")
        }
    }

    /// A clip's first pictures as vaenc writes them, decoded by libavcodec.
    private static func software(_ clip: Fixture, _ options: [String] = []) -> Result<[UInt8], any Error> {
        Result {
            try Files.withTemporaryFolder { folder in
                let arguments = ["decode", try clip.path(), "-o", "a.y4m", "--device", "software"] + options
                let run = try ProcessRunner.run(Checkout.vaenc, arguments, directory: folder)
                try #require(run.status == 0, "\(run.errors)")
                return try Files.read(folder + "/a.y4m")
            }
        }
    }

    private static let carphone60 = software(.carphone, ["--frames", "60"])
    private static let bikes = software(.bikes)

    /// Reading pictures from the device fails twice. libavcodec continues with the same pictures.
    @Test(arguments: [
        "vaGetImage@1+=status:1", "vaSyncSurface@5+=status:1", "vaGetImage@5=status:1; vaGetImage@25=status:1",
        "vaGetImage@5=lost; vaGetImage@30=lost", "vaMapBuffer@9=status:1; vaMapBuffer@60+=status:1",
    ])
    func repeatedReadFailureFallsBackToLibavcodec(_ fault: String) throws {
        try Files.withTemporaryFolder { folder in
            let run = try ProcessRunner.run(
                Checkout.vaenc, ["decode", try Fixture.carphone.path(), "--frames", "60", "-o", "a.y4m", "--device", "reference"],
                environment: ["VAENC_FAULT": fault], directory: folder)
            #expect(run.status == 0, "\(fault): \(run.errors)")
            #expect((try Files.read(folder + "/a.y4m") == Self.carphone60.get()) as Bool, "\(fault)")
        }
    }

    /// A call returns after its timeout, when the session has given up the decoder. The decoder still exists for it.
    @Test(arguments: ["vaEndPicture@20", "vaBeginPicture@5", "vaRenderPicture@40"]) func lateDeviceCallsAreSafe(_ call: String) throws {
        try Files.withTemporaryFolder { folder in
            let run = try ProcessRunner.run(
                Checkout.vaenc, ["decode", try Fixture.bikes.path(), "-o", "a.y4m", "--device", "reference"],
                environment: ["VAENC_FAULT": "\(call)=delay:300", "VAENC_DEVICE_TIMEOUT_MS": "200"], directory: folder)
            #expect(run.status == 0, "\(run.status) \(run.errors)")
            #expect((try Files.read(folder + "/a.y4m") == Self.bikes.get()) as Bool, "\(call)")
        }
    }

    /// Reference pictures are missing in the middle. The error names the last picture before them, and no file is left.
    @Test(arguments: ["libx264", "libx265"]) func missingReferencePicturesAreAnError(_ encoder: String) throws {
        try Files.withTemporaryFolder { folder in
            let setup = try ProcessRunner.run(
                "ffmpeg",
                ["-v", "error", "-i", try Fixture.carphone.path(), "-frames:v", "20", "-c:v", encoder, "-bf", "0", "-g", "10", "a.mkv"],
                directory: folder)
            #expect(setup.status == 0)
            let dropped = try ProcessRunner.run(
                "ffmpeg",
                ["-v", "error", "-i", "a.mkv", "-c", "copy", "-bsf:v", "noise=drop=eq(n\\,5)", "-f", encoder == "libx264" ? "h264" : "hevc", "b.es"],
                directory: folder)
            #expect(dropped.status == 0, "\(dropped.errors)")
            for device in ["software", "reference"] {
                let run = try ProcessRunner.run(Checkout.vaenc, ["decode", "b.es", "-o", "c.y4m", "--device", device], directory: folder)
                #expect(run.status == 65 && run.errors.contains("after picture 5 (pictures that later ones refer to are missing)"), "\(run.errors)")
                #expect(Files.list(folder) == ["a.mkv", "b.es"])
            }
        }
    }

    /// The first key picture is damaged, so nothing before the next one can be decoded.
    @Test func picturesBeforeTheFirstGoodKeyAreSkipped() throws {
        try Files.withTemporaryFolder { folder in
            let setup = try ProcessRunner.run(
                "ffmpeg",
                ["-v", "error", "-i", try Fixture.carphone.path(), "-frames:v", "20", "-c:v", "libx264", "-bf", "0", "-g", "10", "a.mkv"],
                directory: folder)
            #expect(setup.status == 0)
            let damaged = try ProcessRunner.run(
                "ffmpeg",
                ["-v", "error", "-i", "a.mkv", "-c", "copy", "-bsf:v", "noise=amount=if(eq(n\\,0)\\,40\\,0)", "b.mkv"], directory: folder)
            #expect(damaged.status == 0, "\(damaged.errors)")
            let run = try ProcessRunner.run(Checkout.vaenc, ["decode", "b.mkv", "-o", "c.y4m", "--device", "software", "--json"], directory: folder)
            #expect(run.status == 0, "\(run.errors)")
            let frames = JSONValue(run.output)?["frames"]
            #expect(frames?["decoded"]?.int == 10 && frames?["skipped"]?.int == 10)
        }
    }

    /// Pictures of another size in the middle are scaled to the first size, and this is reported.
    @Test func sizeChangeIsScaledAndReported() throws {
        try Files.withTemporaryFolder { folder in
            for (index, size) in ["96x64", "128x80", "96x64"].enumerated() {
                let setup = try ProcessRunner.run(
                    "ffmpeg", ["-v", "error", "-f", "lavfi", "-i", "testsrc2=s=\(size)", "-frames:v", "4", "-c:v", "libx264", "\(index).h264"],
                    directory: folder)
                #expect(setup.status == 0)
            }
            try Files.write(try (0..<3).flatMap { try Files.read("\(folder)/\($0).h264") }, to: folder + "/a.h264")
            let decoded = try ProcessRunner.run(Checkout.vaenc, ["decode", "a.h264", "-o", "a.y4m"], directory: folder)
            #expect(decoded.status == 0 && decoded.errors.contains("12 pictures"), "\(decoded.errors)")
            #expect(decoded.errors.contains("asked 128×80, used 96×64 (the input changes its size at picture 4)"), "\(decoded.errors)")
            for (options, status) in [([], 0), (["--strict"], 69)] {
                let run = try ProcessRunner.run(
                    Checkout.vaenc, ["encode", "a.h264", "-o", "out\(status).h264", "--device", "software"] + options, directory: folder)
                #expect(run.status == status && run.errors.contains("changes its size at picture 4"), "\(run.errors)")
                #expect(Files.exists("\(folder)/out\(status).h264") == (status == 0))
            }
        }
    }

    /// Samples of a higher bit depth in the middle are rounded to the first depth, and this is reported. A lower depth
    /// loses nothing.
    @Test func depthChangeIsRoundedAndReported() throws {
        try Files.withTemporaryFolder { folder in
            for (name, format) in [("8", "yuv420p"), ("10", "yuv420p10le")] {
                try RemuxTests.make(
                    """
                    ffmpeg -v error -f lavfi -i testsrc2=s=128x96 -frames:v 4 -pix_fmt \(format) -c:v libx265 \
                    -x265-params log-level=none \(name).h265
                    """, in: folder)
            }
            func join(_ names: [String], _ output: String) throws {
                try Files.write(try names.flatMap { try Files.read("\(folder)/\($0).h265") }, to: "\(folder)/\(output).h265")
            }
            try join(["8", "10", "8"], "up")
            try join(["10", "8"], "down")
            let words = "asked 10, used 8 (the input changes its depth at picture 4)"
            for device in ["software", "reference"] {
                for (name, count) in [("up", 12), ("down", 8)] {
                    let run = try decode(["\(name).h265", "-o", "\(device)\(name).y4m", "--device", device], in: folder)
                    #expect(run.status == 0 && run.errors.contains("\(count) pictures"), "\(run.errors)")
                    #expect(run.errors.contains(words) == (name == "up"), "\(run.errors)")
                    let strict = try ProcessRunner.run(
                        Checkout.vaenc,
                        ["encode", "\(name).h265", "-o", "\(device)\(name).mp4", "--codec", "hevc", "--preset", "7", "--strict", "--device", device],
                        directory: folder)
                    #expect(strict.status == (name == "up" ? 69 : 0) && strict.errors.contains("inputDepth") == (name == "up"), "\(strict.errors)")
                }
            }
        }
    }

    /// Leading pictures of the first key picture that refer to earlier pictures cannot be decoded. They are counted.
    @Test(arguments: ["software", "reference"]) func undecodableLeadingPicturesAreCounted(_ device: String) throws {
        try Files.withTemporaryFolder { folder in
            let clip = try Fixture.carphone.path()
            try RemuxTests.make(
                """
                ffmpeg -v error -i \(clip) -frames:v 40 -c:v libx265 -x265-params log-level=none:keyint=10:min-keyint=10:open-gop=1:repeat-headers=1:bframes=3:scenecut=0 a.h265
                """, in: folder)
            let bytes = try Files.read(folder + "/a.h265")
            // Starts at the second video parameter set.
            let sets = bytes.indices.dropLast(4).filter { bytes[$0..<$0 + 4].elementsEqual([0, 0, 1, 0x40]) }
            try #require(sets.count > 2)
            try Files.write(Array(bytes[(sets[1] - 1)...]), to: folder + "/b.h265")
            let packets = try ProcessRunner.run(
                "ffprobe", ["-v", "quiet", "-count_packets", "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0", "b.h265"], directory: folder
            )
            let count = try #require(Int(packets.output.prefix { $0.isNumber }))
            let run = try decode(["b.h265", "-o", "b.y4m", "--device", device, "--json"], in: folder)
            #expect(run.status == 0, "\(run.errors)")
            let frames = JSONValue(run.output)?["frames"]
            let (decoded, skipped) = (frames?["decoded"]?.int ?? 0, frames?["skipped"]?.int ?? 0)
            #expect(decoded + skipped == count && skipped > 0, "\(decoded) + \(skipped) of \(count)")
            let own = try ffmpeg(["-i", folder + "/b.h265", "-f", "rawvideo", "-"])
            #expect(own.count == decoded * 176 * 144 * 3 / 2)
        }
    }

    /// Interlaced pictures are deinterlaced, and this is reported.
    @Test func deinterlacingIsReported() throws {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.make(
                "ffmpeg -v error -f lavfi -i testsrc2=s=128x96:rate=50:duration=0.4 -vf interlace -flags +ildct+ilme -c:v libx264 a.mp4", in: folder)
            let run = try decode(["a.mp4", "-o", "a.y4m", "--device", "software"], in: folder)
            #expect(run.status == 0 && run.errors.contains("fields: asked interlaced, used progressive"), "\(run.errors)")
        }
    }

    @Test func impossibleDecodesAreRefused() throws {
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
            for offset in (starts[index] + 500)..<(starts[index] + 700) { damaged[offset] ^= 0x5A }
            try Files.write(damaged, to: folder + "/damaged.h264")
            let cases: [([String], Int)] = [
                ([path], 64), ([path, "-o", "out.mp4"], 64), ([path, "-o", "there.y4m"], 73), (["none.mp4", "-o", "a.y4m"], 66),
                (["cut.mp4", "-o", "a.y4m"], 65), (["damaged.h264", "-o", "a.y4m"], 65),
                ([path, "-o", "a.y4m", "--device", "/dev/dri/renderD999"], 69), ([path, "-o", "a.y4m", "--device", "tv"], 69),
                ([path, "-o", "a.y4m", "--require-hardware", "--device", "software"], 64), ([path, "-o", path, "--overwrite"], 64),
                ([path, "-o", "a.y4m", "--start", "99"], 65), ([path, "-o", "a.y4m", "--fit", "crop"], 64),
                ([path, "-o", "a.y4m", "--audio", "aac"], 64), ([path, "-o", "a.y4m", "--duration", "0"], 64), ([path, "-o", "none/a.y4m"], 73),
            ]
            for (arguments, status) in cases {
                let result = try decode(arguments, in: folder)
                #expect(result.status == status, "\(arguments): \(result.errors)")
                #expect(result.errorLines.count == 1 || status == 64, "\(result.errors)")
                #expect(!Files.exists(folder + "/a.y4m") && !Files.exists(folder + "/a.y4m.part"), "\(arguments)")
            }
            #expect(try decode([path, "-o", "there.y4m", "--overwrite"], in: folder).status == 0)
            // A pipe gets the pictures before the damage, then the error is reported.
            let piped = try decode(["damaged.h264", "-o", "-"], in: folder)
            let good = piped.stdout.drop { $0 != 10 }.dropFirst()
            let count = good.count / (6 + 176 * 144 * 3 / 2)
            #expect(piped.status == 65 && count > 40 && count < 100)
            // Up to two B pictures that are displayed before the damaged one may refer to it, as this stream is
            // reordered.
            let sure = max(0, count - 2)
            let expected = try Fixture.carphone.frames().prefix(sure).flatMap { Array("FRAME\n".utf8) + $0.bytes }
            #expect((Array(good.prefix(expected.count)) == expected) as Bool)
        }
    }

    /// Properties that raw pictures cannot store are reported: uneven times and a rotation.
    @Test func lostTimesAndRotationAreReported() throws {
        try Files.withTemporaryFolder { folder in
            let source = ["-f", "lavfi", "-i", "testsrc=64x48:rate=25", "-frames:v", "12", "-pix_fmt", "yuv420p", "-c:v", "libx264"]
            _ = try ffmpeg(source + [folder + "/even.mp4"])
            _ = try ffmpeg(source + [folder + "/turned.mp4"])
            try TurnedClip.turn(folder + "/turned.mp4")
            // All pictures except the third, fourth and fifth.
            _ = try ffmpeg(source + ["-vf", "select='lt(n,2)+gt(n,4)'", "-fps_mode", "vfr", folder + "/gap.mp4"])
            func notices(_ name: String) throws -> [String] {
                let result = try decode([name, "-o", "out.y4m", "--overwrite", "--json"], in: folder)
                #expect(result.status == 0, "\(result.errors)")
                return JSONValue(result.output)?["notices"]?.array.compactMap(\.string) ?? ["no report"]
            }
            #expect(try notices("even.mp4").isEmpty)
            let gap = try notices("gap.mp4")
            #expect(gap.count == 1 && gap.first?.contains("not evenly spaced") == true, "\(gap)")
            let turned = try notices("turned.mp4")
            #expect(turned.count == 1 && turned.first?.contains("turned 90° clockwise") == true, "\(turned)")
        }
    }
}
