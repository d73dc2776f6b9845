import TestOracles
import Testing

/// The ends of camera recordings, and recordings that cannot begin.
@Suite struct CaptureEndTests {
    private static let options = ["--device", "software", "--qp", "20", "--preset", "7"]

    private func capture(_ cameras: String, _ arguments: [String], _ body: (CaptureRun) throws -> Void) throws {
        try Files.withTemporaryFolder { folder in
            try body(try CaptureRun(cameras, arguments + Self.options, in: folder))
        }
    }

    /// Runs a camera that stalls. On a busy machine a short timeout may expire before `isStalled`: then a longer one is
    /// used.
    private func captureStalling(_ cameras: String, isStalled: (CaptureRun) -> Bool, _ body: (CaptureRun) throws -> Void) throws {
        let timeouts = ["0.6", "10", "100"]
        for timeout in timeouts {
            var isDone = true
            try capture(cameras, ["/dev/video9", "-o", "a.mp4", "--stall-timeout", timeout]) { run in
                isDone = isStalled(run) || timeout == timeouts.last
                if isDone { try body(run) }
            }
            if isDone { return }
        }
    }

    /// If the camera is unplugged or stalls, the recording so far is finished, and the report contains the reason.
    @Test(arguments: [1, 2, 17, 40], ["unplug", "stall"]) func lostCameraLeavesAFinishedRecording(_ picture: Int, _ how: String) throws {
        func check(_ run: CaptureRun) throws {
            #expect(run.status == 75, "\(run.errors)")
            #expect(run.capture?["ended"]?.string == (how == "unplug" ? "unplugged" : "stalled"))
            #expect(run.encode.errorLines.count == 1 && run.errors.contains("/dev/video9"), "\(run.errors)")
            #expect(Files.list(run.folder) == ["a.mp4"])
            let size = try Files.read(run.folder + "/a.mp4").count
            #expect(run.encode.report?["bytes"]?.int == size)
            let count = try run.times("a.mp4").count
            let captured = run.count("captured") ?? -1
            #expect(count == run.encode.report?["frames"]?["encoded"]?.int && count > 0)
            #expect(count == captured - (run.count("late") ?? 0))
        }
        let camera = "9:formats=NV12,\(how)=\(picture)"
        if how == "unplug" {
            try capture(camera, ["/dev/video9", "-o", "a.mp4"], check)
        } else {
            try captureStalling(camera, isStalled: { $0.count("captured") == picture }, check)
        }
    }

    @Test(arguments: ["unplug=0", "stall=0"]) func cameraWithoutPicturesLeavesNoFile(_ how: String) throws {
        func check(_ run: CaptureRun) throws {
            #expect(run.status == 75 && run.encode.errorLines.count == 1, "\(run.errors)")
            #expect(run.errors.contains(how == "unplug=0" ? "unplugged" : "delivered no frame"), "\(run.errors)")
            #expect(Files.list(run.folder).isEmpty)
        }
        if how == "unplug=0" {
            try capture("9:\(how)", ["/dev/video9", "-o", "a.mp4"], check)
        } else {
            try captureStalling("9:\(how)", isStalled: { !$0.errors.contains("not ready") }, check)
        }
    }

    /// A driver call that never returns does not block the command.
    @Test func hangingCameraDriversDoNotBlock() throws {
        try capture("9:hangopen", ["/dev/video9", "-o", "a.mp4", "--stall-timeout", "0.5"]) { run in
            #expect(run.status == 75 && run.errors.contains("not ready"), "\(run.errors)")
        }
        try capture("9:hangoff", ["/dev/video9", "-o", "a.mp4", "--frames", "5"]) { run in
            #expect(run.status == 0, "\(run.errors)")
            let count = try run.times("a.mp4").count
            #expect(count == 5)
        }
    }

    /// Ctrl-C while the camera is opened.
    @Test(arguments: ["a.jpg", "a.mp4"]) func interruptionDuringOpenLeavesNoFile(output: String) throws {
        let script = """
            "$0" capture /dev/video9 -o "$1" --stall-timeout 600 &
            until grep -sqx vaenc-camera /proc/$!/task/*/comm; do kill -0 $! || exit 1; sleep 0.01; done
            kill -INT $!; wait $!
            """
        try Files.withTemporaryFolder { folder in
            let result = try ProcessRunner.run(
                "bash", ["-c", script, Checkout.vaenc, output], environment: try FakeCameras.environment("9:hangopen"), directory: folder)
            #expect(result.status == 130 && result.errorLines.count == 1, "\(result.errors)")
            #expect(Files.list(folder).isEmpty, "\(Files.list(folder))")
        }
    }

    @Test(arguments: [
        ("", "/dev/video9", 66), ("9:busy", "/dev/video9", 69), ("9:denied", "/dev/video9", 77), ("9:plain", "/dev/video9", 65),
        ("9:formats=ZZZZ", "/dev/video9", 69),
    ]) func unusableCamerasAreRefused(_ cameras: String, _ path: String, _ status: Int) throws {
        try capture(cameras, [path, "-o", "a.mp4"]) { run in
            #expect(run.status == status, "\(run.errors)")
            #expect(run.encode.errorLines.count == 1 && run.errors.contains(path), "\(run.errors)")
            #expect(Files.list(run.folder).isEmpty)
        }
    }

