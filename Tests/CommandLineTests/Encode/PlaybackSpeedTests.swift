import TestOracles
import Testing

/// Frame rates that change the playing speed or are assumed, and regions that extend past the picture: each is
/// reported.
@Suite struct PlaybackSpeedTests {
    /// The input has its own frame rate, and another one is requested.
    @Test(arguments: ["in.mp4", "in.y4m", "testsrc:64x48@25:10", "in.mkv"]) func changedSpeedIsReported(_ input: String) throws {
        try Files.withTemporaryFolder { folder in
            for name in ["in.mp4", "in.y4m", "in.mkv"] where name == input {
                try ffmpeg("-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=0.4", "-pix_fmt", "yuv420p", "\(folder)/\(name)")
            }
            let some = [input, "--device", "software", "--codec", "h264", "--bframes", "0", "--overwrite", "-o", "a.mp4"]
            let run = try EncodeRun(some + ["--fps", "50", "--json"], in: folder)
            #expect(run.status == 0, "\(run.errors)")
            let entry = run.effective("speed")
            #expect(entry?["asked"]?.string == "1x" && entry?["used"]?.string == "2x", "\(run.errors)")
            // The notice is printed once, at the start.
            #expect(run.errorLines.count { $0.contains("--fps changes the playback speed to 2x") } == 1, "\(run.errors)")
            let plain = try EncodeRun(some + ["--fps", "50"], in: folder)
            #expect(plain.errorLines.count { $0.contains("speed") } == 1, "\(plain.errors)")
            #expect(try EncodeRun(some + ["--fps", "12.5", "--json"], in: folder).effective("speed")?["used"]?.string == "0.5x")
            #expect(try EncodeRun(some + ["--fps", "50", "--strict"], in: folder).status == 69)
            let same = try EncodeRun(some + ["--fps", "25", "--json", "--strict"], in: folder)
            #expect(same.status == 0 && same.effective("speed") == nil, "\(same.errors)")
        }
    }

    /// 29.97 means 30000/1001. `decode` reports the speed too.
    @Test func equivalentRateIsNoSpeedChange() throws {
        try Files.withTemporaryFolder { folder in
            try ffmpeg("-f", "lavfi", "-i", "testsrc=size=64x48:rate=30000/1001:duration=0.4", "-pix_fmt", "yuv420p", "\(folder)/in.mp4")
            let run = try EncodeRun(["in.mp4", "--device", "software", "--codec", "h264", "--fps", "29.97", "--json", "-o", "a.mp4"], in: folder)
            #expect(run.status == 0 && run.effective("speed") == nil, "\(run.errors)")
            let decoded = try ProcessRunner.run(Checkout.vaenc, ["decode", "in.mp4", "-o", "a.y4m", "--fps", "60"], directory: folder)
            #expect(decoded.status == 0 && decoded.errors.contains("speed: asked 1x, used 2.002x"), "\(decoded.errors)")
        }
    }

