import TestOracles
import Testing

/// MPEG-TS whose continuity counters jump: at joints, where nothing is lost, and where packets are lost.
@Suite struct TransportJointTests {
    private static let packetSize = 188

    private static func ffmpeg(_ arguments: [String], in folder: String) throws {
        let run = try ProcessRunner.run("ffmpeg", ["-v", "error", "-nostdin"] + arguments, directory: folder)
        #expect(run.status == 0, "\(run.errors)")
    }

    /// Five seconds of H.264 and AC-3 in MPEG-TS (`whole.ts`), and the same in segments of one second (`s0.ts` …).
    private static let recording: Result<[(name: String, bytes: [UInt8])], any Error> = Result {
        try Files.withTemporaryFolder { folder in
            try Self.ffmpeg(
                ["-f", "lavfi", "-i", "testsrc=s=96x64:r=25:d=5", "-f", "lavfi", "-i", "sine=r=48000:d=5", "-c:v", "libx264", "-g", "25"]
                    + ["-pix_fmt", "yuv420p", "-c:a", "ac3", "-b:a", "96k", "whole.ts"], in: folder)
            try Self.ffmpeg(["-i", "whole.ts", "-c", "copy", "-f", "segment", "-segment_time", "1", "s%d.ts"], in: folder)
            return try Files.list(folder).map { (name: $0, bytes: try Files.read("\(folder)/\($0)")) }
        }
    }

    /// Writes the recording into a folder.
    private static func record(_ folder: String) throws {
        for file in try recording.get() { try Files.write(file.bytes, to: "\(folder)/\(file.name)") }
    }

    private static func packets(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        stride(from: 0, to: bytes.count, by: packetSize).map { bytes[$0..<min($0 + packetSize, bytes.count)] }
    }

    private static func pid(_ packet: ArraySlice<UInt8>) -> Int {
        Int(packet[packet.startIndex + 1] & 31) << 8 | Int(packet[packet.startIndex + 2])
    }

    /// The number of packets of each stream, and the MD5 sums of the decoded pictures, by FFmpeg.
    private static func content(_ name: String, in folder: String) throws -> (packets: Set<String>, pictures: String) {
        let packets = try ProcessRunner.run(
            "ffprobe", ["-v", "error", "-count_packets", "-show_entries", "stream=codec_name,nb_read_packets", "-of", "csv=p=0", name],
            directory: folder)
        let pictures = try ProcessRunner.run(
            "ffmpeg", ["-v", "error", "-i", name, "-map", "0:v", "-fps_mode", "passthrough", "-f", "framemd5", "-"], directory: folder)
        let sums = pictures.output.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { $0.split(separator: ",").last }
        return (Set(packets.output.split(separator: "\n").map(String.init)), sums.joined())
    }

    /// A broadcast changes its shape and its sound: scaled pictures keep the displayed shape, and what the output cannot
    /// describe is reported and refused by `--strict`.
    @Test func changesOfShapeAndSoundAreReported() throws {
        try Files.withTemporaryFolder { folder in
            for (name, aspect, rate, offset) in [("a", "4/3", "48000", "10"), ("b", "16/9", "44100", "11")] {
                try Self.ffmpeg(
                    [
                        "-f", "lavfi", "-i", "color=white:s=180x144:r=25:d=1", "-f", "lavfi", "-i", "sine=r=\(rate):d=1", "-aspect", aspect, "-c:v",
                        "libx264",
                    ]
                        + ["-pix_fmt", "yuv420p", "-c:a", "aac", "-muxdelay", "0", "-output_ts_offset", offset, "\(name).ts"], in: folder)
            }
            try Files.write(Files.read("\(folder)/a.ts") + Files.read("\(folder)/b.ts"), to: "\(folder)/in.ts")
            let encode = ["encode", "in.ts", "--device", "software", "--codec", "h264"]
            for (line, words) in [
                (encode + ["-o", "e.mp4"], ["inputAspect: asked 64:45, used 16:15", "--audio aac"]),
                (["remux", "in.ts", "-o", "r.mp4"], ["stream 1 (audio, aac): asked as in the input"]),
            ] {
                let run = try ProcessRunner.run(Checkout.vaenc, line, directory: folder)
                #expect(run.status == 0 && words.allSatisfy(run.errors.contains), "\(line): \(run.errors)")
                #expect(try ProcessRunner.run(Checkout.vaenc, line + ["--strict", "--overwrite"], directory: folder).status == 69)
            }
            let scaled = try ProcessRunner.run(
                Checkout.vaenc, encode + ["-o", "s.mp4", "--size", "160x90", "--audio", "aac", "--strict"], directory: folder)
            #expect(scaled.status == 0, "\(scaled.errors)")
            // The 4:3 picture is 120 wide between black bars, the 16:9 one fills the size.
            let rows = try ProcessRunner.run(
                "ffmpeg", ["-v", "error", "-i", "s.mp4", "-fps_mode", "passthrough", "-vf", "format=gray,crop=160:1:0:45", "-f", "rawvideo", "-"],
                directory: folder
            ).stdout
            try #require(rows.count == 50 * 160)
            func brightness(_ picture: Int, _ column: Int) -> UInt8 { rows[picture * 160 + column] }
            #expect(brightness(10, 8) < 40 && brightness(10, 80) > 200 && brightness(40, 8) > 200 && brightness(40, 152) > 200)
        }
    }

