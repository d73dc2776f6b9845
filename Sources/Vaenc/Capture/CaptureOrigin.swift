import Threads
package import VideoBase

/// The capture time that is zero in a recording. The first sample, picture or sound, sets it.
package final class CaptureOrigin: Sendable {
    private let time = Monitor<MediaTime?>(nil)

    /// Creates an origin that is not set.
    package init() {}

    /// Returns the origin. If it is not set, sets it to `candidate`.
    package func settle(_ candidate: MediaTime) -> MediaTime {
        time.withLock { time in
            let settled = time ?? candidate
            time = settled
            return settled
        }
    }

    /// The origin; nil before the first sample.
    package var settled: MediaTime? { time.withLockWithoutNotifying { $0 } }
}
