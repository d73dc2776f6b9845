import VideoBase

/// Measures how far the times of decoded pictures are from those of an output with a constant frame rate.
struct PictureTimes {
    private let frameRate: Double
    private var first: Double?
    private var count = 0
    /// The largest deviation in seconds.
    private var largest = 0.0

    init(_ frameRate: Rational) { self.frameRate = frameRate.value }

    mutating func add(_ timing: FrameTiming) {
        let time = timing.presentation.seconds
        let start = first ?? time
        first = start
        largest = max(largest, abs(time - start - Double(count) / frameRate))
        count += 1
    }

    /// A human-readable notice if a picture is off by at least half a frame duration; otherwise nil.
    var notice: String? {
        guard frameRate > 0, largest.isFinite, largest * frameRate >= 0.5 else { return nil }
        return """
            the input's pictures are not evenly spaced, and the output has a constant frame rate: at \
            \(decimal(frameRate, 2)) frames per second, pictures are up to \(decimal(largest, 2)) s away from their \
            times
            """
    }
}
