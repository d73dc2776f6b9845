import TestOracles
import Testing

/// `vaenc remux`, judged by ffmpeg's stream hashes and ffprobe.
@Suite struct RemuxTests {
    private func run(_ arguments: [String], in folder: String) throws -> ProcessRunner.Result {
        try ProcessRunner.run(Checkout.vaenc, ["remux"] + arguments, directory: folder)
    }

    /// Makes a clip with two audio tracks, subtitles, chapters, languages and a cover.
    private static let script = """
        set -e
        printf '1\\n00:00:00,000 --> 00:00:01,000\\nHello\\n\\n' >s.srt
        printf ';FFMETADATA1\\ntitle=A title\\n[CHAPTER]\\nTIMEBASE=1/1000\\nSTART=0\\nEND=1000\\ntitle=One\\n[CHAPTER]\\nTIMEBASE=1/1000\\nSTART=1000\\nEND=2000\\ntitle=Two\\n' >m.txt
        ffmpeg -v error -nostdin -f lavfi -i testsrc=size=64x48:rate=1:duration=1 -frames:v 1 c.png
        ffmpeg -v error -nostdin -f lavfi -i testsrc=size=128x96:rate=25:duration=2 -f lavfi -i sine=duration=2 -f lavfi \
        -i sine=500:duration=2 -i s.srt -i m.txt -map 0 -map 1 -map 2 -map 3 -map_metadata 4 -map_chapters 4 -c:v libx264 \
        -bf 2 -g 10 -c:a aac -c:s mov_text -metadata:s:a:0 language=deu -metadata:s:a:1 language=fra -disposition:a:1 comment \
        base.mp4
        ffmpeg -v error -nostdin -i base.mp4 -i c.png -map 0:v -map 0:a -map 0:s -map 1 -c copy -disposition:v:1 attached_pic rich.mp4
        """

    private static let files: Result<[(name: String, bytes: [UInt8])], any Error> = Result {
        try Files.withTemporaryFolder { folder in
            try make(script, in: folder)
            return try Files.list(folder).map { (name: $0, bytes: try Files.read("\(folder)/\($0)")) }
        }
    }

    /// Makes `base.mp4`, a clip with two audio tracks, subtitles, chapters and languages; `rich.mp4`, which also has a
    /// cover; and the files that they are made from.
    static func makeRich(in folder: String) throws {
        for file in try files.get() { try Files.write(file.bytes, to: "\(folder)/\(file.name)") }
    }

    static func make(_ script: String, in folder: String) throws {
        let result = try ProcessRunner.run("bash", ["-c", script], directory: folder)
        try #require(result.status == 0, "\(result.errors)")
    }

    /// Returns a hash of the packets of each stream of a kind.
    static func hashes(_ path: String, _ kind: String = "", in folder: String, filter: [String] = []) throws -> [String] {
        let result = try ProcessRunner.run(
            "ffmpeg",
            ["-v", "error", "-nostdin", "-i", path, "-map", kind.isEmpty ? "0" : "0:\(kind)", "-c", "copy"] + filter
                + ["-f", "streamhash", "-hash", "md5", "-"], directory: folder)
        #expect(result.status == 0, "\(path): \(result.errors)")
        return result.output.split(separator: "\n").compactMap { $0.split(separator: "=").last.map(String.init) }
    }

    static func probe(_ path: String, _ entries: String, in folder: String, _ more: [String] = []) throws -> String {
        let result = try ProcessRunner.run(
            "ffprobe", ["-v", "error", "-show_entries", entries, "-of", "csv=p=0"] + more + [path], directory: folder)
        #expect(result.status == 0, "\(path): \(result.errors)")
        return result.output
    }

