import TestOracles
import Testing

/// `vaenc encode movie --size … --fit …` on a device that decodes: pictures are scaled in device memory. The output is
/// compared with ffmpeg's, with manually computed rectangles.
@Suite struct DeviceScalingTests {
    /// A rectangle of a picture.
    struct Part: Sendable {
        var (x, y, width, height) = (0, 0, 0, 0)
        init(_ x: Int, _ y: Int, _ width: Int, _ height: Int) { (self.x, self.y, self.width, self.height) = (x, y, width, height) }
    }

    struct Case: Sendable, CustomStringConvertible {
        var fit: String
        var width: Int
        var height: Int
        /// The cropped part of 176×144 (nil: all), and its position in the output (nil: all).
        var shown: Part?
        var destination: Part?
        var description: String { "\(fit) \(width)x\(height)" }

        /// ffmpeg's filters for the same scaling.
        var filters: String {
            let crop = shown.map { "crop=\($0.width):\($0.height):\($0.x):\($0.y)," } ?? ""
            let (w, h) = (destination?.width ?? width, destination?.height ?? height)
            let pad = destination.map { ",pad=\(width):\(height):\($0.x):\($0.y):black" } ?? ""
            return "\(crop)scale=\(w):\(h):flags=bicubic+accurate_rnd+full_chroma_int\(pad)"
        }
    }

    /// The cases scale pictures of 176×144, which is 11:9.
    static let cases = [
        // Enlarged and wide; reduced and high; reduced with the same shape; slightly enlarged with edges off the block
        // grid.
        Case(fit: "letterbox", width: 256, height: 128, destination: Part(50, 0, 156, 128)),
        Case(fit: "crop", width: 256, height: 128, shown: Part(0, 28, 176, 88)),
        Case(fit: "stretch", width: 256, height: 128),
        Case(fit: "letterbox", width: 96, height: 128, destination: Part(0, 24, 96, 78)),
        Case(fit: "crop", width: 96, height: 128, shown: Part(34, 0, 108, 144)),
        Case(fit: "stretch", width: 96, height: 128),
        Case(fit: "letterbox", width: 88, height: 72),
        Case(fit: "letterbox", width: 190, height: 150, destination: Part(2, 0, 184, 150)),
        Case(fit: "crop", width: 190, height: 150, shown: Part(0, 2, 176, 138)),
    ]

    private static let frames = 5

    /// Makes the clip in the folder: H.264, or HEVC of 10 bits.
    private func clip(deep: Bool, in folder: String, _ more: [String] = ["-vf", "setsar=1"]) throws {
        let codec =
            deep ? ["-c:v", "libx265", "-pix_fmt", "yuv420p10le", "-x265-params", "log-level=none:bframes=2"] : ["-c:v", "libx264", "-bf", "2"]
        let setup = try ProcessRunner.run(
            "ffmpeg",
            ["-v", "error", "-nostdin", "-i", try Fixture.carphone.path(), "-frames:v", "\(Self.frames)"] + codec + ["-crf", "12"] + more + [
                "in.mp4"
            ],
            directory: folder)
        try #require(setup.status == 0, "\(setup.errors)")
    }

    private func expected(_ filters: String, deep: Bool, _ size: (Int, Int), in folder: String) throws -> [PlanarFrame] {
        let depth = deep ? "yuv420p10le" : "yuv420p"
        let result = try ProcessRunner.run(
            "ffmpeg", ["-v", "error", "-nostdin", "-i", "in.mp4", "-vf", filters, "-pix_fmt", depth, "-vsync", "0", "-f", "rawvideo", "-"],
            directory: folder)
        try #require(result.status == 0, "\(result.errors)")
        return try #require(PlanarFrame.split(result.stdout, width: size.0, height: size.1, bitDepth: deep ? 10 : 8))
    }

    private struct Outcome {
        var run: EncodeRun
        var frames: [PlanarFrame]
        /// One line for each display.
        var counts: [JSONValue]

        func sum(_ value: (JSONValue) -> Int?) -> Int { counts.compactMap(value).reduce(0, +) }
        /// The number of times that samples were accessed outside the device.
        var touched: Int {
            sum { $0["maps"]?.int }
                + ["getImage", "putImage", "deriveImage", "import", "export"].reduce(0) { total, method in
                    total + sum { $0["copies"]?[method]?.int }
                }
        }
    }

