import Capture
import MediaFiles
import VideoBase

/// A microphone beside a camera: its sound as AAC, on the recording's time line.
///
/// It is encoded on a thread of its own, up to what the pictures have reached, so that they never wait for sound: neither
/// for a microphone that is slow or silent, nor for a machine that is too slow to encode it in time.
final class CameraSound: Sendable {
    let input: SoundInput
    let track: MediaTrack
    private let work: Monitor<SoundWork>

    /// - Throws: what `SoundInput` and `AudioTranscoder` throw.
    convenience init(_ name: String) throws {
        let input = try SoundInput(name)
        let format = PCMFormat(sample: .f32, rate: input.info.rate, channels: input.info.channels)
        let transcoder = try AudioTranscoder(pcm: format, settings: .microphone, from: .zero)
        let track = transcoder.track
        try self.init(input, track: track, encoder: transcoder)
    }

    /// - Parameter encoder: gives packets of the track.
    init(_ input: SoundInput, track: MediaTrack, encoder: sending any SampleEncoder) throws {
        self.input = input
        self.track = track
        let work = Monitor(SoundWork())
        self.work = work
        let encoding = Monitor(SoundEncoding(input, encoder, work))
        guard OwnThread.start({ encoding.withLockWithoutNotifying { $0.run() } }) else {
            throw VaencError.noThread("to encode the sound")
        }
    }

    deinit { work.withLock { $0.isClosed = true } }

    /// What was heard before is none of the recording's.
    func begin() { input.begin() }

    /// What is encoded so far, with times from `origin` on. Does not block.
    /// - Parameter time: of the recording, that pictures have reached.
    func take(from origin: MediaTime, until time: MediaTime) -> [TrackPacket] {
        work.withLock { work in
            work.origin = origin
            work.reached = time
            return work.takePackets()
        }
    }

    /// Waits for what is heard up to `end` (of the recording), and gives the last packets. What is not heard until a second
    /// after is silence.
    /// - Throws: what went wrong since the beginning.
    func finish(from origin: MediaTime, end: MediaTime) throws -> [TrackPacket] {
        // A period of the card's, and what it is late by.
        input.wait(for: origin + end, atMostSeconds: 1)
        work.withLock { work in
            if work.end == nil { (work.origin, work.end) = (origin, end) }
        }
        return try work.wait { work in
            if let failure = work.failure { throw failure }
            return work.isOver || work.isClosed ? work.takePackets() : nil
        }
    }

    func close() {
        work.withLock { $0.isClosed = true }
        input.close()
    }
}
