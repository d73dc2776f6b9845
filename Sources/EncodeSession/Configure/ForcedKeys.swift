import VideoBase

/// The key frames that the configuration asks for, by place and by time.
struct ForcedKeys: Sendable, Hashable {
    /// Display indices.
    private let frames: Set<Int>
    /// Seconds, rising.
    private var times: [Double]

    init(frames: Set<Int> = [], times: [Double] = []) {
        self.frames = frames
        self.times = times.sorted()
    }

    /// Whether a frame is forced; frames are asked for in order. The first frame at or after a time takes it.
    mutating func take(_ index: Int, at presentation: MediaTime) -> Bool {
        // Half a microsecond early counts as there: decimal seconds are seldom whole ticks.
        let due = times.prefix { $0 <= presentation.seconds + 0.5e-6 }.count
        times.removeFirst(due)
        return due > 0 || frames.contains(index)
    }
}