    private func encode(
        _ options: [String], _ environment: [String: String?] = [:], codec: StreamCodec = .hevc, in folder: String
    ) throws -> Outcome {
        let output = "a.\(codec.fileExtension)"
        var attempts = 0
        while true {
            attempts += 1
            let counts = "\(folder)/\(UInt64.random(in: 0...UInt64.max)).counts"
            let run = try EncodeRun(
                ["in.mp4", "-o", output, "--device", "reference", "--qp", "4", "--json", "--overwrite"] + options, in: folder,
                environment: ["VAENC_REFERENCE_COUNTS": counts].merging(environment) { $1 })
            // A display that is released at process exit may not write its counts: repeat then.
            if !Files.exists(counts), attempts < 5 { continue }
            let lines = String(decoding: try Files.read(counts), as: UTF8.self).split(separator: "\n")
            let video = ForeignDecoder.libavcodec.decode(try Files.read(folder + "/" + output), codec: codec)
            #expect(video.messages.isEmpty)
            return Outcome(run: run, frames: video.frames, counts: lines.compactMap { JSONValue(String($0)) })
        }
    }

    private func expectEqual(_ frames: [PlanarFrame], _ expected: [PlanarFrame], above limit: Double, _ what: String) {
        #expect(frames.count == expected.count, "\(what)")
        for (index, (frame, other)) in zip(frames, expected).enumerated() {
            guard frame.width == other.width, frame.height == other.height, frame.bitDepth == other.bitDepth else {
                Issue.record("\(what): \(frame.width)x\(frame.height) of \(frame.bitDepth) bits")
                return
            }
            let likeness = PSNR.all(frame, other)
            #expect(likeness > limit, "\(what), picture \(index)")
        }
    }

    @Test(arguments: [false, true]) func deviceScalingMatchesFFmpeg(deep: Bool) throws {
        try Files.withTemporaryFolder { folder in
            try clip(deep: deep, in: folder)
            for one in Self.cases where !deep || [190, 256].contains(one.width) {
                let done = try encode(["--size", "\(one.width)x\(one.height)", "--fit", one.fit], codec: deep ? .hevc : .h264, in: folder)
                #expect(done.run.status == 0, "\(one): \(done.run.errors)")
                #expect(done.run.effective("decode")?["used"]?.string == "device", "\(one)")
                #expect(done.run.effective("scaling")?["used"]?.string == "device", "\(one)")
                #expect(done.touched == 0, "\(one): \(done.counts)")
                #expect(done.sum { $0["decoded"]?.int } == Self.frames && done.sum { $0["processed"]?.int } == Self.frames, "\(one)")
                let expected = try expected(one.filters, deep: deep, (one.width, one.height), in: folder)
                expectEqual(done.frames, expected, above: 42, "\(one)\(deep ? " of 10 bits" : "")")
            }
        }
    }

