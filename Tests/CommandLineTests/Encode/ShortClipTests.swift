import TestOracles
import Testing

/// Clips with fewer pictures than the encoder's lookahead, or with narrow pictures.
@Suite struct ShortClipTests {
    /// No picture is missing or decoded later than it is displayed. PNG's decoder leaves non-zero memory, which x265
    /// reads if it did not initialize it.
    @Test(arguments: ["h264", "hevc"]) func shortClipsHaveValidTimes(_ codec: String) throws {
        try Files.withTemporaryFolder { folder in
            let setup = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=176x144:r=30000/1001", "-frames:v", "5", "-pix_fmt", "rgb48be", "-c:v", "png",
                    "in.mov",
                ],
                directory: folder)
            try #require(setup.status == 0, "\(setup.errors)")
            for count in 1...5 {
                let run = try ProcessRunner.run(
                    Checkout.vaenc,
                    ["encode", "in.mov", "-o", "\(count).mp4", "--device", "software", "--codec", codec, "--bit-depth", "8", "--frames", "\(count)"],
                    directory: folder)
                #expect(run.status == 0, "\(count): \(run.errors)")
                let probe = try ProcessRunner.run(
                    "ffprobe", ["-v", "error", "-show_entries", "packet=dts,pts", "-of", "csv=p=0", "\(count).mp4"], directory: folder)
                let times = probe.output.split(separator: "\n").map { $0.split(separator: ",").compactMap { Int($0) } }
                #expect(times.count == count && times.allSatisfy { $0.count == 2 && $0[1] <= $0[0] }, "\(times)")
                #expect(zip(times, times.dropFirst()).allSatisfy { $0[1] < $1[1] } && Set(times.map(\.[0])).count == count, "\(times)")
            }
        }
    }

    /// libavformat's probe mistakes a short stream with a prefix NAL unit before each slice for another format.
    @Test(arguments: [2, 3, 4]) func shortTemporalLayerStreamsAreRead(_ layers: Int) throws {
        try Files.withTemporaryFolder { folder in
            for count in [1, 3, 5, 10, 60] {
                let setup = try ProcessRunner.run(
                    Checkout.vaenc,
                    [
                        "encode", "testsrc:64x64@25:\(count)", "-o", "\(count).h264", "--device", "reference", "--bframes", "0", "--qp", "45",
                        "--temporal-layers", "\(layers)",
                    ],
                    directory: folder)
                #expect(setup.status == 0, "\(setup.errors)")
                // A file or a pipe, by turns.
                let stream = try Files.read("\(folder)/\(count).h264")
                let isFile = (count == 3 || count == 10) == (layers == 3)
                for (input, bytes) in [isFile ? ("\(count).h264", []) : ("-", stream)] as [(String, [UInt8])] {
                    let run = try ProcessRunner.run(
                        Checkout.vaenc, ["decode", input, "-o", "out.y4m", "--overwrite", "--device", "software", "--json"],
                        input: bytes, directory: folder)
                    #expect(run.status == 0, "\(count) of \(input): \(run.errors)")
                    let report = JSONValue(run.output)
                    #expect(report?["frames"]?["decoded"]?.int == count, "\(count) of \(input)")
                    #expect(report?["frameRate"]?.string == "25/1", "\(report as Any)")
                }
                // If its format is given, FFmpeg reads the stream. r_frame_rate is the rate of fields from FFmpeg 7 on.
                let probe = try ProcessRunner.run(
                    "ffprobe",
                    [
                        "-v", "error", "-f", "h264", "-count_frames", "-show_entries", "packet=duration_time:stream=nb_read_frames", "-of", "csv=p=0",
                        "\(count).h264",
                    ],
                    directory: folder)
                let expected = Array(repeating: "0.040000", count: count) + ["\(count)"]
                #expect(probe.output.split(separator: "\n").map(String.init) == expected, "\(probe.output) \(probe.errors)")
            }
        }
    }

    /// libx265 cannot divide a picture with few coding tree rows and columns between threads. It still outputs the
    /// first packet.
    @Test(arguments: ["96x160", "60x128", "40x200", "128x130", "64x64", "176x144"]) func narrowPicturesEncodeWithLowLatency(_ size: String) throws {
        try Files.withTemporaryFolder { folder in
            let run = try ProcessRunner.run(
                Checkout.vaenc,
                ["encode", "testsrc:\(size)@25:8", "-o", "a.h265", "--codec", "hevc", "--device", "software", "--low-latency"],
                directory: folder)
            #expect(run.status == 0 && !run.timedOut, "\(size): \(run.errors)")
        }
    }

    /// A file that exceeds the system's size limit is an error in one line, and no file is left.
    @Test func fileSizeLimitRemovesTheOutput() throws {
        try Files.withTemporaryFolder { folder in
            let run = try ProcessRunner.run(
                "bash",
                [
                    "-c", "ulimit -f 20; exec \"$0\" encode testsrc:176x144@25:50 -o a.h264 --codec h264 --device software --bitrate 4M",
                    Checkout.vaenc,
                ],
                directory: folder)
            #expect(run.status == 74 && run.errorLines.count == 1, "\(run.status) \(run.errors)")
            #expect(Files.list(folder).isEmpty)
        }
    }
}
