import TestOracles
import Testing

/// `--start` begins at the same picture in every container, seekable or not.
@Suite struct StartOptionTests {
    /// The clip has eight seconds at 25 frames per second and a key picture every two seconds. AVI's index begins after
    /// the file's first time.
    @Test(arguments: ["mkv", "mp4", "mov", "ts", "flv", "avi", "nut"], ["0", "2"]) func startSelectsTheSamePictures(
        _ container: String, _ bFrames: String
    ) throws {
        try Files.withTemporaryFolder { folder in
            let input = "in.\(container)"
            let sound = ["mkv": "pcm_s16le", "nut": "pcm_s16le", "avi": "mp3"][container] ?? "aac"
            try RemuxTests.make(
                """
                ffmpeg -v error -nostdin -f lavfi -i testsrc2=size=96x64:rate=25:duration=8 -f lavfi -i sine=440:duration=8:r=48000 \
                -pix_fmt yuv420p -c:v libx264 -preset veryfast -bf \(bFrames) -g 50 -c:a \(sound) \
                \(container == "mp4" || container == "mov" ? "-movflags +faststart" : "") \(input)
                """, in: folder)
            for start in [0.04, 0.3, 1.72, 3.02, 5] {
                var counts: [Int] = []
                for pipe in [false, true] {
                    let what = "\(input) from \(start)\(pipe ? " in a pipe" : "")"
                    let run = try ProcessRunner.run(
                        "bash",
                        [
                            "-c",
                            "\(pipe ? "cat \(input) | " : "")'\(Checkout.vaenc)' encode \(pipe ? "-" : input) --start \(start) --device software "
                                + "--codec h264 --preset 7 -o o.mkv --overwrite",
                        ], directory: folder)
                    #expect(run.status == 0, "\(what): \(run.errors)")
                    #expect(!run.errors.contains("left out"), "\(what): \(run.errors)")
                    let packets = try RemuxTests.probe("o.mkv", "packet=pts_time", in: folder, ["-select_streams", "v:0"]).split(separator: "\n")
                    // The sound may begin before the pictures, and AVI has no presentation times.
                    let whole = 200 - Int((start * 25).rounded(.up))
                    #expect((whole...whole + 2).contains(packets.count), "\(what): \(packets.count)")
                    counts.append(packets.count)
                    if container == "avi" { continue }
                    // Copies begin at the preceding key picture.
                    let copy = try ProcessRunner.run(
                        "bash",
                        [
                            "-c",
                            "\(pipe ? "cat \(input) | " : "")'\(Checkout.vaenc)' remux \(pipe ? "-" : input) --start \(start) -o c.mkv --overwrite",
                        ], directory: folder)
                    #expect(copy.status == 0, "\(what): \(copy.errors)")
                    let copied = try RemuxTests.probe("c.mkv", "packet=pts_time", in: folder, ["-select_streams", "v:0"]).split(separator: "\n")
                    #expect(copied.count == 200 - Int(start / 2) * 50, "\(what)")
                }
                #expect(Set(counts).count == 1, "\(input) from \(start): \(counts)")
            }
        }
    }
}