    @Test(arguments: [
        ["clip.y4m"], [], ["/dev/video9", "--input-format", "p010"], ["/dev/video9", "--switch-to", "/dev/video8"],
        ["/dev/video9", "--switch-to", "/dev/video8@2", "--switch-to", "/dev/video8@1"], ["/dev/video9", "--stall-timeout", "0"],
        ["/dev/video9", "--input-size", "64x48"], ["/dev/video9", "-o", "a.jpg"],
        ["/dev/video9", "--audio-device", "lavfi:sine", "--audio", "none"],
    ]) func wrongCaptureOptionsAreUsageErrors(_ arguments: [String]) throws {
        try capture("9:;8:", arguments + ["-o", "a.mp4"]) { run in
            #expect(run.status == 64 && run.encode.errorLines.count == 1, "\(run.errors)")
            #expect(Files.list(run.folder).isEmpty)
        }
    }

    @Test func cameraOptionsNeedACamera() throws {
        let result = try ProcessRunner.run(
            Checkout.vaenc, ["encode", "testsrc:64x48@25:2", "--late-frames", "keep", "-o", "a.h264"])
        #expect(result.status == 64 && result.errors.contains("--late-frames"), "\(result.errors)")
    }

    @Test func soundIntoABareStreamIsRefused() throws {
        try Files.withTemporaryFolder { folder in
            let run = try CaptureRun("9:", ["/dev/video9", "--audio-device", "lavfi:sine", "-o", "a.h264"] + Self.options, in: folder)
            #expect(run.status == 64 && run.errors.contains("--audio-device"), "\(run.errors)")
            #expect(Files.list(folder).isEmpty)
        }
    }

    /// The encoder is blocked past the end of the recording. The newest pictures from before the end are still encoded.
    @Test func encoderDelayAtTheEndKeepsNewestPictures() throws {
        try Files.withTemporaryFolder { folder in
            let run = try CaptureRun(
                "9:formats=NV12,sizes=128x64,rate=30",
                ["/dev/video9", "-o", "a.mp4", "--device", "reference", "--codec", "h264", "--duration", "1.5"], in: folder,
                environment: ["VAENC_FAULT": "vaSyncBuffer@10=delay:2500"])
            #expect(run.status == 0, "\(run.errors)")
            let times = try run.times("a.mp4")
            #expect(times.last ?? 0 > 1.3 && times.last ?? 2 < 1.5, "\(times)")
            #expect(run.count("late") ?? 0 > 0)
        }
    }

    @Test func lossesAreReportedWithoutJSON() throws {
        try Files.withTemporaryFolder { folder in
            let result = try ProcessRunner.run(
                Checkout.vaenc, ["capture", "/dev/video9", "-o", "a.h264", "--frames", "20"] + Self.options,
                environment: try FakeCameras.environment("9:formats=NV12,gap=5,error=8"), directory: folder)
            #expect(result.status == 0 && result.errors.contains("dropped by the driver") && result.errors.contains("1 damaged"), "\(result.errors)")
        }
    }

    /// `timeout` sends the signal twice, which counts as one.
    @Test(arguments: [1, 2]) func interruptionLeavesAFinishedRecording(_ count: Int) throws {
        let script = """
            "$0" capture /dev/video9 -o a.mp4 --stall-timeout 600 --device software --json --progress json >report 2>log &
            until grep -qE '"frames":[1-9][0-9]' log; do kill -0 $! || exit 1; sleep 0.05; done
            for i in $(seq \(count)); do kill -INT $!; done; wait $!; echo $?
            """
        try Files.withTemporaryFolder { folder in
            var result: ProcessRunner.Result
            // On a busy machine the second signal may come too late to count as the first.
            var attempts = 0
            repeat {
                result = try ProcessRunner.run(
                    "bash", ["-c", "rm -f a.*; touch log; " + script, Checkout.vaenc],
                    environment: try FakeCameras.environment("9:formats=NV12"), directory: folder)
                attempts += 1
            } while try count > 1 && attempts < 20 && String(decoding: Files.read(folder + "/log"), as: UTF8.self).contains("interrupted twice")
            #expect(result.output == "130\n", "\(result.errors)")
            let report = JSONValue(String(decoding: try Files.read(folder + "/report"), as: UTF8.self))
            #expect(report?["interrupted"]?.bool == true && report?["capture"]?["ended"]?.string == "stopped")
            let played = try ProcessRunner.run(
                "ffmpeg", ["-v", "error", "-xerror", "-i", "a.mp4", "-fps_mode", "passthrough", "-enc_time_base", "-1", "-f", "null", "-"],
                directory: folder)
            #expect(played.status == 0 && played.errors.isEmpty && Files.list(folder) == ["a.mp4", "log", "report"])
        }
    }
}
