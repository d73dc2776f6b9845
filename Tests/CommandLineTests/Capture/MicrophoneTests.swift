import TestOracles
import Testing

/// Sound recorded with a camera's pictures.
@Suite struct MicrophoneTests {
    private func streams(_ run: CaptureRun, _ name: String) throws -> [String: JSONValue] {
        let result = try ProcessRunner.run(
            "ffprobe",
            ["-v", "error", "-show_entries", "stream=codec_type,codec_name,sample_rate,channels,start_time,duration", "-of", "json", name],
            directory: run.folder)
        let all = JSONValue(result.output)?["streams"]?.array ?? []
        return Dictionary(all.map { ($0["codec_type"]?.string ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    }

    private func seconds(_ stream: JSONValue?, _ key: String) -> Double { stream?[key]?.string.flatMap { Double($0) } ?? .nan }

    /// A tone is recorded as AAC. Both streams begin and end together, and the frequency is unchanged.
    @Test func recordedToneMatchesTheSource() throws {
        try Files.withTemporaryFolder { folder in
            let run = try CaptureRun(
                "9:formats=NV12",
                [
                    "/dev/video9", "-o", "a.mp4", "--duration", "2", "--audio-device", "lavfi:sine=frequency=1000:sample_rate=48000",
                    "--device", "software", "--preset", "7",
                ], in: folder)
            #expect(run.status == 0, "\(run.errors)")
            let found = try streams(run, "a.mp4")
            let (video, sound) = (found["video"], found["audio"])
            #expect(sound?["codec_name"]?.string == "aac" && sound?["sample_rate"]?.string == "44100" && sound?["channels"]?.int == 1)
            #expect(abs(seconds(video, "start_time") - seconds(sound, "start_time")) < 0.04)
            let ends = (seconds(video, "start_time") + seconds(video, "duration"), seconds(sound, "start_time") + seconds(sound, "duration"))
            #expect(abs(ends.0 - 2) < 0.05 && abs(ends.1 - ends.0) < 0.04, "\(ends)")
            let raw = try ProcessRunner.run(
                "ffmpeg", ["-v", "error", "-i", "a.mp4", "-vn", "-ac", "1", "-ar", "8000", "-f", "u8", "-"], directory: folder)
            // The tone has 1000 Hz.
            let wave = raw.stdout[4000..<12000].map { Int($0) - 128 }
            let crossings = zip(wave, wave.dropFirst()).count { $0 < 0 && $1 >= 0 }
            #expect(abs(crossings - 1000) <= 3, "\(crossings)")
            #expect(run.capture?["sound"]?["rate"]?.int == 48000 && run.capture?["sound"]?["gaps"]?.int == 0)
        }
    }

    /// If a device cannot be opened, vaenc prints one line with the reason and how to list the devices. ALSA's library
    /// prints nothing.
    @Test(arguments: [
        ("hw:31", 69, "arecord -L"), ("nosuch", 69, "arecord -L"), ("pulse:none", 69, "pactl list sources short"),
        ("lavfi:nosuchfilter", 69, "filter"), ("", 64, "--audio-device"),
    ]) func unavailableSoundDeviceIsReported(_ name: String, _ status: Int, _ remedy: String) throws {
        try Files.withTemporaryFolder { folder in
            let run = try CaptureRun(
                "9:formats=NV12", ["/dev/video9", "-o", "a.mkv", "--frames", "3", "--audio-device", name, "--device", "software"], in: folder)
            #expect(run.status == status && run.encode.errorLines.count == 1 && run.errors.contains(remedy), "\(run.errors)")
            #expect(Files.list(folder).isEmpty)
        }
    }

    /// ALSA's file plug-in simulates a sound card that is faster than real time.
    @Test func alsaCardIsRecorded() throws {
        try Files.withTemporaryFolder { folder in
            let wave = (0..<480_000).flatMap { index -> [UInt8] in
                let value = Int16(index / 24 % 2 == 0 ? 8000 : -8000)
                return [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
            }
            try Files.write(wave, to: folder + "/in.raw")
            let config = """
                pcm.null { type null }
                pcm.card { type file slave.pcm null file /dev/null infile "\(folder)/in.raw" format raw }
                """
            try Files.write(Array(config.utf8), to: folder + "/asoundrc")
            let run = try CaptureRun(
                "9:formats=NV12",
                ["/dev/video9", "-o", "a.mkv", "--duration", "1.5", "--audio-device", "card", "--device", "software", "--preset", "7"],
                in: folder, environment: ["ALSA_CONFIG_PATH": folder + "/asoundrc"])
            #expect(run.status == 0, "\(run.errors)")
            let found = try streams(run, "a.mkv")
            #expect(found["audio"]?["codec_name"]?.string == "aac" && found["video"] != nil)
        }
    }

    /// A microphone that is slower than real time, or nearly silent, delays no picture. Both streams end together, and
    /// missing samples are filled with silence and counted.
    @Test(arguments: [0.5, 0.001]) func slowMicrophoneIsFilledWithSilence(_ speed: Double) throws {
        try Files.withTemporaryFolder { folder in
            let run = try CaptureRun(
                "9:formats=NV12",
                [
                    "/dev/video9", "-o", "a.mp4", "--duration", "2", "--device", "software", "--preset", "7",
                    "--audio-device", "lavfi:sine=frequency=1000:sample_rate=48000,arealtime=speed=\(speed):limit=10000",
                ], in: folder)
            #expect(run.status == 0, "\(run.errors)")
            let times = try run.times("a.mp4")
            // Pictures in the queue at the end of the recording, and the picture after its end, are not encoded.
            let given = (run.count("captured") ?? -1) - (run.count("late") ?? 0)
            #expect((0...6).contains(given - times.count), "\(given) \(times.count)")
            #expect(times.last ?? 0 > 1.8, "\(times)")
            let found = try streams(run, "a.mp4")
            let (video, sound) = (found["video"], found["audio"])
            let ends = (seconds(video, "start_time") + seconds(video, "duration"), seconds(sound, "start_time") + seconds(sound, "duration"))
            #expect(abs(ends.1 - ends.0) < 0.04, "\(ends)")
            let filled = run.capture?["sound"]?["samplesFilled"]?.int ?? 0
            #expect(filled > 48_000 / 4 && filled < 48_000 * 2 + 4800, "\(filled)")
        }
    }

    @Test func unusableSoundCardLeavesNoFile() throws {
        try Files.withTemporaryFolder { folder in
            let run = try CaptureRun("9:", ["/dev/video9", "-o", "a.mp4", "--audio-device", "hw:99", "--device", "software"], in: folder)
            #expect(run.status == 69 && run.encode.errorLines.contains { $0.contains("hw:99") }, "\(run.errors)")
            #expect(Files.list(folder).isEmpty)
        }
    }
}
