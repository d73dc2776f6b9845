/// The index of each syntax element's first context in a slice's contexts, and the initial values: H.265 9.3.2.2,
/// tables 9-5 to 9-37.
enum HEVCContexts {
    static let saoMerge = 0
    static let saoType = 1
    static let split = 2
    static let skip = 5
    static let predictionMode = 8
    static let partition = 9
    static let previousMode = 13
    static let chromaMode = 14
    static let mergeFlag = 15
    static let mergeIndex = 16
    static let direction = 17
    static let reference = 22
    static let differenceAboveZero = 24
    static let differenceAboveOne = 25
    static let predictor = 26
    static let rootFlag = 27
    static let splitTransform = 28
    static let lumaFlag = 31
    static let chromaFlag = 33
    static let qpDelta = 37
    static let transformSkip = 39
    static let lastX = 41
    static let lastY = 59
    static let codedSubBlock = 77
    static let significant = 81
    static let aboveOne = 123
    static let aboveTwo = 147
    static let count = 153

    /// initValue by initType, in the order above. The value is 154 if slices of the type do not contain the element.
    private static let initialValues: [(intra: [UInt8], p: [UInt8], b: [UInt8])] = [
        ([153], [153], [153]),
        ([200], [185], [160]),
        ([139, 141, 157], [107, 139, 126], [107, 139, 126]),
        ([154, 154, 154], [197, 185, 201], [197, 185, 201]),
        ([154], [149], [134]),
        ([184, 154, 154, 154], [154, 139, 154, 154], [154, 139, 154, 154]),
        ([184], [154], [183]),
        ([63], [152], [152]),
        ([154], [110], [154]),
        ([154], [122], [137]),
        ([154, 154, 154, 154, 154], [95, 79, 63, 31, 31], [95, 79, 63, 31, 31]),
        ([154, 154], [153, 153], [153, 153]),
        ([154], [140], [169]),
        ([154], [198], [198]),
        ([154], [168], [168]),
        ([154], [79], [79]),
        ([153, 138, 138], [124, 138, 94], [224, 167, 122]),
        ([111, 141], [153, 111], [153, 111]),
        ([94, 138, 182, 154], [149, 107, 167, 154], [149, 92, 167, 154]),
        ([154, 154], [154, 154], [154, 154]),
        ([139, 139], [139, 139], [139, 139]),
        (lastIntra, lastP, lastB),
        (lastIntra, lastP, lastB),
        ([91, 171, 134, 141], [121, 140, 61, 154], [121, 140, 61, 154]),
        (
            [
                111, 111, 125, 110, 110, 94, 124, 108, 124, 107, 125, 141, 179, 153, 125, 107, 125, 141, 179, 153, 125,
                107, 125, 141, 179, 153, 125, 140, 139, 182, 182, 152, 136, 152, 136, 153, 136, 139, 111, 136, 139, 111,
            ],
            [
                155, 154, 139, 153, 139, 123, 123, 63, 153, 166, 183, 140, 136, 153, 154, 166, 183, 140, 136, 153, 154,
                166, 183, 140, 136, 153, 154, 170, 153, 123, 123, 107, 121, 107, 121, 167, 151, 183, 140, 151, 183, 140,
            ],
            [
                170, 154, 139, 153, 139, 123, 123, 63, 124, 166, 183, 140, 136, 153, 154, 166, 183, 140, 136, 153, 154,
                166, 183, 140, 136, 153, 154, 170, 153, 138, 138, 122, 121, 122, 121, 167, 151, 183, 140, 151, 183, 140,
            ]
        ),
        (
            [
                140, 92, 137, 138, 140, 152, 138, 139, 153, 74, 149, 92, 139, 107, 122, 152, 140, 179, 166, 182, 140,
                227, 122, 197,
            ],
            [
                154, 196, 196, 167, 154, 152, 167, 182, 182, 134, 149, 136, 153, 121, 136, 137, 169, 194, 166, 167, 154,
                167, 137, 182,
            ],
            [
                154, 196, 167, 167, 154, 152, 167, 182, 182, 134, 149, 136, 153, 121, 136, 122, 169, 208, 166, 167, 154,
                152, 167, 182,
            ]
        ),
        ([138, 153, 136, 167, 152, 152], [107, 167, 91, 122, 107, 167], [107, 167, 91, 107, 107, 167]),
    ]
    private static let lastIntra: [UInt8] = [
        110, 110, 124, 125, 140, 153, 125, 127, 140, 109, 111, 143, 127, 111, 79, 108, 123, 63,
    ]
    private static let lastP: [UInt8] = [
        125, 110, 94, 110, 95, 79, 125, 111, 110, 78, 110, 111, 111, 95, 94, 108, 123, 108,
    ]
    private static let lastB: [UInt8] = [
        125, 110, 124, 110, 95, 94, 125, 111, 111, 79, 125, 126, 111, 111, 79, 108, 123, 93,
    ]

    private static let intra = initialValues.flatMap(\.intra)
    private static let p = initialValues.flatMap(\.p)
    private static let b = initialValues.flatMap(\.b)

    /// Sets the state (2·pStateIdx + valMPS) of all contexts at the start of a slice or tile, 9.3.2.2. `qp` is
    /// SliceQpY.
    static func initialize(_ states: ElementPointer<UInt8>, type: SliceType, cabac_init_flag: Bool, qp: Int) {
        let values =
            switch type {
            case .i: intra
            case .p: cabac_init_flag ? b : p
            case .b: cabac_init_flag ? p : b
            }
        let qp = min(max(qp, 0), 51)
        for (context, value) in values.enumerated() {
            let slope = Int(value >> 4) * 5 - 45
            let offset = Int(value & 15) << 3 - 16
            let preState = min(max((slope * qp) >> 4 + offset, 1), 126)
            states[context] = UInt8(preState <= 63 ? 2 * (63 - preState) : 2 * (preState - 64) + 1)
        }
    }
}
