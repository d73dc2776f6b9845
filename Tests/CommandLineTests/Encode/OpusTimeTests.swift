import TestOracles
import Testing

/// Opus in Matroska, whose header gives the samples to discard at the start: after repeated copies the sound stays in
/// sync with the pictures.
@Suite struct OpusTimeTests {
    /// Returns the seconds from the first picture to the first packet of sound, which precedes the first sample by the
    /// encoder delay.
    private func distance(_ path: String, in folder: String) throws -> Double {
        func first(_ kind: String) throws -> Double {
            let packets = try RemuxTests.probe(path, "packet=pts_time", in: folder, ["-select_streams", kind]).split(separator: "\n")
            return try #require(packets.first.flatMap { $0.split(separator: ",").first }.flatMap { Double($0) }, "\(path)")
        }
        return try first("a:0") - first("v:0")
    }

    private func vaenc(_ arguments: [String], in folder: String) throws {
        let run = try ProcessRunner.run(Checkout.vaenc, arguments, directory: folder)
        #expect(run.status == 0, "\(arguments): \(run.errors)")
    }

    /// The delay is 6.5 ms, which Matroska's ticks round to 7 ms once. In `in.mkv`, pictures start at 7 ms, as FFmpeg 5
    /// writes it.
    @Test(arguments: ["in.mp4", "in.mkv"], ["48000", "16000"]) func repeatedCopiesKeepTheDelay(_ input: String, _ rate: String) throws {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.make(
                """
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=25:duration=2 -f lavfi -i sine=440:duration=2:r=\(rate) \
                -pix_fmt yuv420p -c:v libx264 -bf 0 -c:a libopus \(input)
                """, in: folder)
            let expected = try distance(input, in: folder)
            #expect(expected < 0)
            var before = input
            for output in ["1.mkv", "2.mkv", "3.mkv", "4.mp4", "5.mkv", "6.mp4", "7.mkv"] {
                try vaenc(["remux", before, "-o", output], in: folder)
                #expect(try abs(distance(output, in: folder) - expected) < 0.0011, "\(output)")
                before = output
            }
            // From the second copy on, no further tick is added.
            #expect(try distance("7.mkv", in: folder) == distance("1.mkv", in: folder))
            #expect(try distance("6.mp4", in: folder) == distance("4.mp4", in: folder))
            try vaenc(["encode", input, "--device", "software", "--codec", "h264", "--preset", "7", "--audio", "copy", "-o", "e.mkv"], in: folder)
            #expect(try abs(distance("e.mkv", in: folder) - expected) < 0.0011)
        }
    }

    /// A click has the same time in the third copy.
    @Test func repeatedCopiesKeepTheSoundInSync() throws {
        try Files.withTemporaryFolder { folder in
            try RemuxTests.make(
                """
                ffmpeg -v error -nostdin -f lavfi -i testsrc=size=96x64:rate=25:duration=2 \
                -f lavfi -i "aevalsrc='if(lt(mod(t,0.5),0.002),0.8,0)':s=48000:d=2" -pix_fmt yuv420p -c:v libx264 -bf 0 -c:a libopus in.mp4
                """, in: folder)
            for (input, output) in [("in.mp4", "1.mkv"), ("1.mkv", "2.mkv"), ("2.mkv", "3.mkv")] {
                try vaenc(["remux", input, "-o", output], in: folder)
            }
            /// Returns the positions of the clicks, in samples after the first picture.
            func clicks(_ name: String) throws -> [Int] {
                try RemuxTests.make(
                    "ffmpeg -v error -nostdin -y -copyts -i \(name) -map 0:a -af aresample=async=1:first_pts=0 -ac 1 -ar 48000 -f s16le a.pcm",
                    in: folder)
                let start = try #require(try SoundTests.spans(name, in: folder)["video"]?.start)
                return SoundTests.clicks(try Files.read("\(folder)/a.pcm")).map { $0 - Int((start * 48_000).rounded()) }
            }
            let (before, after) = (try clicks("in.mp4"), try clicks("3.mkv"))
            #expect(before.count >= 3 && before.count == after.count, "\(before) \(after)")
            #expect(zip(before, after).allSatisfy { abs($0 - $1) <= 48 }, "\(before) \(after)")
        }
    }
}
