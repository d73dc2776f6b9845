import TestOracles
import Testing

/// The contents that `vaenc encode` copies in addition to the pictures, and those that it reports as left out; judged
/// by ffprobe and ffmpeg.
@Suite struct CarriedContentTests {
    /// Makes a clip of four seconds with two audio streams and their languages, subtitles, tags, three chapters and a
    /// cover.
    private static let rich = """
        set -e
        printf '1\\n00:00:00,000 --> 00:00:01,000\\nHello\\n\\n' >s.srt
        printf ';FFMETADATA1\\ntitle=A title\\nartist=Somebody\\ncreation_time=2020-02-03T04:05:06Z\\n' >m.txt
        for n in 0 1 3; do printf "[CHAPTER]\\nTIMEBASE=1/1000\\nSTART=${n}000\\nEND=$((n == 0 ? 1 : n == 1 ? 3 : 4))000\\ntitle=Part $n\\n"; done >>m.txt
        ffmpeg -v error -nostdin -f lavfi -i testsrc=size=64x48:rate=1:duration=1 -frames:v 1 c.png
        ffmpeg -v error -nostdin -f lavfi -i testsrc=size=64x48:rate=25:duration=4 -f lavfi -i sine=duration=4 -f lavfi \
        -i sine=500:duration=4 -i s.srt -i m.txt -i c.png -map 0 -map 1 -map 2 -map 3 -map 5 -map_metadata 4 -map_chapters 4 \
        -c:v:0 libx264 -pix_fmt:v:0 yuv420p -g 10 -c:v:1 copy -c:a aac -c:s mov_text -metadata:s:v:0 language=ita -metadata:s:a:0 language=deu \
        -metadata:s:a:1 language=fra -disposition:a:0 0 -disposition:a:1 default -disposition:v:1 attached_pic in.mp4
        """

