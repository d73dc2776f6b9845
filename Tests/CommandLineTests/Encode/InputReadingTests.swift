import TestOracles
import Testing

/// Reading and conversion of inputs, judged by FFmpeg's own programs.
@Suite struct InputReadingTests {
    private static func probe(_ path: String, _ entries: String, _ stream: String = "v:0") throws -> String {
        try ProcessRunner.run(
            "ffprobe", ["-v", "error", "-select_streams", stream, "-show_entries", "stream=\(entries)", "-of", "csv=p=0", path]
        ).output.filter { !$0.isNewline }
    }

    /// Returns the first samples of the first picture, as FFmpeg decodes it.
    private static func luma(_ path: String, _ count: Int) throws -> [UInt8] {
        let run = try ProcessRunner.run(
            "ffmpeg", ["-v", "error", "-nostdin", "-i", path, "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-noautorotate", "-"])
        return Array(run.stdout.prefix(count))
    }

    private static func encode(_ input: String, _ output: String, _ more: String...) throws -> ToolRun {
        try ToolRun(["encode", input, "-o", output, "--device", "software", "--qp", "10", "--overwrite"] + more)
    }

    /// White of full-range RGB becomes 235 in limited range, or 255 if full range is requested. The signaled range and
    /// matrix are the ones used.
    @Test(arguments: [("64x48", "smpte170m"), ("1280x720", "bt709")])
    func convertedRGBMatchesItsColorDescription(_ size: String, _ matrix: String) throws {
        try Files.withTemporaryFolder { folder in
            let white = folder + "/white.mov"
            try ffmpeg("-f", "lavfi", "-i", "color=white:s=\(size):d=0.04", "-c:v", "png", "-pix_fmt", "rgb24", "-color_range", "pc", white)
            for (options, range, value) in [([], "tv", 235), (["--color-range", "full"], "pc", 255)] as [([String], String, UInt8)] {
                let run = try ToolRun(
                    ["encode", white, "-o", folder + "/a.mp4", "--device", "software", "--qp", "10", "--overwrite"] + options)
                #expect(run.status == 0, "\(run.errorLines)")
                #expect(try Self.probe(folder + "/a.mp4", "color_range,color_space") == "\(range),\(matrix)")
                #expect(try Self.luma(folder + "/a.mp4", 500).allSatisfy { $0 == value })
            }
            let run = try ToolRun(["decode", white, "-o", folder + "/a.y4m", "--device", "software"])
            #expect(run.status == 0, "\(run.errorLines)")
            let file = try Files.read(folder + "/a.y4m")
            let line = String(decoding: file.prefix { $0 != 10 }, as: UTF8.self)
            #expect(line.contains("XCOLORRANGE=LIMITED") && file[line.utf8.count + 7] == 235, "\(line)")
        }
    }

    /// There are more pictures after the size change than the final check keeps.
    @Test func everyPictureAfterASizeChangeIsDecoded() throws {
        try Files.withTemporaryFolder { folder in
            var stream: [UInt8] = []
            for (index, size) in ["192x128", "96x64"].enumerated() {
                let part = "\(folder)/\(index).h265"
                try ffmpeg(
                    "-f", "lavfi", "-i", "testsrc2=s=\(size):d=1.6", "-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none", part
                )
                stream += try Files.read(part)
            }
            try Files.write(stream, to: folder + "/a.h265")
            let run = try ToolRun(["decode", folder + "/a.h265", "-o", folder + "/a.y4m", "--device", "software", "--json"])
            #expect(run.status == 0 && run.report?["frames"]?["decoded"]?.int == 80, "\(run.errorLines)")
        }
    }

    /// `--size` is the displayed size.
    @Test(arguments: ["letterbox", "crop", "stretch"]) func sizeOptionAppliesToTheDisplayedPicture(_ fit: String) throws {
        try Files.withTemporaryFolder { folder in
            let input = folder + "/in.mp4"
            try ffmpeg("-f", "lavfi", "-i", "color=white:s=128x96:d=0.2", "-c:v", "libx264", "-pix_fmt", "yuv420p", input)
            try TurnedClip.turn(input)
            let run = try Self.encode(input, folder + "/a.mp4", "--size", "48x64", "--fit", fit)
            #expect(run.status == 0 && run.errorLines.count == 1, "\(run.errorLines)")
            #expect(try Self.probe(folder + "/a.mp4", "width,height").hasPrefix("64,48"))
            #expect(try TurnedClip.rotation(folder + "/a.mp4") == "-90")
            // The picture has no bars.
            #expect(try Self.luma(folder + "/a.mp4", 64 * 48).allSatisfy { $0 > 230 })
            let other = try Self.encode(input, folder + "/a.mkv", "--size", "48x64", "--fit", fit)
            #expect(other.status == 0 && other.errorLines.contains { $0.contains("size: asked 48×64, used 64×48") }, "\(other.errorLines)")
        }
    }

