import TestOracles
import Testing

/// Sound with pictures, judged by ffprobe and ffmpeg. ContainerTests covers each container with sound.
@Suite struct SoundTests {
    /// Returns a hash of each decoded picture, by ffmpeg.
    static func hashes(_ path: String, in folder: String) throws -> [String] {
        let result = try ProcessRunner.run(
            "ffmpeg",
            [
                "-v", "error", "-xerror", "-nostdin", "-i", path, "-map", "0:v", "-fps_mode", "passthrough", "-f", "framehash", "-hash", "murmur3",
                "-",
            ],
            directory: folder)
        #expect(result.status == 0 && result.errors == "", "\(path): \(result.errors)")
        return result.output.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap {
            $0.split(separator: ",").last.map { String($0).trimmingCharacters() }
        }
    }

    /// Returns the first time, the end and the number of the pictures and of the sound's frames, in seconds.
    static func spans(_ path: String, in folder: String) throws -> [String: (start: Double, end: Double, count: Int)] {
        let result = try ProcessRunner.run(
            "ffprobe",
            ["-v", "error", "-show_entries", "frame=media_type,best_effort_timestamp_time,duration_time,pkt_duration_time", "-of", "csv=p=0", path],
            directory: folder)
        #expect(result.status == 0, "\(path): \(result.errors)")
        var spans: [String: (start: Double, end: Double, count: Int)] = [:]
        for line in result.output.split(separator: "\n") {
            let fields = line.split(separator: ",").map(String.init)
            guard fields.count >= 3, let time = Double(fields[1]) else { continue }
            let end = time + (Double(fields[2]) ?? 0)
            let old = spans[fields[0]] ?? (time, end, 0)
            spans[fields[0]] = (min(old.start, time), max(old.end, end), old.count + 1)
        }
        return spans
    }

