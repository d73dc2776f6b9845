import TestOracles
import Testing

/// Inputs whose times begin before 0, jump, or are far apart; the output is judged by ffprobe.
@Suite struct TimelineTests {
    /// Returns the sorted presentation times of the packets of a kind.
    private static func times(_ name: String, _ kind: String, in folder: String) throws -> [Double] {
        try RemuxTests.probe(name, "packet=pts_time", in: folder, ["-select_streams", kind])
            .split(separator: "\n").compactMap { Double($0.prefix { $0 != "," }) }.sorted()
    }

    private static func steps(_ times: [Double]) -> [Double] { zip(times, times.dropFirst()).map { $1 - $0 } }

    /// The first pictures and sound of a Matroska file have times before 0, which libavformat does not return. They
    /// keep their distances, copied and encoded, and the first is at 0.
    @Test(arguments: ["a.mp4", "a.mkv", "a.ts"], ["0.05", "0.7", "2.5"]) func timesBeforeZeroAreShifted(_ name: String, _ offset: String) throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                set -e
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=25:duration=3 -f lavfi -i sine=duration=3 -pix_fmt yuv420p \
                -c:v libx264 -bf 2 -b_strategy 0 -g 25 -c:a aac full.mkv
                ffmpeg -v error -nostdin -itsoffset -\(offset) -i full.mkv -c copy -avoid_negative_ts disabled early.mkv
                """
            try RemuxTests.make(script, in: folder)
            func first(_ name: String, _ kind: String) throws -> Double { try #require(try Self.times(name, kind, in: folder).first) }
            let apart = try first("full.mkv", "v") - first("full.mkv", "a")
            let options = ["--device", "software", "--codec", "h264", "--overwrite", "-o", name]
            func check(_ result: ProcessRunner.Result) throws {
                #expect(result.status == 0 && !result.errors.contains("but declares"), "\(result.errors)")
                let (pictures, sound) = try (Self.times(name, "v", in: folder), Self.times(name, "a", in: folder))
                #expect(pictures.count == 75 && Self.steps(pictures).allSatisfy { abs($0 - 0.04) < 0.003 }, "\(pictures)")
                #expect(try sound.count == Self.times("early.mkv", "a", in: folder).count)
                #expect(try abs(first(name, "v") - first(name, "a") - apart) < 0.03, "\(pictures.prefix(3)) \(sound.prefix(3)) \(apart)")
                #expect(pictures.first ?? -1 > -0.001, "\(pictures.prefix(3))")
            }
            let piped: [UInt8]? = try Files.read("\(folder)/early.mkv")
            for bytes in [nil, piped] {
                func run(_ arguments: [String]) throws -> ProcessRunner.Result {
                    try ProcessRunner.run(Checkout.vaenc, arguments, input: bytes ?? [], directory: folder)
                }
                let input = bytes == nil ? "early.mkv" : "-"
                try check(run(["encode", input] + options))
                try check(run(["remux", input, "--overwrite", "--strict", "-o", name]))
                // The pictures are unchanged.
                func shown(_ name: String) throws -> String {
                    try ProcessRunner.run("ffmpeg", ["-v", "error", "-i", name, "-map", "0:v", "-vsync", "0", "-f", "md5", "-"], directory: folder)
                        .output
                }
                #expect(try shown(name) == shown("full.mkv"))
            }
            // Times are relative to the first picture or sound.
            let run = try EncodeRun(["early.mkv", "--start", "0.2"] + options, in: folder)
            #expect(run.status == 0, "\(run.errors)")
            let pictures = try Self.times(name, "v", in: folder)
            #expect((69...71).contains(pictures.count), "\(pictures)")
        }
    }

    /// A file that is split at any moments has each picture in one part: exact times of pictures, written with few
    /// digits, and moments between two pictures. The containers have ticks of 1 ms, of a frame, and of less.
    @Test(arguments: ["in.mkv", "in.avi", "in.mp4", "in.y4m"]) func partsHaveEachPictureOnce(_ input: String) throws {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.make(
                "ffmpeg -v error -nostdin -f lavfi -i testsrc2=size=64x48:rate=30:duration=3 -pix_fmt yuvj420p \(input.hasSuffix("y4m") ? "" : "-c:v mjpeg") \(input)",
                in: folder)
            func count(_ range: [String]) throws -> Int {
                let run = try ProcessRunner.run(
                    Checkout.vaenc, ["decode", input, "--device", "software", "--overwrite", "-o", "out.i420"] + range, directory: folder)
                try #require(run.status == 0, "\(run.errors)")
                return try Files.read("\(folder)/out.i420").count / (64 * 48 * 3 / 2)
            }
            for (first, second, pictures) in [
                ("1.033", "2.033", (31, 61)), ("1.0333", "2.0333333", (31, 61)), ("1.05", "2.05", (32, 62)), ("1.013", "2.95", (31, 89)),
            ] {
                let length = try #require(Double(second)) - (try #require(Double(first)))
                let counts = try [
                    count(["--duration", first]), count(["--start", first, "--duration", "\(length)"]), count(["--start", second]),
                ]
                #expect(counts == [pictures.0, pictures.1 - pictures.0, 90 - pictures.1], "\(first) \(second)")
            }
        }
    }

    /// Sound begins half a second before the pictures. Parts count from the sound, whether it is read or not.
    @Test(
        arguments: ["in.mkv", "in.mp4", "in.ts"], ["decode -o a.i420", "encode --codec h264 --audio none -o a.h264", "encode --codec h264 -o a.mkv"])
    func partsCountFromTheSound(_ input: String, _ command: String) throws {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.make(
                """
                ffmpeg -v error -nostdin -f lavfi -i testsrc2=size=64x48:rate=30:duration=2 -pix_fmt yuv420p -c:v libx264 -bf 0 pictures.mp4
                ffmpeg -v error -nostdin -itsoffset 0.5 -i pictures.mp4 -f lavfi -i sine=duration=2.5 -map 0:v -map 1:a -c:v copy -c:a aac \(input)
                """, in: folder)
            let words = command.split(separator: " ").map(String.init)
            let output = try #require(words.last)
            let counts = try [["--duration", "1"], ["--start", "1", "--duration", "1"], ["--start", "2"]].map { range in
                let run = try ProcessRunner.run(
                    Checkout.vaenc, [words[0], input, "--device", "software", "--overwrite"] + words.dropFirst() + range, directory: folder)
                try #require(run.status == 0, "\(run.errors)")
                if output == "a.i420" { return try Files.read("\(folder)/\(output)").count / (64 * 48 * 3 / 2) }
                return try RemuxTests.probe(output, "packet=size", in: folder, ["-select_streams", "v"]).split(separator: "\n").count
            }
            #expect(counts == [15, 30, 15])
        }
    }

    /// A screen recording has no new picture for seconds. A cut there ends the displayed picture and the sound, copied
    /// and encoded.
    @Test(arguments: ["in.mp4", "in.mkv"]) func endBetweenDistantPicturesEndsTheSound(_ input: String) throws {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.make(
                """
                ffmpeg -v error -nostdin -f lavfi -i "testsrc=size=96x64:rate=25:duration=12,select='lt(n,50)+not(mod(n,250))'" -f lavfi -i sine=duration=12 \
                -vsync vfr -pix_fmt yuv420p -c:v libx264 -bf 0 -g 25 -c:a aac \(input)
                """, in: folder)
            for line in [
                "encode --device software --codec h264 --bframes 0", "encode --device software --codec h264 --audio aac",
                "encode --device reference --codec h264 --bframes 0",
                "remux",
            ] {
                for output in ["out.mp4", "out.mkv"] {
                    let run = try ProcessRunner.run(
                        Checkout.vaenc, line.split(separator: " ").map(String.init) + [input, "-o", output, "--duration", "3", "--overwrite"],
                        directory: folder)
                    #expect(run.status == 0, "\(line): \(run.errors)")
                    let (pictures, sound) = try (Self.times(output, "v", in: folder), Self.times(output, "a", in: folder))
                    #expect(pictures.count == 50 && abs((sound.last ?? 0) - 3) < 0.07, "\(line) \(output): \(pictures.count), \(sound.last ?? 0)")
                    let length = try RemuxTests.probe(output, "format=duration", in: folder).split(separator: "\n").first.flatMap { Double($0) }
                    #expect(abs((length ?? 0) - 3) < 0.07, "\(line) \(output): \(length ?? 0)")
                }
            }
        }
    }

    /// Pictures that are closer than a container's tick keep their order, and none is lost.
    @Test(arguments: ["software", "reference"]) func picturesCloserThanATickAreWritten(_ device: String) throws {
        try Files.withTemporaryFolder { folder in
            // The second picture of each pair follows after 5 µs to 1.6 ms.
            try RemuxTests.make(
                """
                ffmpeg -v error -nostdin -f lavfi -i "testsrc=size=96x64:rate=25:duration=2,settb=1/1000000,setpts='if(eq(mod(N,8),7),PTS-40000+pow(10,floor(N/8)/2)*5,PTS)'" \
                -fps_mode passthrough -enc_time_base 1/1000000 -video_track_timescale 1000000 -c:v libx264 -pix_fmt yuv420p -bf 0 in.mp4
                """, in: folder)
            let given = try Self.times("in.mp4", "v", in: folder)
            try #require(
                given.count == 50 && Self.steps(given).contains { $0 < 0.00002 } && Self.steps(given).contains { (0.0003...0.0009).contains($0) },
                "\(Self.steps(given))")
            for output in ["a.mp4", "a.mov", "a.mkv", "a.ts", "a.flv", "a.m3u8"] {
                for frames in ["0", "2"] {
                    let run = try EncodeRun(
                        ["in.mp4", "-o", output, "--device", device, "--codec", "h264", "--bframes", frames, "--overwrite"], in: folder)
                    try #require(run.status == 0, "\(output): \(run.errors)")
                    let pictures = try Self.times(output, "v", in: folder)
                    #expect(pictures.count == 50, "\(output): \(pictures)")
                    let shift = (pictures.first ?? 0) - given[0]
                    #expect(zip(pictures, given).allSatisfy { abs($0 - $1 - shift) < 0.003 }, "\(output): \(pictures)")
                    let decoded = try ProcessRunner.run(
                        "ffmpeg", ["-v", "error", "-i", output, "-fps_mode", "passthrough", "-f", "framemd5", "-"], directory: folder)
                    #expect(
                        decoded.errors == "" && decoded.output.split(separator: "\n").count { !$0.hasPrefix("#") } == 50,
                        "\(output): \(decoded.errors)")
                }
            }
        }
    }

    /// A screen recording has no new picture for seconds. A cut there begins with the next picture, which is reported.
    @Test func startBetweenDistantPicturesIsReported() throws {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.make(
                """
                ffmpeg -v error -nostdin -f lavfi -i testsrc2=s=96x64:r=25:d=8 -vf "select='lt(t,1)+gt(t,6)'" -fps_mode vfr -pix_fmt yuv420p -c:v libx264 in.mp4
                """, in: folder)
            let line = ["in.mp4", "--device", "software", "--codec", "h264", "--overwrite", "-o", "a.mp4"]
            let run = try EncodeRun(line + ["--start", "3"], in: folder)
            #expect(run.status == 0 && run.errors.contains("first picture: asked at the start, used 3.04 s later"), "\(run.errors)")
            #expect(try EncodeRun(line + ["--start", "3", "--strict"], in: folder).status == 69)
            #expect(try EncodeRun(line + ["--start", "6.5", "--strict"], in: folder).status == 0)
            let none = try EncodeRun(line + ["--start", "3", "--duration", "1"], in: folder)
            #expect(none.status == 65 && none.errors.contains("only pictures that begin in this part are encoded"), "\(none.errors)")
        }
    }

    /// A start is relative to the time at which the file begins, with pictures or with sound. `ffmpeg` does the same.
    @Test(arguments: ["mp4", "mov", "mkv", "ts", "flv"]) func startIsRelativeToTheFirstTime(_ ending: String) throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                set -e
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=25:duration=4 -f lavfi -i sine=duration=4 -pix_fmt yuv420p \
                -c:v libx264 -bf 2 -b_strategy 0 -g 10 -sc_threshold 0 -c:a aac in.mp4
                ffmpeg -v error -nostdin -i in.mp4 -an -c copy -output_ts_offset 100 pictures.\(ending)
                ffmpeg -v error -nostdin -i in.mp4 -c copy -output_ts_offset 100 both.\(ending)
                ffmpeg -v error -nostdin -itsoffset 1 -i in.mp4 -i in.mp4 -map 0:v -map 1:a -c copy sound.\(ending)
                """
            try RemuxTests.make(script, in: folder)
            // The pictures are 0.04 s apart, and every tenth is a key frame. In the last file the sound starts 1 s
            // before them.
            for (name, start, shown, copied) in [
                ("pictures", "0.75", 81, 90), ("pictures", "0.8", 80, 80), ("pictures", "1.19", 70, 80), ("both", "0.75", 81, 90),
                ("sound", "1.75", 81, 90),
            ] {
                let input = "\(name).\(ending)"
                let encoded = try EncodeRun(
                    [input, "--device", "software", "--codec", "h264", "--json", "--overwrite", "-o", "a.mkv", "--start", start], in: folder)
                #expect(encoded.status == 0 && encoded.report?["frames"]?["encoded"]?.int == shown, "\(input) \(start): \(encoded.errors)")
                let result = try ProcessRunner.run(
                    Checkout.vaenc, ["remux", input, "-o", "b.mkv", "--overwrite", "--start", start], directory: folder)
                #expect(result.status == 0, "\(input) \(start): \(result.errors)")
                #expect(try Self.times("b.mkv", "v", in: folder).count == copied, "\(input) \(start)")
                #expect(result.errors.contains("start: asked") == (start != "0.8"), "\(input) \(start): \(result.errors)")
                #expect(result.errors.contains("the previous key frame") == (start != "0.8"), "\(input) \(start): \(result.errors)")
                // In MPEG-TS, ffmpeg seeks by byte offset and may begin after the time.
                if ending == "ts" { continue }
                let frames = try ProcessRunner.run(
                    "ffmpeg", ["-v", "quiet", "-nostdin", "-ss", start, "-i", input, "-map", "0:v", "-vsync", "0", "-f", "framemd5", "-"],
                    directory: folder)
                #expect(frames.output.split(separator: "\n").count { !$0.hasPrefix("#") } == shown, "\(input) \(start)")
            }
            let cut = try ProcessRunner.run(
                Checkout.vaenc, ["remux", "pictures.\(ending)", "-o", "c.mkv", "--duration", "2"], directory: folder)
            #expect(cut.status == 0, "\(cut.errors)")
            #expect(try (50...52).contains(Self.times("c.mkv", "v", in: folder).count))
        }
    }

    /// If a file begins between key frames, a copy starts with the first key frame, which is after the requested start.
    @Test func copyStartsAtTheFirstKeyFrame() throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                set -e
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=25:duration=2 -pix_fmt yuv420p -c:v libx264 -bf 0 -g 10 -sc_threshold 0 in.mp4
                ffmpeg -v error -nostdin -i in.mp4 -ss 0.5 -copyinkf -c copy in.ts
                """
            try RemuxTests.make(script, in: folder)
            let result = try ProcessRunner.run(
                Checkout.vaenc, ["remux", "in.ts", "-o", "a.mkv", "--start", "0.1"], directory: folder)
            #expect(result.status == 0 && result.errors.contains("(the first key frame)"), "\(result.errors)")
        }
    }

    /// Sound long before the pictures is left out, which is reported.
    @Test func soundFarBeforeThePicturesIsLeftOut() throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                set -e
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=25:duration=1 -f lavfi -i sine=duration=15 -pix_fmt yuv420p \
                -c:v libx264 -c:a aac in.mp4
                ffmpeg -v error -nostdin -itsoffset 12 -i in.mp4 -i in.mp4 -map 0:v -map 1:a -c copy late.mp4
                """
            try RemuxTests.make(script, in: folder)
            let arguments = ["late.mp4", "--device", "software", "--codec", "h264", "-o", "a.mkv"]
            let run = try EncodeRun(arguments + ["--json"], in: folder)
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.effective("soundStart")?["used"]?.string == "with the pictures", "\(run.errors)")
            #expect(try EncodeRun(arguments + ["--strict", "--overwrite"], in: folder).status == 69)
        }
    }

    /// Joins two transport streams.
    ///
    /// - Parameter isMarked: Whether the first packet of each stream after the joint has discontinuity_indicator set
    ///   (H.222.0 2.4.3.5).
    private static func join(_ first: [UInt8], _ second: [UInt8], isMarked: Bool) -> [UInt8] {
        var second = second
        var seen: Set<Int> = []
        for offset in stride(from: 0, to: second.count - 187, by: 188) where isMarked {
            let stream = Int(second[offset + 1] & 31) << 8 | Int(second[offset + 2])
            let hasAdaptationField = second[offset + 3] & 0x20 != 0 && second[offset + 4] > 0
            if seen.insert(stream).inserted, hasAdaptationField { second[offset + 5] |= 0x80 }
        }
        return first + second
    }

    /// Times that jump back at a joint are continued, for pictures and sound alike, which is reported once. libavformat
    /// mistakes a jump of 1000 s for a clock wrap.
    @Test(arguments: [true, false], ["1000", "1"]) func joinedTransportStreamsHaveContinuousTimes(_ isMarked: Bool, _ offset: String) throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                set -e
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=25:duration=3 -f lavfi -i sine=duration=3 -pix_fmt yuv420p \
                -c:v libx264 -bf 2 -g 25 -c:a aac in.mkv
                ffmpeg -v error -nostdin -i in.mkv -c copy -output_ts_offset \(offset) first.ts
                ffmpeg -v error -nostdin -i in.mkv -c copy second.ts
                """
            try RemuxTests.make(script, in: folder)
            let joined = try Self.join(Files.read("\(folder)/first.ts"), Files.read("\(folder)/second.ts"), isMarked: isMarked)
            try Files.write(joined, to: "\(folder)/in.ts")
            let sounds = try Self.times("first.ts", "a", in: folder).count
            func check(_ name: String, _ result: ProcessRunner.Result, _ sound: ClosedRange<Int>) throws {
                #expect(result.status == 0, "\(name): \(result.errors)")
                #expect(result.errors.split(separator: "\n").count { $0.contains("times: asked as in the input") } == 1, "\(name): \(result.errors)")
                let (pictures, heard) = try (Self.times(name, "v", in: folder), Self.times(name, "a", in: folder))
                #expect(pictures.count == 150 && Self.steps(pictures).allSatisfy { $0 > 0.01 && $0 < 0.2 }, "\(name): \(pictures)")
                #expect(sound.contains(heard.count) && Self.steps(heard).allSatisfy { $0 < 0.2 }, "\(name): \(heard.count) \(sounds)")
                // Both tracks end together, as in each part.
                #expect(abs((pictures.last ?? 0) - (heard.last ?? 0)) < 0.15, "\(name)")
            }
            for name in ["a.mp4", "a.mkv", "a.ts"] {
                let remuxed = try ProcessRunner.run(Checkout.vaenc, ["remux", "in.ts", "-o", name], directory: folder)
                try check(name, remuxed, sounds * 2 - 2...sounds * 2 + 1)
                for audio in ["copy", "aac"] {
                    let encoded = try ProcessRunner.run(
                        Checkout.vaenc,
                        ["encode", "in.ts", "--device", "software", "--codec", "h264", "--audio", audio, "--overwrite", "-o", name],
                        directory: folder)
                    try check(name, encoded, sounds * 2 - 5...sounds * 2 + 8)
                }
            }
            let decoded = try ProcessRunner.run(Checkout.vaenc, ["decode", "in.ts", "-o", "a.y4m"], directory: folder)
            #expect(decoded.status == 0 && decoded.errors.contains("times: asked as in the input"), "\(decoded.errors)")
            for options in [[], ["--json"]] {
                let inspected = try ProcessRunner.run(Checkout.vaenc, ["inspect", "in.ts"] + options, directory: folder)
                #expect(inspected.status == 0, "\(inspected.errors)")
                #expect(inspected.errorLines.count == 1 && inspected.errors.contains("times: asked as in the input"), "\(inspected.errors)")
            }
            let strict = try ProcessRunner.run(Checkout.vaenc, ["remux", "in.ts", "-o", "s.mkv", "--strict"], directory: folder)
            #expect(strict.status == 69 && !Files.exists("\(folder)/s.mkv"), "\(strict.errors)")
        }
    }

    /// In MPEG-TS, times that jump back and forth every three pictures are damage, not many joints.
    @Test func oscillatingTimesAreDamage() throws {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.make(
                "ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=25:duration=8 -pix_fmt yuv420p -c:v libx264 -bf 0 whole.ts", in: folder)
            var bytes = try Files.read("\(folder)/whole.ts")
            var pictures: UInt64 = 0
            for offset in stride(from: 0, to: bytes.count - 187, by: 188) {
                // The first packet of a PES packet of the pictures (H.222.0 2.4.3.2), with a presentation time alone (2.4.3.6).
                guard bytes[offset + 1] & 0x5F == 0x41, bytes[offset + 2] == 0 else { continue }
                let header = offset + 4 + (bytes[offset + 3] & 0x20 == 0 ? 0 : 1 + Int(bytes[offset + 4]))
                try #require(bytes[header..<header + 3].elementsEqual([0, 0, 1]) && bytes[header + 7] & 0xC0 == 0x80)
                let time: UInt64 = (pictures / 3 % 2 == 0 ? 90_000_000 : 900_000) + pictures * 3600
                let parts: [UInt64] = [
                    0x20 | time >> 29 & 0x0E | 1, time >> 22 & 0xFF, time >> 14 & 0xFE | 1, time >> 7 & 0xFF, time << 1 & 0xFE | 1,
                ]
                for (index, part) in parts.enumerated() { bytes[header + 9 + index] = UInt8(part) }
                pictures += 1
            }
            #expect(pictures == 200)
            try Files.write(bytes, to: "\(folder)/in.ts")
            for command in [["remux", "in.ts", "-o", "a.mkv"], ["encode", "in.ts", "--device", "software", "--codec", "h264", "-o", "a.mkv"]] {
                let result = try ProcessRunner.run(Checkout.vaenc, command, directory: folder)
                #expect(result.status == 65 && result.errors.contains("jump back and forth"), "\(command): \(result.errors)")
                #expect(!Files.list(folder).contains { $0.hasPrefix("a.mkv") })
            }
        }
    }

    /// A clock that wraps is no jump.
    @Test func wrappedClockIsContinued() throws {
        try Files.withTemporaryFolder { folder in
            // 2^33 ticks are 95443.7 s; the muxer adds 1.4 s.
            let script = """
                set -e
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=25:duration=3 -f lavfi -i sine=duration=3 -pix_fmt yuv420p \
                -c:v libx264 -bf 2 -g 25 -c:a aac -output_ts_offset 95441 in.ts
                """
            try RemuxTests.make(script, in: folder)
            let remuxed = try ProcessRunner.run(Checkout.vaenc, ["remux", "in.ts", "-o", "a.mp4", "--strict"], directory: folder)
            #expect(remuxed.status == 0 && !remuxed.errors.contains("times:"), "\(remuxed.errors)")
            let encoded = try EncodeRun(["in.ts", "--device", "software", "--codec", "h264", "-o", "b.mp4"], in: folder)
            #expect(encoded.status == 0 && !encoded.errors.contains("times:"), "\(encoded.errors)")
            for name in ["a.mp4", "b.mp4"] {
                let pictures = try Self.times(name, "v", in: folder)
                #expect(pictures.count == 75 && Self.steps(pictures).allSatisfy { abs($0 - 0.04) < 0.003 }, "\(name): \(pictures)")
            }
        }
    }

    /// Pictures that are farther apart than the maximum duration of an MP4 sample are bad input, with a clear error.
    /// MKV supports them.
    @Test func timesTooFarApartForMP4AreRefused() throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                set -e
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=30000/1001:duration=1 -pix_fmt yuv420p -c:v libx264 -bf 0 in.mkv
                ffmpeg -v error -nostdin -i in.mkv -c copy -bsf:v "setts=ts=if(gt(N\\,10)\\,TS+95000000\\,TS)" far.mkv
                """
            try RemuxTests.make(script, in: folder)
            let options = ["far.mkv", "--device", "software", "--codec", "h264"]
            let refused = try EncodeRun(options + ["-o", "a.mp4"], in: folder)
            #expect(refused.status == 65 && refused.errors.contains("s apart"), "\(refused.errors)")
            #expect(!refused.errors.contains("implemented") && !Files.exists("\(folder)/a.mp4"))
            #expect(try EncodeRun(options + ["-o", "a.mkv"], in: folder).status == 0)
        }
    }

    /// The copy of an input that begins at any time begins at 0, and sound and pictures keep their distance.
    @Test(arguments: ["mp4", "mov", "mkv", "ts", "flv"], ["mp4", "fmp4", "mkv"]) func copyBeginsAtZero(_ ending: String, _ format: String) throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                set -e
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=25:duration=2 -f lavfi -i sine=duration=2 -pix_fmt yuv420p \
                -c:v libx264 -bf 2 -b_strategy 0 -g 10 -c:a aac base.mp4
                ffmpeg -v error -nostdin -i base.mp4 -c copy -output_ts_offset 100 in.\(ending)
                """
            try RemuxTests.make(script, in: folder)
            let result = try ProcessRunner.run(
                Checkout.vaenc, ["remux", "in.\(ending)", "-o", "a.out", "--format", format], directory: folder)
            #expect(result.status == 0, "\(result.errors)")
            /// Returns the start of the file, and the time from the start of the sound to that of the pictures.
            func starts(_ name: String) throws -> (file: Double, gap: Double) {
                func number(_ entry: String, _ more: [String] = []) throws -> Double {
                    let text = try RemuxTests.probe(name, entry, in: folder, more)
                    return try #require(text.split { $0 == "\n" || $0 == "," }.first.flatMap { Double($0) }, "\(name): \(text)")
                }
                let (pictures, sound) = try (
                    number("stream=start_time", ["-select_streams", "v"]), number("stream=start_time", ["-select_streams", "a"])
                )
                return (try number("format=start_time"), pictures - sound)
            }
            let (before, after) = try (starts("in.\(ending)"), starts("a.out"))
            #expect(before.file > 99 && abs(after.file) < 0.09, "\(before) \(after)")
            #expect(abs(after.gap - before.gap) < 0.03, "\(before) \(after)")
            let seconds = try #require(Double(RemuxTests.probe("a.out", "format=duration", in: folder).prefix { $0 != "\n" }))
            #expect(seconds < 2.2, "\(seconds)")
        }
    }

    /// The first picture in decoding order is not the first one that is displayed: all are displayed from 0 on.
    @Test(arguments: ["a.mp4", "a.mkv"]) func reorderedBeginningIsNotHidden(_ name: String) throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                set -e
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=25:duration=3 -pix_fmt yuv420p -c:v libx265 \
                -x265-params log-level=none:keyint=25:min-keyint=25:open-gop=1:bframes=3:scenecut=0 whole.mkv
                ffmpeg -v error -nostdin -copyts -i whole.mkv -c copy -bsf:v "noise=drop=lt(n\\,22)" -avoid_negative_ts disabled in.mkv
                """
            try RemuxTests.make(script, in: folder)
            func unsorted(_ name: String) throws -> [Double] {
                try RemuxTests.probe(name, "packet=pts_time", in: folder).split(separator: "\n").compactMap { Double($0.prefix { $0 != "," }) }
            }
            let before = try unsorted("in.mkv")
            let earliest = try #require(before.min())
            try #require(earliest > 0.5 && before[0] > earliest, "\(before)")
            let result = try ProcessRunner.run(Checkout.vaenc, ["remux", "in.mkv", "-o", name], directory: folder)
            #expect(result.status == 0, "\(result.errors)")
            let after = try unsorted(name)
            #expect(after.count == before.count && zip(after, before).allSatisfy { abs($0 - $1 + earliest) < 0.002 }, "\(before) \(after)")
        }
    }
}
