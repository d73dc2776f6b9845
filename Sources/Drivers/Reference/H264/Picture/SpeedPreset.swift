/// What a quality level spends its time on. None of it changes what is legal.
struct SpeedPreset {
    /// References that are searched, of those the slice has.
    private(set) var references = 1
    /// Whether partitions are searched in each of them, or only in the best one for the whole macroblock.
    private(set) var partitionReferences = false
    /// Rounds of the large hexagon after which the integer search stops; 0: small diamonds only.
    private(set) var hexagons = 8
    private(set) var diamonds = 2
    /// Rounds of refinement at half and quarter samples.
    private(set) var halfSteps = 2
    private(set) var quarterSteps = 2
    /// Sub-sample positions by Hadamard coefficients rather than by plain differences.
    private(set) var hadamard = true
    /// 16×8, 8×16 and 8×8 partitions in P slices.
    private(set) var partitions = true
    /// How often the vectors of a pair from both lists are refined by turns.
    private(set) var pairRounds = 1
    /// Intra 4×4 and 8×8 in P slices, even where intra 16×16 loses.
    private(set) var smallIntraInP = true
    /// All nine modes of small intra blocks rather than the likely ones.
    private(set) var allIntraModes = true
    /// Levels are chosen for the least distortion and bits rather than by dead zone.
    private(set) var choosesLevels = false
    /// Kinds of macroblocks and transforms are compared by their finished errors and bits.
    private(set) var decidesByCost = false

    /// `quality`: 1 best … 7 fastest. `choosesLevels`: whatever the quality says of it.
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
