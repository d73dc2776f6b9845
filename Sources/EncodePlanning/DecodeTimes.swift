public import VideoBase

/// Decoding times for pictures that are coded in another order than shown.
///
/// The k-th picture coded gets the presentation time of the (k − depth)-th shown, so that times rise and none is after
/// its picture's presentation. The first `depth` come before the first presentation, at the distance of a frame.
public struct DecodeTimes: Sendable {
    /// `GOPStructure.reorderDepth`.
    public let depth: Int
    private let frameRate: Rational
    private var presentations: [MediaTime] = []
    private var coded = 0

    public init(depth: Int, frameRate: Rational) {
        self.depth = max(depth, 0)
        self.frameRate = frameRate
    }

    /// A frame arrives, in display order.
    public mutating func add(_ presentation: MediaTime) { presentations.append(presentation) }

    /// The decoding time of the next picture in coding order, each once; nil where fewer frames have come than
    /// pictures.
    public mutating func next() -> MediaTime? {
        guard let first = presentations.first else { return nil }
        defer { coded += 1 }
        if coded >= depth { return presentations.removeFirst() }
        // In the presentation's ticks where those are fine enough for a frame's time, else in finer ones.
        let frame = Double(frameRate.denominator) / Double(max(frameRate.numerator, 1))
        let early = Double(depth - coded) * frame
        let base = first.timescale >= 1000 ? first : first.converted(to: 90000)
        let ticks = Int64(exactly: (early * Double(base.timescale)).rounded()) ?? .max
        return base.earlier(byTicks: max(ticks, Int64(depth - coded)))
    }

    /// A frame that arrived is not going to be coded.
    public mutating func drop(_ presentation: MediaTime) {
        if let index = presentations.firstIndex(of: presentation) {
            presentations.remove(at: index)
        } else if presentations.count > depth {
            presentations.removeLast()
        }
    }
}
