import TestOracles
import Testing

/// `--preview`, captured by ffmpeg's screen grabber.
@Suite struct PreviewCommandTests {
    /// Records until the screen is captured, then presses Ctrl-C.
    private static let script = """
        "$0" capture /dev/video9 -o a.h264 --stall-timeout 600 --device software --preset 7 --preview --json --progress json >report 2>log &
        until grep -qE '"frames":[2-9][0-9]' log; do kill -0 $! || exit 1; sleep 0.05; done
        LD_PRELOAD= ffmpeg -v error -f x11grab -video_size 1280x1024 -i "$DISPLAY" -frames:v 1 -pix_fmt gray -f rawvideo -y shot
        kill -INT $!; wait $!; echo $?
        """

    /// The window shows the numbered pictures during the recording.
    @Test func previewShowsTheCamerasPictures() throws {
        try Files.withTemporaryFolder { folder in
            let result = try VirtualScreen.run(
                "bash", ["-c", "cd \(folder); touch log; " + Self.script, Checkout.vaenc],
                environment: try FakeCameras.environment("9:formats=NV12,sizes=320x240,base=120"))
            #expect(result.output == "130\n", "\(result.errors)")
            let shot = try Files.read(folder + "/shot")
            try #require(shot.count == 1280 * 1024)
            // The window is in the middle of the screen.
            let (left, top) = ((1280 - 320) / 2, (1024 - 240) / 2)
            func gray(_ x: Int, _ y: Int) -> Int { Int(shot[(top + y) * 1280 + left + x]) }
            var number = 0
            for bit in 0..<16 { number = number * 2 + (gray(bit * 20 + 10, 20) > 128 ? 1 : 0) }
            #expect(number > 0)
            // Luma of limited range becomes gray of full range.
            for (x, y) in [(10, 100), (200, 150), (310, 230)] {
                let luma = 120 + ((x + y + number * 2) & 31)
                #expect(abs(gray(x, y) - (luma - 16) * 255 / 219) < 30, "\(x) \(y): \(gray(x, y))")
            }
            #expect(shot[5 * 1280 + 5] == 0)
            let video = ForeignDecoder.libavcodec.decode(try Files.read(folder + "/a.h264"))
            // The recording continues after the picture that is shown.
            let last = video.frames.last.map(FakeCameras.number) ?? -1
            #expect(last >= number && video.messages.isEmpty, "\(last) \(number)")
        }
    }

    /// The window shows the encoded picture, not the camera's: here its middle, upright.
    @Test func previewShowsTheEncodedPictures() throws {
        let script = Self.script.replacing("--preview", with: "--preview --size 120x240 --fit crop")
        try Files.withTemporaryFolder { folder in
            let result = try VirtualScreen.run(
                "bash", ["-c", "cd \(folder); touch log; " + script, Checkout.vaenc],
                environment: try FakeCameras.environment("9:formats=NV12,sizes=320x240,base=120"))
            #expect(result.output == "130\n", "\(result.errors)")
            let shot = try Files.read(folder + "/shot")
            try #require(shot.count == 1280 * 1024)
            let row = shot[(512 * 1280)..<(513 * 1280)]
            let lit = row.enumerated().filter { $0.element > 60 }.map(\.offset)
            // The mouse pointer is captured too.
            #expect(lit.first == (1280 - 120) / 2 && lit.last == (1280 + 120) / 2 - 1 && lit.count > 100, "\(lit)")
        }
    }

    /// If the display closes, the window closes and the recording continues.
    @Test func lostDisplayKeepsTheRecording() throws {
        let script = """
            touch log; mkfifo display
            Xvfb -displayfd 3 -nolisten tcp 3>display >/dev/null 2>&1 &
            server=$!
            read -r number <display
            DISPLAY=:$number "$0" capture /dev/video9 -o a.h264 --stall-timeout 600 --device software --preview --json --progress json >report 2>log &
            frames() { grep -oE '"frames":[0-9]+' log | tail -n 1 | cut -d: -f2; }
            reach() { until [ "$(frames)" -ge "$1" ] 2>/dev/null; do kill -0 $! || exit 1; sleep 0.05; done; }
            reach 20
            kill -KILL $server
            reach $(($(frames) + 60))
            kill -INT $!; wait $!; echo $?
            """
        try Files.withTemporaryFolder { folder in
            let result = try ProcessRunner.run(
                "bash", ["-c", script, Checkout.vaenc],
                environment: try FakeCameras.environment("9:formats=NV12"), directory: folder)
            #expect(result.output == "130\n", "\(result.errors)")
            let report = JSONValue(String(decoding: try Files.read(folder + "/report"), as: UTF8.self))
            #expect(report?["frames"]?["encoded"]?.int ?? 0 >= 80)
            #expect(report?["notices"]?.array.contains { $0.string?.contains("preview") == true } == true)
        }
    }

    /// Without a display, SDL alone would draw into an invisible window.
    @Test(arguments: ["x11", nil]) func previewNeedsADisplay(_ driver: String?) throws {
        try Files.withTemporaryFolder { folder in
            let run = try CaptureRun(
                "9:", ["/dev/video9", "-o", "a.mp4", "--preview"], in: folder,
                environment: ["DISPLAY": nil, "WAYLAND_DISPLAY": nil, "SDL_VIDEODRIVER": driver])
            #expect(run.status == 69 && run.encode.errorLines.count == 1 && run.errors.contains("display"), "\(run.errors)")
            #expect(Files.list(folder).isEmpty)
        }
    }
}
