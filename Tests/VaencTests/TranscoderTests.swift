import MediaFiles
import Synchronization
import TestOracles
import Testing
import VideoBase

@testable import Vaenc

/// Whole files, encoded by a transcoder and read by FFmpeg.
@Suite struct TranscoderTests {
    /// Makes an MP4 of 50 pictures of 160×96 with two seconds of sound, a title and a chapter.
    private static func film(_ folder: String) throws -> String {
        let tags = ";FFMETADATA1\ntitle=A film\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=1000\ntitle=Part 1\n"
        try Files.write(Array(tags.utf8), to: folder + "/tags")
        let setup = try ProcessRunner.run(
            "ffmpeg",
            ["-v", "error", "-f", "lavfi", "-i", "testsrc=s=160x96:r=25:d=2", "-f", "lavfi", "-i", "sine=r=48000:d=2", "-i", folder + "/tags"]
                + ["-map", "0", "-map", "1", "-map_metadata", "2", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac", folder + "/film.mp4"])
        #expect(setup.status == 0, "\(setup.errors)")
        return folder + "/film.mp4"
    }

    /// What ffprobe reads: the codec and number of packets of each stream, and the title.
    private static func probe(_ file: String) throws -> (streams: [String], title: String?, chapters: Int) {
        let result = try ProcessRunner.run(
            "ffprobe", ["-v", "error", "-count_packets", "-show_streams", "-show_format", "-show_chapters", "-of", "json", file])
        let json = try #require(JSONValue(result.output), "\(result.errors)")
        let streams = (json["streams"]?.array ?? []).map { "\($0["codec_name"]?.string ?? "") \($0["nb_read_packets"]?.string ?? "")" }
        return (streams, json["format"]?["tags"]?["title"]?.string, json["chapters"]?.array.count ?? 0)
    }

    @Test func fileIsEncodedWithItsSoundAndTags() async throws {
        try await Files.withTemporaryFolder { folder in
            let film = try Self.film(folder)
            let sound = try Self.probe(film).streams[1]
            let transcoder = try Transcoder(input: film, output: folder + "/out.mp4", device: .reference) {
                $0.codec = .hevc
                $0.rate.qp = 30
            }
            let states = Mutex<[Transcoder.Progress]>([])
            let result = try await transcoder.run { state in states.withLock { $0.append(state) } }
            let probed = try Self.probe(folder + "/out.mp4")
            // A track of text holds the chapters.
            #expect(probed.streams.prefix(2) == ["hevc 50", sound] && probed.title == "A film" && probed.chapters == 1)
            let output = try #require(result.outputs.first)
            #expect(result.outputs.count == 1 && result.framesRead == 50 && !result.isInterrupted)
            #expect(output.counts.encoded == 50 && output.counts.dropped == 0 && output.error == nil)
            #expect(output.counts.key + output.counts.p + output.counts.b == 50)
            #expect(output.bytes == (try Files.read(folder + "/out.mp4").count) && output.description.codec == .hevc)
            #expect(output.effective.first { $0.option == "audio" }?.used == "copy")
            let last = try #require(states.withLock { $0 }.last)
            #expect(last.framesRead == 50 && last.framesEncoded == 50 && last.expectedFrames == 50)
            #expect(abs(last.mediaDuration.seconds - 2) < 0.001 && last.packetBytes == output.counts.packetBytes)
        }
    }

    /// The name decides the codec of `.h264`, and sound that cannot be written is reported.
    @Test func bareStreamsReportTheSoundThatTheyLack() throws {
        try Files.withTemporaryFolder { folder in
            let film = try Self.film(folder)
            let result = try Transcoder(input: film, output: folder + "/out.h264", device: .software).run()
            #expect(ForeignDecoder.libavcodec.decode(try Files.read(folder + "/out.h264")).frames.count == 50)
            let entry = try #require(result.outputs[0].effective.first { $0.option == "audio" })
            #expect(entry.differs && result.outputs[0].description.codec == .h264)
        }
    }

    /// If one output fails, the other one is finished.
    @Test func oneFailingOutputLeavesTheOthers() throws {
        try Files.withTemporaryFolder { folder in
            let source = try MediaInput.open("testsrc:64x48@25:20")
            defer { source.close() }
            var configuration = EncoderConfiguration(encoding: source.info)
            configuration.codec = .h264
            // A device on which each write fails.
            let outputs = [Transcoder.Output(folder + "/a.mp4", configuration), Transcoder.Output("/dev/full", configuration)]
            let result = try Transcoder(source, outputs: outputs).run()
            #expect(result.outputs[0].error == nil && result.outputs[1].error != nil)
            #expect(try Self.probe(folder + "/a.mp4").streams == ["h264 20"])
        }
    }

    /// The input is counted whole, also if the first output fails.
    @Test func firstOutputMayFail() throws {
        try Files.withTemporaryFolder { folder in
            let source = try MediaInput.open("testsrc:64x48@25:3000")
            defer { source.close() }
            var configuration = EncoderConfiguration(encoding: source.info)
            (configuration.codec, configuration.strict, configuration.structure.forcedKeyFrames) = (.h264, true, [2990])
            configuration.coding.preset = 7
            var options = Transcoder.Options()
            options.device = .software
            let outputs = ["/dev/full", folder + "/a.mp4"].map { Transcoder.Output($0, configuration) }
            let latest = Mutex(Transcoder.Progress())
            let result = try Transcoder(source, outputs: outputs, options: options).run { state in latest.withLock { $0 = state } }
            #expect(result.outputs[0].error != nil && result.outputs[1].error == nil && result.notices.isEmpty, "\(result.notices)")
            #expect(try Self.probe(folder + "/a.mp4").streams == ["h264 3000"])
            #expect(latest.withLock { $0.framesEncoded } == 3000)
        }
    }

    /// A change that an encoder would refuse is refused before the first frame, and nothing is written.
    @Test(arguments: [DeviceSelector.reference, .software]) func impossibleChangesAreRefusedAtOnce(_ device: DeviceSelector) throws {
        try Files.withTemporaryFolder { folder in
            let source = try MediaInput.open("testsrc:64x48@25:60")
            defer { source.close() }
            var rated = EncoderConfiguration(encoding: source.info)
            (rated.codec, rated.rate.rateControl, rated.rate.bitrate, rated.rate.maxBitrate) = (
                .h264, .vbr, BitsPerSecond(200_000), BitsPerSecond(400_000)
            )
            var constant = EncoderConfiguration(encoding: source.info)
            (constant.codec, constant.rate.qp) = (.h264, 30)
            var options = Transcoder.Options()
            options.device = device
            var change = RunningChange()
            change.bitrate = BitsPerSecond(300_000)
            options.rateChanges = [25: change]
            let names = ["/a.mp4", "/b.mp4"].map { folder + $0 }
            let outputs = [Transcoder.Output(names[0], rated), Transcoder.Output(names[1], constant)]
            let error = #expect(throws: VaencError.self) { try Transcoder(source, outputs: outputs, options: options).run() }
            #expect(error?.category == .unavailable && Files.list(folder).isEmpty, "\(error as Any)")
            // Alone, the first one follows the change, and keeps the maximum that was requested.
            let result = try Transcoder(source, outputs: [outputs[0]], options: options).run()
            let maximum = result.outputs[0].effective.first { $0.option == "maxBitrate" }
            #expect(
                result.outputs[0].counts.encoded == 60 && maximum?.differs == false && maximum?.asked?.contains("400000") == true, "\(maximum as Any)"
            )
        }
    }

    /// The limits of the source end the sound too; sound that the source does not read is reported as such.
    @Test func sourceOptionsApplyToTheSound() throws {
        try Files.withTemporaryFolder { folder in
            let film = try Self.film(folder)
            func run(_ name: String, audio: AudioMode? = nil, _ set: (inout SourceOptions) -> Void) throws -> Transcoder.Result {
                var reading = SourceOptions()
                set(&reading)
                let source = try MediaInput.open(film, options: reading)
                defer { source.close() }
                var configuration = EncoderConfiguration(encoding: source.info)
                configuration.codec = .h264
                var options = Transcoder.Options()
                options.device = .software
                var output = Transcoder.Output(folder + name, configuration)
                output.audio = audio
                return try Transcoder(source, outputs: [output], options: options).run()
            }
            _ = try run("/short.mp4") { ($0.readsSound, $0.duration) = (true, .seconds(1)) }
            let lengths = try ProcessRunner.run(
                "ffprobe", ["-v", "error", "-show_entries", "stream=codec_type,duration", "-of", "csv=p=0", folder + "/short.mp4"])
            let seconds = lengths.output.split(separator: "\n").filter { $0.hasPrefix("audio") || $0.hasPrefix("video") }
                .compactMap { $0.split(separator: ",").last.flatMap { Double($0) } }
            #expect(seconds.count == 2 && seconds.allSatisfy { abs($0 - 1) < 0.05 }, "\(lengths.output)")
            let silent = try run("/silent.mp4") { $0.readsSound = false }
            let entry = silent.outputs[0].effective.first { $0.option.contains("audio") && $0.used == "left out" }
            #expect(entry?.why == "`SourceOptions.readsSound` is off", "\(silent.outputs[0].effective)")
            let requested = try run("/asked.mp4", audio: .aac) { $0.readsSound = false }
            let sound = requested.outputs[0].effective.first { $0.option == "audio" }
            #expect(sound?.used == "none" && sound?.why == "`SourceOptions.readsSound` is off", "\(sound as Any)")
        }
    }

    /// Names decide the codec in both forms of `init`; a pipe without a reader does not outlast `cancel`.
    @Test func namedPipesEndWithCancel() async throws {
        try await Files.withTemporaryFolder { folder in
            let setup = try ProcessRunner.run("mkfifo", [folder + "/a.h264"])
            #expect(setup.status == 0)
            let transcoder = try Transcoder(input: "testsrc:64x48@25:10", output: folder + "/a.h264", device: .software)
            let task = Task { try await transcoder.run() }
            transcoder.cancel()
            let error = await #expect(throws: VaencError.self) { _ = try await task.value }
            #expect(error?.category == .interrupted)
        }
        let source = try MediaInput.open("testsrc:320x240@25:10")
        defer { source.close() }
        try Files.withTemporaryFolder { folder in
            var options = Transcoder.Options()
            options.device = .reference
            let output = Transcoder.Output(folder + "/a.h264", EncoderConfiguration(encoding: source.info))
            let result = try Transcoder(source, outputs: [output], options: options).run()
            #expect(result.outputs[0].description.codec == .h264)
        }
    }

    @Test func cancelFinishesTheFileWithTheFramesSoFar() async throws {
        try await Files.withTemporaryFolder { folder in
            let transcoder = try Transcoder(input: "testsrc:64x48@25:1000000", output: folder + "/a.mp4", device: .software)
            let result = try await transcoder.run { state in if state.framesRead > 20 { transcoder.cancel() } }
            #expect(result.isInterrupted && result.framesRead > 20 && result.framesRead < 1_000_000)
            #expect(try Self.probe(folder + "/a.mp4").streams == ["h264 \(result.outputs[0].counts.encoded)"])
            #expect(result.outputs[0].counts.dropped == 0)
            let again = await #expect(throws: VaencError.self) { _ = try await transcoder.run() }
            #expect(again?.category == .usage)
        }
    }

    /// The cancellation of the task has the effect of `cancel`.
    @Test func cancelledTaskFinishesTheFile() async throws {
        try await Files.withTemporaryFolder { folder in
            let transcoder = try Transcoder(input: "testsrc:64x48@25:1000000", output: folder + "/a.mp4", device: .software)
            let (begun, signal) = AsyncStream<Void>.makeStream()
            let task = Task { try await transcoder.run { state in if state.framesRead > 20 { signal.yield() } } }
            for await _ in begun { break }
            task.cancel()
            let result = try await task.value
            #expect(result.isInterrupted)
            #expect(try Self.probe(folder + "/a.mp4").streams == ["h264 \(result.outputs[0].counts.encoded)"])
        }
    }

    @Test func cancelBeforeTheRunWritesNothing() throws {
        try Files.withTemporaryFolder { folder in
            let transcoder = try Transcoder(input: "testsrc:64x48@25:10", output: folder + "/a.mp4", device: .software)
            transcoder.cancel()
            let error = #expect(throws: VaencError.self) { _ = try transcoder.run() }
            #expect(error?.category == .interrupted && !Files.exists(folder + "/a.mp4") && !Files.exists(folder + "/a.mp4.part"))
        }
    }

    @Test func wrongUseIsRefused() throws {
        try Files.withTemporaryFolder { folder in
            let film = try Self.film(folder)
            func category(_ body: () throws -> Void) -> ErrorCategory? {
                do { try body() } catch { return (error as? any DescribedError)?.category }
                return nil
            }
            #expect(category { _ = try Transcoder(input: film, output: film, overwrite: true) } == .usage)
            #expect(category { _ = try Transcoder(input: film, output: folder + "/a.xyz") } == .usage)
            #expect(category { _ = try Transcoder(input: film, output: folder + "/a.h264") { $0.codec = .hevc } } == .usage)
            #expect(
                category { _ = try Transcoder(input: film, output: folder + "/a.mp4") { $0.size = VideoSize(width: 80, height: 48) }.run() } == .usage
            )
            #expect(category { _ = try Transcoder(input: film, output: folder + "/a.mp4") { $0.frameRate = Rational(50) }.run() } == .usage)
            #expect(category { _ = try Transcoder(input: folder + "/none.mp4", output: folder + "/a.mp4") } == .noInput)
            let source = try MediaInput.open("testsrc:64x48@25:2")
            #expect(category { _ = try Transcoder(source, outputs: []).run() } == .usage)
            let small = EncoderConfiguration(encoding: source.info)
            let twice = [Transcoder.Output(folder + "/b.mp4", small), Transcoder.Output(folder + "/./b.mp4", small)]
            #expect(category { _ = try Transcoder(source, outputs: twice).run() } == .usage)
            var options = Transcoder.Options()
            options.rateChanges = [-1: RunningChange()]
            #expect(category { _ = try Transcoder(source, outputs: [twice[0]], options: options).run() } == .usage)
            #expect(!Files.exists(folder + "/b.mp4"))
            // An existing file is kept.
            try Files.write([1, 2, 3], to: folder + "/a.mp4")
            #expect(category { _ = try Transcoder(input: film, output: folder + "/a.mp4").run() } == .cannotCreate)
            #expect(try Files.read(folder + "/a.mp4") == [1, 2, 3])
        }
    }
}
