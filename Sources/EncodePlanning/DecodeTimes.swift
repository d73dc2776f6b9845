package import VideoBase

/// Computes decoding times for pictures that are coded in another order than display order.
///
/// The k-th picture in coding order gets the presentation time of the (k − depth)-th picture in display order. So
/// decoding times rise, and no picture is decoded after its presentation. The first `depth` times precede the first
/// presentation time, one frame interval apart.
package struct DecodeTimes: Sendable {
    /// The number of decoding times that precede the first presentation time: `GOPStructure.reorderDepth`.
    package let depth: Int
    private let frameRate: Rational
    private var presentations: [MediaTime] = []
    private var coded = 0

    /// Creates the times of a stream.
    ///
    /// - Parameter frameRate: The frame rate that sets the distance of the first `depth` times.
    package init(depth: Int, frameRate: Rational) {
        self.depth = max(depth, 0)
        self.frameRate = frameRate
    }

    /// Adds the presentation time of the next frame in display order.
    package mutating func add(_ presentation: MediaTime) { presentations.append(presentation) }

    /// Returns the decoding time of the next picture in coding order, or nil if fewer frames were added than pictures
    /// were coded.
    package mutating func next() -> MediaTime? {
        guard let first = presentations.first else { return nil }
        defer { coded += 1 }
        if coded >= depth { return presentations.removeFirst() }
        // Use the time scale of the presentation time if it is fine enough for a frame interval, otherwise 90 kHz.
        let frame = Double(frameRate.denominator) / Double(max(frameRate.numerator, 1))
        let early = Double(depth - coded) * frame
        let base = first.timescale >= 1000 ? first : first.converted(to: 90000)
        let ticks = Int64(exactly: (early * Double(base.timescale)).rounded()) ?? .max
        return base.earlier(byTicks: max(ticks, Int64(depth - coded)))
    }

    /// Removes a frame that was added and will not be coded.
    package mutating func drop(_ presentation: MediaTime) {
        if let index = presentations.firstIndex(of: presentation) {
            presentations.remove(at: index)
        } else if presentations.count > depth {
            presentations.removeLast()
        }
    }
}