    private static let clip: Result<[UInt8], any Error> = Result {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.make(rich, in: folder)
            return try Files.read(folder + "/in.mp4")
        }
    }

    private static func makeClip(in folder: String) throws { try Files.write(clip.get(), to: folder + "/in.mp4") }

    private static func probe(_ entries: String, _ path: String, in folder: String, _ more: [String] = []) throws -> [String] {
        try RemuxTests.probe(path, entries, in: folder, more).split(separator: "\n").map(String.init)
    }

    private static func chapters(_ path: String, in folder: String) throws -> [String] {
        try probe("chapter=start_time,end_time:chapter_tags=title", path, in: folder)
    }

    private static let whole = ["0.000000,1.000000,Part 0", "1.000000,3.000000,Part 1", "3.000000,4.000000,Part 3"]

    /// The output has sound, languages, tags and chapters. Each stream that is left out is reported.
    @Test(arguments: ["a.mp4", "a.mov", "a.mkv"]) func soundTagsAndChaptersAreCopied(_ name: String) throws {
        try Files.withTemporaryFolder { folder in
            try Self.makeClip(in: folder)
            let run = try EncodeRun(["in.mp4", "--device", "software", "--codec", "h264", "--json", "-o", name], in: folder)
            #expect(run.status == 0, "\(run.errors)")
            #expect(try Self.chapters(name, in: folder) == Self.whole)
            let tags = try Self.probe("format_tags=title,artist,creation_time", name, in: folder).joined()
            #expect(tags.contains("A title") && tags.contains("Somebody") && tags.contains("2020-02-03T04:05:06"), "\(tags)")
            let audio = try Self.probe(
                "stream=codec_name:stream_tags=language:stream_disposition=default", name, in: folder, ["-select_streams", "a"])
            // For German, QuickTime has a code that ffprobe names by the older abbreviation.
            #expect(audio == ["aac,0,\(name == "a.mov" ? "ger" : "deu")", "aac,1,\(name == "a.mov" ? "fra" : "fra")"], "\(audio)")
            #expect(try RemuxTests.hashes(name, "a", in: folder) == RemuxTests.hashes("in.mp4", "a", in: folder))
            #expect(try Self.probe("stream_tags=language", name, in: folder, ["-select_streams", "v:0"]).first == "ita")
            #expect(run.effective("audio")?["used"]?.string == "copy" && run.effective("audio of stream 2")?["used"]?.string == "copy")
            for stream in ["stream 3 (subtitle, mov_text)", "stream 5 (video, png)"] {
                #expect(run.effective(stream)?["used"]?.string == "left out", "\(run.errors)")
            }
            let strict = try EncodeRun(["in.mp4", "--device", "software", "--codec", "h264", "--strict", "-o", "b.mp4"], in: folder)
            #expect(strict.status == 69 && strict.errors.contains("stream 3 (subtitle, mov_text)"), "\(strict.errors)")
            #expect(!Files.exists("\(folder)/b.mp4"))
        }
    }

    /// Without JSON, stderr reports the differences too.
    @Test func leftOutContentIsReportedOnStandardError() throws {
        try Files.withTemporaryFolder { folder in
            try Self.makeClip(in: folder)
            let run = try EncodeRun(["in.mp4", "--device", "software", "--codec", "h264", "-o", "a.ts", "-o", "a.h264", "-o", "a.flv"], in: folder)
            #expect(run.status == 0, "\(run.errors)")
            for words in [
                "a.ts: stream 3 (subtitle, mov_text): asked copied, used left out", "a.ts: chapters: asked 3, used none",
                "a.h264: audio: asked copied, used none (annexb holds only video)", "a.h264: title: asked A title, used none",
                "a.flv: audio: asked copied, used left out (flv holds one stream of each kind)",
            ] {
                #expect(run.errors.contains(words), "\(words): \(run.errors)")
            }
            // The default stream, by its disposition.
            #expect(try RemuxTests.hashes("a.flv", "a", in: folder) == [RemuxTests.hashes("in.mp4", "a", in: folder)[1]])
            #expect(try RemuxTests.hashes("a.ts", "a", in: folder).count == 2)
        }
    }

    /// A bare output of a clip with sound reports the missing sound, and --strict refuses it, unless `--audio none` is
    /// given.
    @Test func soundMissingFromABareStreamIsReported() throws {
        try Files.withTemporaryFolder { folder in
            let some = [try Fixture.bigBuckBunny.path(), "--device", "software", "--codec", "h264", "--frames", "2", "--size", "64x48", "--json"]
            let run = try EncodeRun(some + ["-o", "a.h264"], in: folder)
            #expect(run.status == 0 && run.effective("audio")?["asked"]?.string == "copied", "\(run.errors)")
            let strict = try EncodeRun(some + ["-o", "b.h264", "--strict", "--no-metadata"], in: folder)
            #expect(strict.status == 69 && strict.errors.contains("annexb holds only video"), "\(strict.errors)")
            let requested = try EncodeRun(some + ["-o", "c.h264", "--strict", "--no-metadata", "--audio", "none"], in: folder)
            #expect(requested.status == 0 && requested.effective("audio") == nil, "\(requested.errors)")
        }
    }

    /// Chapters are cut as the pictures are, at both ends.
    @Test(arguments: ["a.mp4", "a.mkv"]) func chaptersAreCutWithThePictures(_ name: String) throws {
        try Files.withTemporaryFolder { folder in
            try Self.makeClip(in: folder)
            for cut in [["--start", "0.4", "--duration", "1.2"], ["--start", "0.4", "--frames", "30"]] {
                let run = try EncodeRun(["in.mp4", "--device", "software", "--codec", "h264", "--overwrite", "-o", name] + cut, in: folder)
                #expect(run.status == 0, "\(run.errors)")
                #expect(try Self.chapters(name, in: folder) == ["0.000000,0.600000,Part 0", "0.600000,1.200000,Part 1"], "\(cut)")
            }
        }
    }

    /// The outputs are fragmented, piped, and a file whose input is a pipe.
    @Test func fragmentsAndPipesCarryAllContent() throws {
        try Files.withTemporaryFolder { folder in
            try Self.makeClip(in: folder)
            let script = """
                set -e
                "$0" encode in.mp4 --device software --codec h264 --format fmp4 -o f.mp4
                "$0" encode in.mp4 --device software --codec h264 --format mp4 -o - >p.mp4
                "$0" encode in.mp4 --device software --codec h264 --format mkv -o - >p.mkv
                ffmpeg -v error -nostdin -i in.mp4 -map 0:v:0 -map 0:a -c copy -f matroska - | "$0" encode - --device software --codec h264 -o r.mp4
                """
            let setup = try ProcessRunner.run("bash", ["-c", script, Checkout.vaenc], directory: folder)
            try #require(setup.status == 0, "\(setup.errors)")
            for name in ["f.mp4", "p.mp4", "p.mkv", "r.mp4"] {
                #expect(try Self.probe("format_tags=title", name, in: folder) == ["A title"], "\(name)")
                #expect(try Self.chapters(name, in: folder).map { $0.split(separator: ",").last } == ["Part 0", "Part 1", "Part 3"], "\(name)")
                #expect(try Self.probe("stream=codec_type", name, in: folder, ["-select_streams", "a"]).count == 2, "\(name)")
                #expect(try SoundTests.hashes(name, in: folder).count == 100, "\(name)")
            }
        }
    }

    /// With `--no-metadata` there are no tags and no chapters, and nothing to report.
    @Test func noMetadataLeavesTagsAndChaptersOut() throws {
        try Files.withTemporaryFolder { folder in
            try Self.makeClip(in: folder)
            try ffmpeg("-i", "\(folder)/in.mp4", "-map", "0:v:0", "-map", "0:a", "-map", "0:s", "-c", "copy", "\(folder)/plain.mp4")
            let run = try EncodeRun(
                ["plain.mp4", "--device", "software", "--codec", "h264", "--strict", "--no-metadata", "--subtitles", "none", "-o", "a.ts"], in: folder
            )
            #expect(run.status == 0, "\(run.errors)")
            let mp4 = try EncodeRun(["plain.mp4", "--device", "software", "--codec", "h264", "--no-metadata", "-o", "a.mp4"], in: folder)
            #expect(mp4.status == 0, "\(mp4.errors)")
            #expect(try Self.chapters("a.mp4", in: folder).isEmpty)
            #expect(try !Self.probe("format_tags", "a.mp4", in: folder).joined().contains("title"))
        }
    }

    /// A time code is copied if it stays correct. Otherwise it is left out and reported.
    @Test func timeCodeIsKeptOnlyWhileCorrect() throws {
        try Files.withTemporaryFolder { folder in
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=1", "-pix_fmt", "yuv420p", "-timecode", "01:02:03:04", "-c:v", "libx264",
                "-g", "10", "\(folder)/in.mov")
            let some = ["in.mov", "--device", "software", "--codec", "h264", "--json", "--overwrite", "-o", "a.mov"]
            func code() throws -> String { try Self.probe("stream_tags=timecode", "a.mov", in: folder, ["-select_streams", "v"]).joined() }
            let run = try EncodeRun(some + ["--strict", "--bframes", "0"], in: folder)
            #expect(run.status == 0, "\(run.errors)")
            #expect(try code() == "01:02:03:04")
            let cut = try EncodeRun(some + ["--start", "0.4"], in: folder)
            #expect(cut.status == 0 && cut.effective("time code")?["used"]?.string == "none", "\(cut.errors)")
            #expect(try code() == "")
            #expect(try EncodeRun(some + ["--start", "0.4", "--strict"], in: folder).status == 69)
            for (start, expected) in [("0", "01:02:03:04"), ("0.4", "")] {
                let copy = try ToolRun(["remux", folder + "/in.mov", "-o", folder + "/a.mov", "--overwrite", "--start", start])
                #expect(copy.status == 0 && copy.errorLines.contains { $0.contains("time code") } == expected.isEmpty, "\(copy.errorLines)")
                #expect(try code() == expected)
            }
        }
    }

    /// Neither the container nor libavcodec supports one audio stream. The other stream is written, and this one is
    /// reported.
    @Test func unsupportedSoundIsLeftOutAndReported() throws {
        try Files.withTemporaryFolder { folder in
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=1", "-f", "lavfi", "-i", "sine=duration=1", "-map", "0", "-map", "1",
                "-map", "1",
                "-c:v", "libx264", "-c:a:0", "aac", "-c:a:1", "wavpack", "\(folder)/in.mkv")
            var bytes = try Files.read("\(folder)/in.mkv")
            let name = Array("A_WAVPACK4".utf8)
            let offset = try #require((0..<bytes.count - name.count).first { Array(bytes[$0..<$0 + name.count]) == name })
            bytes.replaceSubrange(offset..<offset + name.count, with: Array("A_XYZPACK4".utf8))
            try Files.write(bytes, to: "\(folder)/odd.mkv")
            for name in ["a.mp4", "a.ts", "a.mkv"] {
                let run = try EncodeRun(["odd.mkv", "--device", "software", "--codec", "h264", "--json", "-o", name], in: folder)
                #expect(run.status == 0, "\(run.errors)")
                #expect(run.effective("audio")?["used"]?.string == "copy")
                let entries = run.report?["effective"]?.array ?? []
                #expect(entries.contains { $0["used"]?.string == "left out" && $0["option"]?.string?.contains("stream 2") == true }, "\(entries)")
                // Sound that the container does not support but libavcodec decodes is encoded as AAC. FFmpeg 7 writes PCM
                // into MP4, but no version writes WavPack.
                let both = try EncodeRun(["in.mkv", "--device", "software", "--codec", "h264", "--json", "--overwrite", "-o", name], in: folder)
                #expect(both.effective("audio of stream 2")?["used"]?.string == (name == "a.mkv" ? "copy" : "aac"), "\(both.errors)")
            }
        }
    }
}
