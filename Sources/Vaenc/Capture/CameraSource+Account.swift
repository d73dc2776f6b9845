public import Capture
public import MediaFiles
import Threads
public import VideoBase

extension CameraSource {
    // MARK: Sound

    /// Returns the packets of sound up to the last picture that was read. Does not block, except after `cancel`, when
    /// it waits up to one second for the last sound. Empty without a microphone.
    public func takeSound() -> [TrackPacket] {
        guard let microphone, let zero = origin.settled.map(zero) else { return [] }
        let (isCancelled, last) = state.withLockWithoutNotifying { ($0.isCancelled, $0.lastTime ?? 0) }
        if !isCancelled {
            return microphone.take(from: zero, until: MediaTime(value: last, timescale: 1_000_000) - zero)
        }
        // No later call follows: return the sound to the end of the last picture.
        return (try? microphone.finish(from: zero, end: pictureEnd(zero))) ?? []
    }

    /// Waits for the sound up to `end`, a time in the recording (nil: the end of the last picture), and returns its
    /// packets. Sound that does not arrive within one second is replaced by silence.
    ///
    /// - Throws: The error that ended the encoding of the sound.
    public func readSound(until end: MediaTime?) throws -> [TrackPacket] {
        guard let microphone, let zero = origin.settled.map(zero) else { return [] }
        return try microphone.finish(from: zero, end: end ?? pictureEnd(zero))
    }

    /// The end of the last picture that was read.
    private func pictureEnd(_ zero: MediaTime) -> MediaTime {
        let last = state.withLockWithoutNotifying { $0.lastTime } ?? 0
        let length = Int64(clamping: 1e6 / info.frameRate.value)
        return MediaTime(value: Int64(clamping: Int128(last) + Int128(length)), timescale: 1_000_000) - zero
    }

    /// The microphone, the counts of its samples, and the reason why it ended (nil while it runs); nil without a
    /// microphone.
    public var soundAccount: (info: SoundInput.Info, counts: SoundInput.Counts, end: CaptureEnd?)? {
        microphone.map { ($0.input.info, $0.input.counts, $0.input.end) }
    }

    /// The number of buffers of the camera that has the fewest.
    var bufferCount: Int { cameras.map(\.stream.info.buffers).min() ?? 0 }

    // MARK: Results

    /// Each camera that was opened, the counts of its pictures, and the reason why it ended (nil while it runs).
    public var account: [(info: CaptureInfo, counts: CaptureCounts, end: CaptureEnd?)] {
        cameras.map { ($0.stream.info, $0.stream.counts, $0.stream.end) }
    }

    /// The counts of all cameras added together.
    public var counts: CaptureCounts {
        cameras.map(\.stream.counts).reduce(into: CaptureCounts()) { sum, one in
            sum.captured += one.captured
            sum.droppedByDriver += one.droppedByDriver
            sum.late += one.late
            sum.damaged += one.damaged
            sum.unused += one.unused
            sum.timesReplaced += one.timesReplaced
        }
    }

    /// The number of pictures that were lost: dropped by the drivers, late or damaged.
    public var picturesLost: Int {
        let counts = counts
        return counts.droppedByDriver + counts.late + counts.damaged
    }

    /// The reason why the current camera ended; nil while it runs.
    public var end: CaptureEnd? { cameras[state.withLockWithoutNotifying { $0.current }].stream.end }

    /// The error for `end`; nil if the camera has not ended, or ended as requested.
    public var failure: VaencError? {
        end.flatMap { $0.error(cameras[state.withLockWithoutNotifying { $0.current }].stream.info.path) }
    }
}
