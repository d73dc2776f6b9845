import TestOracles
import Testing

/// The programs of docs/PROGRAMS.md, as commands and with the library, judged by ffprobe, ffmpeg and libavcodec.
@Suite struct ProgramTests {
    private static let camera = "0:formats=NV12+YUYV,sizes=176x144,rate=25"

    /// Runs every line of a section, and judges the output of each.
    ///
    /// - Parameters:
    ///   - prepare: Makes the inputs.
    ///   - judge: Called with the names of the outputs in the line.
    private func program(
        _ heading: String, cameras: String = camera, environment: [String: String?] = [:], words: [String: String] = [:],
        prepare: (String) throws -> Void = { _ in }, judge: (_ outputs: [String], _ folder: String) throws -> Void
    ) throws {
        let lines = try #require(try ProgramPage().commands[heading], "no section \(heading)")
        #expect(lines.contains { $0.hasPrefix("vaenc ") } && lines.contains { $0.hasPrefix(ProgramRun.example) })
        try Files.withTemporaryFolder { folder in
            try prepare(folder)
            let all = try FakeCameras.environment(cameras).merging(environment) { $1 }
            for line in lines {
                let before = Files.list(folder)
                let result = try ProgramRun(folder: folder, environment: all).run(line, words: words)
                #expect(result.status == 0, "\(line): \(result.status) \(result.errors) \(result.output)")
                let created = Files.list(folder).filter { !before.contains($0) && $0 != "counts" }
                let named = line.split(separator: " ").map(String.init).filter { created.contains($0) }
                try #require(!named.isEmpty && named.count == created.count, "\(line): \(created)")
                try judge(named, folder)
            }
        }
    }

    /// The page shows each file of Examples unchanged, followed by a call, except the file that only selects a program.
    /// The page has no other code.
    @Test func pageShowsTheExampleFiles() throws {
        let folder = Checkout.root + "/Examples"
        let files = try Files.list(folder).filter { $0 != "main.swift" }.map {
            String(decoding: try Files.read("\(folder)/\($0)"), as: UTF8.self)
        }
        let blocks = try ProgramPage().code
        #expect(blocks.count == files.count)
        for block in blocks {
            let file = files.first { block.hasPrefix($0) }
            let call = block.dropFirst(file?.count ?? 0)
            #expect(file != nil && (call.isEmpty || call.hasPrefix("\ntry ") && call.count { $0 == "\n" } == 2), "\(block)")
        }
        for file in files {
            let imports = file.split(separator: "\n").filter { $0.hasPrefix("import ") }
            #expect(imports == ["import Vaenc"] || imports == ["import Glibc", "import Vaenc"], "\(imports)")
        }
    }

    @Test func cameraIsRecordedAsAnnexB() throws {
        try program("A camera as H.264 or HEVC") { outputs, folder in
            let codec: StreamCodec = outputs[0].hasSuffix("h265") ? .hevc : .h264
            let video = ForeignDecoder.libavcodec.decode(try Files.read("\(folder)/\(outputs[0])"), codec: codec)
            #expect(video.messages.isEmpty, "\(video.messages)")
            // Two seconds at 25 frames per second, minus dropped frames on a busy machine, in the camera's order.
            let numbers = video.frames.map(FakeCameras.number)
            #expect((5...51).contains(numbers.count) && numbers == Set(numbers).sorted() && numbers.first ?? -1 >= 0, "\(numbers)")
        }
    }

    @Test func cameraAndMicrophoneAreRecordedAsMP4() throws {
        let tone = ["default": "lavfi:sine=frequency=1000:sample_rate=48000"]
        try program("A camera and a microphone as MP4", words: tone) { outputs, folder in
            let streams = try Self.streams(outputs[0], in: folder)
            let video = try #require(streams["video"]), sound = try #require(streams["audio"])
            #expect(["h264", "hevc"].contains(video["codec_name"]?.string) && sound["codec_name"]?.string == "aac")
            #expect(sound["sample_rate"]?.string == "44100" && sound["channels"]?.int == 1)
            // The differences are less than a frame of 40 ms.
            let (start, length) = (Self.seconds("start_time"), Self.seconds("duration"))
            let ends = (start(video) + length(video), start(sound) + length(sound)), offset = start(video) - start(sound)
            #expect(abs(ends.0 - ends.1) <= 0.04 && abs(ends.0 - 2) < 0.08, "\(outputs): \(ends)")
            #expect(abs(offset) < 0.04, "\(outputs): \(offset)")
            #expect(abs(length(video) - length(sound)) <= 0.04, "\(outputs): \(length(video)), \(length(sound))")
        }
    }

