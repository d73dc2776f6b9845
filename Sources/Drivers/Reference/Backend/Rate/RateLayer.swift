internal import Glibc

/// The rate controller's model of the pictures of one temporal layer, and the bits that they have taken.
struct RateLayer: Sendable {
    private var costs = PictureCosts(slope: 1)
    /// The share of each kind in all pictures. It begins with the client's intra_period and ip_period and follows the
    /// actual pictures.
    private var frequency: [Double]
    /// The number of pictures over which the share of intra pictures is averaged.
    private let memory: Double
    /// The number of pictures over which the shares of the other kinds are averaged. The client's ip_period counts as
    /// some pictures.
    private var mixLength: Double
    /// The bits that the pictures so far took less than their share; negative if they took more. Limited.
    private(set) var surplus = 0.0
    /// The bits that the pictures so far were planned to take more than the average picture, because of their kinds.
    /// Older pictures count less.
    private(set) var cycle = 0.0
    /// The bits that the current picture is planned to take.
    private var planned = 0.0
    private(set) var hasHistory = false
    /// The factor by which the cost grew from the previous P pictures to the last, 1…2. In a fade the cost continues to
    /// grow by this factor.
    private var growth = 1.0
    /// The share of the growth that is used, 0…1. It is 1 in CBR. In other modes it is small if the target bit rate is
    /// close to the maximum, because there is no reserve then.
    private let growthShare: Double
    /// The factor between the costs of two pictures from which on the second begins a new scene.
    private static let sceneGrowth = 2.0
    /// The forecast for the rate window.
    private var forecast = RateForecast()
    /// The mean of cost^(1 − steadiness) over the pictures so far. Older pictures count less.
    private var meanPower = 0.0
    /// The number of pictures in this mean.
    private var meanPowerCount = 0.0

    /// The share of the difference in cost between two scenes that changes their QPs. The rest changes their bits.
    private static let steadiness = 0.4

    init(_ settings: RateSettings) {
        let period = Double(settings.intraPeriod > 0 ? min(settings.intraPeriod, 600) : 300)
        let between = Double(max(settings.referencePeriod, 1))
        memory = max(60, 2 * period)
        growthShare =
            settings.mode == .constantBitRate ? 1 : min(1, 3 * (1 - Double(settings.stream.targetPercentage) / 100))
        // An ip_period of 1 says nothing about pictures that are not used for reference.
        mixLength = between > 1 ? memory : 8
        let intra = 1 / period
        let predicted = max(1 / between - intra, 0)
        // The client's parameters do not describe B pictures that are used for reference. Their share begins with 0.
        frequency = [intra, predicted, 0, max(1 - 1 / between, 0)]
    }

    /// Returns the offset of a kind's QP from the base QP.
    static func offset(_ kind: RatedPicture.Kind) -> Double {
        switch kind {
        case .intra: -3
        case .predicted: 0
        case .bidirectionalReference: 1
        case .disposable: 2
        }
    }

    func hasCost(_ kind: RatedPicture.Kind) -> Bool { costs.hasCost(kind) }

    /// Updates the shares of the kinds with a new picture. They change slowly, because fast changes would make the QP
    /// vary from picture to picture.
    mutating func count(_ kind: RatedPicture.Kind) {
        let intra = RatedPicture.Kind.intra.rawValue
        let isIntra = kind == .intra
        let others = 1 - frequency[intra]
        frequency[intra] += ((isIntra ? 1 : 0) - frequency[intra]) / memory
        let scale = others > 0 ? (1 - frequency[intra]) / others : 0
        for index in frequency.indices where index != intra { frequency[index] *= scale }
        guard !isIntra else { return }
        mixLength = min(mixLength + 1, memory)
        for index in frequency.indices where index != intra {
            let share = kind.rawValue == index ? 1 - frequency[intra] : 0
            frequency[index] += (share - frequency[index]) / mixLength
        }
    }

    /// The mean bits of a picture at a base QP of 0.
    private var mean: Double { costs.mean(frequency) }

    /// Returns the expected bits of a picture of this kind at a base QP of 0.
    private func baseBits(_ kind: RatedPicture.Kind) -> Double { costs[kind] * costs.share(qp: Self.offset(kind)) }

    /// Returns the QP of this kind at which the average picture of the whole stream so far takes `bitsPerPicture` ·
    /// `correction` bits.
    ///
    /// Pictures that cost less than those before get a slightly lower QP, costlier ones a slightly higher QP. So the
    /// bits that an easy scene saves are available for a later hard scene.
    mutating func steadyQP(
        _ kind: RatedPicture.Kind, bitsPerPicture: Double, correction: Double, samples: Int
    ) -> Double {
        let mean = mean
        guard mean > 0, bitsPerPicture > 0 else {
            return qp(kind, bitsPerPicture: bitsPerPicture, correction: correction, samples: samples)
        }
        planned = bitsPerPicture * baseBits(kind) / mean
        let flat = Self.steadiness
        let whole = 6 * log2(max(meanPower, 1) / (bitsPerPicture * correction))
        let now = whole + flat * 6 * log2(mean)
        // A picture without detail takes few bits at any QP. The next picture must not use the lowest QP because of it.
        let typical = typicalQP(kind, bitsPerPicture: bitsPerPicture * correction)
        return max(now + Self.offset(kind), typical - Self.maximumBelowTypical)
    }

