/// What a quality level spends its time on. None of it changes what is legal.
struct HEVCSpeedPreset: BitwiseCopyable {
    /// References that are searched, of those the slice has.
    private(set) var references = 1
    /// Merge candidates that are tried.
    private(set) var mergeCandidates = 5
    /// Coding blocks of 64×64 are tried.
    private(set) var largestUnit = 6
    private(set) var smallestUnit = 3
    /// Rounds of the large hexagon after which the integer search stops; 0: small diamonds only.
    private(set) var hexagons = 8
    private(set) var diamonds = 2
    /// Rounds of refinement at half and quarter samples.
    private(set) var halfSteps = 2
    private(set) var quarterSteps = 2
    /// Sub-sample positions by Hadamard coefficients rather than by plain differences.
    private(set) var hadamard = true
    /// Two prediction units to a coding unit; and unequal ones.
    private(set) var partitions = false
    private(set) var asymmetric = false
    /// How often the vectors of a pair from both lists are refined by turns.
    private(set) var pairRounds = 1
    /// Intra modes that are coded in full, of those that look best.
    private(set) var intraModes = 3
    /// All modes are looked at, not every fourth and what is around the best.
    private(set) var allIntraModes = false
    /// Four intra modes to a unit of 8×8.
    private(set) var intraQuarters = true
    /// Intra is tried where inter leaves no levels, too.
    private(set) var triesAllIntra = false
    /// Intra is coded in full only where its best mode's Hadamard coefficients and bits come to at most five fourths of
    /// what motion's come to.
    private(set) var comparesIntra = true
    /// Transform blocks smaller than the unit are tried, by levels.
    private(set) var transformSplits = 1
    /// Levels are chosen one by one by error and bits, not cut off by a dead zone.
    private(set) var choosesLevels = false
    private(set) var sao = true
    /// A block whose merged prediction leaves no levels is taken as skipped at once.
    private(set) var skipsEarly = true

    /// `quality`: 1 best … 7 fastest. `choosesLevels`: whatever the quality says of it.
    init(quality: Int, choosesLevels asked: Bool? = nil) {
        defer { if let asked { choosesLevels = asked } }
        switch quality {
        case ...1:
            references = 4
            partitions = true
            asymmetric = true
            pairRounds = 3
            intraModes = 5
            allIntraModes = true
            transformSplits = 2
            skipsEarly = false
            triesAllIntra = true
            comparesIntra = false
            (hexagons, diamonds, halfSteps, quarterSteps) = (16, 4, 4, 4)
            choosesLevels = true
        case 2:
            references = 3
            partitions = true
            pairRounds = 2
            intraModes = 4
            transformSplits = 2
            (hexagons, diamonds, halfSteps, quarterSteps) = (12, 4, 3, 3)
            choosesLevels = true
        case 3:
            references = 2
            pairRounds = 2
            (hexagons, diamonds, quarterSteps) = (10, 3, 3)
            choosesLevels = true
        case 4: break
        case 5:
            (hexagons, halfSteps) = (6, 1)
            intraModes = 2
            sao = false
            mergeCandidates = 3
            transformSplits = 0
        case 6:
            (hexagons, diamonds, halfSteps, quarterSteps) = (0, 10, 1, 1)
            intraModes = 1
            sao = false
            mergeCandidates = 2
            transformSplits = 0
            intraQuarters = false
        default:
            pairRounds = 0
            (hexagons, diamonds, halfSteps, quarterSteps) = (0, 8, 1, 1)
            hadamard = false
            intraModes = 1
            sao = false
            mergeCandidates = 2
            transformSplits = 0
            intraQuarters = false
            largestUnit = 5
            smallestUnit = 4
        }
    }
}

/// Lagrange multipliers. `qp` is QP′_Y, QpBdOffset counted in.
enum HEVCLagrange {
    /// What a bit weighs against squared errors, in 256ths: 0.57 · 2^((QP − 12) / 3).
    static func squareLambda(_ qp: Int) -> Int {
        let thirds = [256, 323, 406]
        return max(1, ((thirds[qp % 3] << (qp / 3)) * 57) / (100 * 16))
    }

    /// What a bit weighs in sums of (transformed) absolute differences, in 256ths: the root of the other.
    static func lambda(_ qp: Int) -> Int {
        let sixths = [256, 287, 323, 362, 406, 456]
        return max(1, ((sixths[qp % 6] << (qp / 6)) * 755) / (1000 * 4))
    }
}
