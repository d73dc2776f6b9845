internal import Glibc

/// What a rate controller knows of a temporal layer's pictures, and what they have taken.
struct RateLayer: Sendable {
    private var costs = PictureCosts(slope: 1)
    /// Of all pictures those of each kind, by what came lately and at first by what the client said.
    private var frequency: [Double]
    private let memory: Double
    /// Pictures that the mix of those that are not intra rests on, the client's word counting as some.
    private var counted: Double
    /// Bits not taken of what the pictures so far were due, limited.
    private(set) var surplus = 0.0
    /// Bits that the kinds so far were meant to take more than the average picture: what they save or overspend on
    /// purpose, forgotten in time.
    private(set) var cycle = 0.0
    private var planned = 0.0
    private(set) var hasHistory = false
    /// How much harder a P picture was than those before it, 1…3: in a fade the next one is harder by as much again.
    private var growth = 1.0
    /// How much of it counts: where the rate aimed at is near the highest, there is no room for it.
    private let growthShare: Double
    /// What is harder at once is another scene.
    private static let mostGrowth = 2.0
    /// What the window goes by.
    private var forecast = RateForecast()
    /// Mean of the costs of the pictures so far to the power of 1 - steadiness, forgotten slowly, and the pictures that it
    /// rests on.
    private var lasting = 0.0
    private var lastingCount = 0.0

    /// The share of the difference in cost between two scenes that goes into their QPs; the rest goes into their bits.
    private static let steadiness = 0.4

    init(_ settings: RateSettings) {
        let period = Double(settings.intraPeriod > 0 ? min(settings.intraPeriod, 600) : 300)
        let between = Double(max(settings.referencePeriod, 1))
        memory = max(60, 2 * period)
        growthShare =
            settings.mode == .constantBitRate ? 1 : min(1, 3 * (1 - Double(settings.stream.targetPercentage) / 100))
        // Without B pictures, the client has said nothing of pictures that no other refers to.
        counted = between > 1 ? memory : 8
        let intra = 1 / period
        let predicted = max(1 / between - intra, 0)
        // B pictures that others refer to are not announced: they are counted once they come.
        frequency = [intra, predicted, 0, max(1 - 1 / between, 0)]
    }

    /// Distance of a kind's QP from the base.
    static func offset(_ kind: RatedPicture.Kind) -> Double {
        switch kind {
        case .intra: -3
        case .predicted: 0
        case .bidirectionalReference: 1
        case .disposable: 2
        }
    }

    func knows(_ kind: RatedPicture.Kind) -> Bool { costs.knows(kind) }

    /// Slowly, as a mix that follows each picture is wrong for each.
    mutating func count(_ kind: RatedPicture.Kind) {
        let intra = RatedPicture.Kind.intra.rawValue
        let isIntra = kind == .intra
        let others = 1 - frequency[intra]
        frequency[intra] += ((isIntra ? 1 : 0) - frequency[intra]) / memory
        let scale = others > 0 ? (1 - frequency[intra]) / others : 0
        for index in frequency.indices where index != intra { frequency[index] *= scale }
        guard !isIntra else { return }
        counted = min(counted + 1, memory)
        for index in frequency.indices where index != intra {
            let share = kind.rawValue == index ? 1 - frequency[intra] : 0
            frequency[index] += (share - frequency[index]) / counted
        }
    }

    /// Mean bits of a picture at a base QP of 0.
    private var mean: Double { costs.mean(frequency) }

    /// Bits of a picture of this kind at a base QP of 0.
    private func own(_ kind: RatedPicture.Kind) -> Double { costs[kind] * costs.share(qp: Self.offset(kind)) }

    /// The QP that a whole stream keeps, and that a picture of this kind takes part in: the average over all pictures so
    /// far takes `bitsPerPicture` times `correction`. Pictures that are easier than those before are coded a little finer,
    /// harder ones a little coarser, so that what an easy scene saves is there for the hard one after it.
    mutating func steadyQP(
        _ kind: RatedPicture.Kind, bitsPerPicture: Double, correction: Double, samples: Int
    ) -> Double {
        let mean = mean
        guard mean > 0, bitsPerPicture > 0 else {
            return qp(kind, bitsPerPicture: bitsPerPicture, correction: correction, samples: samples)
        }
        planned = bitsPerPicture * own(kind) / mean
        let flat = Self.steadiness
        let whole = 6 * log2(max(lasting, 1) / (bitsPerPicture * correction))
        let now = whole + flat * 6 * log2(mean)
        // A picture with nothing in it takes no bits at any QP: the one after it must not begin at the lowest.
        let typical = typicalQP(kind, bitsPerPicture: bitsPerPicture * correction)
        return max(now + Self.offset(kind), typical - Self.mostBelow)
    }

