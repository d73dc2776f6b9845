import BitstreamInspection
import Testing

/// A crafted stream and the one rule that it breaks (nil if it conforms).
struct HEVCRuleCase: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var rule: Violation.Rule?
    var crafted: CraftedHEVC

    init(
        _ name: String, breaks rule: Violation.Rule? = nil, with change: (inout CraftedHEVC) -> Void = { _ in },
        _ pictures: [CraftedHEVC.Picture]
    ) {
        testDescription = name
        self.rule = rule
        crafted = CraftedHEVC()
        change(&crafted)
        crafted.pictures = pictures
    }

    static func layers(_ crafted: inout CraftedHEVC) {
        crafted.subLayers = 3
        crafted.buffering = [[4, 2, 0], [4, 2, 0], [4, 2, 0]]
    }

    static let all = [order, randomAccess, references, longTerm, temporal, slices].flatMap { $0 }

    static let order: [HEVCRuleCase] = [
        HEVCRuleCase("P pictures", [.idr(), .p(1, [0]), .p(2, [1])]),
        HEVCRuleCase("no IRAP picture first", breaks: .accessUnit, [.p(1, []) { $0.kind = 2 }]),
        HEVCRuleCase("reordering", [.idr(), .p(2, [0]), .p(1, [0, 2], type: 0), .p(4, [2]), .p(3, [2, 4], type: 0)]),
        HEVCRuleCase("POC twice", breaks: .pictureOrder, [.idr(), .p(1, [0]), .p(1, [0])]),
        HEVCRuleCase(
            "POC over its LSBs", with: { $0.pocBits = 4 },
            [.idr(), .p(7, [0]), .p(14, [7]), .p(21, [14]), .p(28, [21])]),
        HEVCRuleCase(
            "reordering that sps_max_num_reorder_pics denies", breaks: .pictureBuffer,
            with: { $0.buffering = [[4, 0, 0]] },
            [.idr(), .p(2, [0]), .p(1, [0, 2], type: 0)]),
        HEVCRuleCase(
            "three pictures reordered", breaks: .pictureBuffer, with: { $0.buffering = [[4, 2, 0]] },
            [.idr(), .p(4, [0]), .p(3, [0, 4]), .p(2, [0, 3, 4]), .p(1, [0, 2, 3], kept: [4])]),
        // SpsMaxLatencyPictures is 1: only one picture may follow picture 4 in decoding order and precede it in output.
        HEVCRuleCase(
            "longer latency than sps_max_latency_increase_plus1", breaks: .pictureBuffer,
            with: { $0.buffering = [[4, 1, 1]] },
            [.idr(), .p(4, [0]), .p(1, [0, 4]), .p(2, [0, 4, 1]), .p(3, [0, 4])]),
        HEVCRuleCase(
            "more pictures than sps_max_dec_pic_buffering_minus1", breaks: .syntax,
            with: { $0.buffering = [[2, 0, 0]] },
            [.idr(), .p(1, [0]), .p(2, [0, 1]), .p(3, [0, 1, 2])]),
        HEVCRuleCase(
            "a full buffer", breaks: .pictureBuffer, with: { $0.buffering = [[2, 2, 0]] },
            // Pictures 0 and 4 are references and 3 waits for output; without the output of 3 there is no room for 2.
            [.idr(), .p(4, [0]), .p(3, [0, 4], type: 0), .p(2, [0, 4], type: 0)]),
        HEVCRuleCase(
            "pictures discarded by no_output_of_prior_pics_flag", breaks: .pictureBuffer,
            [.idr(), .p(2, [0]), .idr { $0.noOutput = true }]),
        HEVCRuleCase(
            "pictures that are never put out", with: { $0.hasOutputFlag = true },
            [.idr(), .p(1, [0]) { $0.isOutput = false }, .p(2, [1])]),
    ]

    static let randomAccess: [HEVCRuleCase] = [
        HEVCRuleCase("CRA with RASL", [.idr(), .p(4, [], type: 21) { $0.kind = 2 }, .p(2, [4], type: 8), .p(5, [4])]),
        HEVCRuleCase(
            "CRA first, RASL pictures are not put out",
            [.p(4, [], type: 21) { $0.kind = 2 }, .p(2, [1, 4], type: 8), .p(5, [4])]),
        HEVCRuleCase(
            "a leading picture called trailing", breaks: .pictureOrder,
            [.idr(), .p(4, [], type: 21) { $0.kind = 2 }, .p(2, [4])]),
        HEVCRuleCase(
            "a trailing picture called RASL", breaks: .pictureOrder,
            [.idr(), .p(4, [], type: 21) { $0.kind = 2 }, .p(5, [4], type: 9)]),
        HEVCRuleCase(
            "RASL behind trailing pictures", breaks: .accessUnit,
            [.idr(), .p(4, [], type: 21) { $0.kind = 2 }, .p(5, [4]), .p(2, [4], type: 8)]),
        HEVCRuleCase("RASL of an IDR picture", breaks: .accessUnit, [.idr(19) { _ in }, .p(-1, [0], type: 8)]),
        HEVCRuleCase("RADL of IDR_W_RADL", [.idr(19), .p(-1, [0], type: 6), .p(1, [0])]),
        HEVCRuleCase("RADL of IDR_N_LP", breaks: .accessUnit, [.idr(20), .p(-1, [0], type: 6)]),
        HEVCRuleCase(
            "RASL of BLA_W_RADL", breaks: .accessUnit,
            [.idr(), .p(4, [], type: 17) { $0.kind = 2 }, .p(2, [4], type: 8)]),
        HEVCRuleCase("RADL of BLA_W_RADL", [.idr(), .p(4, [], type: 17) { $0.kind = 2 }, .p(2, [4], type: 6)]),
        HEVCRuleCase(
            "RADL that refers to RASL", breaks: .referenceList,
            [.idr(), .p(4, [], type: 21) { $0.kind = 2 }, .p(2, [4], type: 9), .p(3, [2, 4], type: 6)]),
        HEVCRuleCase(
            "RADL that refers behind its CRA", breaks: .referenceList,
            [.idr(), .p(4, [], type: 21, kept: [0]) { $0.kind = 2 }, .p(2, [0, 4], type: 6)]),
        HEVCRuleCase(
            "a trailing picture that refers behind its CRA", breaks: .referenceList,
            [.idr(), .p(4, [], type: 21, kept: [0]) { $0.kind = 2 }, .p(5, [0, 4])]),
        HEVCRuleCase(
            "a trailing picture that keeps what is behind its CRA", breaks: .referenceList,
            [.idr(), .p(4, [], type: 21, kept: [0]) { $0.kind = 2 }, .p(5, [4], kept: [0])]),
        HEVCRuleCase(
            "a CRA that keeps what is behind the CRA before", breaks: .referenceList,
            [
                .idr(), .p(4, [], type: 21, kept: [0]) { $0.kind = 2 },
                .p(3, [4], type: 8, kept: [0]), .p(8, [], type: 21, kept: [0]) { $0.kind = 2 },
            ]),
        HEVCRuleCase("a CRA that refers", breaks: .referenceList, [.idr(), .p(4, [0], type: 21) { $0.kind = 2 }]),
        HEVCRuleCase(
            "a CRA that comes before what is coded before it", breaks: .pictureOrder,
            [.idr(), .p(6, [0]), .p(4, [], type: 21) { $0.kind = 2 }]),
        HEVCRuleCase("an IDR picture of P slices", breaks: .syntax, [.idr { $0.kind = 1 }]),
        HEVCRuleCase("an end of sequence", [.idr { $0.endsSequence = true }, .idr(), .p(1, [0])]),
        HEVCRuleCase(
            "no IRAP picture behind an end of sequence", breaks: .accessUnit,
            [.idr(), .p(1, [0]) { $0.endsSequence = true }, .p(2, [1])]),
    ]

    static let references: [HEVCRuleCase] = [
        HEVCRuleCase("a missing reference", breaks: .referenceList, [.idr(), .p(2, [1])]),
        HEVCRuleCase("a missing picture that is only kept", [.idr(), .p(2, [0], kept: [1])]),
        HEVCRuleCase(
            "what was dropped is gone", breaks: .referenceList, [.idr(), .p(1, [0]), .p(2, [1]), .p(3, [0, 2])]),
        HEVCRuleCase("a picture that refers to nothing", breaks: .syntax, [.idr(), .p(1, [], kept: [0])]),
        HEVCRuleCase(
            "two slices with other sets", breaks: .accessUnit, with: { $0.log2CTB = 5 },
            [.idr(), .p(1, [0]) { $0.addresses = [0, 64] }, .p(2, [1])].differing()),
        HEVCRuleCase(
            "list entries", with: { ($0.modifiesLists, $0.references) = (true, 2) },
            [.idr(), .p(1, [0]), .p(2, [0, 1]) { $0.listEntries = [1, 1] }]),
        HEVCRuleCase(
            "list entries of three", breaks: .syntax, with: { ($0.modifiesLists, $0.references) = (true, 2) },
            [.idr(), .p(1, [0]), .p(2, [0, 1]), .p(3, [2, 1, 0]) { $0.listEntries = [1, 3] }]),
        HEVCRuleCase(
            "a collocated picture", with: { $0.hasTemporalMotion = true }, [.idr(), .p(1, [0]) { $0.collocated = 0 }]),
        HEVCRuleCase(
            "a collocated picture behind the list", breaks: .syntax,
            with: { ($0.hasTemporalMotion, $0.references) = (true, 2) },
            [.idr(), .p(1, [0]) { $0.collocated = 2 }]),
    ]

    static let longTerm: [HEVCRuleCase] = [
        HEVCRuleCase(
            "a long-term picture", with: { $0.hasLongTerm = true },
            [
                .idr(), .p(1, [0]), .p(2, [1]) { $0.long = [(0, true, false)] },
                .p(3, [2]) { $0.long = [(0, true, false)] },
            ]),
        HEVCRuleCase(
            "a long-term picture far away", with: { ($0.hasLongTerm, $0.pocBits) = (true, 4) },
            [.idr()] + (1..<40).map { poc in .p(poc, [poc - 1].filter { $0 > 0 }) { $0.long = [(0, true, true)] } }),
        HEVCRuleCase(
            "a long-term picture whose LSBs another has", breaks: .marking,
            with: { ($0.hasLongTerm, $0.pocBits) = (true, 4) },
            [.idr()]
                + (1..<18).map { poc in .p(poc, [poc - 1].filter { $0 > 0 }) { $0.long = [(0, true, poc < 17)] } }),
        HEVCRuleCase(
            "a long-term picture of other MSBs", breaks: .referenceList,
            with: { ($0.hasLongTerm, $0.pocBits) = (true, 4) },
            [.idr()]
                + (1..<18).map { poc in .p(poc, [poc - 1]) { if poc == 17 { $0.long = [(2, true, true)] } } }),
        HEVCRuleCase(
            "a long-term picture that is short-term again", breaks: .marking, with: { $0.hasLongTerm = true },
            [.idr(), .p(1, [0]), .p(2, [1]) { $0.long = [(0, true, false)] }, .p(3, [2, 0])]),
        HEVCRuleCase(
            "a picture twice in a set", breaks: .marking, with: { $0.hasLongTerm = true },
            [.idr(), .p(1, [0]), .p(2, [1, 0]) { $0.long = [(0, true, false)] }]),
    ]

    static let temporal: [HEVCRuleCase] = [
        HEVCRuleCase(
            "three sub-layers of TSA pictures", with: Self.layers,
            [
                .idr(), .p(4, [0]), .p(2, [0, 4], type: 3, layer: 1), .p(1, [0, 2], type: 2, layer: 2, kept: [4]),
                .p(3, [2, 4], type: 2, layer: 2), .p(8, [4]),
            ]),
        HEVCRuleCase(
            "a reference to a higher sub-layer", breaks: .temporalLayer, with: Self.layers,
            [.idr(), .p(1, [0], type: 3, layer: 1), .p(2, [1])]),
        HEVCRuleCase(
            "TSA that keeps its own sub-layer", breaks: .temporalLayer, with: Self.layers,
            [.idr(), .p(2, [0], type: 3, layer: 1), .p(1, [0], type: 3, layer: 1, kept: [2])]),
        HEVCRuleCase(
            "STSA that refers to its own sub-layer", breaks: .temporalLayer,
            with: {
                Self.layers(&$0); $0.nests = false
            },
            [.idr(), .p(1, [0], type: 5, layer: 1), .p(2, [1], type: 5, layer: 1)]),
        HEVCRuleCase(
            "trailing pictures that refer within a sub-layer",
            with: {
                Self.layers(&$0); $0.nests = false
            },
            [.idr(), .p(1, [0], type: 1, layer: 1), .p(2, [1], type: 0, layer: 1)]),
        HEVCRuleCase(
            "a reference to a sub-layer non-reference picture", breaks: .temporalLayer,
            with: {
                Self.layers(&$0); $0.nests = false
            },
            [.idr(), .p(1, [0], type: 0, layer: 1), .p(2, [1], type: 0, layer: 1)]),
        HEVCRuleCase(
            "a reference behind an STSA picture", breaks: .temporalLayer,
            with: {
                Self.layers(&$0); $0.nests = false
            },
            [
                .idr(), .p(1, [0], type: 1, layer: 1), .p(2, [0], type: 5, layer: 1, kept: [1]),
                .p(3, [1, 2], type: 0, layer: 1),
            ]),
        HEVCRuleCase(
            "a reference across a lower sub-layer although they nest", breaks: .temporalLayer, with: Self.layers,
            [.idr(), .p(1, [0], type: 1, layer: 1), .p(2, [0], kept: [1]), .p(3, [1, 2], type: 0, layer: 1)]),
        HEVCRuleCase("TSA in sub-layer 0", breaks: .temporalLayer, with: Self.layers, [.idr(), .p(1, [0], type: 3)]),
        HEVCRuleCase(
            "a sub-layer too many", breaks: .temporalLayer, with: { $0.subLayers = 1 },
            [.idr(), .p(1, [0], type: 3, layer: 1)]),
        // Without sub-layer 1 no picture is reordered, and the smaller buffer suffices.
        HEVCRuleCase(
            "a lower sub-layer's smaller buffer",
            with: {
                Self.layers(&$0); $0.buffering = [[1, 0, 0], [2, 1, 0], [4, 2, 0]]
            },
            [.idr(), .p(4, [0]), .p(2, [0, 4], type: 2, layer: 1), .p(8, [4])]),
        HEVCRuleCase(
            "a lower sub-layer's buffer that is too small", breaks: .pictureBuffer,
            with: {
                Self.layers(&$0); $0.buffering = [[1, 0, 0], [4, 2, 0], [4, 2, 0]]
            },
            [.idr(), .p(4, [0]), .p(2, [0, 4]), .p(8, [4])]),
    ]

    static let slices: [HEVCRuleCase] = [
        HEVCRuleCase("slices", [.idr { $0.addresses = [0, 16, 32] }]),
        HEVCRuleCase("slices out of order", breaks: .accessUnit, [.idr { $0.addresses = [0, 32, 16] }]),
        HEVCRuleCase("a missing first slice", breaks: .accessUnit, [.idr { $0.addresses = [16] }]),
        HEVCRuleCase(
            "dependent slice segments", with: { $0.hasDependentSlices = true },
            [.idr { ($0.addresses, $0.dependent) = ([0, 5, 32], [5]) }]),
        // The picture has 16×8 blocks in tiles of 4×4 and 12×4 blocks: the second tile starts at block 4.
        HEVCRuleCase(
            "tiles", with: { $0.tiles = (2, 2, [4], [4]) },
            [
                .idr { ($0.addresses, $0.entryPoints) = ([0], [10, 11, 12]) },
                .p(1, [0]) { $0.addresses = [0, 4, 64, 68] },
            ]),
        HEVCRuleCase(
            "slices within tiles", with: { $0.tiles = (2, 2, [4], [4]) }, [.idr { $0.addresses = [0, 16, 4, 64, 68] }]),
        HEVCRuleCase(
            "slices in raster order", breaks: .accessUnit, with: { $0.tiles = (2, 2, [4], [4]) },
            [.idr { $0.addresses = [0, 4, 16, 64, 68] }]),
        HEVCRuleCase(
            "a slice that cuts a tile", breaks: .syntax, with: { $0.tiles = (2, 2, [4], [4]) },
            [.idr { $0.addresses = [0, 16, 64, 68] }]),
        HEVCRuleCase(
            "uniform tiles", with: { $0.tiles = (2, 3, [], []) }, [.idr { $0.addresses = [0, 8, 32, 40, 80, 88] }]),
        HEVCRuleCase("narrow tiles", breaks: .level, with: { $0.tiles = (8, 1, [], []) }, [.idr()]),
        HEVCRuleCase("too many tiles", breaks: .level, with: { ($0.level, $0.tiles) = (93, (4, 1, [], [])) }, [.idr()]),
        HEVCRuleCase(
            "entry points behind the slice", breaks: .syntax, with: { $0.tiles = (2, 2, [4], [4]) },
            [.idr { $0.entryPoints = [30, 20, 30] }]),
        HEVCRuleCase(
            "too many slices", breaks: .level, with: { ($0.level, $0.width) = (90, 1024) },
            [.idr { $0.addresses = Array(0..<31) }]),
        HEVCRuleCase("too large a picture", breaks: .level, with: { $0.level = 63 }, [.idr()]),
        HEVCRuleCase(
            "too large a buffer", breaks: .level, with: { ($0.level, $0.buffering) = (90, [[6, 0, 0]]) }, [.idr()]),
        HEVCRuleCase("no such level", breaks: .level, with: { $0.level = 100 }, [.idr()]),
    ]
}

extension [CraftedHEVC.Picture] {
    /// Returns the pictures with a second slice of the second picture that has the third picture's set.
    fileprivate func differing() -> [CraftedHEVC.Picture] {
        var changed = self
        changed[1].addresses = [0]
        var second = changed[2]
        second.addresses = [64]
        second.poc = 1
        second.short = [(0, false), (-1, true)]
        return [changed[0], changed[1], second]
    }
}
