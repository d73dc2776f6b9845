import MediaFiles
import TestOracles
import Testing
import VAAPI
import Vaenc

/// `MediaMuxer` writes a session's pictures and PCM into a file, judged by ffprobe.
@Suite struct MediaMuxerTests {
    /// Writes `seconds` of pictures at 25 frames/s and as much of a tone, which begins 80 ms after the pictures.
    private func record(_ muxer: MediaMuxer, seconds: Int = 2) async throws {
        var configuration = EncoderConfiguration(size: VideoSize(width: 96, height: 64))
        configuration.frameRate = Rational(25)
        configuration.codec = .h264
        let session = try CompressionSession(configuration: configuration, device: .software)
        muxer.start()
        muxer.describe(try session.encoderDescription)
        let sound = try AudioTranscoder(pcm: PCMFormat(sample: .s16, rate: 48_000, channels: 1), settings: .microphone)
        muxer.describe(sound.track)
        let writer = Task { for try await packet in session.packets { muxer.append(packet) } }
        let start: Int64 = 1_000_000
        for frame in 0..<seconds * 25 {
            let buffer = try await session.makePixelBuffer()
            try unsafe buffer.withUnsafePlanes { planes in
                _ = unsafe planes.base(0).initializeMemory(as: UInt8.self, repeating: UInt8(frame * 4 & 255), count: 64)
            }
            let time = MediaTime(value: start + Int64(frame) * 40_000, timescale: 1_000_000)
            try await session.encode(buffer, presentation: time)
            let samples = (0..<1920).flatMap { index -> [UInt8] in
                let value: Int16 = (frame * 1920 + index) / 50 % 2 == 0 ? 8000 : -8000
                return [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
            }
            let heard = MediaTime(value: start + 80_000 + Int64(frame) * 40_000, timescale: 1_000_000)
            for packet in try sound.write(samples, at: heard) { muxer.append(packet, of: sound.track) }
        }
        try await session.completeFrames()
        session.invalidate()
        try await writer.value
        for packet in try sound.finish() { muxer.append(packet, of: sound.track) }
    }

    private func configuration(_ output: String) -> MediaMuxer.Configuration {
        var configuration = MediaMuxer.Configuration(output: output)
        configuration.kinds = [.video, .audio]
        configuration.options.survivesKill = true
        return configuration
    }

    @Test(arguments: ["mp4", "mkv"]) func fileHasPicturesAndSound(_ ending: String) async throws {
        let path = Fixture.folder + "/muxer-\(UInt32.random(in: 0...UInt32.max)).\(ending)"
        defer { _ = try? ProcessRunner.run("rm", ["-f", path, path + ".part"]) }
        let muxer = MediaMuxer(configuration(path)) { error in Issue.record("\(error)") }
        try await record(muxer)
        try await muxer.stop()
        let probe = try ProcessRunner.run(
            "ffprobe",
            [
                "-v", "error", "-count_frames", "-show_entries", "stream=codec_name,sample_rate,channels,nb_read_frames,start_time", "-of", "csv=p=0",
                path,
            ])
        #expect(probe.status == 0 && probe.errors == "")
        let lines = probe.output.split(separator: "\n").map { $0.split(separator: ",").map(String.init) }
        try #require(lines.count == 2, "\(probe.output)")
        #expect(lines[0].first == "h264" && lines[0].last == "50", "\(probe.output)")
        #expect(lines[1].prefix(3) == ["aac", "44100", "1"], "\(probe.output)")
        // The first picture is at time zero, and the sound starts 80 ms later.
        let (video, sound) = (Double(lines[0][1]) ?? -1, Double(lines[1][3]) ?? -1)
        #expect(abs(sound - video - 0.08) < 0.04, "\(probe.output)")
        let length = try ProcessRunner.run("ffprobe", ["-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", path])
        #expect(abs((Double(length.output.prefix { $0 != "\n" }) ?? 0) - 2.08) < 0.08, "\(length.output)")
    }

    /// Sound that begins with the pictures has its first packet before them, because of the encoder's priming. The first
    /// picture is at time zero in any order of arrival.
    @Test(arguments: ["mp4", "mov"], [true, false]) func primingDoesNotMoveTimeZero(_ ending: String, soundIsFirst: Bool) async throws {
        let path = Fixture.folder + "/muxer-\(UInt32.random(in: 0...UInt32.max)).\(ending)"
        defer { _ = try? ProcessRunner.run("rm", ["-f", path, path + ".part"]) }
        var encoding = EncoderConfiguration(size: VideoSize(width: 96, height: 64))
        encoding.codec = .h264
        let session = try CompressionSession(configuration: encoding, device: .software)
        defer { session.invalidate() }
        let muxer = MediaMuxer(configuration(path))
        muxer.start()
        muxer.describe(try session.encoderDescription)
        let sound = try AudioTranscoder(pcm: PCMFormat(sample: .s16, rate: 48_000, channels: 1), settings: .microphone)
        muxer.describe(sound.track)
        let start = MediaTime(value: 7, timescale: 1)
        let packets = try sound.write([UInt8](repeating: 0, count: 48_000), at: start) + sound.finish()
        if soundIsFirst { for packet in packets { muxer.append(packet, of: sound.track) } }
        let writer = Task { for try await packet in session.packets { muxer.append(packet) } }
        for frame in 0..<15 {
            try await session.encode(try await session.makePixelBuffer(), presentation: start + MediaTime(value: Int64(frame), timescale: 30))
        }
        try await session.completeFrames()
        session.invalidate()
        try await writer.value
        if !soundIsFirst { for packet in packets { muxer.append(packet, of: sound.track) } }
        try await muxer.stop()
        let probe = try ProcessRunner.run("ffprobe", ["-v", "error", "-show_entries", "stream=start_time", "-of", "csv=p=0", path])
        #expect(probe.output.split(separator: "\n") == ["0.000000", "0.000000"], "\(probe.output)")
    }

    /// A cancelled muxer leaves no file. One that is stopped without a description throws and leaves no file.
    @Test func cancelledMuxerLeavesNoFile() async throws {
        let path = Fixture.folder + "/muxer-\(UInt32.random(in: 0...UInt32.max)).mp4"
        let muxer = MediaMuxer(configuration(path))
        try await record(muxer, seconds: 1)
        muxer.cancel()
        await #expect(throws: VaencError.self) { try await muxer.stop() }
        #expect(!Files.exists(path) && !Files.exists(path + ".part"))
        let empty = MediaMuxer(configuration(path))
        empty.start()
        await #expect(throws: VaencError.self) { try await empty.stop() }
        #expect(!Files.exists(path) && !Files.exists(path + ".part"))
    }

    /// Another muxer can write the output of a cancelled one: it waits until that has ended.
    @Test func outputOfACancelledMuxerCanBeWrittenAgain() async throws {
        let path = Fixture.folder + "/muxer-\(UInt32.random(in: 0...UInt32.max)).mp4"
        defer { _ = try? ProcessRunner.run("rm", ["-f", path, path + ".part"]) }
        var encoding = EncoderConfiguration(size: VideoSize(width: 96, height: 64))
        encoding.codec = .h264
        let session = try CompressionSession(configuration: encoding, device: .software)
        defer { session.invalidate() }
        let description = try session.encoderDescription
        var configuration = MediaMuxer.Configuration(output: path)
        configuration.options.overwrite = true
        for round in 0..<40 {
            let cancelled = MediaMuxer(configuration)
            cancelled.start()
            cancelled.describe(description)
            if round % 2 == 0 { cancelled.append(Self.packet()) }
            cancelled.cancel()
            let muxer = MediaMuxer(configuration)
            muxer.start()
            muxer.describe(description)
            muxer.append(Self.packet())
            try await muxer.stop()
        }
        #expect(Files.exists(path) && !Files.exists(path + ".part"))
        // Several that are cancelled while they wait for each other.
        for _ in 0..<20 {
            let cancelled = (0..<4).map { _ in MediaMuxer(configuration) }
            for muxer in cancelled { muxer.start() }
            for muxer in cancelled { muxer.cancel() }
            let muxer = MediaMuxer(configuration)
            muxer.start()
            muxer.describe(description)
            muxer.append(Self.packet())
            try await muxer.stop()
        }
    }

    /// A recording whose session swaps to another size ends with an error, but stays.
    @Test(arguments: ["mp4", "mkv"]) func recordingStaysAfterASwap(_ ending: String) async throws {
        let path = Fixture.folder + "/muxer-\(UInt32.random(in: 0...UInt32.max)).\(ending)"
        defer { _ = try? ProcessRunner.run("rm", ["-f", path, path + ".part"]) }
        var encoding = EncoderConfiguration(size: VideoSize(width: 96, height: 64))
        encoding.codec = .h264
        encoding.structure.gopFrames = 10
        let session = try CompressionSession(configuration: encoding, device: .software)
        defer { session.invalidate() }
        var configuration = configuration(path)
        configuration.kinds = [.video]
        let muxer = MediaMuxer(configuration)
        let writer = Task { for try await packet in session.packets { muxer.append(packet) } }
        muxer.start()
        muxer.describe(try session.encoderDescription)
        for index in 0..<60 {
            if index == 50 {
                var larger = encoding
                larger.size = VideoSize(width: 128, height: 64)
                try await session.swap(to: larger)
            }
            try await session.encode(try await session.makePixelBuffer(), presentation: MediaTime(value: Int64(index), timescale: 30))
        }
        try await session.completeFrames()
        session.invalidate()
        try await writer.value
        do {
            try await muxer.stop()
            Issue.record("stopped")
        } catch let error as VaencError {
            #expect(error.category == .usage && error.remedy?.contains(path + ".part") == true, "\(error)")
        }
        let probe = try ProcessRunner.run(
            "ffprobe", ["-v", "error", "-count_packets", "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0", path + ".part"])
        #expect((Int(probe.output.prefix { $0.isNumber }) ?? 0) > 20, "\(probe.output) \(probe.errors)")
    }

    /// The muxer has a description but no packet: the file would have no picture.
    @Test(arguments: ["mp4", "mkv", "ts", "h264", "m3u8"], [true, false]) func stopWithoutPacketsIsAnError(_ ending: String, _ survivesKill: Bool)
        async throws
    {
        var encoding = EncoderConfiguration(size: VideoSize(width: 96, height: 64))
        encoding.codec = .h264
        let session = try CompressionSession(configuration: encoding, device: .software)
        defer { session.invalidate() }
        let path = Fixture.folder + "/muxer-\(UInt32.random(in: 0...UInt32.max)).\(ending)"
        var configuration = MediaMuxer.Configuration(output: path)
        configuration.options.survivesKill = survivesKill
        let muxer = MediaMuxer(configuration)
        muxer.start()
        muxer.describe(try session.encoderDescription)
        do {
            try await muxer.stop()
            Issue.record("stopped")
        } catch let error as VaencError {
            #expect(error.category == .usage && error.message.contains("no packet was appended for \(path)"), "\(error)")
        }
        #expect(!Files.exists(path) && !Files.exists(path + ".part"))
    }

    private static let frame = MediaTime(value: 1, timescale: 25)
    private static func packet(
        _ bytes: [UInt8] = [0, 0, 0, 1, 0x65, 0x88, 0x80], shown: MediaTime = .zero, decoded: MediaTime? = nil, duration: MediaTime? = frame
    ) -> EncodedPacket {
        EncodedPacket(
            codec: .h264, bytes: bytes, type: .idr, presentation: shown, decode: decoded ?? shown, duration: duration, displayIndex: 0, codingIndex: 0
        )
    }

    /// A value that no container can store is refused with an error that names it, and no file is left.
    @Test(arguments: ["mp4", "mkv", "ts", "h264"]) func invalidPacketsAreRefused(_ ending: String) async throws {
        var encoding = EncoderConfiguration(size: VideoSize(width: 96, height: 64))
        encoding.codec = .h264
        let session = try CompressionSession(configuration: encoding, device: .software)
        defer { session.invalidate() }
        let description = try session.encoderDescription
        let own = description
        let path = Fixture.folder + "/muxer-\(UInt32.random(in: 0...UInt32.max)).\(ending)"
        func refusal(
            _ packets: [EncodedPacket], of description: EncoderDescription? = nil, _ change: (inout MediaMuxer.Configuration) -> Void = { _ in }
        ) async -> String {
            var configuration = MediaMuxer.Configuration(output: path)
            change(&configuration)
            let muxer = MediaMuxer(configuration)
            muxer.start()
            muxer.describe(description ?? own)
            for packet in packets { muxer.append(packet) }
            do { try await muxer.stop() } catch let error as VaencError {
                return error.category == .usage ? error.message : "\(error)"
            } catch { return "\(error)" }
            return "none"
        }
        func time(_ value: Int64, _ timescale: Int32) -> MediaTime { MediaTime(value: value, timescale: timescale) }
        let wrong: [(EncodedPacket, String)] = [
            (Self.packet(shown: time(1, 0)), "a packet's presentation time 1/0 s is out of range"),
            (Self.packet(shown: time(1, -5)), "a packet's presentation time 1/-5 s is out of range"),
            (Self.packet(shown: time(.max, 1)), "a packet's presentation time \(Int64.max)/1 s is out of range"),
            (Self.packet(decoded: time(.min, 25)), "a packet's decoding time \(Int64.min)/25 s is out of range"),
            (Self.packet(duration: time(-1, 25)), "a packet's duration -1/25 s is out of range"),
            (Self.packet(duration: time(1, 0)), "a packet's duration 1/0 s is out of range"), (Self.packet([]), "a packet has no bytes"),
        ]
        for (packet, words) in wrong { #expect(await refusal([packet]) == words) }
        // Times far from all others, and the largest ones.
        for value in [Int64(1) << 40, -1 << 40] {
            let far = Self.packet(shown: time(value - value.signum(), 1))
            _ = await refusal([far, Self.packet(shown: time(Int64(1) << 39, 1))])
            // If the format supports such times, there is a file now.
            _ = try ProcessRunner.run("rm", ["-f", path, path + ".part"])
        }
        let back = [Self.packet(shown: Self.frame), Self.packet()]
        #expect(await refusal(back) == "a packet for \(path) has an earlier decoding time than the packet before it")
        var predicted = Self.packet()
        (predicted.type, predicted.isRandomAccess) = (.p, false)
        #expect(await refusal([predicted, Self.packet()]) == "the first packet for \(path) is not a key frame, so decoders cannot start with it")
        if ending != "h264" {
            var small = description
            small.size = VideoSize(width: 0, height: 64)
            #expect(await refusal([Self.packet()], of: small).contains("size 0×64 is out of range"))
            small = description
            small.frameRate = Rational(1, 0)
            #expect(await refusal([Self.packet()], of: small).contains("frame rate"))
        }
        if ending != "h264" {
            let same = [Self.packet(shown: Self.frame), Self.packet(shown: Self.frame)]
            #expect(await refusal(same) == "a packet for \(path) has no later decoding time than the packet before it")
        }
        if ending == "mp4" || ending == "mkv" {
            for sets in [[], [[1, 2, 3]], description.parameterSets.map { Array($0.prefix(2)) }] as [[[UInt8]]] {
                var broken = description
                broken.parameterSets = sets
                #expect(await refusal([Self.packet()], of: broken) == "the description for \(path) lacks complete parameter sets")
            }
        }
        if ending == "mp4" || ending == "mkv" { #expect(await refusal([Self.packet([1, 2, 3])]) == "a packet has no NAL unit") }
        for count in [1, 8, 10] {
            let matrix = [Int32](repeating: 1, count: count)
            #expect(await refusal([Self.packet()]) { $0.options.displayMatrix = matrix } == "displayMatrix has \(count) numbers")
        }
        #expect(await refusal([Self.packet()]) { $0.options.timeOrigin = MediaTime(value: 1, timescale: 0) }.contains("timeOrigin 1/0 s"))
        #expect(await refusal([Self.packet()]) { $0.queueLimit = 0 } == "queueLimit 0 is out of range")
        #expect(!Files.exists(path) && !Files.exists(path + ".part"))
    }

    /// Samples that wait for a description count as queued: the first one over the limit ends writing, and the error
    /// names the missing description.
    @Test(arguments: [[], [MediaTrack.Kind.video], [.audio]], [10, 1000]) func missingDescriptionIsReported(
        _ described: [MediaTrack.Kind], _ limit: Int
    ) async throws {
        var encoding = EncoderConfiguration(size: VideoSize(width: 96, height: 64))
        encoding.codec = .h264
        let session = try CompressionSession(configuration: encoding, device: .software)
        defer { session.invalidate() }
        let sound = try AudioTranscoder(pcm: PCMFormat(sample: .s16, rate: 48_000, channels: 1), settings: .microphone)
        let path = Fixture.folder + "/muxer-\(UInt32.random(in: 0...UInt32.max)).mkv"
        defer { _ = try? ProcessRunner.run("rm", ["-f", path, path + ".part"]) }
        let calls = CallCount()
        var configuration = self.configuration(path)
        configuration.queueLimit = limit
        func make() async throws -> MediaMuxer {
            let muxer = MediaMuxer(configuration) { _ in calls.count += 1 }
            muxer.start()
            if described.contains(.video) { muxer.describe(try session.encoderDescription) }
            if described.contains(.audio) { muxer.describe(sound.track) }
            return muxer
        }
        func append(_ count: Int, to muxer: MediaMuxer) {
            for index in 0..<Int64(count) { muxer.append(Self.packet(shown: MediaTime(value: index, timescale: 25))) }
        }
        let muxer = try await make()
        append(limit + 5, to: muxer)
        do {
            try await muxer.stop()
            Issue.record("stopped")
        } catch let error as VaencError {
            let missing = described == [.video] ? "audio" : described == [.audio] ? "video" : "video, audio"
            let words = "more than \(limit) samples (queueLimit) wait for \(path): no track of \(missing) was described"
            #expect(error.category == .usage && error.message == words, "\(error)")
            #expect(error.description.contains("call describe"), "\(error)")
        }
        // `stop` does not report the error again.
        #expect(calls.count == 1)
        #expect(!Files.exists(path) && !Files.exists(path + ".part"))
        // If the queue is exactly full, its samples are written once the last description arrives.
        let late = try await make()
        append(limit, to: late)
        if !described.contains(.video) { late.describe(try session.encoderDescription) }
        if !described.contains(.audio) { late.describe(sound.track) }
        try await late.stop()
        let probe = try ProcessRunner.run(
            "ffprobe", ["-v", "error", "-select_streams", "v", "-count_packets", "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0", path])
        #expect(probe.output.prefix { $0.isNumber } == "\(limit)", "\(probe.output) \(probe.errors)")
    }

    /// Samples before `start` count as queued too.
    @Test func missingStartIsReported() async throws {
        let path = Fixture.folder + "/muxer-\(UInt32.random(in: 0...UInt32.max)).mkv"
        var configuration = self.configuration(path)
        configuration.queueLimit = 3
        let muxer = MediaMuxer(configuration)
        for index in 0..<4 { muxer.append(Self.packet(shown: MediaTime(value: Int64(index), timescale: 25))) }
        do {
            try await muxer.stop()
            Issue.record("stopped")
        } catch let error as VaencError {
            #expect(error.message == "more than 3 samples (queueLimit) wait for \(path): its muxer was not started", "\(error)")
        }
    }

    /// Each wrong order of calls has its own error.
    @Test func wrongCallOrderIsRefused() async throws {
        let path = Fixture.folder + "/muxer-\(UInt32.random(in: 0...UInt32.max)).mp4"
        defer { _ = try? ProcessRunner.run("rm", ["-f", path, path + ".part"]) }
        func stop(_ muxer: MediaMuxer) async -> String {
            do { try await muxer.stop() } catch { return (error as? VaencError)?.message ?? "\(error)" }
            return "done"
        }
        let muxer = MediaMuxer(configuration(path))
        #expect(await stop(muxer) == "writing \(path) was not started")
        let second = MediaMuxer(configuration(path))
        try await record(second, seconds: 1)
        #expect(await stop(second) == "done")
        #expect(await stop(second) == "writing \(path) was stopped already")
        second.cancel()
        #expect(await stop(second) == "writing \(path) was stopped already")
        let third = MediaMuxer(configuration(path))
        third.cancel()
        #expect(await stop(third) == "writing \(path) was cancelled")
        var over = configuration(path)
        over.options.overwrite = true
        let fourth = MediaMuxer(over)
        fourth.start()
        fourth.start()
        #expect(await stop(fourth) == "the muxer was started already")
        #expect(await stop(fourth) == "the muxer was started already")
    }

    /// A packet that is appended after `stop` is not in the file. The handler is called once.
    @Test func packetAfterStopIsReported() async throws {
        let path = Fixture.folder + "/muxer-\(UInt32.random(in: 0...UInt32.max)).mp4"
        defer { _ = try? ProcessRunner.run("rm", ["-f", path, path + ".part"]) }
        let calls = CallCount()
        let muxer = MediaMuxer(configuration(path)) { error in
            #expect((error as? VaencError)?.category == .usage, "\(error)")
            calls.count += 1
        }
        try await record(muxer, seconds: 1)
        try await muxer.stop()
        #expect(calls.count == 0)
        for index in 0..<3 { muxer.append(Self.packet(shown: MediaTime(value: Int64(index), timescale: 25))) }
        await #expect(throws: VaencError.self) { try await muxer.stop() }
        #expect(calls.count == 1)
    }

    /// The handler is called once, and `stop` throws the error again.
    @Test func failedOpenIsReported() async throws {
        let calls = CallCount()
        let muxer = MediaMuxer(configuration("/no/such/folder/a.mp4")) { _ in calls.count += 1 }
        muxer.start()
        await #expect(throws: VaencError.self) { try await muxer.stop() }
        #expect(calls.count == 1)
    }
}

/// Counts calls of the handler, on the muxer's thread before `stop` returns.
private final class CallCount: @unchecked Sendable {
    var count = 0
}
