internal import Glibc

/// The cost of a picture of each kind, in bits at QP 0, learned from the pictures so far. In this model the bits halve
/// with every 6 / `slope` QP steps.
struct PictureCosts: Sendable {
    private let slope: Double
    /// The cost by kind; 0 if there was no picture of the kind.
    private var costByKind = [Double](repeating: 0, count: RatedPicture.Kind.count)

    init(slope: Double) { self.slope = slope }

    /// Returns the estimated cost of a kind relative to a P picture, for kinds without a picture so far.
    static func guess(_ kind: RatedPicture.Kind) -> Double {
        switch kind {
        case .intra: intraGuess
        case .predicted: 1
        case .bidirectionalReference: 0.7
        case .disposable: 0.6
        }
    }

    static let intraGuess = 6.0

    /// The weight of a new picture in the average cost of its kind, if it costs more than expected and if it costs
    /// less.
    static let weightUp = 0.5
    static let weightDown = 0.35
    private static let intraWeight = 0.7

    /// Returns the bits of a picture at a QP as a share of its bits at QP 0.
    func share(qp: Double) -> Double { exp2(-slope * qp / 6) }

    /// Returns the cost of a picture with `bits` at `qp`; more than 0.
    func cost(bits: Double, qp: Int) -> Double { max(bits, 8) / share(qp: Double(qp)) }

    func hasCost(_ kind: RatedPicture.Kind) -> Bool { costByKind[kind.rawValue] > 0 }

    /// The cost of a kind. If there was no picture of the kind, it is estimated from the cost of another kind; 0
    /// without any picture.
    subscript(kind: RatedPicture.Kind) -> Double {
        get {
            if hasCost(kind) { return costByKind[kind.rawValue] }
            for other in [RatedPicture.Kind.predicted, .intra, .bidirectionalReference, .disposable]
            where hasCost(other) {
                return costByKind[other.rawValue] * Self.guess(kind) / Self.guess(other)
            }
            return 0
        }
        set { costByKind[kind.rawValue] = newValue }
    }

    /// Returns the mean bits of a picture at a base QP of 0. `frequency` is the share of each kind in all pictures.
    func mean(_ frequency: [Double]) -> Double {
        let total = frequency.reduce(0, +)
        return RatedPicture.Kind.allCases.reduce(0) { sum, kind in
            sum + frequency[kind.rawValue] / total * self[kind] * share(qp: RateLayer.offset(kind))
        }
    }

    /// Updates the costs after a picture with `bits` at `qp` that began a new scene. The following pictures are assumed
    /// to cost at least as much as those after a typical I picture of this size.
    mutating func beginScene(bits: Double, qp: Int) {
        let seen = cost(bits: bits, qp: qp)
        for kind in RatedPicture.Kind.allCases where kind != .intra && hasCost(kind) {
            self[kind] = max(self[kind], seen * Self.guess(kind) / Self.intraGuess)
        }
    }

    /// Updates the cost of a kind with that of a new picture. A sudden increase, as at a scene cut, is limited because
    /// it rarely lasts.
    mutating func follow(_ kind: RatedPicture.Kind, seen: Double, intraShare: Double) {
        let cost = self[kind]
        let bounded = kind != .intra && intraShare > 0.5 ? min(seen, 1.5 * cost) : seen
        let weight = kind == .intra ? Self.intraWeight : bounded > cost ? Self.weightUp : Self.weightDown
        self[kind] = cost + weight * (bounded - cost)
    }
}
