import Glibc
import TestOracles
import Testing

/// Programs that do not know the driver decode with it: their pictures are those of libavcodec's software decoders.
@Suite(.serialized) struct DeviceDecodingTests {
    /// ffmpeg's and GStreamer's VA-API decoders decode a stream for every tool.
    @Test func everyStreamDecodesToTheSameSamples() throws {
        try Files.withTemporaryFolder { folder in
            try DecodeStreams.write(into: folder)
            var script: [String] = []
            for stream in DecodeStreams.all {
                script.append(
                    DeviceDecoding.line(
                        ["ffmpeg"]
                            + DeviceDecoding.arguments(
                                "\(folder)/\(stream.file)", bitDepth: stream.bitDepth,
                                output: ["-f", "rawvideo", "\(folder)/\(stream.file).yuv"])))
                // GStreamer pads the rows of other sizes.
                guard stream.bitDepth == 8, stream.name != "odd" else { continue }
                let parser = stream.codec == .h264 ? ["h264parse", "!", "vaapih264dec"] : ["h265parse", "!", "vaapih265dec"]
                script.append(
                    DeviceDecoding.line(
                        ["gst-launch-1.0", "-q", "filesrc", "location=\(folder)/\(stream.file)", "!"] + parser + [
                            "!", "video/x-raw,format=NV12", "!", "videoconvert", "!", "video/x-raw,format=I420", "!",
                            "filesink", "location=\(folder)/\(stream.file).gst",
                        ]))
            }
            let result = try VirtualScreen.runOnDriver(
                "sh", ["-c", script.joined(separator: "\n")],
                environment: try GStreamer.environment(in: folder).merging(["VAENC_REFERENCE_COUNTS": folder + "/counts"]) {
                    _, given in given
                })
            var judged = 0
            for stream in DecodeStreams.all {
                let expected = ForeignDecoder.libavcodec.decode(
                    try Files.read("\(folder)/\(stream.file)"), codec: stream.codec)
                #expect(
                    expected.messages.isEmpty && expected.frames.count == DecodeStreams.frameCount, "\(stream.file)")
                let samples = expected.frames.flatMap(\.bytes)
                for program in ["yuv", "gst"] where Files.exists("\(folder)/\(stream.file).\(program)") {
                    judged += 1
                    let same = try Files.read("\(folder)/\(stream.file).\(program)") == samples
                    #expect(same, "\(stream.file) by \(program): \(result.errors.suffix(400))")
                }
            }
            #expect(judged == 2 * DecodeStreams.all.count - 3, "\(result.errors.suffix(400))")
            // No pictures are lost, and each is read once: mapped or copied.
            let lines = try String(decoding: Files.read(folder + "/counts"), as: UTF8.self).split(separator: "\n")
            #expect(lines.filter { $0.contains("\"decoded\": \(DecodeStreams.frameCount),") }.count == judged)
        }
    }

    @Test(arguments: [Fixture.bikes, .bigBuckBunny]) func clipsDecodeToTheSameSamples(clip: Fixture) throws {
        let hash = ["-an", "-frames:v", "16", "-f", "md5", "-"]
        let expected = try ProcessRunner.run(
            "ffmpeg", ["-nostdin", "-v", "error", "-i", clip.path(), "-pix_fmt", "yuv420p", "-fps_mode", "passthrough"] + hash)
        let result = try VirtualScreen.runOnDriver("ffmpeg", DeviceDecoding.arguments(clip.path(), output: hash))
        #expect(result.status == 0 && result.output == expected.output && expected.output.hasPrefix("MD5="), "\(result.errors)")
    }

    /// The streams change size, are joined in the middle, or lack a picture; the frames are those of software decoders.
    @Test(arguments: StreamCodec.allCases) func changedAndDamagedSequencesDecodeAsInSoftware(codec: StreamCodec) throws {
        try Files.withTemporaryFolder { folder in
            let encoder = codec == .h264 ? "libx264" : "libx265"
            let names = ["a", "b"].map { "\(folder)/\($0).\(codec.fileExtension)" }
            var arguments = ["-v", "error", "-nostdin", "-i", try Fixture.carphone.path()]
            for (name, size) in zip(names, ["176:144", "96:80"]) {
                arguments += [
                    "-map", "0:v", "-frames:v", "12", "-vf", "scale=\(size)", "-pix_fmt", "yuv420p", "-c:v", encoder,
                    "-g", "6", "-bf", "2", name,
                ]
            }
            let setup = try ProcessRunner.run("ffmpeg", arguments)
            #expect(setup.status == 0, "\(setup.errors)")
            let (first, second) = (try Files.read(names[0]), try Files.read(names[1]))
            let units = AnnexBUnits.split(first)
            let slices = units.indices.filter { AnnexBUnits.isSlice(units[$0], codec) }
            #expect(slices.count == 12)
            let cases: [(name: String, stream: [UInt8])] = [
                ("sizes", first + second + first),
                ("joined", Array((units[..<slices[0]] + units[slices[3]...]).joined())),
                ("lost", Array((units[..<slices[8]] + units[slices[9]...]).joined())),
            ]
            for (name, stream) in cases {
                let path = "\(folder)/\(name).\(codec.fileExtension)"
                try Files.write(stream, to: path)
                try expectSameFrames(path, atLeast: name == "joined" ? 4 : 8)
            }
        }
    }

    /// Each field picture is a vaBeginPicture on the surface of its frame.
    @Test func fieldsAreDecodedIntoFrames() throws {
        try Files.withTemporaryFolder { folder in
            let path = folder + "/a.h264"
            let setup = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-v", "error", "-nostdin", "-i", Fixture.carphone.path(), "-frames:v", "24", "-vf", "scale=176:80",
                    "-pix_fmt", "yuv420p", "-c:v", "libx264", "-x264-params", FieldStream.options, path,
                ])
            #expect(setup.status == 0, "\(setup.errors)")
            try Files.write(FieldStream.rewritten(try Files.read(path)), to: path)
            try expectSameFrames(path, count: 12)
        }
    }

    /// Expects ffmpeg's frames on the driver to be those of its software decoder.
    private func expectSameFrames(_ path: String, count: Int? = nil, atLeast least: Int = 8) throws {
        let hash = ["-noautoscale", "-f", "framemd5", "-"]
        let expected = try ProcessRunner.run(
            "ffmpeg",
            ["-nostdin", "-v", "error", "-threads", "1", "-i", path, "-pix_fmt", "yuv420p", "-fps_mode", "passthrough"] + hash)
        let result = try VirtualScreen.runOnDriver(
            "ffmpeg", ["-threads", "1"] + DeviceDecoding.arguments(path, output: hash))
        let (frames, others) = (FrameHashes(expected.output), FrameHashes(result.output))
        #expect(frames.hashes.count >= least && count.map { $0 == frames.hashes.count } ?? true, "\(path): \(expected.errors)")
        #expect(frames == others, "\(path): \(result.errors)")
    }

    /// The driver reports the damage to the client, and no program crashes.
    @Test(arguments: StreamCodec.allCases) func damageIsReportedAsAnError(codec: StreamCodec) throws {
        try Files.withTemporaryFolder { folder in
            let path = "\(folder)/a.\(codec.fileExtension)"
            let setup = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-v", "error", "-nostdin", "-i", Fixture.carphone.path(), "-frames:v", "12", "-pix_fmt", "yuv420p", "-c:v",
                    codec == .h264 ? "libx264" : "libx265", "-preset", "veryfast", "-g", "6", path,
                ])
            #expect(setup.status == 0)
            let units = AnnexBUnits.split(try Files.read(path))
            var reported = 0
            for seed in 0..<4 {
                var damaged: [UInt8] = []
                for (index, unit) in units.enumerated() {
                    var unit = unit
                    if AnnexBUnits.isSlice(unit, codec), unit.count > 80 {
                        for offset in stride(from: 40 + (seed + index) % 7, to: unit.count, by: 23 + seed) { unit[offset] ^= 0x55 }
                    }
                    damaged += unit
                }
                try Files.write(damaged, to: path)
                let result = try VirtualScreen.runOnDriver(
                    "ffmpeg", DeviceDecoding.arguments(path, output: ["-f", "null", "-"]),
                    environment: ["VAENC_REFERENCE_LOG": "1"])
                // A signal gives 128 plus its number; ffmpeg's own exit statuses may be as high.
                #expect(![SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV].contains { result.status == 128 + Int($0) }, "\(result.errors)")
                if result.errors.contains("contains a picture with errors") { reported += 1 }
            }
            #expect(reported > 0)
        }
    }

    @Test func vainfoListsTheDecodeEntryPoints() throws {
        let result = try VirtualScreen.runOnDriver("vainfo", ["--display", "x11"])
        #expect(result.output.split(separator: "\n").filter { $0.contains("VAEntrypointVLD") }.count == 5)
        let old = try VirtualScreen.runOnDriver(
            "vainfo", ["--display", "x11"], environment: ["VAENC_REFERENCE_PERSONALITY": "i965-1616"])
        #expect(old.output.split(separator: "\n").filter { $0.contains("VAEntrypointVLD") }.count == 3)
    }
}

/// The sizes and hashes of frames as ffmpeg's framemd5 prints them.
struct FrameHashes: Equatable {
    var hashes: [String]

    init(_ text: String) {
        hashes = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map {
            $0.split(separator: ",").suffix(2).joined()
        }
    }
}
