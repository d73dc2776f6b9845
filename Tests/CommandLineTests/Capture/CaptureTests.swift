import TestOracles
import Testing

/// `vaenc capture` on simulated cameras: which pictures arrive, and how they are encoded.
@Suite struct CaptureTests {
    private static let options = ["--device", "software", "--qp", "8", "--preset", "7"]

    private func capture(
        _ cameras: String, _ arguments: [String], options: [String] = Self.options, command: String = "capture",
        environment: [String: String?] = [:], _ body: (CaptureRun) throws -> Void
    ) throws {
        try Files.withTemporaryFolder { folder in
            try body(try CaptureRun(cameras, arguments + options, in: folder, command: command, environment: environment))
        }
    }

    @Test func camerasAreListed() throws {
        let environment = try FakeCameras.environment(
            "9:formats=YUYV+MJPG,sizes=64x48+128x96,rate=50,card=Eye;8:denied;7:plain;6:busy")
        let result = try ProcessRunner.run(
            Checkout.vaenc, ["probe", "--device", "software", "--capture", "--json"], environment: environment)
        #expect(result.status == 0, "\(result.errors)")
        let devices = JSONValue(result.output)?["captureDevices"]?.array ?? []
        let listed = devices.filter { ["/dev/video6", "/dev/video7", "/dev/video8", "/dev/video9"].contains($0["path"]?.string) }
        try #require(listed.compactMap { $0["path"]?.string } == ["/dev/video6", "/dev/video8", "/dev/video9"])
        #expect(listed.compactMap { $0["usable"]?.bool } == [false, false, true])
        #expect(listed[1]["why"]?.string?.contains("permission") == true && listed[0]["why"]?.string?.contains("in use") == true)
        let eye = listed[2]
        #expect(eye["name"]?.string == "Eye" && eye["driver"]?.string == "fake" && eye["bus"]?.string == "platform:fake-9")
        #expect(eye["inputs"]?.array.first?["name"]?.string == "Lens")
        let own = eye["formats"]?.array.filter { $0["emulated"]?.bool == false } ?? []
        #expect(own.compactMap { $0["fourcc"]?.string } == ["YUYV", "MJPG"])
        #expect(own.compactMap { $0["inputFormat"]?.string } == ["yuyv", "mjpeg"])
        let sizes = own.first?["sizes"]?.array ?? []
        #expect(sizes.compactMap { $0["width"]?.int } == [64, 128] && sizes.compactMap { $0["height"]?.int } == [48, 96])
        #expect(sizes.first?["rates"]?.array.compactMap(\.string) == ["50/1", "25/1"])
        let table = try ProcessRunner.run(
            Checkout.vaenc, ["probe", "--device", "software", "--capture"], environment: environment)
        #expect(table.output.contains("/dev/video9: Eye, fake") && table.output.contains("64×48@50.00/25.00 128×96"), "\(table.output)")
    }

    /// For every pixel format, the pictures match the camera's, with consecutive numbers, even if rows are padded.
    @Test(arguments: ["NV12", "YU12", "YUYV"], [0, 64])
    func encodedPicturesMatchTheCameras(_ fourCC: String, _ padding: Int) throws {
        try capture("9:formats=\(fourCC),sizes=64x48,rate=100,pitch=\(padding)", ["/dev/video9", "-o", "a.h264", "--frames", "12"]) { run in
            #expect(run.status == 0, "\(run.errors)")
            let frames = try run.frames()
            #expect(frames.count == 12)
            let numbers = frames.map(FakeCameras.number)
            let lost = (run.count("late") ?? 99) + (run.count("droppedByDriver") ?? 99)
            #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "\(numbers)")
            #expect((numbers.last ?? 0) - (numbers.first ?? 0) <= 11 + lost, "\(numbers), \(lost) lost")
            for frame in frames {
                let drawn = FakeCameras.picture(FakeCameras.number(of: frame), width: 64, height: 48)
                #expect(PSNR.all(frame, drawn) > 36)
            }
            let exports = run.capture?["cameras"]?.array.first?["exportsBuffers"]?.bool
            #expect(exports == true)
        }
    }

    /// The nearest size and rate are chosen, and the encoded size is the camera's. `encode` accepts a camera too.
    @Test(arguments: ["capture", "encode"]) func nearestCameraModeIsUsed(_ command: String) throws {
        try capture(
            "9:sizes=64x48+128x96+160x120,rate=60", ["/dev/video9", "-o", "a.h264", "--frames", "3", "--capture-size", "120x90", "--fps", "25"],
            command: command
        ) { run in
            #expect(run.status == 0, "\(run.errors)")
            let camera = run.capture?["cameras"]?.array.first
            #expect(camera?["width"]?.int == 128 && camera?["height"]?.int == 96 && camera?["frameRate"]?.string == "30/1")
            #expect(run.encode.effective("captureSize")?["used"]?.string == "128×96")
            #expect(run.encode.effective("captureRate")?["asked"]?.string == "25/1")
            let frame = try run.frames().first
            #expect(frame?.width == 128)
        }
    }

