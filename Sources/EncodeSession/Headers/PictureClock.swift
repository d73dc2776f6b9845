import EncodePlanning
import VideoBase

/// Where a picture stands in the time of the hypothetical decoder, in frames.
struct PictureClock: Sendable, Hashable {
    /// Pictures coded since the latest that began a buffering period; for one that does, since the one before it.
    var removal = 0
    /// Pictures that the decoder takes out between this one's decoding and its output.
    var output = 0

    /// Follows the pictures in decoding order.
    struct Counter: Sendable {
        private var sinceBuffering: Int
        private var codingIndexOfKey = 0

        /// - Parameter sinceBuffering: pictures before, since the latest that began a buffering period.
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
    /// Decoding can start here, and with it the hypothetical decoder.
    var beginsBufferingPeriod: Bool { type.isKey || recoveryFrameCount != nil }
}