    @Test func first200FramesAreRecorded() throws {
        try program("The first 200 frames", cameras: Self.camera.replacingRate(with: 100)) { outputs, folder in
            let video = ForeignDecoder.libavcodec.decode(try Files.read("\(folder)/\(outputs[0])"))
            #expect(video.messages.isEmpty && video.frames.count == 200, "\(video.frames.count)")
        }
    }

    @Test func stillPictureShowsTheCamera() throws {
        try program("A still picture") { outputs, folder in
            let shown = try ProcessRunner.run(
                "ffmpeg",
                ["-v", "error", "-nostdin", "-i", outputs[0], "-vf", "scale=out_range=limited", "-pix_fmt", "yuv420p", "-f", "rawvideo", "-"],
                directory: folder)
            #expect(shown.status == 0 && shown.errors == "")
            let picture = try #require(PlanarFrame(width: 176, height: 144, bytes: shown.stdout))
            #expect((0...50).contains(FakeCameras.number(of: picture)))
        }
    }

    @Test func remuxKeepsEveryPacket() throws {
        try program("MP4 to MP4 without encoding", prepare: Self.movie) { outputs, folder in
            let expected = try Self.hashes("movie.mp4", in: folder)
            #expect(expected.count == 2)
            #expect(try Self.hashes(outputs[0], in: folder) == expected)
        }
    }

    @Test func transcodeStaysOnTheDevice() throws {
        try Files.withTemporaryFolder { counts in
            var results: [[String]] = []
            try program(
                "H.264 in MP4 to HEVC in MOV", environment: ["VAENC_REFERENCE_COUNTS": counts + "/counts"], prepare: Self.movie
            ) { outputs, folder in
                results.append(try Self.hashes(outputs[0], in: folder))
                let streams = try Self.streams(outputs[0], in: folder)
                #expect(streams["video"]?["codec_name"]?.string == "hevc" && streams["video"]?["nb_read_frames"]?.string == "50")
                let sound = try Self.hashes(outputs[0], in: folder).filter { $0.contains(",a,") }.map { $0.drop { $0 != "," } }
                #expect(try sound == Self.hashes("movie.mp4", in: folder).filter { $0.contains(",a,") }.map { $0.drop { $0 != "," } })
                let compared = try ProcessRunner.run(
                    "ffmpeg",
                    ["-v", "info", "-hide_banner", "-nostdin", "-i", outputs[0], "-i", "movie.mp4", "-lavfi", "[0:v][1:v]psnr", "-f", "null", "-"],
                    directory: folder)
                let average = compared.errors.firstMatch(of: #/average:([0-9.]+)/#).flatMap { Double($0.1) }
                #expect(compared.status == 0 && average ?? 0 > 30, "\(compared.errors)")
                // One display decoded and encoded, without any transfer of samples.
                let lines = String(decoding: try Files.read(counts + "/counts"), as: UTF8.self).split(separator: "\n").compactMap {
                    JSONValue(String($0))
                }
                let device = try #require(lines.last { $0["encoded"]?.int ?? 0 > 0 })
                #expect(device["decoded"]?.int == 50 && device["encoded"]?.int == 50 && device["maps"]?.int == 0, "\(device)")
                for kind in ["getImage", "putImage", "deriveImage", "import", "export"] { #expect(device["copies"]?[kind]?.int == 0, "\(device)") }
            }
            // The command and the program of the library write the same pictures and sound.
            #expect(results.count == 2 && results[0] == results[1], "\(results)")
        }
    }

    /// An output that cannot be written ends the program with the reason, although the source continues for hours.
    @Test func failedOutputEndsTheProgram() throws {
        try Files.withTemporaryFolder { folder in
            let script = "trap '' XFSZ; ulimit -f 20; exec \"$0\" transcode testsrc:176x144@25:1000000 out.mov software"
            // The program ends by an error that nobody catches; its backtrace is not needed.
            let result = try ProcessRunner.run(
                "bash", ["-c", script, Checkout.buildFolder + "/Examples"], environment: ["SWIFT_BACKTRACE": "enable=no"],
                directory: folder)
            #expect(!result.timedOut && result.status != 0, "\(result.status)")
            #expect((result.errors + result.output).contains("the file is larger than the system allows"), "\(result.errors)")
            #expect(Files.list(folder).isEmpty)
        }
    }

    @Test func decodedPicturesMatchLibavcodec() throws {
        try program("NAL units to pictures", prepare: Self.clip) { outputs, folder in
            let expected = ForeignDecoder.libavcodec.decode(try Files.read("\(folder)/clip.h264")).frames
            let file = try Files.read("\(folder)/\(outputs[0])")
            var offset = (file.firstIndex(of: 10) ?? -1) + 1, pictures: [ArraySlice<UInt8>] = []
            let size = PlanarFrame.byteCount(width: 176, height: 144), mark = Array("FRAME\n".utf8)
            while offset + mark.count + size <= file.count, file[offset..<offset + mark.count].elementsEqual(mark) {
                offset += mark.count + size
                pictures.append(file[offset - size..<offset])
            }
            #expect(offset == file.count && pictures.count == 120)
            let isEqual = expected.count == pictures.count && zip(expected, pictures).allSatisfy { $0.bytes.elementsEqual($1) }
            #expect(isEqual)
        }
    }

    @Test func bothCodecsFollowTheRateChange() throws {
        try program("Two codecs at once, the bit rate changed while running", prepare: Self.movie) { outputs, folder in
            #expect(outputs.map { $0.suffix(5) } == [".h264", ".h265"])
            for (name, codec) in zip(outputs, StreamCodec.allCases) {
                let video = ForeignDecoder.libavcodec.decode(try Files.read("\(folder)/\(name)"), codec: codec)
                #expect(video.messages.isEmpty && video.frames.count == 50, "\(name)")
                let packets = try ProcessRunner.run(
                    "ffprobe", ["-v", "error", "-show_entries", "packet=size", "-of", "csv=p=0", name], directory: folder)
                let sizes = packets.output.split(separator: "\n").compactMap { Int($0.prefix { $0.isNumber }) }
                let (first, second) = (sizes.prefix(25).reduce(0, +), sizes.dropFirst(25).reduce(0, +))
                #expect(sizes.count == 50 && second * 2 < first, "\(name): \(first) \(second)")
            }
        }
    }

    // MARK: Inputs and readers

    /// Two seconds of H.264 with B pictures, and AAC.
    private static let movieBytes = Result {
        try Files.withTemporaryFolder { folder in
            let setup = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-v", "error", "-nostdin", "-i", try Fixture.bigBuckBunny.path(), "-frames:v", "50", "-t", "2", "-vf", "scale=192:128", "-c:v",
                    "libx264", "-preset", "veryfast", "-bf", "2", "-c:a", "aac", "-ac", "2", "movie.mp4",
                ], directory: folder)
            try #require(setup.status == 0, "\(setup.errors)")
            return try Files.read(folder + "/movie.mp4")
        }
    }