    /// Raw frames have no frame rate, from a pipe or a file.
    @Test(arguments: ["-", "in.nv12"]) func assumedRateIsReported(_ input: String) throws {
        try Files.withTemporaryFolder { folder in
            let frames = [UInt8](repeating: 128, count: 64 * 48 * 3 / 2 * 3)
            try Files.write(frames, to: "\(folder)/in.nv12")
            let some = [
                input, "--input-size", "64x48", "--input-format", "nv12", "--device", "software", "--codec", "h264", "--json", "--overwrite", "-o",
                "a.mp4",
            ]
            let run = try EncodeRun(some, in: folder, input: input == "-" ? frames : [])
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.errors.contains("30 frames per second are assumed") && run.errors.contains("--fps"), "\(run.errors)")
            #expect(run.report?["notices"]?.array.contains { $0.string?.contains("30 frames per second are assumed") == true } == true)
            #expect(run.effective("frameRate")?["why"]?.string?.contains("assumed") == true)
            let requested = try EncodeRun(some + ["--fps", "30"], in: folder, input: input == "-" ? frames : [])
            #expect(!requested.errors.contains("assumed") && requested.effective("frameRate")?["why"]?.string == "as asked", "\(requested.errors)")
        }
    }

    /// Images have no frame rate: one is assumed, and another does not change the speed.
    @Test(arguments: ["in.png", "in.jpg", "in.mjpeg"]) func imageRateIsAssumedAndReported(_ name: String) throws {
        try Files.withTemporaryFolder { folder in
            try ffmpeg("-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=1", "-frames:v", "1", "\(folder)/\(name)")
            let some = [name, "--device", "software", "--codec", "h264", "--json", "--overwrite", "-o", "a.mp4"]
            let run = try EncodeRun(some, in: folder)
            #expect(run.status == 0 && run.errors.contains("images have no frame rate: 25 frames per second are assumed"), "\(run.errors)")
            #expect(run.effective("frameRate")?["why"]?.string == "assumed: images have no frame rate")
            let device = try EncodeRun([name, "--device", "reference", "--json", "-o", "b.h264"], in: folder)
            #expect(device.effective("frameRate")?["why"]?.string == "assumed: images have no frame rate", "\(device.errors)")
            if name != "in.mjpeg" {
                let copied = try ProcessRunner.run(Checkout.vaenc, ["remux", name, "-o", "copy.mkv"], directory: folder)
                #expect(
                    copied.status == 0 && copied.errors.contains("images have no frame rate: 25 images per second are assumed"), "\(copied.errors)")
            }
            let slow = try EncodeRun(some + ["--fps", "5"], in: folder)
            #expect(slow.status == 0 && slow.effective("speed") == nil && !slow.errors.contains("speed"), "\(slow.errors)")
            #expect(slow.effective("frameRate")?["why"]?.string == "as asked" && !slow.errors.contains("assumed"), "\(slow.errors)")
            #expect(slow.report?["seconds"]?["media"]?.double == 0.2)
            let decoded = try ProcessRunner.run(Checkout.vaenc, ["decode", name, "-o", "a.y4m"], directory: folder)
            #expect(decoded.status == 0 && decoded.errors.contains("images have no frame rate"), "\(decoded.errors)")
        }
    }

    /// Another frame rate removes the sound, which --strict refuses.
    @Test func changedSpeedLeavesTheSoundOut() throws {
        try Files.withTemporaryFolder { folder in
            let clip = [try Fixture.bigBuckBunny.path(), "--device", "software", "--codec", "h264", "--frames", "3", "--size", "64x48", "--json"]
            let run = try EncodeRun(clip + ["--fps", "50", "-o", "a.mp4"], in: folder)
            let sound = run.effective("audio")
            #expect(sound?["used"]?.string == "none" && sound?["asked"]?.string == "copied", "\(run.errors)")
        }
    }

    /// The part inside the picture is used, which is reported. A region outside of it is refused.
    @Test(arguments: ["reference", "software"]) func regionsAreClippedToThePicture(_ device: String) throws {
        try Files.withTemporaryFolder { folder in
            let some = ["testsrc:176x144@25:3", "--device", device, "--codec", "h264", "--bframes", "0", "--json", "--overwrite", "-o", "a.h264"]
            let run = try EncodeRun(some + ["--roi", "0,0,9999x64:-8"], in: folder)
            #expect(run.status == 0, "\(run.errors)")
            let entry = run.effective("region of interest")
            #expect(entry?["asked"]?.string == "0,0,9999x64:-8" && entry?["used"]?.string == "0,0,176x64:-8", "\(run.report as Any)")
            let strict = try EncodeRun(some + ["--roi", "0,0,16x16:-8", "--roi", "160,128,17x16:-8", "--strict"], in: folder)
            #expect(strict.status == 69 && strict.errors.contains("region of interest 2"), "\(strict.errors)")
            let inside = try EncodeRun(some + ["--roi", "160,128,16x16:-8", "--strict"], in: folder)
            #expect(inside.status == 0 && inside.effective("region of interest") == nil, "\(inside.errors)")
            #expect(try EncodeRun(some + ["--roi", "176,0,16x16:-8"], in: folder).status == 64)
        }
    }
}
