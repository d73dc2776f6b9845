import TestOracles
import Testing

/// Clips of fewer pictures than encoders look ahead, and of narrow ones.
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

    /// libx265 cannot share a picture of few coding tree rows and columns between threads: the first packet comes all the same.
    @Test(arguments: ["96x160", "60x128", "40x200", "128x130", "64x64", "176x144"]) func lowLatencyOfNarrowPictures(_ size: String) throws {
        try Files.withTemporaryFolder { folder in
            let run = try ProcessRunner.run(
                Checkout.vaenc,
                ["encode", "testsrc:\(size)@25:8", "-o", "a.h265", "--codec", "hevc", "--device", "software", "--low-latency"],
                directory: folder, timeout: 60)
            #expect(run.status == 0 && !run.timedOut, "\(size): \(run.errors)")
        }
    }

    /// A file over the system's limit is an error with its line, and nothing is left.
    @Test func fileSizeLimit() throws {
        try Files.withTemporaryFolder { folder in
            let run = try ProcessRunner.run(
                "bash",
                ["-c", "ulimit -f 20; exec \"$0\" encode testsrc:176x144@25:50 -o a.h264 --codec h264 --device software --bitrate 4M", Checkout.vaenc],
                directory: folder, timeout: 60)
            #expect(run.status == 74 && run.errorLines.count == 1, "\(run.status) \(run.errors)")
            #expect(Files.list(folder).isEmpty)
        }
    }
}