    /// The QP of this kind at which the stream's typical pictures take `bitsPerPicture`.
    func typicalQP(_ kind: RatedPicture.Kind, bitsPerPicture: Double) -> Double {
        6 * log2(max(lasting, 1)) / (1 - Self.steadiness) - 6 * log2(bitsPerPicture) + Self.offset(kind)
    }

    /// The bits that a picture of this kind is expected to take; 0 where nothing is known.
    func bits(_ kind: RatedPicture.Kind, qp: Int) -> Double { costs[kind] * costs.share(qp: Double(qp)) }

    /// How far an easy picture's QP goes below that of the stream's typical ones.
    private static let mostBelow = 4.0

    /// Takes the latest picture into what the stream costs, of which some `count` pictures are remembered.
    ///
    /// - Parameter guess: pictures that the first guess counts as.
    mutating func remember(_ count: Double, samples: Int, guess: Double) {
        if lastingCount == 0 {
            // Natural pictures take some 0.1 bits a sample at QP 26, where not all are intra.
            lasting = exp2((1 - Self.steadiness) * log2(0.15 * Double(samples) * exp2(26.0 / 6)))
            lastingCount = max(guess, 1)
        }
        let mean = mean
        guard mean > 0 else { return }
        let cost = exp2((1 - Self.steadiness) * log2(mean))
        // Pictures with nothing in them say nothing of what comes after them.
        let weight = min(max(cost / (0.25 * max(lasting, 1)), 0.1), 1)
        lastingCount = min(lastingCount + weight, count)
        lasting += weight * (cost - lasting) / lastingCount
    }

    /// The QP at which the average picture takes `bitsPerPicture` times `correction`, for a picture of this kind.
    mutating func qp(
        _ kind: RatedPicture.Kind, bitsPerPicture: Double, correction: Double, samples: Int
    ) -> Double {
        let mean = mean
        guard mean > 0, bitsPerPicture > 0 else {
            // A start: natural pictures take some 0.6 bits a sample at QP 26.
            planned = bitsPerPicture
            let bits = max(bitsPerPicture, 1) * PictureCosts.guess(kind)
            return 26 + 6 * log2(0.6 * Double(samples) / bits)
        }
        planned = bitsPerPicture * own(kind) / mean
        return 6 * log2(mean / (bitsPerPicture * correction)) + Self.offset(kind)
    }

    /// The QP at which a picture of this kind takes `bits`; 0 where nothing is known.
    func qp(_ kind: RatedPicture.Kind, forBits bits: Double) -> Double {
        let cost = costs[kind]
        guard cost > 0 else { return bits > 0 ? 0 : 51 }
        return bits > 0 ? 6 * log2(cost / bits) : 51
    }

    /// The QP of this kind at which the average picture takes `bits`, where pictures go on getting harder; 0 where nothing
    /// is known.
    func qp(_ kind: RatedPicture.Kind, meanBits bits: Double) -> Double {
        let mean = mean
        return mean > 0 ? 6 * log2(mean * growth / max(bits, 1)) + Self.offset(kind) : 0
    }

    /// The QP at which a picture of this kind, and those after it, fit `outlook`; 0 where nothing is known.
    ///
    /// - Parameter seen: the picture's bits and QP, where it was encoded once.
    func qp(_ kind: RatedPicture.Kind, within outlook: RateOutlook, seen: (bits: Double, qp: Int)? = nil) -> Double {
        forecast.qp(kind, within: outlook, frequency: frequency, growthShare: growthShare, seen: seen)
    }

    mutating func forgetSurplus() {
        surplus = 0
        cycle = 0
    }

    /// A picture took `bits`, where the average one is due `share`.
    mutating func spend(_ kind: RatedPicture.Kind, bits: Double, share: Double, limit: Double) {
        surplus = min(max(surplus + share - bits, -limit), limit)
        cycle = (cycle + planned - share) * (1 - 1 / memory)
    }

    /// A picture that took `bits` at `qp` began another scene.
    mutating func beginScene(bits: Double, qp: Int) {
        forecast.beginScene(bits: bits, qp: qp)
        costs.beginScene(bits: bits, qp: qp)
    }

    /// A picture took `bits` at `qp`, `intraShare` of its blocks being intra.
    mutating func learn(_ kind: RatedPicture.Kind, bits: Double, qp: Int, intraShare: Double) {
        hasHistory = true
        forecast.learn(kind, bits: bits, qp: qp, intraShare: intraShare)
        let seen = costs.cost(bits: bits, qp: qp)
        guard costs.knows(kind) else {
            costs[kind] = seen
            return
        }
        if kind == .predicted {
            let ratio = seen / costs[kind]
            let foreseen = 1 + (ratio - 1) * growthShare
            growth = ratio < Self.mostGrowth && intraShare < 0.5 ? max(foreseen, 1 + (growth - 1) / 2) : 1
        }
        costs.follow(kind, seen: seen, intraShare: intraShare)
    }
}
