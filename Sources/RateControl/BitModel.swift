internal import Glibc
import VideoBase

/// Estimates the bits of a picture from its QP. Learns each kind of picture from the earlier pictures of that kind.
///
/// bits = 2^(complexity − slope · QP / 6): six steps of QP divide the bits by 2^slope.
struct BitModel: Sendable {
    /// The kinds of pictures that are learned separately: intra, P by temporal layer, B by depth.
    enum Kind {
        static let intra = 0
        static let count = 9

        static func of(_ type: PictureType, depth: Int, layer: Int) -> Int {
            switch type {
            case .idr, .i: intra
            case .p: 1 + min(max(layer, 0), 3)
            case .b: 5 + min(max(depth, 0), 3)
            }
        }
    }

    /// Returns the halvings of a kind's bits by six steps of QP. Measured on the reference driver with three clips, QP
    /// 20 to 44.
    static func slope(_ kind: Int) -> Double { kind == Kind.intra ? 0.85 : 1.15 }

    /// log2 of the bits at QP 0, by kind.
    private var complexity: [Double]
    private var observations = [Int](repeating: 0, count: Kind.count)
    /// The share of each kind among the pictures that are not intra. Old pictures lose weight slowly.
    private(set) var shares: [Double]
    /// The difficulty of the latest P picture relative to those before it, as a factor from 1 to 2. In a fade, the next
    /// picture is harder by the same factor again.
    private(set) var growth = 1.0
    /// The bits of a picture that contains only its headers.
    private let floorBits: Double

    init(macroblocks: Int) {
        // First guess: a macroblock takes about 100 bits in intra pictures at QP 26, and 25 bits in P pictures.
        let size = Double(max(macroblocks, 1))
        complexity = (0..<Kind.count).map { kind in
            let bits: Double = kind == Kind.intra ? 100 : kind < 5 ? 25 : 15
            return log2(size * bits) + Self.slope(kind) * 26 / 6
        }
        floorBits = 160 + size * 0.05
        shares = [Double](repeating: 0, count: Kind.count)
        shares[1] = 1
    }

    /// The number of times that `ratio` can be halved until it reaches 1.
    static func octaves(_ ratio: Double) -> Double { log2(max(ratio, 1)) }

    /// The factor by which an estimate for this kind may normally be too low.
    func uncertainty(_ kind: Int) -> Double { observations[kind] == 0 ? 2.5 : 1.1 }

    func bits(_ kind: Int, qp: Double) -> Double {
        max(exp2(complexity[kind] - Self.slope(kind) * qp / 6), floorBits)
    }

    /// Returns the bits of the mean picture that is not intra, if P pictures have `qp`.
    func meanBits(qp: Double, offsets: [Double]) -> Double {
        var sum = 0.0
        for kind in 1..<Kind.count where shares[kind] > 0.001 { sum += shares[kind] * bits(kind, qp: qp + offsets[kind]) }
        return sum
    }

    /// Adapts the estimates to a picture that began another scene. The pictures after it are assumed to take at least
    /// the usual share of an intra picture of that size.
    mutating func beginScene(qp: Int, bits: Int) {
        let intra = log2(Double(max(bits, 64))) + Self.slope(Kind.intra) * Double(qp) / 6 - Self.slope(Kind.intra) * 26 / 6
        for kind in 1..<Kind.count {
            let share: Double = kind < 5 ? 0.2 : 0.12
            complexity[kind] = max(complexity[kind], intra + log2(share) + Self.slope(kind) * 26 / 6)
        }
    }

    /// Learns from a coded picture. An unexpected size counts only in part, because the picture may be the first of a
    /// scene.
    mutating func learn(_ kind: Int, qp: Int, bits: Int) {
        let seen = log2(Double(max(bits, 64))) + Self.slope(kind) * Double(qp) / 6
        let difference = seen - complexity[kind]
        if kind == 1 {
            // A picture that is much harder at once begins another scene.
            growth = difference < 1 ? max(exp2(difference), 1 + (growth - 1) / 2) : 1
        }
        if observations[kind] == 0 {
            complexity[kind] = seen
            // Correct the kinds that were not observed yet by the same error.
            for other in 0..<Kind.count where observations[other] == 0 && other != kind {
                complexity[other] += difference * (kind == Kind.intra || other == Kind.intra ? 0.7 : 1)
            }
        } else {
            let gain = kind == Kind.intra ? 0.7 : abs(difference) > 0.5 ? 0.5 : 0.3
            complexity[kind] += gain * min(max(difference, -1), kind == Kind.intra ? 2 : 1)
        }
        observations[kind] += 1
        guard kind != Kind.intra else { return }
        let weight = max(1 / 48, 1 / Double(observations[1...].reduce(0, +)))
        for other in 1..<Kind.count { shares[other] += weight * ((other == kind ? 1 : 0) - shares[other]) }
    }
}