    private static func movie(_ folder: String) throws { try Files.write(movieBytes.get(), to: folder + "/movie.mp4") }

    private static func clip(_ folder: String) throws {
        let setup = try ProcessRunner.run(
            "ffmpeg", ["-v", "error", "-nostdin", "-i", try Fixture.carphone.path(), "-c", "copy", "-bsf:v", "h264_mp4toannexb", "clip.h264"],
            directory: folder)
        try #require(setup.status == 0, "\(setup.errors)")
    }

    /// Returns ffprobe's streams by kind.
    private static func streams(_ name: String, in folder: String) throws -> [String: JSONValue] {
        let result = try ProcessRunner.run("ffprobe", ["-v", "error", "-count_frames", "-show_streams", "-of", "json", name], directory: folder)
        #expect(result.status == 0 && result.errors == "", "\(name): \(result.errors)")
        let all = JSONValue(result.output)?["streams"]?.array ?? []
        return Dictionary(all.map { ($0["codec_type"]?.string ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    }

    private static func seconds(_ key: String) -> (JSONValue) -> Double { { $0[key]?.string.flatMap { Double($0) } ?? .nan } }

    /// Returns FFmpeg's hashes of the streams' packets, one line each: `0,v,MD5=…`.
    private static func hashes(_ name: String, in folder: String) throws -> [String] {
        let result = try ProcessRunner.run(
            "ffmpeg", ["-v", "error", "-nostdin", "-i", name, "-map", "0", "-c", "copy", "-f", "streamhash", "-hash", "md5", "-"], directory: folder)
        #expect(result.status == 0 && result.errors == "", "\(name): \(result.errors)")
        return result.output.split(separator: "\n").map(String.init)
    }
}

extension String {
    fileprivate func replacingRate(with rate: Int) -> String { replacing("rate=25", with: "rate=\(rate)") }
}
