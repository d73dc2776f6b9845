import Capture
import MediaFiles
import Threads
import VideoBase

/// The sound of a microphone that is recorded with a camera: AAC packets on the recording's timeline.
///
/// A separate thread encodes the sound up to the time that the pictures have reached. The pictures therefore never wait
/// for sound, even if the microphone is slow or silent or the machine cannot encode the sound in time.
final class CameraSound: Sendable {
    let input: SoundInput
    let track: MediaTrack
    private let work: Monitor<SoundWork>

    /// - Throws: The errors of `SoundInput` and `AudioTranscoder`.
    convenience init(_ name: String) throws {
        let input = try SoundInput(name)
        let format = PCMFormat(sample: .f32, rate: input.info.rate, channels: input.info.channels)
        let transcoder = try AudioTranscoder(pcm: format, settings: .microphone, from: .zero)
        let track = transcoder.track
        try self.init(input, track: track, encoder: transcoder)
    }

    /// - Parameter encoder: Returns packets of `track`.
    init(_ input: SoundInput, track: MediaTrack, encoder: sending any SampleEncoder) throws {
        self.input = input
        self.track = track
        let work = Monitor(SoundWork())
        self.work = work
        let encoding = Monitor(SoundEncoding(input, encoder: encoder, work: work))
        guard DedicatedThread.start("vaenc-audio", { encoding.withLockWithoutNotifying { $0.run() } }) else {
            throw VaencError.noThread("to encode the sound")
        }
    }

    deinit { work.withLock { $0.isClosed = true } }

    /// Discards the sound that was captured before the recording began.
    func begin() { input.begin() }

    /// Returns the packets that are encoded so far, with times relative to `origin`. Does not block.
    ///
    /// - Parameter time: The time in the recording that the pictures have reached.
    func take(from origin: MediaTime, until time: MediaTime) -> [TrackPacket] {
        work.withLock { work in
            work.origin = origin
            work.reached = time
            return work.takePackets()
        }
    }

    /// Waits for the sound up to `end`, a time in the recording, and returns the last packets. Sound that does not
    /// arrive within one second is replaced by silence.
    ///
    /// - Throws: The error that ended the encoding thread.
    func finish(from origin: MediaTime, end: MediaTime) throws -> [TrackPacket] {
        // One second covers a period of the sound card and its delay.
        input.wait(for: origin + end, atMost: .seconds(1))
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
