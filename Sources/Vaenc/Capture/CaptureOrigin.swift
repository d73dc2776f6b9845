public import VideoBase

/// The moment that is zero in a recording: the first sample of either kind, picture or sound, settles it.
public final class CaptureOrigin: Sendable {
    private let time = Monitor<MediaTime?>(nil)

    public init() {}

    /// The origin, which is `candidate` where there was none.
    public func settle(_ candidate: MediaTime) -> MediaTime {
        time.withLock { time in
            let settled = time ?? candidate
            time = settled
            return settled
        }
    }

    /// nil before the first sample.
    public var settled: MediaTime? { time.withLockWithoutNotifying { $0 } }
}