    @Test func largestVideoStreamIsUsed() throws {
        try Files.withTemporaryFolder { folder in
            let input = folder + "/two.mp4"
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc2=s=192x128:d=0.4", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=50:d=2", "-map", "0", "-map", "1",
                "-c:v", "libx264", "-disposition:v:0", "default", "-disposition:v:1", "default", input)
            let runs = [
                try Self.encode(input, folder + "/a.mp4", "--json"), try ToolRun(["decode", input, "-o", folder + "/a.y4m", "--json"]),
                try ToolRun(["inspect", input, "--json"]),
            ]
            for run in runs { #expect(run.status == 0 && run.report?["width"]?.int == 192, "\(run.errorLines)") }
            let words = "has 2 video streams: vaenc reads 0 (192×128) and ignores 1 (96×64)"
            #expect(runs[2].errorLines.count == 1 && runs[2].errorLines[0].contains(words), "\(runs[2].errorLines)")
            #expect(try Self.encode(input, folder + "/a.mp4").errorLines.filter { $0.contains(words) }.count == 1)
        }
    }

    @Test(arguments: ["mpeg1video", "mpeg2video", "mpeg4"]) func otherCodecsAreRefused(_ codec: String) throws {
        try Files.withTemporaryFolder { folder in
            let (input, output) = (folder + "/in.bin", folder + "/a.avcc")
            try ffmpeg("-f", "lavfi", "-i", "testsrc2=s=96x64:d=0.4", "-c:v", codec, "-f", codec == "mpeg4" ? "m4v" : codec, input)
            try ToolRun(["convert", input, "-o", output]).expectRefusal(65, "neither H.264 nor HEVC", without: [output])
            let look = try ToolRun(["inspect", input])
            #expect(look.status != 0 && look.errorLines.contains { $0.contains("neither H.264 nor HEVC") }, "\(look.errorLines)")
        }
    }

    /// Y4M with fields, and with pixel formats that only libavformat reads.
    @Test(arguments: [("yuv420p", "tff"), ("yuv420p", "bff"), ("yuv422p10le", ""), ("yuv444p12le", ""), ("gray10le", ""), ("yuv411p", "")])
    func interlacedAndUnusualY4MIsRead(_ format: String, _ fields: String) throws {
        try Files.withTemporaryFolder { folder in
            let input = folder + "/a.y4m"
            let filter = fields.isEmpty ? "null" : "interlace=scan=\(fields)"
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc2=s=96x64:r=20:d=1", "-vf", filter, "-pix_fmt", format, "-strict", "-1", "-f", "yuv4mpegpipe", input)
            let expected = fields.isEmpty ? 20 : 10
            let run = try Self.encode(input, folder + "/a.mp4", "--json")
            #expect(run.status == 0 && run.report?["frames"]?["encoded"]?.int == expected, "\(run.errorLines)")
            let isReported = run.report?["effective"]?.array.contains { $0["option"]?.string == "fields" } == true
            #expect(isReported == !fields.isEmpty)
            // The file is cut inside a picture.
            try Files.write(Array(Files.read(input).dropLast(100)), to: folder + "/cut.y4m")
            let cut = try ToolRun(["decode", folder + "/cut.y4m", "-o", folder + "/b.y4m"])
            cut.expectRefusal(65, "after picture \(expected - 1)", without: [folder + "/b.y4m"])
        }
    }