    /// Returns the QP of this kind at which the typical pictures of the stream take `bitsPerPicture` bits.
    func typicalQP(_ kind: RatedPicture.Kind, bitsPerPicture: Double) -> Double {
        6 * log2(max(meanPower, 1)) / (1 - Self.steadiness) - 6 * log2(bitsPerPicture) + Self.offset(kind)
    }

    /// Returns the expected bits of a picture of this kind; 0 before the first picture.
    func bits(_ kind: RatedPicture.Kind, qp: Int) -> Double { costs[kind] * costs.share(qp: Double(qp)) }

    /// The maximum difference by which the QP of an easy picture is below that of the stream's typical pictures.
    private static let maximumBelowTypical = 4.0

    /// Updates the mean cost of the stream after a picture.
    ///
    /// - Parameters:
    ///   - count: the number of pictures over which the mean is taken.
    ///   - samples: the luma samples of a picture.
    ///   - guess: the number of pictures that the initial estimate counts as.
    mutating func remember(_ count: Double, samples: Int, guess: Double) {
        if meanPowerCount == 0 {
            // Typical pictures that are not all intra are assumed to take 0.15 bits per sample at QP 26.
            meanPower = exp2((1 - Self.steadiness) * log2(0.15 * Double(samples) * exp2(26.0 / 6)))
            meanPowerCount = max(guess, 1)
        }
        let mean = mean
        guard mean > 0 else { return }
        let cost = exp2((1 - Self.steadiness) * log2(mean))
        // Pictures without detail tell little about the following pictures.
        let weight = min(max(cost / (0.25 * max(meanPower, 1)), 0.1), 1)
        meanPowerCount = min(meanPowerCount + weight, count)
        meanPower += weight * (cost - meanPower) / meanPowerCount
    }

    /// Returns the QP of this kind at which the average picture takes `bitsPerPicture` · `correction` bits.
    mutating func qp(
        _ kind: RatedPicture.Kind, bitsPerPicture: Double, correction: Double, samples: Int
    ) -> Double {
        let mean = mean
        guard mean > 0, bitsPerPicture > 0 else {
            // The initial estimate: a picture takes about 0.6 bits per sample at QP 26.
            planned = bitsPerPicture
            let bits = max(bitsPerPicture, 1) * PictureCosts.guess(kind)
            return 26 + 6 * log2(0.6 * Double(samples) / bits)
        }
        planned = bitsPerPicture * baseBits(kind) / mean
        return 6 * log2(mean / (bitsPerPicture * correction)) + Self.offset(kind)
    }

    /// Returns the QP at which a picture of this kind takes `bits`; 0 before the first picture.
    func qp(_ kind: RatedPicture.Kind, forBits bits: Double) -> Double {
        let cost = costs[kind]
        guard cost > 0 else { return bits > 0 ? 0 : 51 }
        return bits > 0 ? 6 * log2(cost / bits) : 51
    }

    /// Returns the QP of this kind at which the average picture takes `bits` if the cost continues to grow; 0 before
    /// the first picture.
    func qp(_ kind: RatedPicture.Kind, meanBits bits: Double) -> Double {
        let mean = mean
        return mean > 0 ? 6 * log2(mean * growth / max(bits, 1)) + Self.offset(kind) : 0
    }

    /// Returns the QP at which a picture of this kind and the following pictures fit `outlook`; 0 before the first
    /// picture.
    ///
    /// - Parameter seen: the bits and the QP of the picture if it was encoded before.
    func qp(_ kind: RatedPicture.Kind, within outlook: RateOutlook, seen: (bits: Double, qp: Int)? = nil) -> Double {
        forecast.qp(kind, within: outlook, frequency: frequency, growthShare: growthShare, seen: seen)
    }

    mutating func resetSurplus() {
        surplus = 0
        cycle = 0
    }

    /// Updates the surplus after a picture with `bits`. `share` is the average number of bits per picture, `limit` the
    /// maximum of the surplus in both directions.
    mutating func spend(bits: Double, share: Double, limit: Double) {
        surplus = min(max(surplus + share - bits, -limit), limit)
        cycle = (cycle + planned - share) * (1 - 1 / memory)
    }

    /// Updates the model after a picture with `bits` at `qp` that began a new scene.
    mutating func beginScene(bits: Double, qp: Int) {
        forecast.beginScene(bits: bits, qp: qp)
        costs.beginScene(bits: bits, qp: qp)
    }

    /// Updates the model with a picture that took `bits` at `qp`. `intraShare` is the share of its intra blocks, 0…1.
    mutating func learn(_ kind: RatedPicture.Kind, bits: Double, qp: Int, intraShare: Double) {
        hasHistory = true
        forecast.learn(kind, bits: bits, qp: qp, intraShare: intraShare)
        let seen = costs.cost(bits: bits, qp: qp)
        guard costs.hasCost(kind) else {
            costs[kind] = seen
            return
        }
        if kind == .predicted {
            let ratio = seen / costs[kind]
            let foreseen = 1 + (ratio - 1) * growthShare
            growth = ratio < Self.sceneGrowth && intraShare < 0.5 ? max(foreseen, 1 + (growth - 1) / 2) : 1
        }
        costs.follow(kind, seen: seen, intraShare: intraShare)
    }
}
