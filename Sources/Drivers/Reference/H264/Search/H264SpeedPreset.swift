/// The search effort of a quality level. It affects only speed and compression, never the validity of the stream.
struct H264SpeedPreset {
    /// The maximum number of references that are searched.
    private(set) var references = 1
    /// Whether partitions are searched in all of these references, or only in the best one of the whole macroblock.
    private(set) var partitionReferences = false
    /// The maximum number of steps with the large hexagon in the whole-sample search. 0 means that only small diamonds
    /// are used.
    private(set) var hexagons = 8
    private(set) var diamonds = 2
    /// The maximum number of refinement steps at half samples and at quarter samples.
    private(set) var halfSteps = 2
    private(set) var quarterSteps = 2
    /// Whether sub-sample positions are compared by SATD (Hadamard coefficients). Otherwise they are compared by SAD.
    private(set) var hadamard = true
    /// Whether 16×8, 8×16 and 8×8 partitions are tried.
    private(set) var partitions = true
    /// The number of rounds that refine the two vectors of a bi-predicted block in turn.
    private(set) var pairRounds = 1
    /// Whether intra 4×4 and 8×8 are tried in P and B slices even if intra 16×16 is worse than inter.
    private(set) var smallIntraInP = true
    /// Whether all nine modes of small intra blocks are tried. Otherwise only the most probable ones are.
    private(set) var allIntraModes = true
    /// Whether levels are chosen by rate-distortion cost. Otherwise a dead zone is used.
    private(set) var choosesLevels = false
    /// Whether macroblock types and transforms are compared by their actual squared error and estimated bits.
    private(set) var decidesByCost = false

    /// Whether the model of levels adapts from macroblock to macroblock.
    var learns: Bool { choosesLevels || decidesByCost }

    /// `quality` is 1 (best) to 7 (fastest). `asked` overrides the value of `choosesLevels` that follows from the
    /// quality.
    init(quality: Int, choosesLevels asked: Bool? = nil) {
        defer { if let asked { choosesLevels = asked } }
        switch quality {
        case ...1:
            references = 4
            partitionReferences = true
            pairRounds = 4
            (hexagons, diamonds, halfSteps, quarterSteps) = (16, 4, 4, 4)
            choosesLevels = true
            decidesByCost = true
        case 2:
            references = 3
            pairRounds = 3
            (hexagons, diamonds, halfSteps, quarterSteps) = (12, 4, 3, 3)
            choosesLevels = true
            decidesByCost = true
        case 3:
            references = 2
            pairRounds = 2
            (hexagons, diamonds, quarterSteps) = (10, 3, 3)
            choosesLevels = true
        case 4: break
        case 5:
            (hexagons, halfSteps) = (6, 1)
            smallIntraInP = false
        case 6:
            (hexagons, diamonds, halfSteps, quarterSteps) = (0, 10, 1, 1)
            partitions = false
            smallIntraInP = false
        default:
            pairRounds = 0
            (hexagons, diamonds, halfSteps, quarterSteps) = (0, 8, 1, 1)
            hadamard = false
            partitions = false
            smallIntraInP = false
            allIntraModes = false
        }
    }
}