    /// From MP4 to MP4, every stream's packets, times, languages, dispositions, chapters, title, cover and rotation are
    /// the same.
    @Test func mp4CopyKeepsEverything() throws {
        try Files.withTemporaryFolder { folder in
            try Self.makeRich(in: folder)
            try TurnedClip.turn("\(folder)/rich.mp4")
            #expect(try TurnedClip.rotation("\(folder)/rich.mp4") == "-90")
            // QuickTime does not support covers.
            #expect(try run(["rich.mp4", "-o", "a.mov", "--strict"], in: folder).status == 69)
            for name in ["a.mp4"] {
                let result = try run(["rich.mp4", "-o", name, "--json", "--strict"], in: folder)
                #expect(result.status == 0, "\(result.errors)")
                #expect(try Self.hashes(name, in: folder) == Self.hashes("rich.mp4", in: folder), "\(name)")
                for entries in [
                    "stream_tags=language", "stream_disposition=comment,default,attached_pic", "chapter=start_time,end_time:chapter_tags=title",
                    "format_tags=title", "stream_side_data=rotation", "packet=stream_index,pts_time,dts_time,flags",
                ] {
                    let (found, expected) = try (Self.probe(name, entries, in: folder), Self.probe("rich.mp4", entries, in: folder))
                    let sorted = { (text: String) in text.split(separator: "\n").sorted() }
                    #expect(sorted(found) == sorted(expected), "\(name): \(entries)")
                }
                #expect(try TurnedClip.rotation("\(folder)/\(name)") == "-90")
                let streams = JSONValue(result.output)?["streams"]?.array ?? []
                #expect(streams.filter { $0["leftOut"]?.string == nil }.count >= 5)
            }
        }
    }

    /// What a copy of a clip must contain: the decoded pictures, the packets (as Annex B), and the times from 0.
    private struct Content {
        var pictures: [String]
        var video: [String]
        var sound: [String]
        var times: [Double]

        init(_ path: String, hasSound: Bool = true, in folder: String) throws {
            pictures = try SoundTests.hashes(path, in: folder)
            // Annex B has the parameter sets in the stream, so both are compared as Annex B.
            video = try RemuxTests.hashes(path, "v", in: folder, filter: ["-bsf:v", "h264_mp4toannexb"])
            sound = hasSound ? try RemuxTests.hashes(path, "a", in: folder) : []
            let all = try RemuxTests.probe(path, "packet=pts_time", in: folder, ["-select_streams", "v"])
                .split(separator: "\n").compactMap { Double($0.prefix { $0 != "," }) }
            times = all.map { $0 - (all.min() ?? 0) }
        }
    }

    /// The first two seconds of a real clip, and what they contain.
    private static let clip: Result<(file: [UInt8], content: Content), any Error> = Result {
        try Files.withTemporaryFolder { folder in
            try ffmpeg("-i", Fixture.bigBuckBunny.path(), "-t", "2", "-c", "copy", folder + "/in.mp4")
            return (try Files.read(folder + "/in.mp4"), try Content("in.mp4", in: folder))
        }
    }

