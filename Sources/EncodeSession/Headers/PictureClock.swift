import EncodePlanning
import VideoBase

/// The removal and output times of a picture in the hypothetical reference decoder, in frames.
struct PictureClock: Sendable, Hashable {
    /// The number of pictures coded since the latest buffering period began. If the picture itself begins a buffering
    /// period, the count is since the previous one.
    var removal = 0
    /// The number of pictures that the decoder removes between this picture's decoding and its output.
    var output = 0

    /// Computes the clock of each picture, in decoding order.
    struct Counter: Sendable {
        private var sinceBuffering: Int
        private var codingIndexOfKey = 0

        /// Creates a counter.
        ///
        /// - Parameter sinceBuffering: The number of preceding pictures since the latest buffering period began.
        init(sinceBuffering: Int = 0) { self.sinceBuffering = sinceBuffering }

        mutating func next(_ plan: FramePlan, reorderDepth: Int) -> PictureClock {
            if plan.type.isKey { codingIndexOfKey = plan.codingIndex }
            let coded = plan.codingIndex - codingIndexOfKey
            let shown = plan.displayIndex - plan.keyDisplayIndex
            defer { sinceBuffering = plan.beginsBufferingPeriod ? 1 : sinceBuffering + 1 }
            return PictureClock(removal: sinceBuffering, output: max(shown - coded + reorderDepth, 0))
        }
    }
}

extension FramePlan {
    /// Whether decoding can start at this picture, so a buffering period begins.
    var beginsBufferingPeriod: Bool { type.isKey || recoveryFrameCount != nil }
}
