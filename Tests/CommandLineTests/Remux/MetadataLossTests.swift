import TestOracles
import Testing

/// Tags, titles, languages, dispositions and time codes that a container does not carry: every loss is reported and
/// refused by --strict, and nothing else is; judged by ffprobe.
@Suite struct MetadataLossTests {
    private static let fileTags = [
        "title": "A title", "artist": "Somebody", "comment": "Words", "creation_time": "2020-02-03T04:05:06", "album": "An album",
        "composer": "A composer", "foo": "bar",
    ]

    private static func clip(sounds: Int) -> Result<[UInt8], any Error> {
        Result {
            try Files.withTemporaryFolder { folder in
                try encode(sounds: sounds, in: folder)
                return try Files.read(folder + "/in.mkv")
            }
        }
    }

    private static let (one, two) = (clip(sounds: 1), clip(sounds: 2))

    /// Makes a clip with pictures and sound. The second audio stream is for the hearing impaired.
    private static func make(sounds: Int, in folder: String) throws {
        try Files.write((sounds == 1 ? one : two).get(), to: folder + "/in.mkv")
    }

    private static func encode(sounds: Int, in folder: String) throws {
        let tags = fileTags.map { "-metadata '\($0.key)=\($0.value)'" }.joined(separator: " ")
        let second =
            sounds > 1
            ? "-map 1 -metadata:s:a:1 title=Second -metadata:s:a:1 language=fra -disposition:a:0 0 -disposition:a:1 default+comment+hearing_impaired"
            : "-disposition:a:0 default+original"
        try RemuxTests.make(
            """
            ffmpeg -v error -nostdin -f lavfi -i testsrc=size=64x48:rate=25:duration=1 -f lavfi -i sine=duration=1 -map 0 -map 1 \(second) \
            -pix_fmt yuv420p -c:v libx264 -c:a aac \(tags) -metadata:s:v title=Pictures -metadata:s:v language=ita -metadata:s:a:0 title=First \
            -metadata:s:a:0 language=deu -metadata:s:a:0 bar=foo -disposition:v default in.mkv
            """, in: folder)
    }

    private struct Stream: Equatable {
        var tags: [String: String]
        var dispositions: Set<String>

        init(_ value: JSONValue) {
            tags = MetadataLossTests.tags(value)
            dispositions = Set(value["disposition"]?.object.filter { $0.value.int == 1 }.map(\.key) ?? [])
        }
    }

    private static func tags(_ value: JSONValue?) -> [String: String] {
        Dictionary((value?["tags"]?.object ?? [:]).map { ($0.key.lowercased(), $0.value.string ?? "") }) { a, _ in a }
    }

    private static func probe(_ name: String, in folder: String) throws -> (file: [String: String], streams: [Stream]) {
        let result = try ProcessRunner.run(
            "ffprobe", ["-v", "error", "-show_format", "-show_streams", "-of", "json", name], directory: folder)
        let value = try #require(JSONValue(result.output))
        return (tags(value["format"]), (value["streams"]?.array ?? []).map(Stream.init))
    }

