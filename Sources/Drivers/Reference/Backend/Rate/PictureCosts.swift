internal import Glibc

/// What a picture of each kind takes at QP 0, in bits, where bits halve with every 6 / `slope` steps of QP; learnt from the pictures
/// so far.
struct PictureCosts: Sendable {
    private let slope: Double
    /// By kind; 0 where none was seen.
    private var known = [Double](repeating: 0, count: RatedPicture.Kind.count)

    init(slope: Double) { self.slope = slope }

    /// Costs of kinds not seen yet, against P pictures.
    static func guess(_ kind: RatedPicture.Kind) -> Double {
        switch kind {
        case .intra: intraGuess
        case .predicted: 1
        case .bidirectionalReference: 0.7
        case .disposable: 0.6
        }
    }

    static let intraGuess = 6.0

    /// The share of what was seen that a kind's cost takes over, by whether it was more or less than expected.
    static let weightUp = 0.5
    static let weightDown = 0.35
    private static let intraWeight = 0.7

    /// What a picture takes at a QP, of what it takes at QP 0.
    func share(qp: Double) -> Double { exp2(-slope * qp / 6) }

    /// The cost of a picture that took `bits` at `qp`; above 0.
    func cost(bits: Double, qp: Int) -> Double { max(bits, 8) / share(qp: Double(qp)) }

    func knows(_ kind: RatedPicture.Kind) -> Bool { known[kind.rawValue] > 0 }

    /// Of a kind that was not seen, by the costs of others; 0 where none was seen.
    subscript(kind: RatedPicture.Kind) -> Double {
        get {
            if knows(kind) { return known[kind.rawValue] }
            for other in [RatedPicture.Kind.predicted, .intra, .bidirectionalReference, .disposable] where knows(other)
            {
                return known[other.rawValue] * Self.guess(kind) / Self.guess(other)
            }
            return 0
        }
        set { known[kind.rawValue] = newValue }
    }

    /// Mean bits of a picture at a base QP of 0; `frequency` is of all pictures those of each kind.
    func mean(_ frequency: [Double]) -> Double {
        let total = frequency.reduce(0, +)
        return RatedPicture.Kind.allCases.reduce(0) { sum, kind in
            sum + frequency[kind.rawValue] / total * self[kind] * share(qp: RateLayer.offset(kind))
        }
    }

    /// A picture that took `bits` at `qp` began another scene: those after it cost at least what follows a natural I picture
    /// as large.
    mutating func beginScene(bits: Double, qp: Int) {
        let seen = cost(bits: bits, qp: qp)
        for kind in RatedPicture.Kind.allCases where kind != .intra && knows(kind) {
            self[kind] = max(self[kind], seen * Self.guess(kind) / Self.intraGuess)
        }
    }

    /// A picture of a known kind cost `seen`. Sudden cost, as at a cut between scenes, counts in part: it rarely lasts.
    mutating func follow(_ kind: RatedPicture.Kind, seen: Double, intraShare: Double) {
        let cost = self[kind]
        let bounded = kind != .intra && intraShare > 0.5 ? min(seen, 1.5 * cost) : seen
        let weight = kind == .intra ? Self.intraWeight : bounded > cost ? Self.weightUp : Self.weightDown
        self[kind] = cost + weight * (bounded - cost)
    }
}