    /// EXIF orientations are the display matrices that ffmpeg reads from the photos: MP4 keeps them, MKV reports them. A
    /// sequence has the orientation of its first image.
    @Test(arguments: [(3, "-180"), (6, "-90"), (8, "90"), (1, "")]) func photosKeepTheirOrientation(_ orientation: Int, _ rotation: String) throws {
        try Files.withTemporaryFolder { folder in
            try ffmpeg("-f", "lavfi", "-i", "testsrc2=s=96x64:d=0.04", "-frames:v", "1", folder + "/plain.jpg")
            let plain = try Files.read(folder + "/plain.jpg")
            // APP1 with one IFD entry: tag 0x112, SHORT, one value.
            let exif: [UInt8] =
                Array("Exif".utf8) + [0, 0] + Array("II".utf8) + [42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0]
                + [UInt8(orientation), 0, 0, 0, 0, 0, 0, 0]
            let turned = plain.prefix(2) + [0xFF, 0xE1, 0, UInt8(exif.count + 2)] + exif + plain.dropFirst(2)
            try Files.write(Array(turned), to: folder + "/p1.jpg")
            try Files.write(Array(turned), to: folder + "/p2.jpg")
            try Files.write(plain, to: folder + "/p3.jpg")
            for (input, output) in [("p1.jpg", "one.mp4"), ("p%d.jpg", "all.mp4")] {
                let run = try Self.encode(folder + "/" + input, folder + "/" + output, "--fps", "5", "--codec", "h264")
                #expect(run.status == 0, "\(run.errorLines)")
                let shown = try ProcessRunner.run(
                    "ffprobe", ["-v", "error", "-show_entries", "stream_side_data=rotation", "-of", "csv=p=0", output], directory: folder)
                #expect(shown.output.filter { !$0.isNewline } == rotation, "\(output)")
                let differs = run.errorLines.contains { $0.contains("the images have several orientations at picture 2") }
                #expect(differs == (input != "p1.jpg" && orientation != 1), "\(run.errorLines)")
            }
            let mkv = try Self.encode(folder + "/p1.jpg", folder + "/one.mkv", "--fps", "5", "--codec", "h264")
            #expect(mkv.errorLines.contains { $0.contains("mkv cannot store it") } == (orientation != 1), "\(mkv.errorLines)")
        }
    }

    /// Gray samples without a stated range have the full range, as libswscale writes them.
    @Test(arguments: ["mkv", "y4m"], ["reference", "software"]) func grayHasTheFullRange(_ ending: String, _ device: String) throws {
        try Files.withTemporaryFolder { folder in
            let input = folder + "/a." + ending
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc2=s=96x64:r=20:d=0.2,format=gray", "-pix_fmt", "gray",
                "-c:v", ending == "mkv" ? "ffv1" : "wrapped_avframe", "-f", ending == "mkv" ? "matroska" : "yuv4mpegpipe", input)
            let run = try ToolRun(["encode", input, "--device", device, "--codec", "h264", "--qp", "8", "-o", folder + "/a.mp4"])
            #expect(run.status == 0, "\(run.errorLines)")
            func luma(_ file: String) throws -> [UInt8] {
                Array(
                    try ProcessRunner.run(
                        "ffmpeg", ["-v", "error", "-nostdin", "-i", file, "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "gray", "-"],
                        directory: folder
                    ).stdout)
            }
            let (before, after) = (try luma(input), try luma("a.mp4"))
            #expect(before.count == 96 * 64 && after.count == before.count)
            let difference = zip(before, after).map { abs(Int($0) - Int($1)) }.reduce(0, +)
            #expect(difference < before.count * 2, "\(Double(difference) / Double(before.count))")
        }
    }

    /// Pictures that an edit list hides do not count as missing.
    @Test func hiddenPicturesAreNotMissing() throws {
        try Files.withTemporaryFolder { folder in
            try ffmpeg("-f", "lavfi", "-i", "testsrc2=s=96x64:d=2", "-c:v", "libx264", "-bf", "2", folder + "/whole.mp4")
            try ffmpeg("-ss", "1.1", "-i", folder + "/whole.mp4", "-c", "copy", folder + "/a.mp4")
            let run = try ToolRun(["decode", folder + "/a.mp4", "-o", folder + "/a.y4m", "--device", "software", "--json"])
            let shown = try ProcessRunner.run(
                "ffprobe", ["-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames", "-of", "csv=p=0", folder + "/a.mp4"]
            ).output.filter(\.isNumber)
            #expect(run.report?["frames"]?["skipped"]?.int == 0 && run.report?["frames"]?["decoded"]?.int == Int(shown), "\(run.errorLines)")
            let encoded = try Self.encode(folder + "/a.mp4", folder + "/b.mp4")
            #expect(encoded.status == 0 && !encoded.errorLines.contains { $0.contains("cannot be decoded") }, "\(encoded.errorLines)")
        }
    }

