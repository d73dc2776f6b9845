import TestOracles
import Testing

/// `vaenc remux` of inputs that are damaged, cut by edit lists, or shorter than the requested start.
@Suite struct RemuxInputTests {
    private func run(_ command: String, _ arguments: [String], in folder: String) throws -> ProcessRunner.Result {
        try ProcessRunner.run(Checkout.vaenc, [command] + arguments, directory: folder)
    }

    private func remux(_ arguments: String..., in folder: String) throws -> ProcessRunner.Result { try run("remux", arguments, in: folder) }

    /// A broken length inside a packet, a stream without parameter sets, and an empty file are bad input for any
    /// output.
    @Test func damagedInputIsRefused() throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                set -e
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=128x96:rate=25:duration=2 -c:v libx265 -x265-params log-level=none:keyint=10:min-keyint=10:open-gop=0 in.mp4
                ffmpeg -v error -nostdin -i in.mp4 -c copy in.mkv
                ffmpeg -v error -nostdin -i "$0" -c copy -bsf:v h264_mp4toannexb,filter_units=remove_types=7 none.h264
                : > empty.mp4
                ffprobe -v error -show_entries packet=pos,size -of csv=p=0 in.mp4
                """
            let setup = try ProcessRunner.run("bash", ["-c", script, Fixture.carphone.path()], directory: folder)
            try #require(setup.status == 0, "\(setup.errors)")
            // The first bytes of the 21st packet are its first length, equal in both files.
            let numbers = setup.output.split(separator: "\n")[20].split(separator: ",").compactMap { Int($0) }
            try #require(numbers.count == 2)
            let (size, offset) = (numbers[0], numbers[1])
            let sample = try Files.read("\(folder)/in.mp4")[offset..<offset + size]
            for name in ["in.mp4", "in.mkv"] {
                var bytes = try Files.read("\(folder)/\(name)")
                let start = try #require((0..<bytes.count - size).first { bytes[$0..<$0 + 24].elementsEqual(sample.prefix(24)) })
                bytes[start + 1] = 0x7F
                try Files.write(bytes, to: "\(folder)/bad\(name)")
            }
            let before = Files.list(folder)
            for (name, outputs) in [
                ("badin.mp4", ["a.h265", "a.mkv", "a.ts"]), ("badin.mkv", ["a.hvcc", "a.mov", "a.m3u8"]), ("none.h264", ["a.mov", "a.h264"]),
                ("empty.mp4", ["a.mov"]),
            ] {
                for output in outputs {
                    let result = try remux(name, "-o", output, in: folder)
                    let words = name.hasPrefix("bad") ? "at 0.8 s" : name == "none.h264" ? "no parameter sets" : "is empty"
                    #expect(result.status == 65 && result.errors.contains(words), "\(name) \(output): \(result.status) \(result.errors)")
                    #expect(result.errorLines.count == 1 && Files.list(folder) == before, "\(name) \(output): \(Files.list(folder))")
                }
            }
        }
    }

    /// An MP4 whose damaged tracks cannot be read is bad input, as for `encode`.
    @Test func unreadableTracksAreRefused() throws {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.make(
                "ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=25:duration=1 -pix_fmt yuv420p -c:v libx264 in.mp4", in: folder)
            var bytes = try Files.read("\(folder)/in.mp4")
            let offset = try #require((0..<bytes.count - 4).first { bytes[$0..<$0 + 4].elementsEqual("mdia".utf8) })
            bytes[offset + 2] = UInt8(ascii: "x")
            try Files.write(bytes, to: "\(folder)/bad.mp4")
            for output in ["a.mkv", "a.mp4", "a.h264"] {
                let result = try remux("bad.mp4", "-o", output, in: folder)
                #expect(result.status == 65 && result.errors.contains("no readable video or sound"), "\(output): \(result.status) \(result.errors)")
                #expect(!Files.exists("\(folder)/\(output)"))
            }
            // Sound into a stream that has only pictures is still a usage error.
            try RemuxTests.make("ffmpeg -v error -nostdin -f lavfi -i sine=duration=1 -c:a aac in.m4a", in: folder)
            let sound = try remux("in.m4a", "-o", "b.h264", in: folder)
            #expect(sound.status == 64 && sound.errors.contains("can contain only H.264 or HEVC"), "\(sound.errors)")
        }
    }

    /// An HEVC sequence parameter set declares millions of entries, which libavformat would read for minutes.
    @Test(arguments: ["a.mp4", "a.mov", "a.mkv"]) func damagedParameterSetIsRefused(_ output: String) throws {
        try Files.withTemporaryFolder { folder in
            let script =
                "ffmpeg -v error -nostdin -f lavfi -i testsrc=size=160x120:rate=25:duration=0.4 -pix_fmt yuv420p -c:v libx265 "
                + "-x265-params log-level=none:keyint=5:min-keyint=5:repeat-headers=1:open-gop=0 in.h265"
            try RemuxTests.make(script, in: folder)
            let stream = try Files.read("\(folder)/in.h265")
            func offset(_ type: UInt8) throws -> Int {
                try #require(stream.indices.dropLast(4).first { stream[$0..<$0 + 3] == [0, 0, 1] && stream[$0 + 3] >> 1 == type })
            }
            let set: [UInt8] = [
                0x42, 0x01, 0x01, 0x01, 0x60, 0x00, 0x00, 0x03, 0x00, 0x90, 0x00, 0x00, 0x03, 0x00, 0x00, 0x03, 0x00, 0x1E, 0x0B, 0x14, 0x20,
                0x79, 0x65, 0x95, 0x9A, 0x49, 0x32, 0xBC, 0x05, 0xA7, 0x08, 0x00, 0x00, 0x03, 0x00, 0x08, 0x00, 0x00, 0x03, 0x00, 0xC8, 0x40,
            ]
            let (sequence, picture) = try (offset(33), offset(34))
            try Files.write(Array(stream[..<(sequence + 3)]) + set + [0] + Array(stream[picture...]), to: "\(folder)/bad.h265")
            let result = try remux("bad.h265", "-o", output, in: folder)
            #expect(result.status == 65 && result.errorLines.count == 1, "\(result.status) \(result.errors)")
            #expect(!Files.list(folder).contains { $0.hasPrefix("a.") })
        }
    }

    /// The error names the option and its range.
    @Test(arguments: ["--start", "--duration"]) func timesOutOfRangeAreRefused(_ option: String) throws {
        for value in ["1e9", "-1"] {
            let result = try run("remux", ["in.mp4", "-o", "a.mp4", option, value], in: "/tmp")
            #expect(result.status == 64 && result.errors.contains("\(option) \(value) is out of range"), "\(result.errors)")
            #expect(result.errors.contains("less than 1000000000 seconds"), "\(result.errors)")
        }
    }

    /// A start after the end leaves nothing to copy. An earlier one cuts a bare stream at a key frame too.
    @Test func startCutsAtAKeyFrame() throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                set -e
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=128x96:rate=25:duration=2 -c:v libx264 -bf 2 -g 10 -sc_threshold 0 in.mp4
                for e in mkv ts h264; do ffmpeg -v error -nostdin -i in.mp4 -c copy in.$e; done
                """
            try RemuxTests.make(script, in: folder)
            for ending in ["mp4", "mkv", "ts", "h264"] {
                let late = try remux("in.\(ending)", "-o", "a.mp4", "--start", ending == "mkv" ? "99" : "2.1", in: folder)
                #expect(late.status == 65 && late.errorLines.count == 1, "\(ending): \(late.status) \(late.errors)")
                #expect(!Files.list(folder).contains { $0.hasPrefix("a.mp4") })
                for (start, count) in ending == "mp4" ? [("0.9", 30)] : [("0.9", 30), ("1.99", 10)] {
                    let cut = try remux("in.\(ending)", "-o", "\(ending)\(start).mp4", "--start", start, in: folder)
                    #expect(cut.status == 0, "\(ending): \(cut.errors)")
                    let found = try SoundTests.hashes("\(ending)\(start).mp4", in: folder).count
                    #expect(found == count, "\(ending) \(start): \(found)")
                }
            }
        }
    }

    /// An edit list hides the beginning of the file. MP4 output hides it again. In other containers the sound is cut,
    /// and the hidden reference pictures are displayed, which is reported.
    @Test func editListIsKeptOrReported() throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                set -e
                ffmpeg -v error -nostdin -f lavfi -i testsrc2=s=160x96:r=25:d=3 -f lavfi -i sine=d=3 -pix_fmt yuv420p -c:v libx264 -preset veryfast \
                -g 250 -bf 2 -c:a aac whole.mp4
                ffmpeg -v error -nostdin -ss 0.7 -i whole.mp4 -t 2 -c copy in.mp4
                """
            try RemuxTests.make(script, in: folder)
            let expected = try SoundTests.hashes("in.mp4", in: folder)
            for name in ["a.mp4", "a.mov"] {
                #expect(try remux("in.mp4", "-o", name, "--strict", in: folder).status == 0)
                #expect(try SoundTests.hashes(name, in: folder) == expected)
                // A start of 0 copies everything, because no time is before the first displayed picture.
                #expect(try remux("in.mp4", "-o", "0\(name)", "--start", "0", "--strict", in: folder).status == 0)
                #expect(try Files.read("\(folder)/0\(name)") == Files.read("\(folder)/\(name)"))
                let later = try remux("in.mp4", "-o", "1\(name)", "--start", "0.01", in: folder)
                #expect(later.status == 0 && later.errors.contains("asked 0.01, used 0.0 (the first picture of the input)"), "\(later.errors)")
                #expect(try SoundTests.hashes("1\(name)", in: folder) == expected)
            }
            for name in ["a.mkv", "a.ts"] {
                let refused = try remux("in.mp4", "-o", name, "--strict", in: folder)
                #expect(refused.status == 69 && refused.errors.contains("edit list"), "\(refused.errors)")
                #expect(!Files.list(folder).contains { $0.hasPrefix(name) })
                let result = try remux("in.mp4", "-o", name, in: folder)
                #expect(result.status == 0 && result.errors.contains("edit list"), "\(result.errors)")
                let spans = try SoundTests.spans(name, in: folder)
                let video = try #require(spans["video"]), sound = try #require(spans["audio"])
                // 18 more pictures, and the sound starts with the first of the others.
                #expect(video.count == expected.count + 18 && abs(sound.start - video.start - 0.72) < 0.03, "\(name): \(spans)")
            }
            for audio in ["copy", "aac"] {
                let arguments = ["in.mp4", "--device", "software", "--codec", "h264", "--preset", "7", "--size", "96x64", "--audio", audio]
                let result = try run("encode", arguments + ["-o", "\(audio).mkv", "-o", "\(audio).mp4"], in: folder)
                #expect(result.status == 0, "\(result.errors)")
                for name in ["\(audio).mkv", "\(audio).mp4"] {
                    let spans = try SoundTests.spans(name, in: folder)
                    let video = try #require(spans["video"]), sound = try #require(spans["audio"])
                    #expect(video.count == expected.count && abs(video.start - sound.start) < 0.03, "\(name): \(spans)")
                }
            }
        }
    }

    /// Languages, titles and chapters are kept if the container supports them, and otherwise reported.
    @Test func metadataIsKeptOrReported() throws {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.makeRich(in: folder)
            func languages(_ name: String) throws -> [String] {
                try RemuxTests.probe(name, "stream_tags=language", in: folder, ["-select_streams", "a"]).split(separator: "\n").map(String.init)
            }
            // ffprobe has its own names for QuickTime's language codes.
            #expect(try remux("base.mp4", "-o", "a.mov", in: folder).status == 0)
            #expect(try languages("a.mov") == ["ger", "fra"])
            for (name, options) in [
                ("a.ts", ["disposition of stream 2", "chapters", "title"]), ("a.h264", ["chapters", "title"]), ("a.mkv", []),
                ("b.mov", ["disposition of stream 2"]), ("b.mp4", []),
            ] {
                let result = try remux("base.mp4", "-o", name, "--json", in: folder)
                let reported = (JSONValue(result.output)?["effective"]?.array ?? []).compactMap { $0["option"]?.string }
                #expect(result.status == 0 && reported.filter { !$0.hasPrefix("stream ") } == options, "\(name): \(reported) \(result.errors)")
                if options.contains("title") { continue }
                #expect(try RemuxTests.probe(name, "format_tags=title", in: folder) == "A title\n")
                #expect(try RemuxTests.probe(name, "chapter_tags=title", in: folder) == "One\nTwo\n")
            }
            let script = """
                set -e
                ffmpeg -v error -nostdin -i base.mp4 -map 0:v -map 0:a:0 -map_chapters -1 -map_metadata -1 -metadata:s:a:0 language=hrv -c copy in.mkv
                ffmpeg -v error -nostdin -i in.mkv -map 0 -c:v copy -c:a libmp3lame -metadata:s:a:0 language=deu -metadata:s:a:0 title=Ton old.mkv
                """
            try RemuxTests.make(script, in: folder)
            for (name, count) in [("c.mov", 1), ("c.flv", 1), ("c.ts", 0), ("c.mp4", 0)] {
                let result = try remux("in.mkv", "-o", name, in: folder)
                #expect(
                    result.status == 0 && result.errors.split(separator: "\n").count { $0.contains("language of stream 1") } == count,
                    "\(name): \(result.errors)")
                #expect(try remux("in.mkv", "-o", "s\(name)", "--strict", in: folder).status == (count == 0 ? 0 : 69))
            }
            // Re-encoded sound keeps the metadata of the original.
            let result = try run(
                "encode", ["old.mkv", "--device", "software", "--codec", "h264", "--audio", "aac", "-o", "n.mp4", "-o", "n.mkv"], in: folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(try languages("n.mp4") == ["deu"] && languages("n.mkv") == ["deu"])
            #expect(try RemuxTests.probe("n.mkv", "stream_tags=title", in: folder, ["-select_streams", "a"]) == "Ton\n")
        }
    }

    /// Five seconds of pictures and sound.
    private static let fiveSeconds: Result<[UInt8], any Error> = Result {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.make(
                "ffmpeg -v error -nostdin -f lavfi -i testsrc=size=320x240:rate=25:duration=5 -f lavfi -i sine=duration=5 -pix_fmt yuv420p "
                    + "-c:v libx264 -bf 2 -g 25 -c:a aac base.mp4", in: folder)
            return try Files.read(folder + "/base.mp4")
        }
    }

    /// The advised duration of a cut input ends before the cut and loses little, and all times in the message count from
    /// the beginning of the input.
    @Test(arguments: ["fast.mp4", "fragments.mp4", "in.mkv", "in.ts"]) func adviceForCutInputWorks(_ name: String) throws {
        try Files.withTemporaryFolder { folder in
            let flags = ["fast.mp4": "-movflags +faststart", "fragments.mp4": "-movflags +frag_keyframe+empty_moov"][name] ?? ""
            try Files.write(Self.fiveSeconds.get(), to: folder + "/base.mp4")
            try RemuxTests.make("ffmpeg -v error -nostdin -i base.mp4 -c copy \(flags) \(name)", in: folder)
            let whole = try Files.read("\(folder)/\(name)")
            let cut = "cut-\(name)"
            for (part, options) in [(3, []), (5, []), (7, ["--start", "1"])] as [(Int, [String])] {
                // The odd size cuts a packet of a transport stream. A cut between two packets is not always detectable.
                try Files.write(Array(whole.prefix(whole.count * part / 8 | 1)), to: "\(folder)/\(cut)")
                let output = ["-o", "a\(part).mkv"] + options
                let result = try run("remux", [cut] + output, in: folder)
                #expect(result.status == 65, "\(part): \(result.errors)")
                func value(after words: String) throws -> Double {
                    let range = try #require(result.errors.firstRange(of: words), "\(part): \(result.errors)")
                    return try #require(Double(result.errors[range.upperBound...].prefix { $0.isNumber || $0 == "." }), "\(part): \(result.errors)")
                }
                let damage = try value(after: " at ")
                let length = try value(after: "copy only the good part with --duration ")
                let end = length + (options.isEmpty ? 0 : 1)
                #expect(damage < 5 && end <= damage && end > damage - 1, "\(part): \(result.errors)")
                let good = try run("remux", [cut] + output + ["--duration", "\(length)"], in: folder)
                #expect(good.status == 0, "\(part): \(good.errors)")
                let seconds = try #require(Double(RemuxTests.probe("a\(part).mkv", "format=duration", in: folder).prefix { $0 != "\n" }))
                // With a start, the copy may begin at the key picture 1 s before.
                #expect(seconds > length - 0.2 && seconds < length + (options.isEmpty ? 0.3 : 1.3), "\(part): \(seconds) \(length)")
            }
        }
    }

    /// A transport stream that begins between key pictures is copied whole, and the pictures before the first key
    /// picture are reported.
    @Test func undecodableFirstPicturesAreCopiedAndReported() throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                set -e
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=320x240:rate=25:duration=4 -f lavfi -i sine=duration=4 -pix_fmt yuv420p \
                -c:v libx264 -bf 2 -g 25 -sc_threshold 0 -c:a aac whole.ts
                """
            try RemuxTests.make(script, in: folder)
            let whole = try Files.read("\(folder)/whole.ts")
            try Files.write(Array(whole.dropFirst(60 * 188)), to: "\(folder)/in.ts")
            func pictures(_ name: String) throws -> [Substring] {
                try RemuxTests.probe(name, "packet=flags", in: folder, ["-select_streams", "v"]).split(separator: "\n")
            }
            let leading = try pictures("in.ts").prefix { !$0.contains("K") }.count
            try #require(leading > 1)
            for name in ["a.mp4", "a.mkv", "a.ts"] {
                let result = try remux("in.ts", "-o", name, "--strict", "--json", in: folder)
                #expect(result.status == 0, "\(name): \(result.errors)")
                let notice = "(video, h264) begins with \(leading) pictures that cannot be decoded"
                let notices = JSONValue(result.output)?["notices"]?.array.compactMap { $0.string } ?? []
                #expect(notices.count == 1 && notices[0].contains(notice) && result.errors.contains(notice), "\(name): \(notices) \(result.errors)")
                #expect(try pictures(name).count == pictures("in.ts").count, "\(name)")
            }
            let sound = try remux("whole.ts", "-o", "b.mp4", "--json", in: folder)
            #expect(JSONValue(sound.output)?["notices"]?.array.isEmpty == true, "\(sound.output)")
        }
    }
}
