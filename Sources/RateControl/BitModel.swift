internal import Glibc
import VideoBase

/// How many bits a picture takes at a QP, learnt for each kind of picture from those before it.
///
/// bits = 2^(complexity − slope · QP / 6): halving with every so many steps of QP.
struct BitModel: Sendable {
    /// Kinds of pictures that are learnt apart: intra, P by temporal layer, B by depth.
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

    /// Seen on the reference driver with three clips from QP 20 to 44.
    static func slope(_ kind: Int) -> Double { kind == Kind.intra ? 0.85 : 1.15 }

    /// log2 of the bits at QP 0.
    private var complexity: [Double]
    private var observations = [Int](repeating: 0, count: Kind.count)
    /// Share of each kind among the pictures that are not intra; forgets slowly.
    private(set) var shares: [Double]
    /// How much harder a P picture was than those before it, 1…2: in a fade the next one is harder by as much again.
    private(set) var growth = 1.0
    /// The bits of a picture that holds nothing but its headers.
    private let floorBits: Double

    init(macroblocks: Int) {
        // A macroblock takes some 100 bits in intra pictures at QP 26, and 25 in P pictures.
        let size = Double(max(macroblocks, 1))
        complexity = (0..<Kind.count).map { kind in
            let bits: Double = kind == Kind.intra ? 100 : kind < 5 ? 25 : 15
            return log2(size * bits) + Self.slope(kind) * 26 / 6
        }
        floorBits = 160 + size * 0.05
        shares = [Double](repeating: 0, count: Kind.count)
        shares[1] = 1
    }

    /// How often `ratio` can be halved.
    static func octaves(_ ratio: Double) -> Double { log2(max(ratio, 1)) }

    /// What an estimate of that kind may be wrong by without anybody being surprised.
    func uncertainty(_ kind: Int) -> Double { observations[kind] == 0 ? 2.5 : 1.1 }

    func bits(_ kind: Int, qp: Double) -> Double {
        max(exp2(complexity[kind] - Self.slope(kind) * qp / 6), floorBits)
    }

    /// Bits of the mean picture that is not intra, where P pictures have `qp`.
    func meanBits(qp: Double, offsets: [Double]) -> Double {
        var sum = 0.0
        for kind in 1..<Kind.count where shares[kind] > 0.001 { sum += shares[kind] * bits(kind, qp: qp + offsets[kind]) }
        return sum
    }

    /// A picture began another scene: those after it cost at least what follows an intra picture as large.
    mutating func beginScene(qp: Int, bits: Int) {
        let intra = log2(Double(max(bits, 64))) + Self.slope(Kind.intra) * Double(qp) / 6 - Self.slope(Kind.intra) * 26 / 6
        for kind in 1..<Kind.count {
            let share: Double = kind < 5 ? 0.2 : 0.12
            complexity[kind] = max(complexity[kind], intra + log2(share) + Self.slope(kind) * 26 / 6)
        }
    }

    /// Learns from a picture. One that surprises counts only in part: it may be a scene's first.
    mutating func learn(_ kind: Int, qp: Int, bits: Int) {
        let seen = log2(Double(max(bits, 64))) + Self.slope(kind) * Double(qp) / 6
        let difference = seen - complexity[kind]
        if kind == 1 {
            // What is harder at once is another scene.
            growth = difference < 1 ? max(exp2(difference), 1 + (growth - 1) / 2) : 1
        }
        if observations[kind] == 0 {
            complexity[kind] = seen
            // The kinds not seen yet are guessed by the same error.
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