    /// Two seconds of open GOPs of ten pictures, by ending.
    private static let openGOPs: Result<[String: [UInt8]], any Error> = Result {
        try Files.withTemporaryFolder { folder in
            var streams: [String: [UInt8]] = [:]
            for (codec, encoder, option, end) in [("h264", "libx264", "-x264-params", ""), ("h265", "libx265", "-x265-params", ":log-level=none")] {
                let structure = "open-gop=1:keyint=10:min-keyint=10:bframes=3:scenecut=0:b-adapt=0" + end
                try ffmpeg(
                    "-f", "lavfi", "-i", "testsrc=size=96x64:rate=25:duration=2", "-pix_fmt", "yuv420p", "-c:v", encoder, option, structure,
                    "\(folder)/whole.\(codec)")
                streams[codec] = try Files.read("\(folder)/whole.\(codec)")
            }
            return streams
        }
    }

    /// The stream starts at a key picture of an open GOP. Its leading pictures are counted, reported and refused by
    /// --strict. Each codec and each container is decoded by each device.
    @Test(arguments: ["h264", "h265"], ["bare", "mkv", "ts"]) func lostLeadingPicturesAreReported(_ codec: String, _ container: String) throws {
        try Files.withTemporaryFolder { folder in
            let bytes = try #require(try Self.openGOPs.get()[codec])
            // The parameter sets at the start of the second GOP.
            let type: UInt8 = codec == "h264" ? 7 : 32
            let starts = bytes.indices.dropLast(4).filter { offset in
                bytes[offset] == 0 && bytes[offset + 1] == 0 && bytes[offset + 2] == 0 && bytes[offset + 3] == 1
                    && (codec == "h264" ? bytes[offset + 4] & 31 : bytes[offset + 4] >> 1 & 63) == type
            }
            try #require(starts.count == 5)
            let bare = "\(folder)/cut.\(codec)"
            try Files.write(Array(bytes[starts[1]...]), to: bare)
            let input = container == "bare" ? bare : "\(folder)/cut.\(container)"
            if container != "bare" { #expect(try ToolRun(["remux", bare, "-o", input]).status == 0) }
            let counts =
                try ProcessRunner.run(
                    "ffprobe",
                    [
                        "-v", "quiet", "-count_frames", "-count_packets", "-show_entries", "stream=nb_read_frames,nb_read_packets", "-of", "csv=p=0",
                        input,
                    ]
                ).output.split(whereSeparator: \.isNewline).first?.split(separator: ",").compactMap { Int($0) } ?? []
            try #require(counts.count == 2 && counts[1] > counts[0], "\(counts)")
            let lost = counts[1] - counts[0]
            let device = (codec == "h264") == (container == "mkv") ? "reference" : "software"
            func run(_ input: String, _ more: String...) throws -> ToolRun {
                try ToolRun(["encode", input, "-o", "\(folder)/a.h264", "--device", device, "--codec", "h264", "--overwrite"] + more)
            }
            let result = try run(input)
            #expect(result.status == 0 && result.errorLines.contains { $0.contains("begins with \(lost) picture") }, "\(result.errorLines)")
            let strict = try run(input, "--strict")
            #expect(
                strict.status == 69 && strict.errorLines.last?.contains("pictures: asked all, would be \(lost) left out") == true,
                "\(strict.errorLines)")
            // Nothing is left out of the whole stream.
            guard container != "ts" else { return }
            try Files.write(bytes, to: "\(folder)/whole.\(codec)")
            #expect(try run("\(folder)/whole.\(codec)", "--strict").status == 0)
        }
    }

    @Test func cutFileIsNamedOnceByInspect() throws {
        try Files.withTemporaryFolder { folder in
            try ffmpeg("-i", Fixture.carphone.path(), "-c", "copy", "-an", folder + "/whole.ts")
            let bytes = try Files.read(folder + "/whole.ts")
            try Files.write(Array(bytes.prefix(bytes.count / 2 / 188 * 188 + 100)), to: folder + "/cut.ts")
            let run = try ToolRun(["inspect", folder + "/cut.ts"])
            let line = run.errorLines.last.map(String.init) ?? ""
            #expect(run.status == 65 && line.contains("truncated after picture") && line.contains("use a complete file"), "\(line)")
            #expect(line.split(separator: "cut.ts", omittingEmptySubsequences: false).count == 2, "\(line)")
        }
    }

