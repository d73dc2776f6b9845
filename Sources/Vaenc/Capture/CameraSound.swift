import Capture
import MediaFiles
import VideoBase

/// A microphone beside a camera: its sound as AAC, on the recording's time line.
final class CameraSound: Sendable {
    let input: SoundInput
    let track: MediaTrack
    private let state: Monitor<State>

    private struct State {
        let transcoder: AudioTranscoder
        /// Heard since the recording began, and not encoded yet.
        var blocks: [SoundInput.Block] = []
        var failure: (any Error)?
        var hasEnded = false
    }

    /// - Throws: what `SoundInput` and `AudioTranscoder` throw.
    init(_ name: String) throws {
        input = try SoundInput(name)
        let format = PCMFormat(sample: .f32, rate: input.info.rate, channels: input.info.channels)
        let transcoder = try AudioTranscoder(pcm: format, settings: .microphone, from: .zero)
        track = transcoder.track
        state = Monitor(State(transcoder: transcoder))
    }

    /// What was heard before is none of the recording's.
    func begin() { _ = input.take() }

    /// When the first sample of the recording was heard; nil before it is known.
    var first: MediaTime? {
        let blocks = input.take()
        return state.withLock { state in
            state.blocks += blocks
            return state.blocks.first?.time
        }
    }

    /// What was heard so far, with times from `origin` on.
    func take(from origin: MediaTime) -> [TrackPacket] {
        let blocks = input.take()
        return state.withLock { state in
            if state.hasEnded { return [] }
            state.blocks += blocks
            defer { state.blocks = [] }
            do {
                return try state.blocks.flatMap { try state.transcoder.write($0.bytes, at: $0.time - origin) }
            } catch {
                state.failure = state.failure ?? error
                state.hasEnded = true
                return []
            }
        }
    }

    /// Waits for what is heard up to `end` (of the recording), and gives the last packets.
    /// - Throws: what went wrong since the beginning.
    func finish(from origin: MediaTime, end: MediaTime) throws -> [TrackPacket] {
        // A period of the card's, and what it is late by.
        input.wait(for: origin + end, atMostSeconds: 1)
        let packets = take(from: origin)
        return try state.withLock { state in
            if let failure = state.failure { throw failure }
            if state.hasEnded { return packets }
            state.hasEnded = true
            return try packets + state.transcoder.finish(end: end)
        }
    }

    func close() { input.close() }
}
