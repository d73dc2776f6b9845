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

    init(_ settings: RateSettings) {
        let period = Double(settings.intraPeriod > 0 ? min(settings.intraPeriod, 600) : 300)
        let between = Double(max(settings.referencePeriod, 1))
        memory = max(60, 2 * period)
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
        case .disposable: 2.5
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
            mean += frequency[index] / total * complexity(index) * exp2(-Self.offset(each) / 6)
        }
        return (mean, complexity(kind.rawValue) * exp2(-Self.offset(kind) / 6))
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
            return 26 + 6 * log2(0.6 * Double(samples) / bits)
        }
        planned = bitsPerPicture * own / mean
        return 6 * log2(mean / (bitsPerPicture * correction)) + Self.offset(kind)
    }

    /// The QP at which a picture of this kind takes `bits`; 0 where nothing is known.
    func qp(_ kind: RatedPicture.Kind, forBits bits: Double) -> Double {
        let cost = complexity(kind.rawValue)
        guard cost > 0 else { return bits > 0 ? 0 : 51 }
        return bits > 0 ? 6 * log2(cost / bits) : 51
    }

    /// The QP at which a picture of this kind fits the first of `rooms`, with a mean picture after it the second, and
    /// so on; 0 where nothing is known.
    func qp(_ kind: RatedPicture.Kind, within rooms: [Double]) -> Double {
        let (mean, own) = costs(kind)
        guard mean > 0 else { return 0 }
        var scale = Double.infinity
        for (count, room) in rooms.enumerated() { scale = min(scale, max(room, 1) / (own + Double(count) * mean)) }
        return Self.offset(kind) - 6 * log2(scale)
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

    /// A picture took `bits` at `qp`. Sudden cost, as at a cut between scenes, counts in part: it rarely lasts.
    mutating func learn(_ kind: RatedPicture.Kind, bits: Double, qp: Int, intraShare: Double) {
        hasHistory = true
        let seen = max(bits, 8) * exp2(Double(qp) / 6)
        let index = kind.rawValue
        guard complexity[index] > 0 else {
            complexity[index] = seen
            return
        }
        let bounded = kind != .intra && intraShare > 0.5 ? min(seen, 1.5 * complexity[index]) : seen
        let weight = kind == .intra ? 0.7 : bounded > complexity[index] ? 0.5 : 0.35
        complexity[index] += weight * (bounded - complexity[index])
    }
}
