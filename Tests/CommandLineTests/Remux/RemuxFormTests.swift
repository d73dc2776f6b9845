import TestOracles
import Testing

/// `vaenc remux` of streams whose form differs between containers; judged by ffmpeg and ffprobe.
@Suite struct RemuxFormTests {
    /// The parameter sets are only in the header, with start codes, as AVI, ASF and NUT may have them.
    @Test(arguments: [("libx264", "avi"), ("libx264", "asf"), ("libx265", "nut")]) func headerParameterSetsAreCopied(
        _ encoder: String, _ container: String
    ) throws {
        try Files.withTemporaryFolder { folder in
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=1", "-pix_fmt", "yuv420p", "-c:v", encoder, "-bf", "0", "-g", "10", "-x265-params",
                "log-level=none", "-flags", "+global_header", "\(folder)/in.\(container)")
            func pictures(_ name: String) throws -> String {
                let run = try ProcessRunner.run(
                    "ffmpeg", ["-v", "error", "-nostdin", "-i", name, "-fps_mode", "passthrough", "-f", "framehash", "-"], directory: folder)
                #expect(run.errors.isEmpty, "\(name): \(run.errors)")
                return run.output.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { $0.split(separator: ",").last }.joined(
                    separator: "\n")
            }
            let expected = try pictures("in.\(container)")
            #expect(expected.split(separator: "\n").count == 25)
            for name in ["a.\(encoder == "libx264" ? "h264" : "h265")", "a.ts", "a.mp4", "a.mkv"] {
                let run = try ProcessRunner.run(Checkout.vaenc, ["remux", "in.\(container)", "-o", name], directory: folder)
                #expect(run.status == 0, "\(name): \(run.errors)")
                #expect(try pictures(name) == expected, "\(name)")
            }
            let inspected = try ProcessRunner.run(Checkout.vaenc, ["inspect", "in.\(container)", "--json"], directory: folder)
            #expect(inspected.status == 0 && JSONValue(inspected.output)?["frames"]?.array.count == 25, "\(inspected.errors)")
        }
    }

    /// MPEG-TS and other inputs repeat the parameter sets of HEVC in key pictures. MP4, MOV and HLS of HEVC get the sample
    /// entry `hvc1`, which Apple's players require, and no sets in samples. If the sets change in the input, MP4 and MOV
    /// keep them in samples and get `hev1`; a fragmented file reports it.
    @Test func repeatedHEVCParameterSetsAreOnlyInTheHeader() throws {
        try Files.withTemporaryFolder { folder in
            for (name, size) in [("a", "96x64"), ("b", "96x80")] {
                try ffmpeg(
                    "-f", "lavfi", "-i", "testsrc2=s=\(size):r=25:d=1", "-pix_fmt", "yuv420p", "-c:v", "libx265", "-x265-params",
                    "log-level=none:keyint=10:repeat-headers=1", "\(folder)/\(name).ts")
            }
            try ffmpeg("-i", "\(folder)/a.ts", "-c", "copy", "\(folder)/a.mkv")
            try ffmpeg("-i", "\(folder)/a.ts", "-c", "copy", "\(folder)/hev1.mp4")
            try ffmpeg("-i", "\(folder)/a.ts", "-c", "copy", "\(folder)/a.h265")
            try Files.write(Files.read("\(folder)/a.ts") + Files.read("\(folder)/b.ts"), to: "\(folder)/ab.ts")
            func pictures(_ name: String) throws -> String {
                try ProcessRunner.run("ffmpeg", ["-v", "error", "-nostdin", "-i", name, "-map", "0:v", "-f", "md5", "-"], directory: folder).output
            }
            func tag(_ name: String) throws -> String {
                let run = try ProcessRunner.run(
                    "ffprobe", ["-v", "error", "-select_streams", "v", "-show_entries", "stream=codec_tag_string", "-of", "csv=p=0", name],
                    directory: folder)
                return String(run.output.split(separator: "\n").first ?? "")
            }
            /// The number of sequence parameter sets in the header and in the packets.
            func setCount(_ name: String) throws -> Int {
                let run = try ProcessRunner.run(
                    "ffmpeg", ["-hide_banner", "-nostdin", "-i", name, "-c", "copy", "-bsf:v", "trace_headers", "-f", "null", "-"], directory: folder)
                return run.errors.split(separator: "\n").filter { $0.hasSuffix("Sequence Parameter Set") }.count
            }
            #expect(try tag("hev1.mp4") == "hev1" && setCount("hev1.mp4") == 4)
            for input in ["a.ts", "a.mkv", "hev1.mp4", "a.h265"] {
                let expected = try pictures(input)
                for (output, format) in [("o.mp4", "mp4"), ("o.mov", "mov"), ("f.mp4", "fmp4"), ("p.m3u8", "hls")] {
                    let run = try vaenc("remux", input, "-o", output, "--format", format, "--overwrite", "--strict", in: folder)
                    #expect(run.status == 0, "\(input) to \(output): \(run.errors)")
                    #expect(try tag(output) == "hvc1" && pictures(output) == expected, "\(input) to \(output)")
                    if format != "hls" { #expect(try setCount(output) == 1, "\(input) to \(output)") }
                }
            }
            let expected = try pictures("ab.ts")
            for output in ["c.mp4", "c.mov"] {
                let run = try vaenc("remux", "ab.ts", "-o", output, "--json", in: folder)
                #expect(run.status == 0 && run.output.contains("the parameter sets change in the input"), "\(run.errors)")
                #expect(try tag(output) == "hev1" && pictures(output) == expected, "\(output)")
                // The record no longer states that it has all sets: array_completeness of the VPS, SPS and PPS is 0.
                let bytes = try Files.read("\(folder)/\(output)")
                let record = try #require(bytes.indices.dropLast(32).first { bytes[$0..<$0 + 4].elementsEqual("hvcC".utf8) })
                #expect(bytes[record + 27] == 32)
            }
            let run = try vaenc("remux", "ab.ts", "-o", "c.f.mp4", "--format", "fmp4", in: folder)
            #expect(run.status == 0 && run.errors.contains("parameter sets: asked in the header only, used also in samples"), "\(run.errors)")
        }
    }

    /// What libavformat notes about a playlist is no tag of the input.
    @Test func playlistsHaveNoTagsOfTheirOwn() throws {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.make(
                "ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=25:duration=1 -pix_fmt yuv420p -c:v libx264 -f hls in.m3u8", in: folder)
            for name in ["a.mp4", "a.mkv", "a.ts"] {
                let run = try vaenc("remux", "in.m3u8", "-o", name, "--strict", in: folder)
                #expect(run.status == 0, "\(run.errors)")
                #expect(try !RemuxTests.probe(name, "stream_tags", in: folder).contains("variant"))
            }
            let encoded = try vaenc("encode", "in.m3u8", "-o", "b.mp4", "--device", "software", "--strict", in: folder)
            #expect(encoded.status == 0, "\(encoded.errors)")
        }
    }

    /// Without parameter sets a copy could not be decoded.
    @Test func missingParameterSetsAreRefused() throws {
        try Files.withTemporaryFolder { folder in
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=1", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-bf", "0", "-flags", "+global_header",
                "\(folder)/in.avi")
            var bytes = try Files.read("\(folder)/in.avi")
            // The NAL unit types of the sets in the header.
            for index in 0..<min(bytes.count - 4, 4096)
            where bytes[index..<index + 3].elementsEqual([0, 0, 1]) && [7, 8].contains(bytes[index + 3] & 31) {
                bytes[index + 3] = 0x0C
            }
            try Files.write(bytes, to: "\(folder)/in.avi")
            for name in ["a.h264", "a.mp4", "a.mkv", "a.ts"] {
                let run = try ProcessRunner.run(Checkout.vaenc, ["remux", "in.avi", "-o", name], directory: folder)
                #expect(run.status == 65 && run.errorLines.count == 1 && Files.list(folder) == ["in.avi"], "\(name): \(run.status) \(run.errors)")
            }
        }
    }

    /// AVI has its length in the header.
    @Test func cutAVIIsRefused() throws {
        try Files.withTemporaryFolder { folder in
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=1", "-f", "lavfi", "-i", "sine=d=1", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-bf",
                "0", "-c:a", "mp2", "\(folder)/in.avi")
            let whole = try Files.read("\(folder)/in.avi")
            #expect(try ProcessRunner.run(Checkout.vaenc, ["remux", "in.avi", "-o", "a.mkv", "--strict"], directory: folder).status == 0)
            for part in 1..<20 {
                try Files.write(Array(whole[..<(whole.count * part / 20)]), to: "\(folder)/cut.avi")
                // Both commands run near the ends, and one of them elsewhere.
                let commands = [["remux", "cut.avi", "-o", "o.mkv"], ["decode", "cut.avi", "-o", "o.y4m"]]
                for (index, command) in commands.enumerated() where [1, 2, 18, 19].contains(part) || part % 2 == index {
                    let run = try ProcessRunner.run(Checkout.vaenc, command, directory: folder)
                    #expect(run.status == 65 && run.errorLines.count == 1, "\(part) of 20, \(command): \(run.status) \(run.errors)")
                }
            }
            #expect(Files.list(folder) == ["a.mkv", "cut.avi", "in.avi"])
        }
    }

    private func vaenc(_ arguments: String..., input: [UInt8] = [], in folder: String) throws -> ProcessRunner.Result {
        try ProcessRunner.run(Checkout.vaenc, arguments, input: input, directory: folder)
    }

    /// Returns a hash of the decoded first stream of a kind, which must decode without errors.
    private func decoded(_ path: String, _ kind: String, in folder: String) throws -> String {
        let result = try ProcessRunner.run(
            "ffmpeg", ["-v", "error", "-nostdin", "-i", path, "-map", "0:\(kind):0", "-f", "md5", "-"], directory: folder)
        #expect(result.status == 0 && result.errors.isEmpty, "\(path): \(result.errors)")
        return result.output
    }

    /// A folder's name may contain %, which has a meaning in libavformat's name patterns: segments are beside the
    /// playlist.
    @Test(arguments: ["h264", "hevc"]) func playlistFolderMayContainAPercentSign(_ codec: String) throws {
        try Files.withTemporaryFolder { folder in
            let setup = try ProcessRunner.run("mkdir", ["\(folder)/100%", "\(folder)/100%/a%20b", "\(folder)/%5d"])
            #expect(setup.status == 0)
            let encoder = codec == "h264" ? "libx264" : "libx265 -x265-params log-level=none"
            try RemuxTests.make(
                "ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=25:duration=1 -pix_fmt yuv420p -c:v \(encoder) in.mp4", in: folder)
            let expected = codec == "h264" ? ["q.m3u8", "q00000.ts"] : ["q-init.mp4", "q.m3u8", "q00000.m4s"]
            let result = try vaenc("remux", "in.mp4", "-o", "100%/a%20b/q.m3u8", in: folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(Files.list("\(folder)/100%/a%20b").sorted() == expected)
            _ = try decoded("100%/a%20b/q.m3u8", "v", in: folder)
            let refused = try vaenc("remux", "in.mp4", "-o", "%5d/q.m3u8", in: folder)
            #expect(refused.status == 64 && refused.errors.contains("contains %5d"), "\(refused.errors)")
            #expect(Files.list("\(folder)/%5d").isEmpty)
        }
    }

    /// AAC in MPEG-TS has a header in each packet. Other containers have one global header, which some write before the
    /// first packet. The decoded sound is unchanged and in sync with the pictures. HEVC only in some of the outputs.
    @Test(arguments: ["libx264", "libx265"]) func transportStreamAACIsCopiedUnchanged(_ codec: String) throws {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.make(
                "ffmpeg -v error -nostdin -f lavfi -i testsrc=size=128x96:rate=25:duration=2 -f lavfi -i sine=duration=2 -c:v \(codec) "
                    + "-preset ultrafast -c:a aac in.ts", in: folder)
            let expected = try decoded("in.ts", "a", in: folder)
            let input = try Files.read("\(folder)/in.ts")
            let isHEVC = codec == "libx265"
            var outputs = isHEVC ? ["a.mp4", "a.m3u8"] : ["a.mp4", "a.mkv", "a.mov", "a.ts", "a.m3u8"]
            for output in outputs {
                let result = try vaenc("remux", "in.ts", "-o", output, in: folder)
                #expect(result.status == 0, "\(output): \(result.errors)")
            }
            let fragmented = try vaenc("remux", "-", "-o", "f.mp4", "--format", "fmp4", input: input, in: folder)
            #expect(fragmented.status == 0, "\(fragmented.errors)")
            outputs.append("f.mp4")
            for format in isHEVC ? ["mkv"] : ["fmp4", "mkv"] {
                let piped = try vaenc("remux", "in.ts", "-o", "-", "--format", format, in: folder)
                #expect(piped.status == 0, "\(format): \(piped.errors)")
                try Files.write(piped.stdout, to: "\(folder)/p.\(format)")
                outputs.append("p.\(format)")
            }
            let arguments = ["--device", "software", "--codec", "h264", "--preset", "7", "--audio", "copy"]
            for output in isHEVC ? ["e.flv"] : ["e.mp4", "e.flv"] {
                let format = output == "e.mp4" ? ["--format", "fmp4"] : []
                let result = try ProcessRunner.run(
                    Checkout.vaenc, ["encode", "-", "-o", output] + format + arguments, input: input, directory: folder)
                #expect(result.status == 0, "\(output): \(result.errors)")
                outputs.append(output)
            }
            let apart = try gap("in.ts", in: folder)
            for output in outputs {
                #expect(try decoded(output, "a", in: folder) == expected, "\(output)")
                #expect(try abs(gap(output, in: folder) - apart) < 0.03, "\(output)")
            }
        }
    }

    /// Returns the seconds from the first picture to the first sound.
    private func gap(_ path: String, in folder: String) throws -> Double {
        let spans = try SoundTests.spans(path, in: folder)
        return try #require(spans["audio"]).start - #require(spans["video"]).start
    }

    /// The container's aspect ratio overrides the stream's, and is used for streams without one.
    @Test func containerAspectRatioIsKept() throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                set -e
                ffmpeg -v error -nostdin -i "$0" -c copy -an -aspect 2:1 h264.mp4
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=128x96:rate=5:duration=1 -vf setsar=16/11 -c:v prores_ks prores.mov
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=128x96:rate=5:duration=1 -vf setsar=16/11 -c:v libaom-av1 -cpu-used 8 av1.mp4
                """
            let setup = try ProcessRunner.run("bash", ["-c", script, Fixture.carphone.path()], directory: folder)
            try #require(setup.status == 0, "\(setup.errors)")
            func aspect(_ name: String) throws -> String { try RemuxTests.probe(name, "stream=sample_aspect_ratio", in: folder) }
            #expect(try aspect("h264.mp4") == "18:11\n" && aspect("prores.mov") == "16:11\n" && aspect("av1.mp4") == "16:11\n")
            for (input, output) in [
                ("h264.mp4", "a.mp4"), ("h264.mp4", "a.mov"), ("h264.mp4", "a.mkv"), ("prores.mov", "b.mov"), ("av1.mp4", "b.mp4"),
            ] {
                let result = try vaenc("remux", input, "-o", output, in: folder)
                #expect(result.status == 0, "\(output): \(result.errors)")
                #expect(try aspect(output) == aspect(input), "\(output)")
            }
        }
    }

    /// A pipe that ends inside an MPEG-TS packet is cut short. For an MP4 whose index is at the end, the error asks for
    /// the file's name.
    @Test func cutPipesAreRefused() throws {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.make(
                "ffmpeg -v error -nostdin -f lavfi -i testsrc=size=128x96:rate=25:duration=2 -c:v libx264 in.mp4\n"
                    + "ffmpeg -v error -nostdin -i in.mp4 -c copy in.ts", in: folder)
            let stream = try Files.read("\(folder)/in.ts")
            let before = Files.list(folder)
            for rest in [1, 100, 187] {
                let cut = Array(stream.prefix(stream.count / 2 / 188 * 188 + rest))
                let result = try vaenc("remux", "-", "-o", "a.mp4", input: cut, in: folder)
                #expect(result.status == 65 && result.errors.contains("is truncated"), "\(rest): \(result.status) \(result.errors)")
                #expect(Files.list(folder) == before)
            }
            let whole = try vaenc("remux", "-", "-o", "a.mp4", input: stream, in: folder)
            #expect(whole.status == 0, "\(whole.errors)")
            // M2TS with the smallest and largest timestamps, and packets followed by error correction.
            let packets = stride(from: 0, to: stream.count, by: 188).prefix(300).map { stream[$0..<$0 + 188] }
            for time: [UInt8] in [[0, 0, 1, 0], [0x0E, 0xBF, 0x46, 0x22], [0x3F, 0xFF, 0xFF, 0xFF]] {
                let blu = Array(packets.map { time + $0 }.joined())
                let result = try vaenc("remux", "-", "-o", "m.mp4", "--overwrite", input: blu, in: folder)
                #expect(result.status == 0, "\(time): \(result.errors)")
            }
            let broadcast = Array(packets.map { $0 + [UInt8](repeating: 0, count: 16) }.joined())
            #expect(try vaenc("remux", "-", "-o", "c.mp4", input: broadcast, in: folder).status == 0)
            let cut = try vaenc("remux", "-", "-o", "d.mp4", input: Array(broadcast.dropLast(150)), in: folder)
            #expect(cut.status == 65 && cut.errors.contains("is truncated"), "\(cut.errors)")
            let named = try ProcessRunner.run(
                "bash", ["-c", "cat \"$0\" | \"$1\" remux - -o b.mp4", Fixture.bigBuckBunny.path(), Checkout.vaenc], directory: folder)
            #expect(named.status == 65 && named.errors.contains("use its name instead of a pipe"), "\(named.status) \(named.errors)")
            #expect(!named.errors.contains("damaged"), "\(named.errors)")
        }
    }

    /// The encoder of an MP3 file adds samples before the sound. They are hidden in the copy, as by `ffmpeg -c copy`.
    @Test(arguments: ["mp4", "mov", "mkv"]) func encoderDelayOfMP3StaysHidden(_ ending: String) throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                set -e
                ffmpeg -v error -nostdin -f lavfi -i sine=r=44100:d=2 -b:a 128k in.mp3
                ffmpeg -v error -nostdin -i in.mp3 -c copy expected.\(ending)
                """
            try RemuxTests.make(script, in: folder)
            let result = try vaenc("remux", "in.mp3", "-o", "a.\(ending)", "--strict", in: folder)
            #expect(result.status == 0, "\(result.errors)")
            func sampleCount(_ name: String) throws -> Int {
                try ProcessRunner.run("ffmpeg", ["-v", "error", "-nostdin", "-i", name, "-f", "s16le", "-"], directory: folder).stdout.count / 2
            }
            let (found, expected) = try (sampleCount("a.\(ending)"), sampleCount("expected.\(ending)"))
            #expect(found >= 2 * 44_100 && found <= expected, "\(found) \(expected)")
        }
    }

    /// For codecs that Matroska has no name for, it uses the names of AVI and WAV. MOV does not support VP8.
    @Test func foreignCodecsAreCopiedOrRefused() throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                set -e
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=720x576:rate=25:duration=0.2 -c:v dvvideo -pix_fmt yuv420p dv.mov
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=128x96:rate=25:duration=0.4 -f lavfi -i sine=duration=0.4 -c:a pcm_mulaw ulaw.mov
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=128x96:rate=25:duration=0.2 -c:v libvpx vp8.webm
                """
            try RemuxTests.make(script, in: folder)
            for (name, kind) in [("dv", "v"), ("ulaw", "a")] {
                let result = try vaenc("remux", "\(name).mov", "-o", "\(name).mkv", in: folder)
                #expect(result.status == 0, "\(name): \(result.errors)")
                #expect(try decoded("\(name).mkv", kind, in: folder) == decoded("\(name).mov", kind, in: folder), "\(name)")
            }
            let refused = try vaenc("remux", "vp8.webm", "-o", "a.mov", in: folder)
            #expect(refused.status == 64 && refused.errors.contains("mov cannot contain vp8"), "\(refused.status) \(refused.errors)")
            #expect(!Files.list(folder).contains { $0.hasPrefix("a.mov") })
        }
    }

    /// Codecs that libavformat writes into FLV only with ffmpeg's options, or not at every sample rate, are refused
    /// with vaenc's message.
    @Test func unsupportedFLVContentIsRefused() throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                set -e
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=176x144:rate=25:duration=0.4 -c:v mpeg4 -bf 0 mpeg4.avi
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=176x144:rate=25:duration=0.4 -c:v h263 h263.avi
                for rate in 8000 16000 44100 48000; do
                    ffmpeg -v error -nostdin -f lavfi -i sine=duration=0.4 -ar $rate -c:a pcm_s16le $rate.mov
                    ffmpeg -v error -nostdin -f lavfi -i sine=duration=0.4 -ar $rate -c:a pcm_alaw alaw$rate.mov
                done
                """
            try RemuxTests.make(script, in: folder)
            // FLV has no number for the other rates, and libavformat writes another one.
            for (name, words) in [
                ("mpeg4.avi", "flv cannot contain mpeg4"), ("h263.avi", "flv cannot contain h263"),
                ("48000.mov", "flv cannot contain pcm_s16le of 48000 Hz"),
                ("8000.mov", "flv cannot contain pcm_s16le of 8000 Hz"), ("16000.mov", "flv cannot contain pcm_s16le of 16000 Hz"),
                ("alaw16000.mov", "flv cannot contain pcm_alaw of 16000 Hz"),
            ] {
                try ToolRun(["remux", "\(folder)/\(name)", "-o", "\(folder)/a.flv"]).expectRefusal(64, words, without: ["\(folder)/a.flv"])
            }
            for name in ["44100.mov", "alaw8000.mov"] {
                let held = try vaenc("remux", name, "-o", "\(name).flv", in: folder)
                #expect(held.status == 0, "\(held.errors)")
                #expect(try decoded("\(name).flv", "a", in: folder) == decoded(name, "a", in: folder))
            }
        }
    }

    /// FLV does not support a second track of a kind, or the codec; or the name implies another codec. The advice of
    /// the error works.
    @Test func adviceForUnsupportedContentWorks() throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                set -e
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=25:duration=0.4 -f lavfi -i sine=duration=0.4 -f lavfi -i sine=440:duration=0.4 \\
                    -map 0 -map 1 -map 2 -pix_fmt yuv420p -c:v libx264 -c:a aac two.mkv
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=25:duration=0.4 -f lavfi -i sine=duration=0.4 -c:v libvpx -c:a libvorbis vp8.mkv
                """
            try RemuxTests.make(script, in: folder)
            let two = try vaenc("remux", "two.mkv", "-o", "a.flv", in: folder)
            #expect(two.status == 64 && two.errorLines.count == 1, "\(two.errors)")
            #expect(
                two.errors.contains("flv can contain only one stream of each kind: use mp4, mov, mkv or ts, which can contain the whole input"),
                "\(two.errors)")
            #expect(two.errors.contains("vaenc encode, which drops the additional stream"), "\(two.errors)")
            for ending in ["mp4", "mov", "mkv", "ts"] {
                let held = try vaenc("remux", "two.mkv", "-o", "b.\(ending)", in: folder)
                #expect(held.status == 0, "\(held.errors)")
                #expect(try RemuxTests.probe("b.\(ending)", "stream=codec_name", in: folder).contains("aac"))
            }
            let encoded = try vaenc("encode", "two.mkv", "-o", "c.flv", "--device", "software", in: folder)
            #expect(encoded.status == 0 && encoded.errors.contains("left out"), "\(encoded.errors)")
            let vp8 = try vaenc("remux", "vp8.mkv", "-o", "d.flv", in: folder)
            #expect(
                vp8.status == 64 && vp8.errors.contains("cannot contain vp8: use mkv, which can contain the whole input, or vaenc encode"),
                "\(vp8.errors)")
            // Subtitles belong to the whole input.
            try RemuxTests.make(
                """
                printf '1\\n00:00:00,000 --> 00:00:00,300\\nA\\n' > a.srt
                ffmpeg -v error -nostdin -i two.mkv -f lavfi -i sine=duration=0.4 -i a.srt -map 0:v -map 1:a -map 2 -c:v copy -c:a libopus -c:s srt all.mkv
                """, in: folder)
            let all = try vaenc("remux", "all.mkv", "-o", "f.mov", in: folder)
            #expect(all.status == 64 && all.errors.contains("cannot contain opus: use mkv, which can contain the whole input"), "\(all.errors)")
            let name = try vaenc("remux", "two.mkv", "-o", "e.h265", in: folder)
            #expect(name.status == 64 && name.errors.contains("end the output's name in .h264"), "\(name.errors)")
        }
    }

    /// Open GOPs begin with key pictures other than IDR: each has the parameter sets exactly once.
    @Test(arguments: ["h264", "h265"]) func openGOPsHaveParameterSetsOnce(_ ending: String) throws {
        try Files.withTemporaryFolder { folder in
            let isHEVC = ending == "h265"
            let encoder = isHEVC ? "libx265 -x265-params log-level=none:" : "libx264 -b_strategy 0 -x264-params "
            let (filter, format) = isHEVC ? ("hevc_mp4toannexb", "hevc") : ("h264_mp4toannexb", "h264")
            let script = """
                set -e
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=128x96:rate=25:duration=10 -pix_fmt yuv420p -preset ultrafast \
                -c:v \(encoder)open-gop=1:keyint=50:min-keyint=50:scenecut=0:bframes=3 in.mp4
                ffmpeg -v error -nostdin -i in.mp4 -c copy -bsf:v \(filter),dump_extra=k -f \(format) in.bits
                ffmpeg -v error -nostdin -f \(format) -i in.bits -c copy within.mp4
                """
            try RemuxTests.make(script, in: folder)
            // An SPS after a start code: nal_unit_type 7 with nal_ref_idc 3, or 33.
            let sps: [UInt8] = isHEVC ? [0, 0, 1, 0x42, 1] : [0, 0, 1, 0x67]
            func count(_ name: String) throws -> Int {
                let bytes = try Files.read("\(folder)/\(name)")
                return bytes.indices.dropLast(sps.count).count { bytes[$0..<$0 + sps.count].elementsEqual(sps) }
            }
            for (input, output) in [("in.mp4", "a"), ("within.mp4", "b")] {
                let result = try vaenc("remux", input, "-o", "\(output).\(ending)", in: folder)
                #expect(result.status == 0, "\(input): \(result.errors)")
                #expect(try count("\(output).\(ending)") == 5, "\(input)")
            }
            let prefixed = isHEVC ? "c.hvcc" : "c.avcc"
            for name in ["c.ts", "c.\(ending)", prefixed] {
                let result = try vaenc("remux", "in.mp4", "-o", name, "--start", "5", in: folder)
                #expect(result.status == 0, "\(name): \(result.errors)")
            }
            let converted = try vaenc("convert", prefixed, "-o", "d.\(ending)", in: folder)
            #expect(converted.status == 0, "\(converted.errors)")
            // The copy starts at the key picture at 4 s.
            for name in ["c.ts", "c.\(ending)", "d.\(ending)"] {
                let decoded = try ProcessRunner.run(
                    "ffprobe", ["-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames", "-of", "csv=p=0", name], directory: folder)
                #expect(!decoded.errors.contains("PPS") && decoded.output.hasPrefix("150"), "\(name): \(decoded.output) \(decoded.errors)")
            }
            let segmented = try vaenc("remux", "in.mp4", "-o", "s.m3u8", in: folder)
            #expect(segmented.status == 0, "\(segmented.errors)")
            if isHEVC { return }
            let segments = Files.list(folder).filter { $0.hasPrefix("s0") }
            #expect(segments.count > 1)
            for name in segments {
                #expect(try RemuxTests.probe(name, "stream=width", in: folder).hasPrefix("128"), "\(name)")
            }
        }
    }

    /// A cover is an attached file in Matroska and a track in MP4. It stays the same picture, and a cover.
    @Test func coversAreCopied() throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                set -e
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=64x48:rate=1:duration=1 -frames:v 1 c.png
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=128x96:rate=25:duration=1 -attach c.png -metadata:s:t:0 mimetype=image/png \
                -metadata:s:t:0 filename=front.png in.mkv
                """
            try RemuxTests.make(script, in: folder)
            let expected = try RemuxTests.hashes("in.mkv", in: folder)
            #expect(expected.count == 2)
            for (input, output) in [("in.mkv", "a.mkv"), ("in.mkv", "a.mp4"), ("a.mp4", "b.mkv")] {
                let result = try vaenc("remux", input, "-o", output, "--strict", in: folder)
                #expect(result.status == 0, "\(output): \(result.errors)")
                #expect(try RemuxTests.hashes(output, in: folder) == expected, "\(output)")
                #expect(try RemuxTests.probe(output, "stream_disposition=attached_pic", in: folder) == "0\n1\n", "\(output)")
            }
            #expect(try RemuxTests.probe("a.mkv", "stream_tags=filename", in: folder).contains("front.png"))
        }
    }
}
