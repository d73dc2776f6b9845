/// What a quality level spends its time on. None of it changes what is legal.
struct Effort {
    /// References that are searched, of those the slice has.
    let references: Int
    /// Rounds of the large hexagon after which the integer search stops; 0: small diamonds only.
    let hexagons: Int
    let diamonds: Int
    /// Rounds of refinement at half and quarter samples.
    let halfSteps: Int
    let quarterSteps: Int
    /// Sub-sample positions and modes by Hadamard coefficients rather than by plain differences.
    let hadamard: Bool
    /// 16×8, 8×16 and 8×8 partitions in P slices.
    let partitions: Bool
    /// Intra 4×4 and 8×8 in P slices.
    let smallIntraInP: Bool
    /// All nine modes of small intra blocks rather than the likely ones.
    let allIntraModes: Bool
    /// Distortion and bits of the finished macroblock decide among the best modes.
    let rateDistortion: Bool

    init(quality: Int) {
        switch quality {
        case ...1:
            self.init(references: 4, hexagons: 16, diamonds: 4, halfSteps: 4, quarterSteps: 4, small: true, rd: true)
        case 2:
            self.init(references: 3, hexagons: 12, diamonds: 4, halfSteps: 3, quarterSteps: 3, small: true, rd: true)
        case 3:
            self.init(references: 2, hexagons: 10, diamonds: 3, halfSteps: 2, quarterSteps: 3, small: true, rd: false)
        case 4:
            self.init(references: 1, hexagons: 8, diamonds: 2, halfSteps: 2, quarterSteps: 2, small: true, rd: false)
        case 5:
            self.init(references: 1, hexagons: 6, diamonds: 2, halfSteps: 1, quarterSteps: 2, small: false, rd: false)
        case 6:
            self.init(
                references: 1, hexagons: 0, diamonds: 10, halfSteps: 1, quarterSteps: 1, hadamard: true,
                partitions: false, smallIntraInP: false, allIntraModes: true, rateDistortion: false)
        default:
            self.init(
                references: 1, hexagons: 0, diamonds: 8, halfSteps: 1, quarterSteps: 1, hadamard: false,
                partitions: false, smallIntraInP: false, allIntraModes: false, rateDistortion: false)
        }
    }

    private init(
        references: Int, hexagons: Int, diamonds: Int, halfSteps: Int, quarterSteps: Int, small: Bool, rd: Bool
    ) {
        self.init(
            references: references, hexagons: hexagons, diamonds: diamonds, halfSteps: halfSteps,
            quarterSteps: quarterSteps, hadamard: true, partitions: true, smallIntraInP: small, allIntraModes: true,
            rateDistortion: rd)
    }

    private init(
        references: Int, hexagons: Int, diamonds: Int, halfSteps: Int, quarterSteps: Int, hadamard: Bool,
        partitions: Bool, smallIntraInP: Bool, allIntraModes: Bool, rateDistortion: Bool
    ) {
        self.references = references
        self.hexagons = hexagons
        self.diamonds = diamonds
        self.halfSteps = halfSteps
        self.quarterSteps = quarterSteps
        self.hadamard = hadamard
        self.partitions = partitions
        self.smallIntraInP = smallIntraInP
        self.allIntraModes = allIntraModes
        self.rateDistortion = rateDistortion
    }
}
