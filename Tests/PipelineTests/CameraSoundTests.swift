import Capture
import MediaFiles
import Testing
import Threads
import VideoBase
@testable import Vaenc

/// Sound of a camera, which must not delay its pictures.
@Suite struct CameraSoundTests {
    /// An encoder that blocks until `isFree` is set.
    private final class StuckEncoder: SampleEncoder {
        private let transcoder: AudioTranscoder
        private let state: Monitor<State>

        struct State {
            var calls = 0
            var isFree = false
        }

        init(_ transcoder: AudioTranscoder, _ state: Monitor<State>) { (self.transcoder, self.state) = (transcoder, state) }

        func write(_ bytes: [UInt8], at time: MediaTime) throws -> [TrackPacket] {
            state.withLock { $0.calls += 1 }
            guard state.wait(atMostNanoseconds: 600_000_000_000, { $0.isFree ? true : nil }) != nil else {
                throw VaencError(.internalFault, "nobody came")
            }
            return try transcoder.write(bytes, at: time)
        }

        func finish(end: MediaTime?) throws -> [TrackPacket] { try transcoder.finish(end: end) }
    }

    private func microphone(_ graph: String, _ state: Monitor<StuckEncoder.State>) throws -> CameraSound {
        let input = try SoundInput("lavfi:" + graph)
        let format = PCMFormat(sample: .f32, rate: input.info.rate, channels: input.info.channels)
        let transcoder = try AudioTranscoder(pcm: format, settings: .microphone, from: .zero)
        return try CameraSound(input, track: transcoder.track, encoder: StuckEncoder(transcoder, state))
    }

    private func seconds(_ packets: [TrackPacket]) -> Double { packets.reduce(0) { $0 + $1.duration.seconds } }

    private func time(_ milliseconds: Int) -> MediaTime { MediaTime(value: Int64(milliseconds), timescale: 1000) }

    /// The encoder blocks: pictures continue, and at the end all sound is written, up to the end of the last picture.
    @Test func blockedSoundEncoderDelaysNoPicture() throws {
        let state = Monitor(StuckEncoder.State())
        let sound = try microphone("sine=frequency=1000:sample_rate=48000", state)
        defer { sound.close() }
        sound.input.wait(for: .zero, atMost: .seconds(600))
        let origin = try #require(sound.input.firstTime)
        for picture in 1...20 {
            sound.input.wait(for: origin + time(picture * 40), atMost: .seconds(600))
            #expect(sound.take(from: origin, until: time(picture * 40)).isEmpty)
        }
        _ = state.wait(atMostNanoseconds: 600_000_000_000) { $0.calls > 0 ? true : nil }
        #expect(state.withLock { $0.calls } == 1)
        state.withLock { $0.isFree = true }
        let packets = try sound.finish(from: origin, end: time(800))
        #expect(abs(seconds(packets) - 0.8 - 1024 / 44_100) < 0.03, "\(seconds(packets)) s")
        #expect(sound.input.counts.samplesFilled == 0)
        let ends = packets.compactMap { packet in packet.presentation.map { ($0 + packet.duration).seconds } }
        #expect(abs((ends.max() ?? 0) - 0.8) < 0.002, "\(ends)")
    }

    /// The microphone is nearly silent: silence is filled five seconds behind the pictures and ends with them.
    @Test func silentMicrophoneIsFilledWithSilence() throws {
        let state = Monitor(StuckEncoder.State(isFree: true))
        let sound = try microphone("sine=frequency=1000:sample_rate=48000,arealtime=speed=0.001:limit=1000", state)
        defer { sound.close() }
        sound.input.wait(for: .zero, atMost: .seconds(600))
        let origin = try #require(sound.input.firstTime)
        var packets = sound.take(from: origin, until: time(9000))
        _ = state.wait(atMostNanoseconds: 60_000_000_000) { $0.calls >= 5 ? true : nil }
        packets += try sound.finish(from: origin, end: time(9500))
        #expect(abs(seconds(packets) - 9.5 - 1024 / 44_100) < 0.03, "\(seconds(packets)) s")
        let counts = sound.input.counts
        #expect(counts.gaps == 2 && abs(Double(counts.samplesFilled) / 48_000 - 9.5) < 0.1, "\(counts)")
        let times = packets.compactMap(\.presentation?.seconds)
        #expect(zip(times, times.dropFirst()).allSatisfy { abs($1 - $0 - 1024 / 44_100) < 0.001 })
    }
}