    @Test func scaledPicturesHaveBars() throws {
        try capture("9:formats=NV12,sizes=64x48", ["/dev/video9", "-o", "a.h264", "--frames", "2", "--size", "96x48"]) { run in
            let frame = try #require(try run.frames().first)
            #expect(frame.width == 96 && frame.height == 48)
            #expect(frame.bytes[30 * 96 + 4] < 24 && frame.bytes[30 * 96 + 48] > 90)
        }
    }

    private func withJPEG(_ body: (String) throws -> Void) throws {
        try Files.withTemporaryFolder { folder in
            let setup = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-v", "error", "-f", "lavfi", "-i", "color=gray:s=64x48:r=25,geq=lum='mod(X*3+N*37,256)':cb=128:cr=128", "-frames:v", "40",
                    "-c:v", "mjpeg", "-q:v", "2",
                    "-pix_fmt", "yuvj422p", "-f", "mjpeg", folder + "/a.mjpeg",
                ])
            #expect(setup.status == 0, "\(setup.errors)")
            try body(folder + "/a.mjpeg")
        }
    }

    /// JPEG pictures are decoded as ffmpeg does it. A damaged one is counted and dropped.
    @Test func motionJPEGMatchesFFmpegsDecoding() throws {
        try withJPEG { jpeg in
            try capture("9:formats=MJPG,jpeg=\(jpeg),damaged=9", ["/dev/video9", "-o", "a.h264", "--frames", "20"]) { run in
                #expect(run.status == 0, "\(run.errors)")
                let frames = try run.frames()
                #expect(frames.count == 20)
                #expect(run.count("damaged") == 1)
                let raw = try ProcessRunner.run(
                    "ffmpeg", ["-v", "error", "-i", jpeg, "-pix_fmt", "yuvj420p", "-f", "rawvideo", "-"])
                let drawn = PlanarFrame.split(raw.stdout, width: 64, height: 48) ?? []
                #expect(drawn.count == 40)
                let best = frames.map { frame in drawn.indices.max { PSNR.luma(frame, drawn[$0]) < PSNR.luma(frame, drawn[$1]) } ?? -1 }
                #expect(zip(best, best.dropFirst()).allSatisfy { $0 < $1 } && !best.contains(9), "\(best)")
                for (frame, index) in zip(frames, best) { #expect(PSNR.luma(frame, drawn[index]) > 35) }
                // JPEG has full range, and the stream signals it.
                let probe = try ProcessRunner.run(
                    "ffprobe", ["-v", "error", "-show_entries", "stream=color_range", "-of", "csv=p=0", "a.h264"], directory: run.folder)
                #expect(probe.output.hasPrefix("pc"), "\(probe.output)")
            }
        }
    }

    /// Pictures that the driver reports as faulty or dropped are counted and not encoded.
    @Test func faultyPicturesAreCounted() throws {
        try capture(
            "9:formats=NV12,gap=14,error=18,short=22,back=26", ["/dev/video9", "-o", "a.mkv", "--duration", "1", "--late-frames", "keep"]
        ) { run in
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.count("damaged") == 2 && (run.count("droppedByDriver") ?? 0) >= 3)
            // On a busy machine the picture arrives late, and its time of arrival is after the times of the next ones.
            #expect((run.capture?["cameras"]?.array.first?["timesReplaced"]?.int ?? 0) >= 1)
            let times = try run.times("a.mkv")
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(times)")
            #expect(times.last ?? 0 < 1.0 && times.last ?? 0 > 0.7)
        }
    }

    /// The time of arrival is used instead of timestamps of another clock, also where they go backwards.
    @Test func timesOfOtherClocksAreReplaced() throws {
        try capture("9:formats=NV12,wallclock,back=10", ["/dev/video9", "-o", "a.mkv", "--frames", "20"]) { run in
            #expect(run.status == 0, "\(run.errors)")
            let times = try run.times("a.mkv")
            #expect(times.count == 20 && times.first == 0 && zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(times)")
            #expect(run.capture?["cameras"]?.array.first?["timesReplaced"]?.int == 0)
        }
    }

    /// The encoder is slower than the camera: `drop` keeps the newest pictures, `keep` keeps all until the driver has
    /// no free buffers.
    @Test(arguments: ["drop", "keep"]) func lateFramePolicyDecidesWhatIsDropped(_ policy: String) throws {
        let slow = ["--device", "reference", "--codec", "h264", "--qp", "40", "--bframes", "0", "--async-depth", "1"]
        try capture(
            "9:formats=NV12,rate=200,skips", ["/dev/video9", "-o", "a.h264", "--frames", "40", "--late-frames", policy], options: slow,
            environment: ["VAENC_FAULT": "vaEndPicture@*=delay:20"]
        ) { run in
            #expect(run.status == 0, "\(run.errors)")
            let numbers = try run.frames().map(FakeCameras.number)
            #expect(numbers.count == 40 && zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "\(numbers)")
            let late = run.count("late") ?? -1
            if policy == "drop" {
                #expect(late > 20)
            } else {
                #expect(late == 0)
                // The queued buffers are encoded without a gap, before the driver drops pictures.
                #expect(zip(numbers, numbers.dropFirst()).prefix(15).allSatisfy { $0 + 1 == $1 }, "\(numbers)")
                #expect(run.count("droppedByDriver") ?? 0 > 0)
            }
        }
    }

    /// The device reads the pictures from the camera driver's buffers: none is copied, no surface is mapped, and every
    /// picture matches the camera's, even if the encoder holds several for B pictures.
    @Test(arguments: [("h264", 0, "NV12"), ("h264", 2, "NV12"), ("hevc", 2, "NV12"), ("h264", 2, "YUYV")])
    func pictureMemoryIsShared(_ codec: String, _ bFrames: Int, _ layout: String) throws {
        try Files.withTemporaryFolder { counts in
            try capture(
                "9:formats=\(layout),sizes=128x96,rate=50,pitch=32",
                ["/dev/video9", "-o", "a.\(codec)", "--frames", "24", "--bframes", "\(bFrames)"],
                options: ["--device", "reference", "--qp", "8"], environment: ["VAENC_REFERENCE_COUNTS": counts + "/counts"]
            ) { run in
                #expect(run.status == 0, "\(run.errors)")
                let memory = run.encode.effective("captureMemory")
                #expect(memory?["used"]?.string == "dmabuf-import")
                #expect(memory?["why"]?.string == "the device read 24 pictures in place")
                let decoder = codec == "hevc" ? ForeignDecoder.libde265 : .libavcodec
                let frames = decoder.decode(try Files.read(run.folder + "/a.\(codec)")).frames
                #expect(frames.count == 24)
                for frame in frames {
                    let drawn = FakeCameras.picture(FakeCameras.number(of: frame), width: 128, height: 96)
                    #expect(PSNR.all(frame, drawn) > 36)
                }
                let lines = String(decoding: try Files.read(counts + "/counts"), as: UTF8.self).split(separator: "\n").compactMap {
                    JSONValue(String($0))
                }
                func sum(_ value: (JSONValue) -> Int?) -> Int { lines.compactMap(value).reduce(0, +) }
                #expect(sum { $0["encoded"]?.int } == 24)
                // The video processor converts other pixel formats to NV12. It converts the first picture twice, to
                // check for support.
                #expect(sum { $0["processed"]?.int } == (layout == "NV12" ? 0 : 25))
                #expect(sum { $0["maps"]?.int } == 0)
                for method in ["getImage", "putImage", "deriveImage", "import", "export"] {
                    #expect(sum { $0["copies"]?[method]?.int } == 0, "\(method)")
                }
            }
        }
    }

    /// Several outputs read the camera's pictures in place, or a copy that the device converts.
    @Test(arguments: ["NV12", "YUYV"]) func severalOutputsHaveEveryPicture(layout: String) throws {
        try capture(
            "9:formats=\(layout),sizes=128x96,rate=50,pitch=32", ["/dev/video9", "-o", "a.h264", "-o", "a.h265", "--frames", "12"],
            options: ["--device", "reference", "--qp", "8"]
        ) { run in
            #expect(run.status == 0 && run.encode.report?["input"]?["framesCopied"]?.int == 0, "\(run.errors)")
            for codec in StreamCodec.allCases {
                let name = codec == .h264 ? "a.h264" : "a.h265"
                let frames = ForeignDecoder.libavcodec.decode(try Files.read(run.folder + "/" + name), codec: codec).frames
                #expect(frames.count == 12)
                for frame in frames {
                    let drawn = FakeCameras.picture(FakeCameras.number(of: frame), width: 128, height: 96)
                    #expect(PSNR.all(frame, drawn) > 36, "\(name)")
                }
            }
        }
    }

    /// If picture memory cannot be shared, pictures are copied and the report contains the reason.
    @Test(arguments: [
        ("9:formats=NV12,noexport", "reference", ["--frames", "4"], "does not export DMA-BUFs"),
        ("9:formats=NV12", "software", ["--frames", "4"], "in software"),
        ("9:formats=YU12", "reference", ["--frames", "4"], "i420"), ("9:formats=NV12", "reference", ["--frames", "4", "--size", "96x64"], "scales"),
    ]) func pictureMemoryIsCopied(_ cameras: String, _ device: String, _ arguments: [String], _ why: String) throws {
        try capture(cameras, ["/dev/video9", "-o", "a.h264"] + arguments, options: ["--device", device, "--qp", "20"]) { run in
            #expect(run.status == 0, "\(run.errors)")
            let memory = run.encode.effective("captureMemory")
            #expect(memory?["used"]?.string == "mmap-copied" && memory?["why"]?.string?.contains(why) == true, "\(memory as Any)")
            let count = try run.frames().count
            #expect(count == 4)
        }
    }

    /// The encoder holds more pictures than the camera has buffers. The excess pictures are copied, and none is lost.
    @Test func exhaustedCameraBuffersAreCopied() throws {
        try capture(
            "9:formats=NV12,rate=200", ["/dev/video9", "-o", "a.h264", "--frames", "60", "--bframes", "7", "--async-depth", "8"],
            options: ["--device", "reference", "--qp", "20"], environment: ["VAENC_FAULT": "vaEndPicture@*=delay:5"]
        ) { run in
            #expect(run.status == 0, "\(run.errors)")
            let memory = run.encode.effective("captureMemory")
            #expect(memory?["used"]?.string == "dmabuf-import" && memory?["why"]?.string?.contains("copied while") == true, "\(memory as Any)")
            let numbers = try run.frames().map(FakeCameras.number)
            #expect(numbers.count == 60 && zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "\(numbers)")
        }
    }

    /// The camera's bus exports no DMA-BUFs.
    @Test func captureWorksWithoutDMABUFExport() throws {
        try capture("9:formats=NV12,noexport", ["/dev/video9", "-o", "a.h264", "--frames", "3"]) { run in
            #expect(run.status == 0 && run.capture?["cameras"]?.array.first?["exportsBuffers"]?.bool == false)
            let count = try run.frames().count
            #expect(count == 3)
        }
    }

    /// At the switch time the other camera takes over, at the size of the first one, without a gap. The cameras' clocks
    /// run in real time, so a busy machine can delay one of them: then the recording is repeated.
    @Test func switchedCamerasContinueWithoutGap() throws {
        let cameras = "9:formats=NV12,sizes=64x48,base=60;8:formats=YUYV,sizes=128x96,base=140"
        func record(_ name: String, _ check: (CaptureRun) throws -> Void) throws {
            try capture(
                cameras,
                [
                    "/dev/video9", "-o", name, "--duration", "1.2", "--switch-to", "/dev/video8@0.4", "--switch-to", "/dev/video9@0.8",
                    "--capture-size", "64x48",
                ]
            ) { run in
                #expect(run.status == 0, "\(run.errors)")
                try check(run)
            }
        }
        func succeeds(_ name: String, _ attempt: (CaptureRun) throws -> String?) throws {
            var problems: [String] = []
            repeat {
                var problem: String?
                try record(name) { problem = try attempt($0) }
                guard let problem else { return }
                problems.append(problem)
            } while problems.count < 5
            Issue.record("\(name): \(problems)")
        }
        try succeeds("a.mkv") { run in
            let times = try run.times("a.mkv")
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(times)")
            let hasGap = zip(times, times.dropFirst()).contains { $1 - $0 >= 0.09 }
            return times.count > 45 && !hasGap ? nil : "\(times)"
        }
        try succeeds("a.h264") { run in
            // The mean luma of the lower part identifies the camera.
            let levels = try run.frames().map { frame in frame.bytes[(40 * 64)..<(44 * 64)].reduce(0) { $0 + Int($1) } / 256 > 110 }
            let changes = zip(levels, levels.dropFirst()).filter { $0 != $1 }.count
            #expect(changes == 2 && levels.first == false && levels.last == false, "\(levels)")
            return abs(levels.count { $0 } - 20) <= 4 ? nil : "\(levels)"
        }
    }

    @Test(arguments: ["p.jpg", "p.png"]) func stillPictureMatchesTheCamera(_ name: String) throws {
        try capture("9:formats=NV12,sizes=64x48", ["/dev/video9", "-o", name], options: []) { run in
            #expect(run.status == 0, "\(run.errors)")
            #expect(Files.list(run.folder) == [name])
            let raw = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-v", "error", "-i", name, "-vf", "scale=in_range=full:out_range=limited:out_color_matrix=bt601", "-pix_fmt", "yuv420p", "-f",
                    "rawvideo", "-",
                ],
                directory: run.folder)
            let frame = try #require(PlanarFrame.split(raw.stdout, width: 64, height: 48)?.first)
            let number = FakeCameras.number(of: frame)
            #expect(PSNR.luma(frame, FakeCameras.picture(number, width: 64, height: 48)) > 32)
            // An existing file is kept.
            let again = try CaptureRun("9:formats=NV12,sizes=64x48", ["/dev/video9", "-o", name], in: run.folder)
            #expect(again.status == 73)
        }
    }
}
