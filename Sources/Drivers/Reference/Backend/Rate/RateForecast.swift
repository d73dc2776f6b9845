internal import Glibc

/// A forecast of the bits of a layer's next pictures, which must fit the rate window.
///
/// It estimates the most likely sizes, while `RateLayer` estimates mean sizes. It uses a trend instead of the growth
/// from the last picture.
struct RateForecast: Sendable {
    /// The costs, as geometric means, which sizes that alternately rise and fall do not change.
    private var costs = PictureCosts(slope: Self.slope)
    /// The growth of the cost from one P picture to the next, as log2, averaged over the last few pictures. In a fade
    /// the cost continues to grow like this. A single costlier picture has little effect.
    private var trend = 0.0
    /// The QP of the last I picture.
    private var intraQP = 26.0

    /// The bits halve with every 6 / slope QP steps. The value was chosen by the rates and the worst pictures of the
    /// clips in docs/RATE-CONTROL.md.
    private static let slope = 1.1
    private static let intraSlope = 0.85
    /// The factor between the costs of two pictures from which on the second begins a new scene.
    private static let sceneGrowth = 2.0
    /// The weight of the last picture's growth in the trend.
    private static let trendWeight = 0.6
    /// The factor for the trend, because it lags behind while the cost grows.
    private static let foresight = 1.5
    /// The share of their expected bits that the following pictures are assumed to take, because their QPs can still be
    /// raised.
    private static let relief = 0.8

    /// Returns the QP at which a picture fits `outlook`: alone the first limit, together with a mean picture the second
    /// limit, and so on. Returns 0 before the first picture.
    ///
    /// - Parameters:
    ///   - frequency: the share of each kind in all pictures.
    ///   - growthShare: the share of the trend that is used, 0…1.
    ///   - seen: the bits and the QP of the picture if it was encoded before.
    func qp(
        _ kind: RatedPicture.Kind, within outlook: RateOutlook, frequency: [Double], growthShare: Double,
        seen: (bits: Double, qp: Int)?
    ) -> Double {
        let before = costs.mean(frequency)
        guard before > 0 else { return 0 }
        let first =
            costs.share(qp: RateLayer.offset(kind)) * (seen.map { costs.cost(bits: $0.bits, qp: $0.qp) } ?? costs[kind])
        let growth = exp2(Self.foresight * max(trend, 0) * growthShare)
        // If this picture begins a scene, the following pictures cost as much as those after a typical I picture.
        let mean = Self.relief * max(before, first / PictureCosts.intraGuess) * growth
        var low = -200.0
        var high = 100.0
        while high - low > 0.05 {
            let base = (low + high) / 2
            let share = costs.share(qp: base)
            if outlook.holds(first: first * share, mean: mean * share, intra: Self.relief * intraBits(base: base)) {
                high = base
            } else {
                low = base
            }
        }
        return RateLayer.offset(kind) + high
    }

    /// Returns the expected bits of the next I picture at a base QP; 0 before the first picture.
    private func intraBits(base: Double) -> Double {
        let steps = base + RateLayer.offset(.intra) - intraQP
        return costs[.intra] * costs.share(qp: intraQP) * exp2(-Self.intraSlope * steps / 6)
    }

    /// Updates the forecast after a picture with `bits` at `qp` that began a new scene. Nearly all of its blocks are
    /// intra, so the cost of I pictures becomes at least its cost.
    mutating func beginScene(bits: Double, qp: Int) {
        costs.beginScene(bits: bits, qp: qp)
        if bits > intraBits(base: Double(qp) - RateLayer.offset(.intra)) {
            costs[.intra] = costs.cost(bits: bits, qp: qp)
            intraQP = Double(qp)
        }
    }

    /// Updates the forecast with a picture that took `bits` at `qp`. A sudden increase, as at a scene cut, is limited
    /// because it rarely lasts.
    mutating func learn(_ kind: RatedPicture.Kind, bits: Double, qp: Int, intraShare: Double) {
        let seen = costs.cost(bits: bits, qp: qp)
        if kind == .intra { intraQP = Double(qp) }
        guard costs.hasCost(kind) else {
            costs[kind] = seen
            return
        }
        let cost = costs[kind]
        let octaves = log2(seen / cost)
        if kind == .predicted {
            let isScene = octaves >= log2(Self.sceneGrowth) || intraShare >= 0.5
            trend = isScene ? 0 : trend + Self.trendWeight * (max(octaves, -1) - trend)
        }
        if kind != .intra, octaves < 0.5 {
            costs[kind] = cost * exp2(PictureCosts.weightDown * max(octaves, -2))
        } else {
            costs.follow(kind, seen: seen, intraShare: intraShare)
        }
    }
}
