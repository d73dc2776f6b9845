public import Capture
public import MediaFiles
public import VideoBase

extension CameraSource {
    // MARK: Sound

    public func takeSound() -> [TrackPacket] {
        guard let microphone, let zero = origin.settled.map(zero) else { return [] }
        let (isCancelled, last) = state.withLockWithoutNotifying { ($0.isCancelled, $0.lastTime ?? 0) }
        if !isCancelled {
            return microphone.take(from: zero, until: MediaTime(value: last, timescale: 1_000_000) - zero)
        }
        // Nobody asks again: to the end of the last picture.
        return (try? microphone.finish(from: zero, end: pictureEnd(zero))) ?? []
    }

    public func readSound(until end: MediaTime?) throws -> [TrackPacket] {
        guard let microphone, let zero = origin.settled.map(zero) else { return [] }
        return try microphone.finish(from: zero, end: end ?? pictureEnd(zero))
    }

    /// Of the last picture that was given.
    private func pictureEnd(_ zero: MediaTime) -> MediaTime {
        let last = state.withLockWithoutNotifying { $0.lastTime } ?? 0
        let length = Int64(saturating: 1e6 / info.frameRate.value)
        return MediaTime(value: Int64(clamping: Int128(last) + Int128(length)), timescale: 1_000_000) - zero
    }

    /// What is recorded beside the pictures; nil without a microphone.
    public var soundAccount: (info: SoundInput.Info, counts: SoundInput.Counts, end: CaptureEnd?)? {
        microphone.map { ($0.input.info, $0.input.counts, $0.input.end) }
    }

    /// Of the camera that has the fewest.
    var bufferCount: Int { cameras.map(\.stream.info.buffers).min() ?? 0 }

    // MARK: The account

    /// Each camera that was opened, what became of its pictures, and why it ended (nil: it did not).
    public var account: [(info: CaptureInfo, counts: CaptureCounts, end: CaptureEnd?)] {
        cameras.map { ($0.stream.info, $0.stream.counts, $0.stream.end) }
    }

    /// Of all cameras together.
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

    public var picturesLost: Int {
        let counts = counts
        return counts.droppedByDriver + counts.late + counts.damaged
    }

    /// Why the camera that was recorded last ended; nil where it did not.
    public var end: CaptureEnd? { cameras[state.withLockWithoutNotifying { $0.current }].stream.end }

    /// The same as an error; nil where it did not end before it should.
    public var failure: VaencError? {
        end.flatMap { $0.error(cameras[state.withLockWithoutNotifying { $0.current }].stream.info.path) }
    }
}
