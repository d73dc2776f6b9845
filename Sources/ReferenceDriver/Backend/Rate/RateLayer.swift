internal import Glibc

/// What a rate controller knows of a temporal layer's pictures, and what they have taken.
struct RateLayer: Sendable {
    /// X by kind: bits of a picture at QP 0; 0 where none was seen.
    private var complexity = [Double](repeating: 0, count: RatedPicture.Kind.count)
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
    /// By how many octaves P pictures were harder than those before them, averaged over the last few: in a fade the next one
    /// is harder by as much again, where single pictures that are a little harder mean nothing.
    private var trend = 0.0
    /// How much of it counts: where the rate aimed at is near the highest, there is no room for it.
    private let growthShare: Double
    /// What is harder at once is another scene.
    private static let mostGrowth = 2.0
    /// The QP of the latest I picture.
    private var intraQP = 26.0
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

    /// Bits halve with every 6 / slope steps of QP: the slope of pictures other than I pictures, and of I pictures where they are
    /// foreseen. Seen on three clips from QP 20 to 44.
    private static let slope = 1.1
    private static let intraSlope = 0.85

    /// What a picture takes at a QP, of what it takes at QP 0.
    static func share(qp: Double) -> Double { exp2(-slope * qp / 6) }

    /// Steps of QP by which the bits change by `ratio`.
    static func steps(_ ratio: Double) -> Double { 6 / slope * log2(ratio) }

    /// How much harder the next P picture may be, as a factor.
    private var growth: Double { exp2(Self.trendGain * max(trend, 0) * growthShare) }
    private static let trendGain = 1.5
    private static let trendWeight = 0.6

    /// Distance of a kind's QP from the base.
    static func offset(_ kind: RatedPicture.Kind) -> Double {
        switch kind {
        case .intra: -3
        case .predicted: 0
        case .bidirectionalReference: 1
        case .disposable: 2
        }
    }

    /// X of kinds not seen yet, against P pictures.
    private static let guess: [Double] = [6, 1, 0.7, 0.6]

    func knows(_ kind: RatedPicture.Kind) -> Bool { complexity[kind.rawValue] > 0 }

    private func complexity(_ index: Int) -> Double {
        if complexity[index] > 0 { return complexity[index] }
        for known in [1, 0, 2, 3] where complexity[known] > 0 {
            return complexity[known] * Self.guess[index] / Self.guess[known]
        }
        return 0
    }

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

    /// Mean bits of a picture at a base QP of 0, and this kind's.
    private func costs(_ kind: RatedPicture.Kind) -> (mean: Double, kind: Double) {
        let total = frequency.reduce(0, +)
        var mean = 0.0
        for index in frequency.indices {
            guard let each = RatedPicture.Kind(rawValue: index) else { continue }
            mean += frequency[index] / total * complexity(index) * Self.share(qp: Self.offset(each))
        }
        return (mean, complexity(kind.rawValue) * Self.share(qp: Self.offset(kind)))
    }

    /// The QP that a whole stream keeps, and that a picture of this kind takes part in: the average over all pictures so
    /// far takes `bitsPerPicture` times `correction`. Pictures that are easier than those before are coded a little finer,
    /// harder ones a little coarser, so that what an easy scene saves is there for the hard one after it.
    mutating func steadyQP(
        _ kind: RatedPicture.Kind, bitsPerPicture: Double, correction: Double, samples: Int
    ) -> Double {
        let (mean, own) = costs(kind)
        guard mean > 0, bitsPerPicture > 0 else {
            return qp(kind, bitsPerPicture: bitsPerPicture, correction: correction, samples: samples)
        }
        planned = bitsPerPicture * own / mean
        let flat = Self.steadiness
        let whole = Self.steps(max(lasting, 1) / (bitsPerPicture * correction))
        let now = whole + flat * Self.steps(mean)
        // A picture with nothing in it takes no bits at any QP: the one after it must not begin at the lowest.
        let typical = typicalQP(kind, bitsPerPicture: bitsPerPicture * correction)
        return max(now + Self.offset(kind), typical - Self.mostBelow)
    }

    /// The QP of this kind at which the stream's typical pictures take `bitsPerPicture`.
    func typicalQP(_ kind: RatedPicture.Kind, bitsPerPicture: Double) -> Double {
        Self.steps(max(lasting, 1)) / (1 - Self.steadiness) - Self.steps(bitsPerPicture) + Self.offset(kind)
    }

    /// The bits that a picture of this kind is expected to take; 0 where nothing is known.
    func bits(_ kind: RatedPicture.Kind, qp: Int) -> Double { complexity(kind.rawValue) * Self.share(qp: Double(qp)) }

    /// How far an easy picture's QP goes below that of the stream's typical ones.
    private static let mostBelow = 4.0

