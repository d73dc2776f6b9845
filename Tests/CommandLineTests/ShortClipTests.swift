import TestOracles
import Testing

/// Clips of fewer pictures than encoders look ahead.
@Suite struct ShortClipTests {
    /// Every picture is there, and decoded no later than it is shown. PNG's decoder leaves memory behind that is not zero, which x265
    /// reads where it set nothing.
    @Test(arguments: ["h264", "hevc"]) func times(_ codec: String) throws {
        try Files.withTemporaryFolder { folder in
            let made = try ProcessRunner.run(
                "ffmpeg",
                ["-v", "error", "-f", "lavfi", "-i", "testsrc2=s=176x144:r=30000/1001", "-frames:v", "5", "-pix_fmt", "rgb48be", "-c:v", "png", "in.mov"],
                directory: folder)
            try #require(made.status == 0, "\(made.errors)")
            for count in 1...5 {
                let run = try ProcessRunner.run(
                    Checkout.vaenc,
                    ["encode", "in.mov", "-o", "\(count).mp4", "--device", "software", "--codec", codec, "--bit-depth", "8", "--frames", "\(count)"],
                    directory: folder, timeout: 60)
                #expect(run.status == 0, "\(count): \(run.errors)")
                let probe = try ProcessRunner.run(
                    "ffprobe", ["-v", "error", "-show_entries", "packet=dts,pts", "-of", "csv=p=0", "\(count).mp4"], directory: folder)
                let times = probe.output.split(separator: "\n").map { $0.split(separator: ",").compactMap { Int($0) } }
                #expect(times.count == count && times.allSatisfy { $0.count == 2 && $0[1] <= $0[0] }, "\(times)")
                #expect(zip(times, times.dropFirst()).allSatisfy { $0[1] < $1[1] } && Set(times.map(\.[0])).count == count, "\(times)")
            }
        }
    }
}
