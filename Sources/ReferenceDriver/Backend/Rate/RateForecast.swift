internal import Glibc

/// What the next pictures of a layer are expected to take, for the window that they have to fit: the likeliest sizes, where
/// `RateLayer` knows the mean ones, and a trend in place of the last picture's growth.
struct RateForecast: Sendable {
    /// Bits of a picture at QP 0 by kind, averaged geometrically: sizes that go up and down leave it where it is; 0 where none was
    /// seen.
    private var cost = [Double](repeating: 0, count: RatedPicture.Kind.count)
    /// By how many octaves P pictures were harder than those before them, averaged over the last few: in a fade the next one
    /// is harder by as much again, where single pictures that are a little harder mean nothing.
    private var trend = 0.0
    /// The QP of the latest I picture.
    private var intraQP = 26.0

    /// Bits halve with every 6 / slope steps of QP. Chosen by the rates and the worst pictures of the clips in docs/RATE-CONTROL.md.
    private static let slope = 1.1
    private static let intraSlope = 0.85
    /// What is harder at once, as a factor, is another scene.
    private static let mostGrowth = 2.0
    /// What the pictures after one take at a QP that is higher by 1.2.
    private static let relief = 0.8

    /// What a picture takes at a QP, of what it takes at QP 0.
    private static func share(qp: Double) -> Double { exp2(-slope * qp / 6) }

    private func cost(_ index: Int) -> Double {
        if cost[index] > 0 { return cost[index] }
        for known in [1, 0, 2, 3] where cost[known] > 0 { return cost[known] * RateLayer.guess[index] / RateLayer.guess[known] }
        return 0
    }

    /// The QP at which a picture fits the first room of `outlook`, with a mean picture after it the second, and so on; 0 where
    /// nothing is known.
    ///
    /// - Parameters:
    ///   - frequency: of all pictures those of each kind.
    ///   - growthShare: how much of the trend counts.
    ///   - seen: the picture's bits and QP, where it was encoded once.
    func qp(
        _ kind: RatedPicture.Kind, within outlook: RateOutlook, frequency: [Double], growthShare: Double, seen: (bits: Double, qp: Int)?
    ) -> Double {
        let total = frequency.reduce(0, +)
        var before = 0.0
        for index in frequency.indices {
            guard let each = RatedPicture.Kind(rawValue: index) else { continue }
            before += frequency[index] / total * cost(index) * Self.share(qp: RateLayer.offset(each))
        }
        guard before > 0 else { return 0 }
        let own = (seen.map { $0.bits / Self.share(qp: Double($0.qp)) } ?? cost(kind.rawValue)) * Self.share(qp: RateLayer.offset(kind))
        let growth = exp2(1.5 * max(trend, 0) * growthShare)
        // A scene that begins with a picture as hard goes on with pictures that cost as natural ones do.
        let mean = Self.relief * max(before, own / RateLayer.guess[0]) * growth
        let intra = Self.relief * cost(RatedPicture.Kind.intra.rawValue) * Self.share(qp: intraQP)
        var low = -200.0
        var high = 100.0
        while high - low > 0.05 {
            let base = (low + high) / 2
            let share = Self.share(qp: base)
            let steps = base + RateLayer.offset(.intra) - intraQP
            if outlook.holds(own: own * share, mean: mean * share, intra: intra * exp2(-Self.intraSlope * steps / 6)) {
                high = base
            } else {
                low = base
            }
        }
        return RateLayer.offset(kind) + high
    }

    /// A picture that took `bits` at `qp` began another scene.
    mutating func beginScene(bits: Double, qp: Int) {
        let seen = max(bits, 8) / Self.share(qp: Double(qp))
        for index in cost.indices where index != RatedPicture.Kind.intra.rawValue && cost[index] > 0 {
            cost[index] = max(cost[index], seen * RateLayer.guess[index] / RateLayer.guess[0])
        }
    }

    /// A picture took `bits` at `qp`. Sudden cost, as at a cut between scenes, counts in part: it rarely lasts.
    mutating func learn(_ kind: RatedPicture.Kind, bits: Double, qp: Int, intraShare: Double) {
        let seen = max(bits, 8) / Self.share(qp: Double(qp))
        let index = kind.rawValue
        if kind == .intra { intraQP = Double(qp) }
        guard cost[index] > 0 else {
            cost[index] = seen
            return
        }
        let octaves = log2(seen / cost[index])
        if kind == .predicted {
            let isScene = octaves >= log2(Self.mostGrowth) || intraShare >= 0.5
            trend = isScene ? 0 : trend + 0.6 * (max(octaves, -1) - trend)
        }
        if kind != .intra, octaves < 0.5 {
            cost[index] *= exp2(0.35 * max(octaves, -2))
        } else {
            let bounded = kind != .intra && intraShare > 0.5 ? min(seen, 1.5 * cost[index]) : seen
            cost[index] += (kind == .intra ? 0.7 : 0.5) * (bounded - cost[index])
        }
    }
}
