import TestOracles
import Testing

/// Each container with each codec that it supports, played by ffmpeg and GStreamer.
@Suite struct ContainerTests {
    private static let frameCount = 12
    private static let (width, height) = (160, 96)

    /// The encoded codec and bit depth: H.264, HEVC in 8 bits and in 10, with B pictures and more than one GOP.
    enum Coding: String, CaseIterable {
        case h264, hevc, main10

        var codec: StreamCodec { self == .h264 ? .h264 : .hevc }
        var isDeep: Bool { self == .main10 }
        /// Both copied packets and new AAC are tested in each container.
        var sound: String { self == .hevc ? "copy" : "aac" }
        var containers: [String] { ["mp4", "mov", "mkv", "ts", "m3u8"] + (codec == .h264 ? ["flv"] : []) }
        /// GStreamer's name of the sample format.
        var layout: String { isDeep ? "I420_10LE" : "I420" }

        var options: [String] {
            [
                "--device", "reference", "--codec", codec.rawValue, "--frames", "\(frameCount)", "--size", "\(width)x\(height)", "--bframes", "2",
                "--gop", "5", "--qp", "26", "--json",
            ] + (isDeep ? ["--bit-depth", "10"] : [])
        }
    }

    /// In ffmpeg and in GStreamer, every sample of every picture is as libavcodec decodes it from the bare stream.
    /// Sound and pictures start and end together.
    @Test(arguments: Coding.allCases) func containersPlayInFFmpegAndGStreamer(_ coding: Coding) throws {
        try Files.withTemporaryFolder { folder in
            let common = [try Fixture.bigBuckBunny.path()] + coding.options
            let bare = "a.\(coding.codec.fileExtension)"
            let whole = ["--audio", coding.sound] + coding.containers.flatMap { ["-o", "a.\($0)"] }
            for outputs in [
                whole, ["--audio", coding.sound, "--format", "fmp4", "-o", "f.mp4"], ["-o", bare], ["--format", "avcc", "-o", "a.avcc"],
            ] {
                let run = try EncodeRun(common + outputs, in: folder)
                #expect(run.status == 0, "\(outputs): \(run.errors)")
            }
            let stream = try Files.read("\(folder)/\(bare)")
            let expected = ForeignDecoder.libavcodec.decode(stream, codec: coding.codec)
            #expect(expected.messages.isEmpty && expected.frames.count == Self.frameCount)
            #expect(expected.frames.allSatisfy { $0.width == Self.width && $0.height == Self.height && ($0.bitDepth > 8) == coding.isDeep })
            let types = try ProcessRunner.run(
                "ffprobe", ["-v", "error", "-show_entries", "frame=pict_type", "-of", "csv=p=0", bare], directory: folder)
            #expect(types.output.count { $0 == "B" } >= 4 && types.output.count { $0 == "I" } >= 2, "\(types.output)")
            let samples = expected.frames.flatMap(\.bytes)

            let paths = coding.containers.map { "a.\($0)" } + ["f.mp4", bare]
            for (path, shown) in zip(paths, try Self.gstreamer(paths, coding, in: folder)) {
                let played = try Self.ffmpeg(path, in: folder)
                let (isPlayed, isShown) = (played.pictures == samples, shown == samples)
                #expect(isPlayed, "\(path): \(played.pictures.count) bytes in ffmpeg, not \(samples.count)")
                #expect(isShown, "\(path): \(shown.count) bytes in GStreamer, not \(samples.count)")
                if path == bare { continue }
                let video = try #require(played.spans["video"]), sound = try #require(played.spans["audio"], "\(path)")
                #expect(video.count == Self.frameCount, "\(path)")
                #expect(abs(video.start - sound.start) < 0.04 && abs(video.end - sound.end) < 0.042, "\(path): \(played.spans)")
            }
            // No player opens a length-prefixed stream. With start codes instead of the lengths it is the bare stream.
            let isStream = Self.annexB(of: try Files.read("\(folder)/a.avcc")) == stream
            #expect(isStream)
        }
    }

    /// Every picture is a key frame, with HRD parameters and without. The parameter sets in the container match those
    /// of the pictures.
    @Test(arguments: StreamCodec.allCases, ["on", "off"]) func intraOnlyContainersPlay(_ codec: StreamCodec, hrd: String) throws {
        try Files.withTemporaryFolder { folder in
            let common = [
                "testsrc:\(Self.width)x\(Self.height)@25:6", "--device", "software", "--codec", codec.rawValue, "--preset", "7", "--gop", "1",
                "--hrd", hrd, "--bitrate", "1M",
            ]
            let outputs = ["a.mp4", "a.mov", "a.mkv", "a.ts", "a.\(codec.fileExtension)"]
            for options in [outputs.flatMap { ["-o", $0] }, ["--format", "fmp4", "-o", "f.mp4"]] {
                let run = try EncodeRun(common + options, in: folder)
                #expect(run.status == 0, "\(options): \(run.errors)")
            }
            for path in outputs + ["f.mp4"] {
                let pictures = try Self.ffmpeg(path, in: folder).pictures
                #expect(pictures.count == 6 * Self.width * Self.height * 3 / 2, "\(path): \(pictures.count) bytes")
                let run = try ProcessRunner.run(Checkout.vaenc, ["inspect", path], directory: folder)
                #expect(run.status == 0 && !run.output.contains("violation"), "\(path): \(run.output) \(run.errors)")
            }
        }
    }

