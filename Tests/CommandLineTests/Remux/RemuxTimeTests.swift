import TestOracles
import Testing

/// `vaenc remux`: timestamps, and sound that only some containers support.
@Suite struct RemuxTimeTests {
    private func remux(_ arguments: String..., in folder: String) throws -> ProcessRunner.Result {
        try ProcessRunner.run(Checkout.vaenc, ["remux"] + arguments, directory: folder)
    }

    /// The pictures have uneven times: the playlist gives the actual durations of the segments.
    @Test func segmentDurationsFollowAVaryingRate() throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                set -e
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=30:duration=12 \
                -vf "select='lt(t,2)+not(mod(n,6))'" -vsync vfr -c:v libx264 -bf 2 -g 20 -sc_threshold 0 -video_track_timescale 30000 in.mp4
                """
            try RemuxTests.make(script, in: folder)
            let result = try remux("in.mp4", "-o", "a.m3u8", in: folder)
            #expect(result.status == 0, "\(result.errors)")
            let encoded = try EncodeRun(["in.mp4", "--device", "software", "--codec", "h264", "--gop", "20", "-o", "b.m3u8"], in: folder)
            #expect(encoded.status == 0, "\(encoded.errors)")
            for name in ["a", "b"] {
                let lines = String(decoding: try Files.read("\(folder)/\(name).m3u8"), as: UTF8.self).split(separator: "\n")
                let lengths = lines.filter { $0.hasPrefix("#EXTINF:") }.compactMap { Double($0.dropFirst(8).prefix { $0 != "," }) }
                #expect(lengths.count >= 2 && abs(lengths.reduce(0, +) - 12) < 0.25, "\(name): \(lengths)")
                let longest = try #require(lines.first { $0.hasPrefix("#EXT-X-TARGETDURATION:") }.flatMap { Double($0.dropFirst(22)) })
                #expect(lengths.allSatisfy { $0 < longest + 0.5 }, "\(name): \(lengths) \(longest)")
            }
        }
    }

    /// Matroska rounds two times of the sound to the same millisecond. In MP4 one packet is moved, which is reported.
    @Test func equalTimesAreSeparatedAndReported() throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                set -e
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=25:duration=1 -f lavfi -i sine=440:duration=1:r=48000 \
                -c:v libx264 -c:a aac -ac 1 in.mp4
                ffmpeg -v error -nostdin -i in.mp4 -map 0 -c copy -bsf:a "setts=pts=if(eq(N\\,9)\\,PREV_OUTPTS\\,PTS):dts=if(eq(N\\,9)\\,PREV_OUTDTS\\,DTS)" same.mkv
                """
            try RemuxTests.make(script, in: folder)
            let result = try remux("same.mkv", "-o", "a.mp4", in: folder)
            #expect(result.status == 0 && result.errors.contains("times: asked as in the input, used 1 packet"), "\(result.errors)")
            let sound = ["-map", "0:a", "-f", "hash", "-"]
            func hash(_ name: String) throws -> String {
                try ProcessRunner.run("ffmpeg", ["-v", "error", "-i", name, "-c", "copy"] + sound, directory: folder).output
            }
            let whole = try hash("in.mp4")
            #expect(try hash("a.mp4") == whole)
            #expect(try remux("same.mkv", "-o", "b.mp4", "--strict", in: folder).status == 69)
            #expect(!Files.list(folder).contains { $0.hasPrefix("b.mp4") })
        }
    }

    /// Matroska has no decoding times: those of the first pictures are extrapolated backwards.
    @Test(arguments: ["libx264 -bf 1", "libx264 -bf 3", "libx265 -x265-params log-level=none -bf 3", "h264", "hevc"])
    func decodingTimesAreDerivedFromMatroska(_ encoder: String) throws {
        try Files.withTemporaryFolder { folder in
            let delay: Int
            if encoder.hasPrefix("lib") {
                try RemuxTests.make(
                    "ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=25:duration=1 -b_strategy 0 -c:v \(encoder) in.mkv", in: folder)
                delay = encoder.hasSuffix("3") ? 2 : 1
            } else {
                let encoded = try EncodeRun(
                    ["testsrc:96x64@25:25", "--device", "reference", "--codec", encoder, "--bframes", "2", "-o", "in.mkv"], in: folder)
                #expect(encoded.status == 0, "\(encoded.errors)")
                delay = 1
            }
            func times(_ name: String, _ kind: String) throws -> [Double?] {
                try RemuxTests.probe(name, "packet=\(kind)_time", in: folder).split(separator: "\n").map { Double($0.prefix { $0 != "," }) }
            }
            func pictures(_ name: String) throws -> String {
                try ProcessRunner.run("ffmpeg", ["-v", "error", "-i", name, "-vsync", "0", "-f", "md5", "-"], directory: folder).output
            }
            #expect(try times("in.mkv", "dts").first == .some(nil))
            for name in ["a.mp4", "a.mov", "a.ts"] {
                let result = try remux("in.mkv", "-o", name, "--strict", in: folder)
                #expect(result.status == 0 && !result.errors.contains("times:"), "\(name): \(result.errors)")
                let (decoded, shown) = try (times(name, "dts").compactMap { $0 }, times(name, "pts").compactMap { $0 })
                let offset = name == "a.ts" ? Double(delay) / 25 : 0
                #expect(decoded.count == 25 && shown.count == 25)
                for (index, time) in decoded.enumerated() {
                    #expect(abs(time - (Double(index - delay) / 25 + offset)) < 0.0011 && time <= shown[index], "\(name): \(decoded) \(shown)")
                }
                for (time, before) in zip(shown, try times("in.mkv", "pts")) { #expect(abs(time - offset - (before ?? -1)) < 0.0011, "\(name)") }
                #expect(try pictures(name) == pictures("in.mkv"))
            }
        }
    }

    /// The duration ends between a picture and its reference: every picture before the end is copied, and an excess is
    /// reported.
    @Test func durationKeepsEveryDisplayedPicture() throws {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.make(
                "ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=25:duration=3 -c:v libx264 -bf 3 -b_strategy 0 -g 50 in.mp4", in: folder
            )
            for (index, length) in ["1", "1.04", "1.08", "1.12", "1.5", "2"].enumerated() {
                let name = "\(index).mp4"
                let result = try remux("in.mp4", "-o", name, "--duration", length, "--json", in: folder)
                #expect(result.status == 0, "\(result.errors)")
                let shown = try RemuxTests.probe(name, "packet=pts_time", in: folder).split(separator: "\n").compactMap { Double($0) }.sorted()
                let requested = try #require(Double(length))
                // The number of pictures that are displayed before the end.
                let inside = Int((requested * 25).rounded())
                #expect(shown.count >= inside && abs(shown[inside - 1] - Double(inside - 1) / 25) < 0.001, "\(length): \(shown)")
                let entry = JSONValue(result.output)?["effective"]?.array.first { $0["option"]?.string == "duration" }
                let end = try #require(shown.last) + 0.04
                #expect((entry == nil) == (shown.count == inside), "\(length): \(result.output)")
                if let entry { #expect(abs((Double(entry["used"]?.string ?? "") ?? 0) - end) < 0.002, "\(length): \(entry) \(end)") }
                let strict = try remux("in.mp4", "-o", "s\(name)", "--duration", length, "--strict", in: folder)
                #expect(strict.status == (entry == nil ? 0 : 69))
            }
        }
    }

    /// The reported packets and durations are those of the output.
    @Test(arguments: ["1.5 0", "0 2", "1.5 2", "5.5 3"]) func reportOfACutMatchesTheOutput(_ cut: String) throws {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.make(
                """
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=25:duration=6 -f lavfi -i sine=duration=6 -pix_fmt yuv420p -c:v libx264 \
                -bf 2 -g 25 -c:a aac in.mkv
                """, in: folder)
            let times = cut.split(separator: " ").compactMap { Double($0) }
            let options = (times[0] > 0 ? ["--start", "\(times[0])"] : []) + (times[1] > 0 ? ["--duration", "\(times[1])"] : [])
            let result = try ProcessRunner.run(Checkout.vaenc, ["remux", "in.mkv", "-o", "a.mp4", "--json"] + options, directory: folder)
            #expect(result.status == 0, "\(result.errors)")
            let report = try #require(JSONValue(result.output))
            let counts = try RemuxTests.probe("a.mp4", "stream=nb_read_packets", in: folder, ["-count_packets"])
            #expect(report["streams"]?.array.map { $0["packets"]?.int } == counts.split(separator: "\n").map { Int($0) })
            // ffprobe 7 omits the pictures' gaps from the duration of the format.
            let spans = try RemuxTests.probe("a.mp4", "packet=pts_time,duration_time", in: folder).split(separator: "\n").map { line in
                line.split(separator: ",").compactMap { Double($0) }
            }
            let length = try #require(spans.filter { $0.count == 2 }.map { $0[0] + $0[1] }.max())
            #expect(abs((report["seconds"]?.double ?? 0) - length) < 0.03, "\(result.output) \(length)")
            let entry = report["effective"]?.array.first { $0["option"]?.string == "duration" }
            // The copy begins at the preceding key frame. The last input ends before the duration.
            #expect((entry == nil) == (times[1] == 0 || times[0] > 5), "\(result.output)")
            if let entry { #expect(abs((Double(entry["used"]?.string ?? "") ?? 0) - length) < 0.05, "\(entry) \(length)") }
        }
    }

    /// Sound begins before time 0, and no edit list hides it: all of it is kept, and the pictures are delayed.
    @Test func soundBeforeZeroIsKept() throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                set -e
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=25:duration=3 -f lavfi -i sine=duration=3 -pix_fmt yuv420p \
                -c:v libx264 -bf 2 -g 25 -c:a aac in.mp4
                ffmpeg -v error -nostdin -i in.mp4 -itsoffset -0.5 -i in.mp4 -map 0:v -map 1:a -c copy -avoid_negative_ts disabled early.mkv
                """
            try RemuxTests.make(script, in: folder)
            func sound(_ name: String) throws -> [Double] {
                let more = ["-select_streams", "a"]
                return try RemuxTests.probe(name, "packet=pts_time", in: folder, more)
                    .split(separator: "\n").compactMap { Double($0.prefix { $0 != "," }) }
            }
            func firstPicture(_ name: String) throws -> Double {
                let times = try RemuxTests.probe(name, "packet=pts_time", in: folder, ["-select_streams", "v"])
                return try #require(times.split(separator: "\n").compactMap { Double($0.prefix { $0 != "," }) }.min())
            }
            let before = try sound("early.mkv")
            let early = try #require(before.first)
            #expect(early < -0.4)
            for name in ["a.mkv", "a.ts", "a.mp4", "a.mov"] {
                let result = try remux("early.mkv", "-o", name, "--strict", in: folder)
                #expect(result.status == 0, "\(name): \(result.errors)")
                let after = try sound(name)
                #expect(after.count == before.count, "\(name): \(after.count) \(before.count)")
                let first = try #require(after.first)
                let (apart, meant) = try (firstPicture(name) - first, firstPicture("early.mkv") - early)
                #expect(abs(apart - meant) < 0.03 && first > -0.03, "\(name): \(apart) \(meant)")
            }
        }
    }

    /// For reordered pictures, AVI has only decoding times. The error says so and advises encoding.
    @Test(arguments: ["a.mkv", "a.ts", "a.mp4", "a.mov", "a.flv"]) func unknownDisplayTimesAreRefused(_ name: String) throws {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.make(
                "ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=25:duration=1 -pix_fmt yuv420p -c:v libx264 -bf 2 -b_strategy 0 in.avi",
                in: folder)
            let result = try remux("in.avi", "-o", name, in: folder)
            #expect(
                result.status == 65 && result.errors.contains("lacks presentation times") && result.errors.contains("vaenc encode"),
                "\(result.errors)")
            #expect(Files.list(folder) == ["in.avi"])
        }
    }

    /// The advice of the error works: the bare stream, and its copy in a container with the intended times.
    @Test(arguments: [("avi", "264"), ("mpg", "264"), ("mpg", "265")]) func adviceForUnknownTimesWorks(_ ending: String, _ codec: String) throws {
        try Files.withTemporaryFolder { folder in
            let quiet = codec == "265" ? "-x265-params log-level=none" : ""
            let (input, form) = ("in.\(ending)", ending == "avi" ? "avi" : "mpeg")
            try RemuxTests.make(
                "ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=25:duration=1 -pix_fmt yuv420p -c:v libx\(codec) \(quiet) -bf 2 -f \(form) \(input)",
                in: folder)
            let refused = try remux(input, "-o", "a.mp4", in: folder)
            #expect(refused.status == 65 && refused.errorLines.count == 1, "\(refused.errors)")
            #expect(refused.errors.contains("into a .h\(codec) file") && !refused.errors.contains("another format"), "\(refused.errors)")
            for (from, to) in [(input, "b.h\(codec)"), ("b.h\(codec)", "b.mp4")] {
                let result = try remux(from, "-o", to, in: folder)
                #expect(result.status == 0, "\(to): \(result.errors)")
            }
            let times = try RemuxTests.probe("b.mp4", "frame=pts_time", in: folder).split(separator: "\n").compactMap {
                Double($0.prefix { $0 != "," })
            }
            #expect(times.count == 25 && zip(times, times.dropFirst()).allSatisfy { abs($1 - $0 - 0.04) < 0.001 }, "\(times)")
        }
    }

    /// In program streams and AVI, some pictures of MPEG-1 and MPEG-2 have no time. They are displayed when the next
    /// picture other than a B picture is decoded, as with `ffmpeg -fflags +genpts`.
    @Test(arguments: ["in.mpg", "in.vob", "in.avi"]) func missingTimesAreGenerated(_ input: String) throws {
        try Files.withTemporaryFolder { folder in
            let codec = input == "in.mpg" ? "mpeg1video -f mpeg" : input == "in.vob" ? "mpeg2video -f vob" : "mpeg2video"
            let script = """
                set -e
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=25:duration=2 -pix_fmt yuv420p -bf 2 -b:v 100k -c:v \(codec) \(input)
                ffmpeg -v error -nostdin -fflags +genpts -i \(input) -c copy generated.mkv
                """
            try RemuxTests.make(script, in: folder)
            #expect(try RemuxTests.probe(input, "packet=pts", in: folder).contains("N/A"))
            /// Returns the display times relative to the first picture.
            func shown(_ name: String) throws -> [Double] {
                let all = try RemuxTests.probe(name, "packet=pts_time", in: folder).split(separator: "\n").compactMap {
                    Double($0.prefix { $0 != "," })
                }
                return all.map { $0 - (all.min() ?? 0) }
            }
            func pictures(_ name: String) throws -> String {
                try ProcessRunner.run("ffmpeg", ["-v", "error", "-i", name, "-vsync", "0", "-f", "md5", "-"], directory: folder).output
            }
            let expected = try shown("generated.mkv")
            #expect(expected.count == 50)
            for name in ["a.mp4", "a.mov", "a.mkv", "a.ts"] {
                let result = try remux(input, "-o", name, in: folder)
                #expect(result.status == 0 && !result.errors.contains("times:"), "\(name): \(result.errors)")
                let found = try shown(name)
                #expect(found.count == 50 && zip(found, expected).allSatisfy { abs($0 - $1) < 0.0025 }, "\(name): \(found) \(expected)")
                #expect(try pictures(name) == pictures(input), "\(name)")
            }
            // The second key frame is displayed at 0.48 s and decoded earlier.
            let cut = try remux(input, "-o", "b.mkv", "--start", "0.47", in: folder)
            #expect(cut.status == 0 && cut.errors.contains("(the previous key frame)"), "\(cut.errors)")
            #expect(try shown("b.mkv").count == 50)
        }
    }

    /// Without B pictures, AVI's decoding times are the display times.
    @Test func aviWithoutBPicturesIsCopied() throws {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.make(
                "ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=25:duration=2 -pix_fmt yuv420p -c:v libx264 -bf 0 in.avi", in: folder)
            let result = try remux("in.avi", "-o", "a.mp4", in: folder)
            #expect(result.status == 0, "\(result.errors)")
        }
    }

    /// A program stream that begins between key frames starts with a picture without a time that cannot be decoded.
    @Test(arguments: ["a.mp4", "a.mkv", "a.ts"]) func undecodableFirstPictureIsLeftOut(_ name: String) throws {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.make(
                "ffmpeg -v error -nostdin -f lavfi -i testsrc2=size=320x240:rate=25:duration=4 -pix_fmt yuv420p -c:v mpeg2video -b:v 1M -bf 2 -f vob whole.mpg",
                in: folder)
            let whole = try Files.read("\(folder)/whole.mpg")
            // The first offset at which the pictures begin like this.
            var isFound = false
            for offset in stride(from: 20_480, to: whole.count / 2, by: 2048) where !isFound {
                try Files.write(Array(whole[offset...]), to: "\(folder)/in.mpg")
                let packets = try RemuxTests.probe("in.mpg", "packet=pts,flags", in: folder, ["-select_streams", "v"]).split(separator: "\n")
                let untimed = packets.indices.filter { packets[$0].contains("N/A") }
                isFound = untimed == [0] && !packets[0].contains("K")
            }
            try #require(isFound)
            let result = try remux("in.mpg", "-o", name, in: folder)
            #expect(result.status == 0 && result.errors.contains("1 picture left out"), "\(result.errors)")
            let strict = try remux("in.mpg", "-o", "strict-\(name)", "--strict", in: folder)
            #expect(strict.status == 69 && !Files.exists("\(folder)/strict-\(name)"), "\(strict.errors)")
        }
    }

    /// Matroska has no decoding times. If a picture lasts for seconds, libavformat finds the number of reordered pictures
    /// only when it reads further than usual.
    @Test(arguments: ["1/2", "1/4", "1/10"]) func slowPicturesWithSoundAreCopied(_ rate: String) throws {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.make(
                """
                ffmpeg -v error -nostdin -f lavfi -i testsrc2=size=96x64:rate=\(rate):duration=90 -f lavfi -i sine=duration=90 \
                -pix_fmt yuv420p -c:v libx264 -bf 3 -c:a aac in.mkv
                """, in: folder)
            func times(_ name: String) throws -> [String] {
                try RemuxTests.probe(name, "packet=pts_time", in: folder, ["-select_streams", "v"]).split(separator: "\n").map(String.init)
            }
            let expected = try times("in.mkv")
            #expect(expected != expected.sorted { (Double($0) ?? 0) < (Double($1) ?? 0) })
            for name in ["a.mp4", "a.ts", "a.mkv"] {
                let result = try remux("in.mkv", "-o", name, in: folder)
                #expect(result.status == 0, "\(name): \(result.errors)")
                // MPEG-TS begins later.
                if name != "a.ts" { #expect(try times(name) == expected, "\(name)") }
            }
        }
    }

    /// MP4 supports Opus and FLAC. QuickTime does not.
    @Test(arguments: ["libopus", "flac"]) func opusAndFLACAreCopiedIntoMP4(_ codec: String) throws {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.make(
                """
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=25:duration=1 -f lavfi -i sine=440:duration=1:r=48000 \
                -c:v libx264 -c:a \(codec) in.mkv
                """, in: folder)
            func sound(_ name: String) throws -> String {
                try RemuxTests.probe(name, "stream=codec_name", in: folder, ["-select_streams", "a"]).split(separator: "\n").joined()
            }
            let name = codec == "flac" ? "flac" : "opus"
            for (output, format) in [("a.mp4", "mp4"), ("f.mp4", "fmp4"), ("a.mkv", "mkv")] {
                let result = try remux("in.mkv", "-o", output, "--format", format, in: folder)
                #expect(result.status == 0, "\(result.errors)")
                #expect(try sound(output) == name, "\(output)")
            }
            let refused = try remux("in.mkv", "-o", "a.mov", in: folder)
            #expect(refused.status == 64 && refused.errors.contains("mov cannot contain \(name)"), "\(refused.errors)")
            // When encoding, sound that the container does not support becomes AAC.
            let run = try EncodeRun(["in.mkv", "--device", "software", "--codec", "h264", "-o", "b.mov", "-o", "b.mp4"], in: folder)
            #expect(run.status == 0, "\(run.errors)")
            #expect(try sound("b.mov") == "aac" && sound("b.mp4") == name)
        }
    }
}
