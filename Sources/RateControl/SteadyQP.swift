internal import Glibc

/// Smooths the QP over easy and hard scenes. The result depends on the current scene and on the whole stream.
///
/// The QP at which a scene takes the mean rate is high in hard scenes and low in easy ones. If a stream followed it, a
/// fade from black would be coded at the lowest QPs and would spend the whole buffer. One QP over the whole stream
/// takes the same rate on average. This type chooses a compromise: a share of the difference in cost changes the QP,
/// the rest changes the bits.
struct SteadyQP: Sendable {
    /// The share of the difference between the costs of two scenes that changes their QPs.
    private static let flatness = 0.45
    /// The maximum distance of an easy picture's QP below the QP of typical pictures. An empty picture takes no bits at
    /// any QP, and the picture after it must not begin at the lowest QP.
    private static let maxBelow = 6.0

    /// The mean of cost^(1 − flatness) over the pictures so far; nil before the first. A cost is the scene's bits at QP
    /// 0 divided by the mean rate.
    private var mean: Double?
    /// The number of pictures that `mean` represents.
    private var count = 0.0

    /// Sets the first guess. Does nothing if a guess was set before.
    ///
    /// - Parameters:
    ///   - qp: The QP at which the first scene is expected to take the mean rate.
    ///   - count: The number of pictures that the guess counts as.
    mutating func begin(guess qp: Double, slope: Double, count: Double) {
        guard mean == nil else { return }
        mean = Self.flattened(qp, slope)
        self.count = max(count, 1)
    }

    private static func flattened(_ qp: Double, _ slope: Double) -> Double { exp2((1 - flatness) * slope * qp / 6) }

    /// Returns the QP of a picture whose scene takes the mean rate at QP `now`.
    func qp(now: Double, slope: Double) -> Double {
        guard let mean else { return now }
        return max(6 / slope * log2(mean) + Self.flatness * now, typical(slope: slope) - Self.maxBelow)
    }

    /// Returns the QP of the stream's typical pictures.
    func typical(slope: Double) -> Double { mean.map { 6 / slope * log2($0) / (1 - Self.flatness) } ?? 0 }

    /// Adds a picture whose scene takes the mean rate at `qp`. The mean represents at most `memory` pictures.
    mutating func add(_ qp: Double, slope: Double, memory: Double) {
        guard let mean else { return }
        let cost = Self.flattened(qp, slope)
        // An empty picture does not predict the pictures after it.
        let weight = min(max(cost / (0.25 * mean), 0.1), 1)
        count = min(count + weight, max(memory, 1))
        self.mean = mean + weight * (cost - mean) / count
    }

    /// Adapts to a change of the mean rate by the factor `ratio`.
    mutating func scale(rate ratio: Double) {
        mean = mean.map { $0 * exp2(-(1 - Self.flatness) * log2(max(ratio, 1e-6))) }
    }
}