    /// Encoded sound ends with the pictures, for any packet length of the input.
    @Test(arguments: [("pcm_s16le", "mov", 44100), ("flac", "mkv", 96000)])
    func soundEndsWithThePictures(_ codec: String, _ ending: String, _ rate: Int) throws {
        try Files.withTemporaryFolder { folder in
            let input = "\(folder)/in.\(ending)"
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=2", "-f", "lavfi", "-i", "sine=r=\(rate):d=2", "-c:v", "libx264", "-c:a", codec, input)
            let run = try Self.encode(input, folder + "/a.mp4", "--audio", "aac", "--duration", "1")
            #expect(run.status == 0, "\(run.errorLines)")
            #expect(try Self.probe(folder + "/a.mp4", "duration_ts", "a:0") == "\(rate)")
            let without = try Self.encode(input, folder + "/b.mp4", "--fps", "50")
            #expect(without.errorLines.contains { $0.contains("audio: asked copied, used none (--fps") }, "\(without.errorLines)")
        }
    }

    /// A name with a number's pattern is an image sequence, which begins at its first number. Its pictures are those of
    /// the same files in a pipe.
    @Test(arguments: [("p%03d.png", 0, ""), ("p%d.png", 8, "50% a:b/"), ("50%%p%2d.jpg", 98, "")])
    func patternIsAnImageSequence(_ pattern: String, _ first: Int, _ inner: String) throws {
        try Files.withTemporaryFolder { top in
            let folder = "\(top)/\(inner)"
            try RemuxTests.make("mkdir -p '\(folder)'", in: top)
            try ffmpeg("-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=0.2", "-start_number", "\(first)", "\(top)/\(pattern)")
            let names = Files.list(top).filter { $0.hasSuffix(".png") || $0.hasSuffix(".jpg") }
            try #require(names.count == 5)
            // The order of the names need not be the order of their numbers.
            let ordered = names.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
            let bytes = try ordered.flatMap { try Files.read("\(top)/\($0)") }
            if !inner.isEmpty { try RemuxTests.make("mv *.png '\(folder)'", in: top) }
            let input = folder + pattern
            let decoded = try ToolRun(["decode", input, "-o", top + "/a.y4m", "--device", "software"])
            #expect(decoded.status == 0, "\(decoded.errorLines)")
            let piped = try ToolRun(["decode", "-", "-o", top + "/b.y4m", "--device", "software"], input: bytes)
            #expect(piped.status == 0, "\(piped.errorLines)")
            #expect(try Files.read(top + "/a.y4m") == Files.read(top + "/b.y4m"))
            let run = try Self.encode(input, top + "/a.mp4", "--fps", "30", "--codec", "h264")
            #expect(run.status == 0, "\(run.errorLines)")
            #expect(try Self.probe(top + "/a.mp4", "r_frame_rate,nb_frames") == "30/1,5")
            let compared = try ToolRun(["compare", input, top + "/a.mp4", "--json"])
            #expect(compared.status == 0 && compared.report?["frames"]?.int == 5, "\(compared.errorLines)")
        }
    }

    /// A gap in the numbers is an error. A pattern without pictures is a name like any other, and so is a pattern that is
    /// the name of a file.
    @Test func incompleteImageSequencesAreRefused() throws {
        try Files.withTemporaryFolder { folder in
            let pattern = folder + "/p%03d.png"
            let arguments = ["decode", pattern, "-o", folder + "/a.y4m", "--overwrite"]
            try ToolRun(arguments).expectRefusal(66, "there is no file \(pattern)")
            try ffmpeg("-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=0.4", pattern)
            try RemuxTests.make("rm p004.png", in: folder)
            try ToolRun(arguments).expectRefusal(
                65, "there are pictures from 1 to 10, but \(folder)/p004.png is missing", without: [folder + "/a.y4m"])
            try RemuxTests.make("cp p001.png p%03d.png", in: folder)
            let run = try ToolRun(arguments + ["--json"])
            #expect(run.status == 0 && run.report?["frames"]?["decoded"]?.int == 1, "\(run.errorLines)")
        }
    }
}
