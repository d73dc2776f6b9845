import VideoBase

/// The key frames that the configuration requests, by index and by time.
struct ForcedKeys: Sendable, Hashable {
    /// Display indices of key frames.
    private let frames: Set<Int>
    /// Times of key frames in seconds, in rising order.
    private var times: [Double]

    init(frames: Set<Int> = [], times: [Double] = []) {
        self.frames = frames
        self.times = times.sorted()
    }

    /// Returns whether a frame is forced to be a key frame. Call it for frames in order. The first frame at or after a
    /// time becomes the key frame for it.
    mutating func take(_ index: Int, at presentation: MediaTime) -> Bool {
        // Half a microsecond early counts as on time: decimal seconds are seldom whole ticks.
        let due = times.prefix { $0 <= presentation.seconds + 0.5e-6 }.count
        times.removeFirst(due)
        return due > 0 || frames.contains(index)
    }
}