    /// If the container or the file's name does not support a request, it is a usage error in one line, before any file
    /// is written.
    @Test(arguments: [
        ["--codec", "hevc", "-o", "a.flv"], ["--profile", "main10", "-o", "a.flv"], ["--bit-depth", "10", "-o", "a.flv"],
        ["--codec", "hevc", "-o", "rtmp://127.0.0.1:1/live/a"], ["--codec", "hevc", "-o", "a.mp4", "-o", "b.flv"],
        ["--codec", "hevc", "-o", "a.h264"], ["--codec", "h264", "-o", "a.h265"], ["--bit-depth", "10", "-o", "a.h264"],
        ["--codec", "h264", "--bit-depth", "10", "-o", "a.mkv"], ["--codec", "hevc", "--format", "flv", "-o", "-"],
        ["--audio", "copy", "-o", "a.h264"], ["--audio", "aac", "-o", "a.h265"], ["--audio", "copy", "--format", "avcc", "-o", "a.avcc"],
        ["--sample-entry", "hev1", "-o", "a.mkv"], ["-o", "a.avi"], ["-o", "a"], ["--format", "webm", "-o", "a.webm"],
        ["--format", "hls", "-o", "-"],
    ]) func unsupportedContentIsAUsageError(_ arguments: [String]) throws {
        try Files.withTemporaryFolder { folder in
            let run = try EncodeRun([try Fixture.bigBuckBunny.path(), "--device", "reference", "--frames", "2"] + arguments, in: folder)
            #expect(run.status == 64 && run.errorLines.count == 1, "\(run.status): \(run.errors)")
            #expect(Files.list(folder) == [])
        }
    }

    private static func annexB(of bytes: [UInt8]) -> [UInt8]? {
        var result: [UInt8] = []
        var offset = 0
        while offset + 4 <= bytes.count {
            let end = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } + offset + 4
            guard end <= bytes.count else { return nil }
            result += [0, 0, 0, 1] + bytes[offset + 4..<end]
            offset = end
        }
        return offset == bytes.count ? result : nil
    }

    /// Returns the samples that ffmpeg decodes, and the start, end and number of the pictures and of the sound's
    /// frames, in seconds.
    private static func ffmpeg(
        _ path: String, in folder: String
    ) throws -> (pictures: [UInt8], spans: [String: (start: Double, end: Double, count: Int)]) {
        let result = try ProcessRunner.run(
            "ffmpeg",
            [
                "-v", "error", "-xerror", "-nostdin", "-copyts", "-i", path, "-map", "0:v", "-fps_mode", "passthrough", "-f", "rawvideo", "-",
                "-map", "0:v", "-map", "0:a?", "-fps_mode", "passthrough", "-enc_time_base:v", "-1", "-c:a", "pcm_s16le", "-f", "framehash", "-hash",
                "adler32", "-y", "times",
            ], directory: folder)
        #expect(result.status == 0 && result.errors == "", "\(path): \(result.errors)")
        return (result.stdout, spans(String(decoding: try Files.read("\(folder)/times"), as: UTF8.self)))
    }

    /// Parses FFmpeg's framehash: `#tb 0: 1/25`, `#media_type 0: video`, then one line a frame: stream, dts, pts,
    /// duration, size, hash.
    private static func spans(_ text: String) -> [String: (start: Double, end: Double, count: Int)] {
        var units: [String: Double] = [:], kinds: [String: String] = [:]
        var spans: [String: (start: Double, end: Double, count: Int)] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split { " ,:/".contains($0) }.map(String.init)
            if words[0] == "#tb" { units[words[1]] = (Double(words[2]) ?? 0) / (Double(words[3]) ?? 1) }
            if words[0] == "#media_type" { kinds[words[1]] = words[2] }
            guard !line.hasPrefix("#"), let kind = kinds[words[0]], let unit = units[words[0]] else { continue }
            let start = (Double(words[2]) ?? .nan) * unit, end = start + (Double(words[3]) ?? .nan) * unit
            let old = spans[kind] ?? (start, end, 0)
            spans[kind] = (min(old.start, start), max(old.end, end), old.count + 1)
        }
        return spans
    }

    /// Returns the samples that GStreamer decodes from each file, in one process. Any kind of memory may be used between
    /// its elements (ANY).
    private static func gstreamer(_ paths: [String], _ coding: Coding, in folder: String) throws -> [[UInt8]] {
        let result = try ProcessRunner.run(
            "gst-launch-1.0",
            ["-q"]
                + paths.flatMap { path in
                    [
                        "uridecodebin", "uri=file://\(folder)/\(path)", "expose-all-streams=false", "caps=video/x-raw(ANY)", "!",
                        "video/x-raw,format=\(coding.layout)", "!", "filesink", "location=\(path).shown", "sync=false",
                    ]
                },
            directory: folder)
        #expect(result.status == 0, "\(result.errors)")
        return try paths.map { try Files.read("\(folder)/\($0).shown") }
    }
}