    /// Another recording begins between its key pictures. What refers to missing pictures is left out and reported, and
    /// all other pictures are those of the recordings, decoded alone by FFmpeg. The two devices take turns, so that each
    /// decodes each encoder's stream and each position.
    @Test(arguments: [
        ("libx264 -g 50 -bf 2", 0), ("libx264 -g 25 -bf 3 -x264-params open-gop=1", 1),
        ("libx265 -x265-params log-level=none:keyint=25:open-gop=1", 0),
    ])
    func recordingsThatBeginBetweenKeyPicturesAreDecoded(_ encoder: String, _ turn: Int) throws {
        try Files.withTemporaryFolder { folder in
            try Self.ffmpeg(
                ["-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=4", "-f", "lavfi", "-i", "sine=d=4", "-c:a", "aac", "-pix_fmt", "yuv420p", "-c:v"]
                    + encoder.split(separator: " ").map(String.init) + ["a.ts"], in: folder)
            let whole = try Files.read(folder + "/a.ts")
            let packets = Self.packets(whole)
            func pictures(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
                stride(from: 0, to: bytes.count, by: 9216).map { bytes[$0..<min($0 + 9216, bytes.count)] }
            }
            let alone = pictures(
                try ProcessRunner.run(
                    "ffmpeg", ["-v", "error", "-i", "a.ts", "-map", "0:v", "-fps_mode", "passthrough", "-f", "rawvideo", "-"], directory: folder
                ).stdout)
            try #require(alone.count == 100)
            for (index, percent) in [0, 5, 20, 33, 50].enumerated() {
                // The recording begins with a whole picture: the rest of a picture would continue the last one before it.
                let rest = packets[(packets.count * percent / 100)...].drop {
                    percent > 0 && (Self.pid($0) != 0x100 || $0[$0.startIndex + 1] & 0x40 == 0)
                }.flatMap { $0 }
                try Files.write(whole + rest, to: folder + "/in.ts")
                try Files.write(rest, to: folder + "/rest.ts")
                let probe = [
                    "-v", "error", "-select_streams", "v", "-count_packets", "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0", "rest.ts",
                ]
                let count = Int(try ProcessRunner.run("ffprobe", probe, directory: folder).output.prefix { $0.isNumber })
                let device = ["software", "reference"][(index + turn) % 2]
                let run = try ProcessRunner.run(
                    Checkout.vaenc, ["decode", "in.ts", "--device", device, "-o", "out.i420", "--overwrite"], directory: folder)
                try #require(run.status == 0, "\(run.errors)")
                let decoded = pictures(try Files.read(folder + "/out.i420"))
                let tail = decoded.dropFirst(100)
                #expect(
                    Array(decoded.prefix(100)) == alone && Array(tail) == alone.suffix(tail.count),
                    "\(percent) %, \(device): \(decoded.count) pictures")
                let leftOut = run.errors.split(separator: " ").firstRange(of: ["left", "out"]).flatMap {
                    Int(run.errors.split(separator: " ")[$0.lowerBound - 1])
                }
                #expect((leftOut ?? 0) + tail.count == count, "\(percent) %, \(device): \(run.errors)")
            }
        }
    }

    /// Damage near a joint is damage, and what is beyond the requested part is not reported.
    @Test func damageAtJointsIsFound() throws {
        try Files.withTemporaryFolder { folder in
            for (name, codec) in [("h", "libx264"), ("m", "mpeg2video")] {
                let source = ["-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=4", "-pix_fmt", "yuv420p", "-c:v", codec, "-g", "25", "-bf", "2"]
                try Self.ffmpeg(source + [name + ".ts"], in: folder)
                try Self.ffmpeg(source + [name + ".mpg"], in: folder)
            }
            func decode(_ name: String, _ options: String...) throws -> ProcessRunner.Result {
                try ProcessRunner.run(Checkout.vaenc, ["decode", name, "-o", "out.i420", "--overwrite"] + options, directory: folder)
            }
            let whole = try Files.read(folder + "/h.ts")
            // The first key picture of the recording that follows is damaged.
            var damaged = whole
            for offset in stride(from: 188 * 6, to: 188 * 9, by: 11) where offset % 188 > 40 { damaged[offset] ^= 0x5A }
            try Files.write(whole + damaged, to: folder + "/a.ts")
            #expect(try decode("a.ts").status == 65)
            // The part ends, or begins, where nothing is left out.
            try Files.write(whole + Self.packets(whole)[(whole.count / 188 / 5)...].flatMap { $0 }, to: folder + "/b.ts")
            for options in [["--frames", "99"], ["--duration", "3.9"], ["--start", "6"]] {
                let run = try ProcessRunner.run(
                    Checkout.vaenc, ["decode", "b.ts", "-o", "out.i420", "--overwrite"] + options, directory: folder)
                #expect(run.status == 0 && !run.errors.contains("left out"), "\(options): \(run.errors)")
            }
            // A recording without a key picture lies between two others.
            let units = Self.packets(whole)
            let video = units.indices.filter { Self.pid(units[$0]) == 0x100 && units[$0][units[$0].startIndex + 1] & 0x40 != 0 }
            let middle = units[video[30]..<video[40]].flatMap { $0 }
            try Files.write(whole + middle + whole, to: folder + "/e.ts")
            let between = try decode("e.ts")
            #expect(between.status == 0 && between.errors.contains("used 10 left out"), "\(between.errors)")
            #expect(try Files.read(folder + "/out.i420").count == 200 * 9216)
            // One P picture is lost. Only the pictures that refer to it show that in MPEG-2.
            let packets = Self.packets(try Files.read(folder + "/m.ts"))
            let starts = packets.indices.filter { Self.pid(packets[$0]) == 0x100 && packets[$0][packets[$0].startIndex + 1] & 0x40 != 0 }
            for lost in 4..<7 {
                try Files.write((packets[..<starts[lost]] + packets[starts[lost + 1]...]).flatMap { $0 }, to: folder + "/c.ts")
                #expect(try decode("c.ts").status == 65, "\(lost)")
            }
            // Program streams have no counters.
            let program = try Files.read(folder + "/m.mpg")
            let packs = program.indices.dropLast(4).filter { Array(program[$0..<$0 + 4]) == [0, 0, 1, 0xBA] }
            try Files.write(program + program[packs[packs.count / 3]...], to: folder + "/d.mpg")
            let run = try decode("d.mpg")
            #expect(run.status == 65 || run.status == 0 && run.errors.contains("left out"), "\(run.errors)")
        }
    }

    /// A recording begins with a loss. Decoding begins at the next key picture.
    @Test func damagedFirstPictureIsLeftOut() throws {
        try Files.withTemporaryFolder { folder in
            try Self.record(folder)
            let packets = Self.packets(try Files.read(folder + "/whole.ts"))
            let pictures = packets.indices.filter { Self.pid(packets[$0]) == 0x100 }
            for lost in [1, 3] {
                var rest = packets
                rest.remove(at: pictures[lost])
                try Files.write(rest.flatMap { $0 }, to: folder + "/in.ts")
                let run = try ProcessRunner.run(Checkout.vaenc, ["decode", "in.ts", "-o", "out.y4m", "--overwrite", "--json"], directory: folder)
                let frames = JSONValue(run.output)?["frames"]
                #expect(run.status == 0 && frames?["decoded"]?.int == 100 && frames?["skipped"]?.int == 25, "\(lost): \(run.output) \(run.errors)")
            }
        }
    }

    /// Segments that were never received lack whole pictures. These losses are reported, and the rest is read.
    @Test func missingSegmentsAreReported() throws {
        try Files.withTemporaryFolder { folder in
            try Self.record(folder)
            try Self.ffmpeg(["-i", "whole.ts", "-c", "copy", "-hls_time", "1", "-hls_list_size", "0", "h.m3u8"], in: folder)
            let kept = [0, 2, 4]
            try Files.write(try kept.flatMap { try Files.read("\(folder)/h\($0).ts") }, to: folder + "/in.ts")
            let pictures = try kept.map { try Self.content("h\($0).ts", in: folder).pictures }.joined()
            for line in [
                "remux in.ts -o a.mkv", "decode in.ts -o a.y4m", "decode in.ts -o b.y4m --device reference",
                "encode in.ts -o b.mp4 --device software --codec h264 --audio copy",
            ] {
                let run = try ProcessRunner.run(Checkout.vaenc, line.split(separator: " ").map(String.init), directory: folder)
                #expect(run.status == 0 && run.errors.contains("has lost packets at"), "\(line): \(run.errors)")
            }
            for name in ["a.mkv", "a.y4m", "b.y4m"] { #expect(try Self.content(name, in: folder).pictures == pictures, "\(name)") }
            #expect(try Self.content("b.mp4", in: folder).packets.contains("h264,75"))
        }
    }

    @Test func joinedSegmentsAreOneStream() throws {
        try Files.withTemporaryFolder { folder in
            try Self.record(folder)
            let segments = try (0..<5).map { try Files.read("\(folder)/s\($0).ts") }
            try Files.write(segments.flatMap { $0 }, to: folder + "/joined.ts")
            let whole = try Self.content("whole.ts", in: folder)
            #expect(try ToolRun(["remux", folder + "/joined.ts", "-o", folder + "/a.mkv"]).status == 0)
            let piped = try ProcessRunner.run("bash", ["-c", "cat joined.ts | \(Checkout.vaenc) remux - -o b.mkv"], directory: folder)
            #expect(piped.status == 0, "\(piped.errors)")
            for name in ["a.mkv", "b.mkv"] {
                let copy = try Self.content(name, in: folder)
                #expect(copy.packets == whole.packets && copy.pictures == whole.pictures, "\(name): \(copy.packets)")
            }
            let run = try EncodeRun(["joined.ts", "-o", "c.mp4", "--device", "software", "--strict", "--preset", "fast", "--json"], in: folder)
            #expect(run.status == 0 && run.report?["frames"]?["encoded"]?.int == 125, "\(run.errors)")
            // Another size after the joint.
            try Self.ffmpeg(
                ["-f", "lavfi", "-i", "testsrc=s=64x96:r=25:d=1", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-output_ts_offset", "5", "next.ts"],
                in: folder)
            try Files.write(segments.flatMap { $0 } + Files.read(folder + "/next.ts"), to: folder + "/two.ts")
            let two = try EncodeRun(["two.ts", "-o", "d.mp4", "--device", "software", "--preset", "fast", "--json"], in: folder)
            #expect(two.status == 0 && two.report?["frames"]?["encoded"]?.int == 150, "\(two.errors)")
        }
    }

    /// Wherever packets are lost, alone or in bursts of each length, a copy that lacks something is refused, or the loss
    /// is reported. LostPacketTests tries more places.
    @Test func lostPacketsAreNotTakenForJoints() throws { try Self.expectNoJoints(rounds: 14) }

    fileprivate static func expectNoJoints(rounds: Int) throws {
        try Files.withTemporaryFolder { folder in
            try Self.record(folder)
            let all = Self.packets(try Files.read(folder + "/whole.ts"))
            let whole = try Self.content("whole.ts", in: folder)
            let content = all.indices.filter { [256, 257].contains(Self.pid(all[$0])) }
            // The last packet of a picture or of sound, which the first packet of the next follows.
            let ends = content.filter { index in
                let next = content.first { $0 > index && Self.pid(all[$0]) == Self.pid(all[index]) }
                return next.map { all[$0][all[$0].startIndex + 1] & 0x40 != 0 } ?? false
            }
            var random = Mixed(seed: 7)
            for round in 0..<rounds {
                let from = round % 2 == 0 ? ends[random.next(ends.count)] : content[random.next(content.count)]
                let lost = from..<min(from + 1 + round % 7, all.count)
                try Files.write(all.indices.filter { !lost.contains($0) }.flatMap { all[$0] }, to: folder + "/lost.ts")
                let run = try ToolRun(["remux", folder + "/lost.ts", "-o", folder + "/lost.mkv", "--overwrite"])
                #expect(run.status == 0 || run.status == 65, "\(lost): \(run.errorLines)")
                if run.status == 65 { continue }
                if run.errorLines.contains(where: { $0.contains("has lost packets") }) { continue }
                let copy = try Self.content("lost.mkv", in: folder)
                #expect(copy.packets == whole.packets && copy.pictures == whole.pictures, "\(lost): \(copy.packets)")
            }
            // Nothing is reported for the whole recording, nor at the joints of its segments.
            try Files.write((0..<5).flatMap { try Files.read("\(folder)/s\($0).ts") }, to: folder + "/joined.ts")
            for name in ["whole.ts", "joined.ts"] {
                let run = try ToolRun(["remux", "\(folder)/\(name)", "-o", folder + "/lost.mkv", "--overwrite"])
                #expect(run.status == 0 && !run.errorLines.contains { $0.contains("has lost packets") }, "\(name): \(run.errorLines)")
            }
        }
    }

    /// A PES packet that is missing as a whole is reported by every command that reads it.
    @Test func missingPESPacketsAreReported() throws {
        try Files.withTemporaryFolder { folder in
            try Self.record(folder)
            let all = Self.packets(try Files.read(folder + "/whole.ts"))
            let sound = all.indices.filter { Self.pid(all[$0]) == 257 }
            let starts = sound.filter { all[$0][all[$0].startIndex + 1] & 0x40 != 0 }
            let (first, next) = (starts[starts.count / 2], starts[starts.count / 2 + 1])
            let lost = Set(sound.filter { (first..<next).contains($0) })
            try Files.write(all.indices.filter { !lost.contains($0) }.flatMap { all[$0] }, to: folder + "/lost.ts")
            let words = "lost.ts has lost packets at one point"
            let copy = try ToolRun(["remux", folder + "/lost.ts", "-o", folder + "/a.mkv"])
            #expect(copy.status == 0 && copy.errorLines.contains { $0.contains(words) }, "\(copy.errorLines)")
            for options in [["encode", "lost.ts", "-o", "b.mp4", "--device", "software", "--preset", "fast", "--json"]] {
                let run = try ProcessRunner.run(Checkout.vaenc, options, directory: folder)
                #expect(run.status == 0 && run.errors.contains(words), "\(run.errors)")
                #expect(JSONValue(run.output)?["notices"]?.array.contains { $0.string?.contains(words) == true } == true)
            }
            // No picture is missing, and decode reads pictures alone.
            let pictures = try ProcessRunner.run(Checkout.vaenc, ["decode", "lost.ts", "-o", "c.y4m"], directory: folder)
            #expect(pictures.status == 0 && !pictures.errors.contains("lost packets"), "\(pictures.errors)")
        }
    }

    /// Lost sound does not end an encode. It is reported, for copied and for encoded sound, and refused by `--strict`.
    @Test(arguments: ["copy", "aac"]) func lostSoundIsReported(_ mode: String) throws {
        try Files.withTemporaryFolder { folder in
            try Self.record(folder)
            let all = Self.packets(try Files.read(folder + "/whole.ts"))
            let sound = all.indices.filter { Self.pid(all[$0]) == 257 }
            // The packet is in the middle of a PES packet.
            let lost = try #require(sound.dropFirst(sound.count / 3).first { all[$0][all[$0].startIndex + 1] & 0x40 == 0 })
            try Files.write(all.indices.filter { $0 != lost }.flatMap { all[$0] }, to: folder + "/lost.ts")
            let options = ["lost.ts", "-o", "a.mp4", "--overwrite", "--device", "software", "--preset", "fast", "--audio", mode]
            let run = try EncodeRun(options + ["--json"], in: folder)
            #expect(run.status == 0 && run.report?["frames"]?["encoded"]?.int == 125, "\(run.errors)")
            #expect((run.report?["input"]?["damagedSoundPackets"]?.int ?? 0) > 0)
            #expect(run.report?["notices"]?.array.contains { $0.string?.contains("damaged") == true } == true, "\(run.errors)")
            let strict = try EncodeRun(options + ["--strict"], in: folder)
            #expect(strict.status == 65 && strict.errors.contains("stream 1"), "\(strict.errors)")
        }
    }

    /// Evenly distributed numbers, the same in each run.
    private struct Mixed {
        var state: UInt64
        init(seed: UInt64) { state = seed }
        mutating func next(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(count))
        }
    }
}

/// Packets that are lost at many places of a recording.
@Suite struct LostPacketTests {
    @Test func lostPacketsAreNotTakenForJointsAnywhere() throws { try TransportJointTests.expectNoJoints(rounds: 64) }
}