    @Test(arguments: ["a.mp4", "f.mp4", "a.mov", "a.mkv", "a.ts", "a.flv", "a.h264"]) func everyMetadataLossIsReported(_ name: String) throws {
        try Files.withTemporaryFolder { folder in
            try Self.make(sounds: name == "a.flv" ? 1 : 2, in: folder)
            let more = name == "f.mp4" ? ["--format", "fmp4"] : []
            let result = try ProcessRunner.run(
                Checkout.vaenc, ["remux", "in.mkv", "-o", name, "--json"] + more, directory: folder)
            #expect(result.status == 0, "\(result.errors)")
            let entries = JSONValue(result.output)?["effective"]?.array ?? []
            func lost(_ option: String) -> Set<String> {
                Set(
                    entries.filter { $0["option"]?.string == option }.flatMap {
                        ($0["asked"]?.string ?? "").split(separator: ", ").map { $0.lowercased() }
                    })
            }
            let (before, after) = try (Self.probe("in.mkv", in: folder), Self.probe(name, in: folder))
            for (key, value) in Self.fileTags {
                #expect(before.file[key]?.hasPrefix(value) == true, "\(key)")
                let isNamed = key == "title" ? !lost("title").isEmpty : lost("tags").contains(key)
                #expect(isNamed != (after.file[key]?.hasPrefix(value) == true), "\(name) \(key): \(entries) \(after.file)")
            }
            for (index, stream) in after.streams.enumerated() {
                let own = before.streams[index]
                for key in ["language", "title"] {
                    let isNamed = !lost("\(key) of stream \(index)").isEmpty
                    // QuickTime's code of German.
                    let isSame = stream.tags[key] == own.tags[key] || name == "a.mov" && stream.tags[key] == "ger"
                    #expect(isNamed != isSame, "\(name) \(index) \(key): \(entries) \(stream)")
                }
                // These containers store the title only here.
                if name.hasSuffix("mp4") || name == "a.mov" { #expect(stream.tags["handler_name"] == own.tags["title"]) }
                let missing = own.tags.keys.contains("bar") && stream.tags["bar"] == nil
                #expect(lost("tags of stream \(index)").contains("bar") == missing, "\(name) \(index): \(entries)")
                var absent = own.dispositions.subtracting(stream.dispositions)
                // The first stream of its kind is implicitly the default.
                if index < 2, !before.streams.contains(where: { $0.tags["title"] == "Second" }) || index == 0 { absent.remove("default") }
                #expect(lost("disposition of stream \(index)") == absent, "\(name) \(index): \(entries) \(stream)")
            }
            let strict = try ProcessRunner.run(
                Checkout.vaenc, ["remux", "in.mkv", "-o", "s" + name, "--strict"] + more, directory: folder)
            #expect(strict.status == (name == "a.mkv" ? 0 : 69), "\(strict.errors)")
            #expect(name == "a.mkv" || strict.errors.contains("title of stream 0: asked Pictures"), "\(strict.errors)")
        }
    }

    /// Encoded pictures and sound keep the metadata that the container supports.
    @Test(arguments: ["a.mkv", "a.mp4", "a.ts"]) func encodedStreamsKeepSupportedMetadata(_ name: String) throws {
        try Files.withTemporaryFolder { folder in
            try Self.make(sounds: 2, in: folder)
            let some = ["in.mkv", "--device", "software", "--codec", "h264"]
            let run = try EncodeRun(some + ["--json", "-o", name], in: folder)
            #expect(run.status == 0, "\(run.errors)")
            let (before, after) = try (Self.probe("in.mkv", in: folder), Self.probe(name, in: folder))
            if name == "a.mkv" { #expect(after.streams.map(\.dispositions) == before.streams.map(\.dispositions)) }
            #expect(run.effective("title of stream 0")?["used"]?.string == (name == "a.mkv" ? nil : name == "a.mp4" ? "the handler's name" : "none"))
            #expect(run.effective("language of stream 0")?["asked"]?.string == (name == "a.ts" ? "ita" : nil))
            #expect(run.effective("disposition of stream 2")?["asked"]?.string == (name == "a.ts" ? "comment, default" : nil))
            #expect(try EncodeRun(some + ["--strict", "-o", "s\(name)"], in: folder).status == (name == "a.mkv" ? 0 : 69))
            let without = try EncodeRun(some + ["--strict", "--no-metadata", "--audio", "none", "-o", "n\(name)"], in: folder)
            #expect(without.status == 0, "\(without.errors)")
        }
    }

    /// The service name of MPEG-TS has at most 246 bytes beside the provider "FFmpeg", as libavformat writes it.
    @Test(arguments: ["a.ts", "a.m3u8"], [246, 247, 250, 256, 3000]) func longServiceNamesAreTruncated(_ name: String, _ count: Int) throws {
        try Files.withTemporaryFolder { folder in
            let title = String(repeating: "é", count: count / 2) + (count % 2 == 0 ? "" : "x")
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=0.4", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-metadata", "title=" + title,
                folder + "/in.mp4")
            let run = try ProcessRunner.run(Checkout.vaenc, ["remux", "in.mp4", "-o", name], directory: folder)
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.errors.contains(count > 245 ? "its beginning as the service's name" : "the service's name"), "\(run.errors)")
            if name == "a.m3u8" { return }
            let probed = try ProcessRunner.run(
                "ffprobe", ["-v", "error", "-show_entries", "program_tags=service_name", "-of", "default=nw=1:nk=1", name], directory: folder)
            let written = probed.output.split(separator: "\n").first.map(String.init) ?? ""
            #expect(title.hasPrefix(written) && written.utf8.count >= 244, "\(written.utf8.count)")
        }
    }

    /// Matroska stores a time code as a tag, so no track is missing there.
    @Test func lostTimeCodesAreReported() throws {
        try Files.withTemporaryFolder { folder in
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=1", "-pix_fmt", "yuv420p", "-timecode", "01:02:03:04", "-c:v", "libx264",
                "\(folder)/in.mov")
            for (name, isHeld) in [("a.mkv", true), ("a.mp4", true), ("a.ts", false), ("a.flv", false)] {
                let result = try ProcessRunner.run(Checkout.vaenc, ["remux", "in.mov", "-o", name], directory: folder)
                #expect(result.status == 0 && !result.errors.contains("left out"), "\(result.errors)")
                #expect(result.errors.contains("time code: asked 01:02:03:04") != isHeld, "\(name): \(result.errors)")
                let codes = try Self.probe(name, in: folder).streams.first?.tags["timecode"]
                #expect(codes == (isHeld ? "01:02:03:04" : nil), "\(name)")
                let strict = try ProcessRunner.run(Checkout.vaenc, ["remux", "in.mov", "-o", "s" + name, "--strict"], directory: folder)
                #expect(strict.status == (isHeld ? 0 : 69), "\(strict.errors)")
            }
        }
    }
}
