internal import Glibc

/// The QP that a stream keeps over easy and hard scenes alike, and which a picture takes part in.
///
/// The QP at which a scene takes the mean rate is high in hard scenes and low in easy ones. A stream that followed it would code
/// a fade from black at the lowest QPs and spend its whole buffer there. One QP over the whole stream takes the same rate
/// on average; in between, a share of the difference in cost goes into the QP and the rest into the bits.
struct SteadyQP: Sendable {
    /// The share of the difference between two scenes' costs that goes into their QPs.
    private static let flatness = 0.45
    /// How far an easy picture's QP goes below that of typical ones: one with nothing in it takes no bits at any QP, and the
    /// picture after it must not begin at the lowest.
    private static let mostBelow = 6.0

    /// Mean of the costs so far to the power of 1 - flatness, as shares of the mean rate at QP 0; nil before the first.
    private var mean: Double?
    /// Pictures that `mean` rests on.
    private var count = 0.0

    /// Before the first picture.
    ///
    /// - Parameter count: pictures that the guess counts as.
    mutating func begin(guess qp: Double, slope: Double, count: Double) {
        guard mean == nil else { return }
        mean = Self.flattened(qp, slope)
        self.count = max(count, 1)
    }

    private static func flattened(_ qp: Double, _ slope: Double) -> Double { exp2((1 - flatness) * slope * qp / 6) }

    /// The QP of a picture whose scene takes the mean rate at `now`.
    func qp(now: Double, slope: Double) -> Double {
        guard let mean else { return now }
        return max(6 / slope * log2(mean) + Self.flatness * now, typical(slope: slope) - Self.mostBelow)
    }

    /// The QP of the stream's typical pictures.
    func typical(slope: Double) -> Double { mean.map { 6 / slope * log2($0) / (1 - Self.flatness) } ?? 0 }

    /// Takes in a picture whose scene takes the mean rate at `qp`, of which `memory` pictures are remembered.
    mutating func add(_ qp: Double, slope: Double, memory: Double) {
        guard let mean else { return }
        let cost = Self.flattened(qp, slope)
        // Pictures with nothing in them say nothing of what comes after them.
        let weight = min(max(cost / (0.25 * mean), 0.1), 1)
        count = min(count + weight, max(memory, 1))
        self.mean = mean + weight * (cost - mean) / count
    }

    /// The mean rate has changed by `ratio`.
    mutating func scale(rate ratio: Double) {
        mean = mean.map { $0 * exp2(-(1 - Self.flatness) * log2(max(ratio, 1e-6))) }
    }
}
