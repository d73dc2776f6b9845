import TestOracles
import Testing

/// The reports of a recording: progress, losses, and an early end.
@Suite struct CaptureReportTests {
    private static let options = ["--device", "software", "--codec", "h264", "--preset", "7"]

    private func capture(_ cameras: String, _ arguments: [String], _ body: (CaptureRun) throws -> Void) throws {
        try Files.withTemporaryFolder { folder in
            try body(try CaptureRun(cameras, ["/dev/video9"] + arguments + Self.options, in: folder))
        }
    }

    /// Every complete picture is counted as encoded, late or unused: around switches, before the start, and after the
    /// end.
    @Test(arguments: [
        ["--duration", "0.9", "--switch-to", "/dev/video8@0.3", "--switch-to", "/dev/video9@0.6"], ["--frames", "20"],
        ["--start", "0.3", "--duration", "0.4"],
    ]) func everyPictureIsCounted(_ arguments: [String]) throws {
        try capture("9:formats=NV12,sizes=64x48,rate=60;8:formats=NV12,sizes=64x48,rate=60", ["-o", "a.h264"] + arguments) { run in
            #expect(run.status == 0, "\(run.errors)")
            let encoded = run.encode.report?["frames"]?["encoded"]?.int ?? -1
            let (captured, late, unused) = (run.count("captured") ?? 0, run.count("late") ?? 0, run.count("unused") ?? 0)
            #expect(captured == encoded + late + unused, "\(captured) \(encoded) \(late) \(unused)")
        }
    }

    /// A camera's own pixel format was not requested, so it is neither refused nor reported as a difference.
    @Test(arguments: ["YUYV", "NV12"]) func strictAcceptsTheCamerasPixelFormat(_ layout: String) throws {
        try capture("9:formats=\(layout)", ["--strict", "--frames", "3", "-o", "a.h264"]) { run in
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.encode.effective("inputFormat")?["asked"]?.string == nil)
        }
    }

    /// A truncated picture is damaged, even if a decoder accepts it. If a camera never writes end markers, its pictures
    /// are accepted.
    @Test func truncatedJPEGsAreCountedAsDamaged() throws {
        try Files.withTemporaryFolder { folder in
            let setup = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-v", "error", "-f", "lavfi", "-i", "testsrc=s=640x480:r=30", "-frames:v", "30", "-pix_fmt", "yuvj422p", "-c:v", "mjpeg",
                    "-q:v", "3", folder + "/a.mjpeg",
                ])
            try #require(setup.status == 0, "\(setup.errors)")
            // Without end markers, pictures are still separated by their start markers.
            let bytes = try Files.read(folder + "/a.mjpeg")
            var endless: [UInt8] = []
            var index = 0
            while index < bytes.count {
                if bytes[index] == 0xff, index + 1 < bytes.count, bytes[index + 1] == 0xd9 { index += 2; continue }
                endless.append(bytes[index])
                index += 1
            }
            try Files.write(endless, to: folder + "/b.mjpeg")
            for (name, damaged) in [("a", 1), ("b", 0)] {
                let run = try CaptureRun(
                    "9:formats=MJPG,sizes=640x480,jpeg=\(folder)/\(name).mjpeg,damaged=6",
                    ["/dev/video9", "-o", name + ".h264", "--frames", "12", "--late-frames", "keep"] + Self.options, in: folder)
                #expect(run.status == 0 && run.count("damaged") == damaged, "\(name): \(run.errors) \(run.count("damaged") ?? -1)")
            }
        }
    }

    /// Progress reports the remaining time and the losses so far.
    @Test func progressReportsRemainingTimeAndLosses() throws {
        try capture("9:formats=NV12,error=5", ["--duration", "1.5", "--progress", "json", "-o", "a.h264"]) { run in
            let lines = run.errors.split(separator: "\n").compactMap { JSONValue(String($0)) }
            let left = lines.compactMap { $0["secondsLeft"]?.double }
            #expect(left.count > 1 && left.first ?? 0 > left.last ?? 9, "\(left)")
            #expect(lines.last?["lost"]?.int ?? 0 >= 1)
        }
    }

    /// The end of the microphone is reported when it happens, and the recording continues.
    @Test func endOfSoundIsReportedImmediately() throws {
        try Files.withTemporaryFolder { folder in
            let result = try ProcessRunner.run(
                Checkout.vaenc,
                ["capture", "/dev/video9", "-o", "a.mkv", "--duration", "1.5", "--stall-timeout", "600", "--audio-device", "lavfi:anoisesrc=d=0.5"]
                    + Self.options,
                environment: try FakeCameras.environment("9:formats=NV12"), directory: folder)
            let notice = result.errorLines.firstIndex { $0.contains("the sound of lavfi:anoisesrc=d=0.5 has ended") }
            let summary = result.errorLines.firstIndex { $0.contains("a.mkv:") }
            try #require(result.status == 0 && notice != nil && summary != nil, "\(result.errors)")
            #expect(notice! < summary!)
        }
    }

    /// An output that cannot be created is refused in one line, before the camera is opened.
    @Test func outputIsCheckedBeforeTheCamera() throws {
        try Files.withTemporaryFolder { folder in
            try Files.write([], to: folder + "/a.mp4")
            for (name, status) in [("a.mp4", 73), ("none/a.mp4", 73), (folder, 73), ("a.bmp", 64), ("udp://localhost:9", 69)] {
                let result = try ProcessRunner.run(
                    Checkout.vaenc, ["capture", "/dev/video9", "-o", name, "--frames", "3"] + Self.options,
                    environment: try FakeCameras.environment("9:formats=NV12"), directory: folder)
                #expect(result.status == status && result.errorLines.count == 1, "\(name): \(result.status) \(result.errors)")
            }
        }
    }

    /// If a recording is killed before its first segment is complete, there is no playlist and its name stays free.
    @Test func playlistNeedsACompleteSegment() throws {
        try Files.withTemporaryFolder { folder in
            func run(_ camera: String, _ more: [String]) throws -> CaptureRun {
                try CaptureRun("9:formats=NV12\(camera)", ["/dev/video9", "-o", "a.m3u8"] + more + Self.options, in: folder)
            }
            #expect(try run(",kill=20", []).status == 137)
            #expect(!Files.exists(folder + "/a.m3u8"))
            let again = try run("", ["--frames", "30", "--overwrite"])
            #expect(again.status == 0, "\(again.errors)")
            let played = try ProcessRunner.run(
                "ffprobe", ["-v", "error", "-count_packets", "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0", "a.m3u8"], directory: folder
            )
            #expect(played.output.hasPrefix("30"), "\(played.output) \(played.errors)")
            #expect(try run("", ["--frames", "3"]).status == 73)
            #expect(!Files.list(folder).contains { $0.hasSuffix(".part") }, "\(Files.list(folder))")
        }
    }
}