    /// Takes the latest picture into what the stream costs, of which some `count` pictures are remembered.
    ///
    /// - Parameter guess: pictures that the first guess counts as.
    mutating func remember(_ count: Double, samples: Int, guess: Double) {
        if lastingCount == 0 {
            // Natural pictures take some 0.1 bits a sample at QP 26, where not all are intra.
            lasting = exp2((1 - Self.steadiness) * log2(0.15 * Double(samples) / Self.share(qp: 26)))
            lastingCount = max(guess, 1)
        }
        let (mean, _) = costs(.predicted)
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
        let (mean, own) = costs(kind)
        guard mean > 0, bitsPerPicture > 0 else {
            // A start: natural pictures take some 0.6 bits a sample at QP 26.
            planned = bitsPerPicture
            let bits = max(bitsPerPicture, 1) * Self.guess[kind.rawValue]
            return 26 + Self.steps(0.6 * Double(samples) / bits)
        }
        planned = bitsPerPicture * own / mean
        return Self.steps(mean / (bitsPerPicture * correction)) + Self.offset(kind)
    }

    /// The QP at which a picture of this kind takes `bits`; 0 where nothing is known.
    func qp(_ kind: RatedPicture.Kind, forBits bits: Double) -> Double {
        let cost = complexity(kind.rawValue)
        guard cost > 0 else { return bits > 0 ? 0 : 51 }
        return bits > 0 ? Self.steps(cost / bits) : 51
    }

    /// The QP of this kind at which the average picture takes `bits`, where pictures go on getting harder; 0 where nothing
    /// is known.
    func qp(_ kind: RatedPicture.Kind, meanBits bits: Double) -> Double {
        let (mean, _) = costs(kind)
        return mean > 0 ? Self.steps(mean * growth / max(bits, 1)) + Self.offset(kind) : 0
    }

    /// The QP at which a picture of this kind fits the first room of `outlook`, with a mean picture after it the second, and so
    /// on; 0 where nothing is known. Pictures after it may be a little coarser.
    ///
    /// - Parameter seen: what the picture takes at QP 0, where it was encoded once.
    func qp(_ kind: RatedPicture.Kind, within outlook: RateOutlook, seen: Double? = nil) -> Double {
        let (before, expected) = costs(kind)
        guard before > 0 else { return 0 }
        let own = seen.map { $0 * Self.share(qp: Self.offset(kind)) } ?? expected
        // A scene that begins with a picture as hard goes on with pictures that cost as natural ones do.
        let mean = Self.relief * max(before, own / Self.guess[0]) * growth
        let intra = Self.relief * complexity(RatedPicture.Kind.intra.rawValue) * Self.share(qp: intraQP)
        var low = -200.0
        var high = 100.0
        while high - low > 0.05 {
            let base = (low + high) / 2
            let share = Self.share(qp: base)
            let steps = base + Self.offset(.intra) - intraQP
            if outlook.holds(own: own * share, mean: mean * share, intra: intra * exp2(-Self.intraSlope * steps / 6)) {
                high = base
            } else {
                low = base
            }
        }
        return Self.offset(kind) + high
    }

    /// What the pictures after one take at a QP that is higher by 1.6.
    private static let relief = 0.74

    mutating func forgetSurplus() {
        surplus = 0
        cycle = 0
    }

    /// A picture took `bits`, where the average one is due `share`.
    mutating func spend(_ kind: RatedPicture.Kind, bits: Double, share: Double, limit: Double) {
        surplus = min(max(surplus + share - bits, -limit), limit)
        cycle = (cycle + planned - share) * (1 - 1 / memory)
    }

    /// A picture that took `bits` at `qp` began another scene: those after it cost at least what follows a natural I picture
    /// as large.
    mutating func beginScene(bits: Double, qp: Int) {
        let seen = max(bits, 8) / Self.share(qp: Double(qp))
        for index in complexity.indices where index != RatedPicture.Kind.intra.rawValue && complexity[index] > 0 {
            complexity[index] = max(complexity[index], seen * Self.guess[index] / Self.guess[0])
        }
    }

    /// A picture took `bits` at `qp`. Sudden cost, as at a cut between scenes, counts in part: it rarely lasts.
    mutating func learn(_ kind: RatedPicture.Kind, bits: Double, qp: Int, intraShare: Double) {
        hasHistory = true
        let seen = max(bits, 8) / Self.share(qp: Double(qp))
        let index = kind.rawValue
        if kind == .intra { intraQP = Double(qp) }
        guard complexity[index] > 0 else {
            complexity[index] = seen
            return
        }
        let ratio = seen / complexity[index]
        if kind == .predicted {
            let isScene = ratio >= Self.mostGrowth || intraShare >= 0.5
            trend = isScene ? 0 : trend + Self.trendWeight * (min(max(log2(ratio), -1), 1) - trend)
        }
        if kind != .intra, log2(ratio) < 0.5 {
            // The geometric mean: sizes that go up and down leave it where it is.
            complexity[index] *= exp2(0.35 * max(log2(ratio), -2))
            return
        }
        let bounded = kind != .intra && intraShare > 0.5 ? min(seen, 1.5 * complexity[index]) : seen
        complexity[index] += (kind == .intra ? 0.7 : 0.5) * (bounded - complexity[index])
    }
}
