internal import Glibc

/// What the next pictures of a layer are expected to take, for the window that they have to fit: the likeliest sizes, where
/// `RateLayer` knows the mean ones, and a trend in place of the last picture's growth.
struct RateForecast: Sendable {
    /// Averaged geometrically: sizes that go up and down leave it where it is.
    private var costs = PictureCosts(slope: Self.slope)
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
    /// The share of the trend that each picture's growth is.
    private static let trendWeight = 0.6
    /// How many times the trend is counted on: where pictures grow harder, the trend lags behind.
    private static let foresight = 1.5
    /// What the pictures after one take at a QP that is higher by 1.2.
    private static let relief = 0.8

    /// The QP at which a picture fits the first room of `outlook`, with a mean picture after it the second, and so on; 0 where
    /// nothing is known.
    ///
    /// - Parameters:
    ///   - frequency: of all pictures those of each kind.
    ///   - growthShare: how much of the trend counts.
    ///   - seen: the picture's bits and QP, where it was encoded once.
    func qp(
        _ kind: RatedPicture.Kind, within outlook: RateOutlook, frequency: [Double], growthShare: Double,
        seen: (bits: Double, qp: Int)?
    ) -> Double {
        let before = costs.mean(frequency)
        guard before > 0 else { return 0 }
        let own =
            costs.share(qp: RateLayer.offset(kind)) * (seen.map { costs.cost(bits: $0.bits, qp: $0.qp) } ?? costs[kind])
        let growth = exp2(Self.foresight * max(trend, 0) * growthShare)
        // A scene that begins with a picture as hard goes on with pictures that cost as natural ones do.
        let mean = Self.relief * max(before, own / PictureCosts.intraGuess) * growth
        var low = -200.0
        var high = 100.0
        while high - low > 0.05 {
            let base = (low + high) / 2
            let share = costs.share(qp: base)
            if outlook.holds(own: own * share, mean: mean * share, intra: Self.relief * intraBits(base: base)) {
                high = base
            } else {
                low = base
            }
        }
        return RateLayer.offset(kind) + high
    }

    /// What the next I picture takes at a base QP; 0 where nothing is known.
    private func intraBits(base: Double) -> Double {
        let steps = base + RateLayer.offset(.intra) - intraQP
        return costs[.intra] * costs.share(qp: intraQP) * exp2(-Self.intraSlope * steps / 6)
    }

    /// A picture that took `bits` at `qp` began another scene. It is nearly all intra, as the I pictures of that scene will be.
    mutating func beginScene(bits: Double, qp: Int) {
        costs.beginScene(bits: bits, qp: qp)
        if bits > intraBits(base: Double(qp) - RateLayer.offset(.intra)) {
            costs[.intra] = costs.cost(bits: bits, qp: qp)
            intraQP = Double(qp)
        }
    }

    /// A picture took `bits` at `qp`. Sudden cost, as at a cut between scenes, counts in part: it rarely lasts.
    mutating func learn(_ kind: RatedPicture.Kind, bits: Double, qp: Int, intraShare: Double) {
        let seen = costs.cost(bits: bits, qp: qp)
        if kind == .intra { intraQP = Double(qp) }
        guard costs.knows(kind) else {
            costs[kind] = seen
            return
        }
        let cost = costs[kind]
        let octaves = log2(seen / cost)
        if kind == .predicted {
            let isScene = octaves >= log2(Self.mostGrowth) || intraShare >= 0.5
            trend = isScene ? 0 : trend + Self.trendWeight * (max(octaves, -1) - trend)
        }
        if kind != .intra, octaves < 0.5 {
            costs[kind] = cost * exp2(PictureCosts.weightDown * max(octaves, -2))
        } else {
            costs.follow(kind, seen: seen, intraShare: intraShare)
        }
    }
}
