/// The search effort of a quality level. No setting affects the conformance of the stream.
struct HEVCSpeedPreset: BitwiseCopyable {
    /// The number of references in each list that are searched.
    private(set) var references = 1
    /// The number of merge candidates that are tried.
    private(set) var mergeCandidates = 5
    /// Log2 of the largest and of the smallest coding block that are tried, if the sequence's block sizes allow it.
    private(set) var largestUnit = 6
    private(set) var smallestUnit = 3
    /// The maximum number of rounds of the integer search with the large hexagon, and then with the small diamond. With
    /// 0 hexagons only the diamond is used.
    private(set) var hexagons = 8
    private(set) var diamonds = 2
    /// The maximum number of refinement rounds at half and at quarter samples.
    private(set) var halfSteps = 2
    private(set) var quarterSteps = 2
    /// Whether fractional positions and merge candidates are compared by Hadamard coefficients (SATD) instead of plain
    /// differences (SAD).
    private(set) var hadamard = true
    /// Whether coding units with two prediction units are tried, and those with asymmetric ones.
    private(set) var partitions = false
    private(set) var asymmetric = false
    /// The number of rounds that refine the two vectors of a bi-predicted block alternately; 0 tries the pair
    /// unrefined.
    private(set) var pairRounds = 1
    /// The number of best intra modes, by estimated cost, that are coded completely.
    private(set) var intraModes = 3
    /// Whether the cost of all intra modes is estimated. Otherwise it is that of every fourth mode and of modes close
    /// to the best one.
    private(set) var allIntraModes = false
    /// Whether 8×8 units with four intra modes are tried.
    private(set) var intraQuarters = true
    /// Whether intra is also tried if inter prediction needs no levels.
    private(set) var triesAllIntra = false
    /// Whether intra is coded completely only if the estimated cost of its best mode (Hadamard coefficients and bits)
    /// is at most 5/4 of the estimated cost of inter prediction.
    private(set) var comparesIntra = true
    /// The number of transform tree depths at which a split is tried.
    private(set) var transformSplits = 1
    /// Whether each level is chosen by error and bits (rate-distortion optimized quantization), not by a dead zone.
    private(set) var choosesLevels = false
    private(set) var sao = true
    /// Whether a unit is skipped without further trials if its merged prediction needs no levels.
    private(set) var skipsEarly = true

    /// Whether explicit motion that equals the merged motion is not coded for comparison.
    private(set) var skipsEqualMotion = false
    /// The divisor of a block's squared error in the test whether the block has no levels. With 1 the test is exact: a
    /// single coefficient might contain the whole error.
    private(set) var spread = 1
    /// Whether explicit motion is only coded if its estimated cost is less than that of the merged motion.
    private(set) var skipsWorseMotion = false
    /// Whether fractional vectors are only tried on the better sides of the best whole vector.
    private(set) var prunesSides = false
    /// Whether angular intra modes in P and B slices are compared by plain differences, and only the best of them by
    /// Hadamard coefficients, and whether chroma has the mode of luma there.
    private(set) var quickIntra = false
    /// Whether smaller units are not tried if the best inter unit has no levels, or if skipping is cheaper than levels.
    private(set) var stopsWithoutLevels = false
    /// The least QP at which only the low half of the frequencies of 32×32 blocks is coded; nil for none.
    private(set) var lowPassQP: Int?
    /// Whether one or two levels of 1 that are alone in their sub-block are removed if their coefficients are small.
    private(set) var thinsLevels = false

    /// Initializes the preset of a `quality` from 1 (best) to 7 (fastest). If `choosesLevels` is not nil, it replaces
    /// the quality's setting.
    init(quality: Int, choosesLevels requested: Bool? = nil) {
        defer { if let requested { choosesLevels = requested } }
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
            skipsEqualMotion = true
            spread = 3
            skipsWorseMotion = true
            prunesSides = true
            quickIntra = true
            stopsWithoutLevels = true
            lowPassQP = 26
            thinsLevels = true
        }
    }
}

/// Lagrange multipliers. `qp` is QP′_Y, which includes QpBdOffset.
enum HEVCLagrange {
    /// Returns the weight of a bit against squared errors, in 256ths: 0.57 · 2^((QP − 12) / 3).
    static func squareLambda(_ qp: Int) -> Int {
        let thirds = [256, 323, 406]
        return max(1, ((thirds[qp % 3] << (qp / 3)) * 57) / (100 * 16))
    }

    /// Returns the weight of a bit against sums of absolute (transformed) differences, in 256ths: the square root of
    /// the weight against squared errors.
    static func lambda(_ qp: Int) -> Int {
        let sixths = [256, 287, 323, 362, 406, 456]
        return max(1, ((sixths[qp % 6] << (qp / 6)) * 755) / (1000 * 4))
    }
}