    /// With --start and --duration, the sound begins and ends with the pictures.
    @Test(arguments: ["copy", "aac"]) func soundIsCutWithThePictures(_ audio: String) throws {
        try Files.withTemporaryFolder { folder in
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc2=s=160x96:r=25:d=5", "-f", "lavfi", "-i", "sine=r=48000:d=5", "-pix_fmt", "yuv420p", "-c:v", "libx264",
                "-preset", "veryfast", "-g", "250", "-bf", "2", "-c:a", "aac", "-ac", "2", folder + "/in.mp4")
            let run = try EncodeRun(
                [
                    "in.mp4", "--device", "software", "--codec", "h264", "--preset", "7",
                    "--start", "1.5", "--duration", "2", "--audio", audio, "--json", "-o", "a.mp4", "-o", "a.mkv", "-o", "a.ts", "-o", "a.flv",
                ], in: folder)
            #expect(run.status == 0, "\(run.errors)")
            for path in ["a.mp4", "a.mkv", "a.ts", "a.flv"] {
                let spans = try Self.spans(path, in: folder)
                let video = try #require(spans["video"]), sound = try #require(spans["audio"])
                #expect(video.count == 50)
                #expect(abs(video.start - sound.start) < 0.04, "\(path) \(spans)")
                #expect(abs(video.end - sound.end) < 0.042, "\(path) \(spans)")
            }
        }
    }

    /// If the pictures of the input end before a limit, the sound continues to the time limit or to its own end.
    @Test(arguments: ["copy", "aac"]) func soundMayOutlastThePictures(_ audio: String) throws {
        try Files.withTemporaryFolder { folder in
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=2", "-f", "lavfi", "-i", "sine=d=5", "-c:v", "libx264", "-preset", "ultrafast",
                "-pix_fmt", "yuv420p", "-c:a", "aac", folder + "/in.mp4")
            let cases = [
                (["--duration", "4"], 4.0), (["--duration", "30"], 5), (["--frames", "1000"], 5), (["--frames", "50"], 2), (["--duration", "1"], 1),
            ]
            for (limits, end) in cases {
                let run = try EncodeRun(
                    ["in.mp4", "--device", "software", "--codec", "h264", "--strict", "--overwrite", "-o", "a.mp4", "--audio", audio] + limits,
                    in: folder)
                #expect(run.status == 0, "\(run.errors)")
                let sound = try #require(try Self.spans("a.mp4", in: folder)["audio"])
                #expect(abs(sound.end - end) < 0.05, "\(limits): \(sound)")
            }
        }
    }

    /// FLV can hold PCM, but servers do not accept it: the sound becomes AAC unless a copy is requested.
    @Test func flvSoundIsAAC() throws {
        try Files.withTemporaryFolder { folder in
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=0.4", "-f", "lavfi", "-i", "sine=d=0.4:r=44100", "-c:v", "mpeg4", "-c:a",
                "pcm_s16le",
                "\(folder)/in.mkv")
            for (options, codec) in [([], "aac"), (["--audio", "copy"], "pcm_s16le")] {
                let run = try EncodeRun(["in.mkv", "--device", "software", "-o", "a.flv", "--overwrite", "--strict"] + options, in: folder)
                #expect(run.status == 0, "\(run.errors)")
                #expect(try RemuxTests.probe("a.flv", "stream=codec_name", in: folder, ["-select_streams", "a"]).contains(codec))
            }
        }
    }

    /// A click every half second stays in place to a few samples in the new AAC.
    @Test func encodedSoundKeepsItsTiming() throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                set -e
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=64x48:rate=25:duration=3 -f lavfi \
                -i "aevalsrc='if(lt(mod(t,0.5),0.002),0.8,0)':s=44100:d=3" -c:v mpeg4 -c:a pcm_s16le -shortest in.mkv
                "$0" encode in.mkv --device software --codec h264 --audio aac -o a.mp4 -o a.mkv -o a.ts -o a.flv
                for f in in.mkv a.mp4 a.mkv a.ts a.flv; do
                  ffmpeg -v error -nostdin -copyts -i $f -map 0:a -af aresample=async=1:first_pts=0 -ac 1 -ar 44100 -f s16le $f.pcm
                done
                """
            let result = try ProcessRunner.run("bash", ["-c", script, Checkout.vaenc], directory: folder)
            try #require(result.status == 0, "\(result.errors)")
            /// Returns the positions of the clicks, in samples after the first picture.
            func clicks(_ name: String) throws -> [Int] {
                let start = try #require(try Self.spans(name, in: folder)["video"]?.start)
                return Self.clicks(try Files.read("\(folder)/\(name).pcm")).map { $0 - Int((start * 44_100).rounded()) }
            }
            let before = try clicks("in.mkv")
            for name in ["a.mp4", "a.mkv", "a.ts", "a.flv"] {
                let after = try clicks(name)
                #expect(before.count >= 5 && after.count == before.count, "\(name): \(before) \(after)")
                #expect(zip(before, after).allSatisfy { abs($0 - $1) < 100 }, "\(name): \(before) \(after)")
            }
        }
    }

    /// Returns the indices of the samples that are loud after silence.
    static func clicks(_ pcm: [UInt8]) -> [Int] {
        var positions: [Int] = []
        for index in 0..<pcm.count / 2 {
            let sample = Int16(bitPattern: UInt16(pcm[2 * index]) | UInt16(pcm[2 * index + 1]) << 8)
            if abs(Int(sample)) > 8000, index - (positions.last ?? -10000) > 4000 { positions.append(index) }
        }
        return positions
    }

    /// A rotation is copied if the container supports it, and otherwise reported.
    @Test func rotationIsKeptOrReported() throws {
        try Files.withTemporaryFolder { folder in
            let setup = try ProcessRunner.run(
                "ffmpeg",
                ["-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=0.2", "-pix_fmt", "yuv420p", "in.mp4"],
                directory: folder)
            try #require(setup.status == 0, "\(setup.errors)")
            try TurnedClip.turn("\(folder)/in.mp4")
            #expect(try TurnedClip.rotation("\(folder)/in.mp4") == "-90")
            for (output, status) in [("b.ts", 69), ("b.mov", 0)] {
                let copied = try ProcessRunner.run(Checkout.vaenc, ["remux", "in.mp4", "-o", output, "--strict"], directory: folder)
                #expect(copied.status == status, "\(copied.errors)")
            }
            let run = try EncodeRun(
                ["in.mp4", "--device", "software", "--codec", "h264", "--json", "-o", "a.mp4", "-o", "a.mkv"], in: folder)
            #expect(run.status == 0, "\(run.errors)")
            #expect(try TurnedClip.rotation("\(folder)/a.mp4") == "-90")
            #expect(run.effective("rotation", output: 0)?["used"]?.string == "turned 90° clockwise")
            #expect(run.effective("rotation", output: 1)?["used"]?.string == "as stored")
        }
    }

    /// Two fields become one picture: the number of pictures is unchanged, and combing is removed.
    @Test(arguments: ["software", "reference"]) func interlacedPicturesAreDeinterlaced(_ device: String) throws {
        try Files.withTemporaryFolder { folder in
            let setup = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=160x96:rate=50:duration=1", "-vf",
                    "tinterlace=interleave_top,setfield=tff", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-flags", "+ildct+ilme",
                    "-x264-params", "tff=1", "in.mp4",
                ], directory: folder)
            try #require(setup.status == 0, "\(setup.errors)")
            let run = try EncodeRun(["in.mp4", "--device", device, "--codec", "h264", "--qp", "12", "--json", "-o", "a.mp4"], in: folder)
            #expect(run.status == 0 && run.effective("fields")?["used"]?.string == "progressive", "\(run.errors)")
            #expect(try SoundTests.hashes("a.mp4", in: folder).count == 25)
            /// Returns the number of frames that libavfilter's idet detects as interlaced.
            func combed(_ name: String) throws -> Int {
                let result = try ProcessRunner.run(
                    "ffmpeg", ["-nostdin", "-hide_banner", "-i", name, "-vf", "idet", "-f", "null", "-"], directory: folder)
                let line = result.errors.split(separator: "\n").last { $0.contains("Single frame detection") } ?? ""
                let numbers = line.split { !$0.isNumber }.compactMap { Int($0) }
                return numbers.suffix(4).prefix(2).reduce(0, +)
            }
            #expect(try combed("in.mp4") > 20)
            #expect(try combed("a.mp4") < 5)
            #expect(try EncodeRun(["in.mp4", "--device", device, "--strict", "-o", "b.mp4"], in: folder).status == 69)
        }
    }

    /// The output does not support sound, the codec is unknown, or the input has no sound.
    @Test func impossibleSoundIsRefused() throws {
        try Files.withTemporaryFolder { folder in
            let clip = try Fixture.bigBuckBunny.path()
            let some = [clip, "--device", "software", "--frames", "2", "--size", "64x48"]
            #expect(try EncodeRun(some + ["--audio", "copy", "-o", "a.h264"], in: folder).status == 64)
            #expect(try EncodeRun(some + ["--audio", "mp3", "-o", "a.mp4"], in: folder).status == 64)
            let none = try EncodeRun(some + ["--audio", "none", "-o", "a.mp4", "--json"], in: folder)
            #expect(none.status == 0 && none.effective("audio") == nil)
            #expect(try Self.spans("a.mp4", in: folder)["audio"] == nil)
            let silent = try EncodeRun(["testsrc:64x48@25:2", "--device", "software", "--audio", "aac", "-o", "b.mp4", "--strict"], in: folder)
            #expect(silent.status == 69, "\(silent.errors)")
        }
    }
}

extension String {
    fileprivate func trimmingCharacters() -> String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