    /// Through each container and back, the packets are the same, and so are the times, within the container's time
    /// unit.
    @Test(arguments: ["mov", "mkv", "flv", "fmp4", "ts", "m3u8", "h264", "avcc"]) func roundTripThroughEachContainerKeepsPackets(_ ending: String)
        throws
    {
        try Files.withTemporaryFolder { folder in
            let path = ending == "fmp4" ? "f.mp4" : "a.\(ending)"
            let isBare = ["h264", "avcc"].contains(ending)
            let (clip, expected) = try Self.clip.get()
            try Files.write(clip, to: folder + "/in.mp4")
            let there = try run(["in.mp4", "-o", path] + (ending == "fmp4" ? ["--format", "fmp4"] : []), in: folder)
            #expect(there.status == 0, "\(there.errors)")
            let back = try run([path, "-o", "back.mp4"] + (isBare ? ["--fps", "25"] : []), in: folder)
            #expect(back.status == 0, "\(back.errors)")
            let found = try Content("back.mp4", hasSound: !isBare, in: folder)
            #expect(expected.pictures.count == 50 && !expected.sound.isEmpty)
            #expect(found.pictures == expected.pictures, "\(path)")
            #expect(isBare || found.sound == expected.sound)
            // MPEG-TS and bare streams have the parameter sets and delimiters in the packets.
            #expect(isBare || ["ts", "m3u8"].contains(ending) || found.video == expected.video)
            #expect(
                found.times.count == expected.times.count && zip(found.times, expected.times).allSatisfy { abs($0 - $1) < 0.0025 },
                "\(path): \(found.times.prefix(8)) \(expected.times.prefix(8))")
        }
    }

    /// A cut begins at the preceding key frame, plays, and has the requested length.
    @Test func cutsBeginAtAKeyFrame() throws {
        try Files.withTemporaryFolder { folder in
            try Self.makeRich(in: folder)
            let result = try run(["base.mp4", "-o", "a.mkv", "--start", "0.9", "--duration", "0.5", "--json"], in: folder)
            #expect(result.status == 0, "\(result.errors)")
            let start = JSONValue(result.output)?["effective"]?.array.first { $0["option"]?.string == "start" }
            #expect(start?["used"]?.string == "0.8", "\(result.output)")
            let spans = try SoundTests.spans("a.mkv", in: folder)
            let video = try #require(spans["video"])
            #expect((14...18).contains(video.count), "\(spans)")
            // Chapters cover the remaining part, relative to its first picture.
            let chapters = try Self.probe("a.mkv", "chapter=start_time,end_time", in: folder)
            #expect(chapters == "0.000000,0.200000\n0.200000,0.600000\n", "\(chapters)")
            #expect(try run(["base.mp4", "-o", "b.mkv", "--start", "0.9", "--strict"], in: folder).status == 69)
            #expect(!Files.list(folder).contains { $0.hasPrefix("b.mkv") })
        }
    }

    /// Each refusal leaves no file.
    @Test func impossibleRemuxesAreRefused() throws {
        try Files.withTemporaryFolder { folder in
            try Self.makeRich(in: folder)
            try Self.make("ffmpeg -v error -nostdin -i base.mp4 -map 0:v -map 0:a -c:v copy -c:a flac f.mkv", in: folder)
            let before = Files.list(folder)
            for (arguments, status) in [
                (["rich.mp4", "-o", "rich.mp4"], 64), (["rich.mp4", "-o", "./rich.mp4", "--overwrite"], 64), (["none.mp4", "-o", "a.mp4"], 66),
                (["s.srt", "-o", "a.mp4"], 65), (["f.mkv", "-o", "a.flv"], 64), (["rich.mp4", "-o", "a.flv"], 64),
                (["rich.mp4", "-o", "a.ts", "--strict"], 69), (["rich.mp4", "-o", "no/a.mp4"], 73), (["rich.mp4", "-o", "base.mp4"], 73),
                (["rich.mp4", "-o", "a.h265"], 64), (["rich.mp4", "-o", "/dev/full", "--format", "ts"], 74), (["rich.mp4"], 64),
                (["m.txt", "-o", "a.mp4"], 65), (["base.mp4", "-o", "a.mp4", "--duration", "0"], 64), (["base.mp4", "-o", "a.hvcc"], 64),
                (["base.mp4", "-o", "a.mkv", "--fps", "50", "--strict"], 69),
            ] {
                let result = try run(arguments, in: folder)
                #expect(result.status == status, "\(arguments): \(result.status) \(result.errors)")
                #expect(Files.list(folder) == before, "\(arguments)")
            }
        }
    }

    /// A cut or damaged file is detected, leaves no output, and does not crash.
    @Test func cutInputsAreRefused() throws {
        try Files.withTemporaryFolder { folder in
            let clip = try Files.read(Fixture.carphone.path())
            for part in stride(from: 1, through: 15, by: 2) {
                try Files.write(Array(clip.prefix(clip.count * part / 16)), to: "\(folder)/in.mp4")
                let result = try run(["in.mp4", "-o", "a.mkv"], in: folder)
                #expect(result.status == 65, "\(part): \(result.errors)")
                #expect(Files.list(folder) == ["in.mp4"])
            }
            var damaged = clip
            for offset in stride(from: 0, to: damaged.count, by: 997) { damaged[offset] ^= 0x5A }
            try Files.write(damaged, to: "\(folder)/in.mp4")
            #expect([0, 64, 65].contains(try run(["in.mp4", "-o", "a.mkv"], in: folder).status))
        }
    }
}