    /// Samples are twice as wide as high, of full range: 96×128 is displayed as 3:2, between bars of value 0. Then the
    /// output has odd sides.
    @Test func sampleShapeRangeAndOddSidesAreKept() throws {
        try Files.withTemporaryFolder { folder in
            try clip(deep: false, in: folder, ["-vf", "scale=96:128:out_range=full,setsar=2", "-color_range", "pc"])
            let boxed = try encode(["--size", "128x128"], in: folder)
            #expect(boxed.run.status == 0 && boxed.touched == 0, "\(boxed.run.errors)")
            let filters = "scale=128:86:flags=bicubic+accurate_rnd:in_range=full:out_range=full,pad=128:128:0:20:black"
            let frames = try expected(filters, deep: false, (128, 128), in: folder)
            // Only the picture is compared, because ffmpeg's bars have limited range.
            func shown(_ frames: [PlanarFrame]) -> [PlanarFrame] { frames.map { $0.cropped(x: 0, y: 20, width: 128, height: 86) } }
            expectEqual(shown(boxed.frames), shown(frames), above: 42, "2:1")
            #expect(
                boxed.frames.allSatisfy { frame in
                    frame.luma.prefix(128 * 19).allSatisfy { $0 < 4 } && frame.luma.suffix(128 * 20).allSatisfy { $0 < 4 }
                })
            for fit in ["letterbox", "crop", "stretch"] {
                let odd = ["--size", "97x75", "--fit", fit]
                let device = try encode(odd, in: folder), memory = try encode(odd, ["VAENC_REFERENCE_PROCESSING": "0"], in: folder)
                #expect(device.run.effective("scaling")?["used"]?.string == "device")
                // The coded size is even, with one more column and row, so the picture is slightly larger.
                expectEqual(device.frames, memory.frames, above: 25, "odd, \(fit)")
                #expect(device.frames.allSatisfy { $0.width == 98 && $0.height == 76 } && device.touched == 0)
            }
        }
    }

    /// If the device has no video processor, or the pictures are interlaced, pictures are scaled in memory, and the
    /// report contains the reason.
    @Test func scalingFallsBackToMemory() throws {
        try Files.withTemporaryFolder { folder in
            try clip(deep: false, in: folder)
            for one in Self.cases.prefix(3) {
                let done = try encode(
                    ["--size", "\(one.width)x\(one.height)", "--fit", one.fit], ["VAENC_REFERENCE_PROCESSING": "0"], in: folder)
                #expect(done.run.status == 0, "\(done.run.errors)")
                #expect(done.run.effective("scaling")?["used"]?.string == "software")
                #expect(done.run.effective("decode")?["used"]?.string == "software")
                #expect(done.run.effective("decode")?["why"]?.string?.contains("has no video processor") == true)
                expectEqual(done.frames, try expected(one.filters, deep: false, (one.width, one.height), in: folder), above: 42, "\(one)")
            }
            let plain = try encode([], in: folder)
            #expect(plain.run.effective("scaling") == nil && plain.run.effective("decode")?["used"]?.string == "device")
        }
        try Files.withTemporaryFolder { folder in
            try clip(deep: false, in: folder, ["-vf", "setsar=1", "-flags", "+ildct+ilme"])
            let fields = try encode(["--size", "88x72"], in: folder)
            #expect(fields.run.status == 0 && fields.frames.count == Self.frames, "\(fields.run.errors)")
            #expect(fields.run.effective("fields")?["used"]?.string == "progressive")
            #expect(fields.run.effective("scaling")?["why"]?.string == "the CPU deinterlaces the pictures")
        }
    }

    /// The video processor fails with one picture, or with all. No picture is lost or repeated.
    @Test(arguments: [("vaSyncSurface2@2=status:1", "device"), ("vaSyncSurface2@*/2=status:1", "software")])
    func failingVideoProcessorLosesNoPicture(_ faults: String, _ used: String) throws {
        try Files.withTemporaryFolder { folder in
            try clip(deep: false, in: folder)
            let one = Self.cases[0]
            let done = try encode(
                ["--size", "\(one.width)x\(one.height)", "--fit", one.fit], ["VAENC_FAULT": "# scaling; \(faults)"], in: folder)
            #expect(done.run.status == 0, "\(done.run.errors)")
            let scaling = done.run.effective("scaling")
            #expect(scaling?["used"]?.string == used && scaling?["why"]?.string?.contains("vaSyncSurface2 failed") == true, "\(scaling as Any)")
            expectEqual(done.frames, try expected(one.filters, deep: false, (one.width, one.height), in: folder), above: 42, faults)
        }
    }

    /// The device is lost during scaling. The pictures that the encoder holds there are dropped and counted, and the
    /// others are correct.
    @Test func lostDeviceDropsOnlyHeldPictures() throws {
        try Files.withTemporaryFolder { folder in
            try clip(deep: false, in: folder)
            let one = Self.cases[0]
            let done = try encode(
                ["--size", "\(one.width)x\(one.height)", "--fit", one.fit], ["VAENC_FAULT": "# scaling; vaSyncSurface2@6=lost"], in: folder)
            let frames = done.run.report?["frames"]
            #expect(done.run.status == 0 && frames?["input"]?.int == Self.frames, "\(done.run.errors)")
            #expect(frames?["encoded"]?.int == done.frames.count && done.frames.count >= 2)
            #expect((frames?["encoded"]?.int ?? 0) + (frames?["dropped"]?.int ?? 0) == Self.frames)
            let expected = try expected(one.filters, deep: false, (one.width, one.height), in: folder)
            for frame in done.frames { #expect(expected.contains { PSNR.all(frame, $0) > 42 }) }
            #expect(done.frames.last.map { PSNR.all($0, expected[Self.frames - 1]) > 42 } == true)
        }
    }
}
