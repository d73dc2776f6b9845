import BitstreamInspection
import TestOracles
import Testing

private typealias Picture = CraftedHEVC.Picture

/// A crafted stream and the one rule that it breaks; none where it is sound.
private struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var rule: Violation.Rule?
    var crafted: CraftedHEVC

    init(
        _ name: String, breaks rule: Violation.Rule? = nil, with change: (inout CraftedHEVC) -> Void = { _ in },
        _ pictures: [Picture]
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

    static let order: [Case] = [
        Case("P pictures", [.idr(), .p(1, [0]), .p(2, [1])]),
        Case("no IRAP picture first", breaks: .accessUnit, [.p(1, []) { $0.kind = 2 }]),
        Case("reordering", [.idr(), .p(2, [0]), .p(1, [0, 2], type: 0), .p(4, [2]), .p(3, [2, 4], type: 0)]),
        Case("POC twice", breaks: .pictureOrder, [.idr(), .p(1, [0]), .p(1, [0])]),
        Case(
            "POC over its LSBs", with: { $0.pocBits = 4 },
            [.idr(), .p(7, [0]), .p(14, [7]), .p(21, [14]), .p(28, [21])]),
        Case(
            "reordering that sps_max_num_reorder_pics denies", breaks: .pictureBuffer,
            with: { $0.buffering = [[4, 0, 0]] },
            [.idr(), .p(2, [0]), .p(1, [0, 2], type: 0)]),
        Case(
            "three pictures reordered", breaks: .pictureBuffer, with: { $0.buffering = [[4, 2, 0]] },
            [.idr(), .p(4, [0]), .p(3, [0, 4]), .p(2, [0, 3, 4]), .p(1, [0, 2, 3], kept: [4])]),
        // SpsMaxLatencyPictures 1: picture 4 may wait for one only.
        Case(
            "longer latency than sps_max_latency_increase_plus1", breaks: .pictureBuffer,
            with: { $0.buffering = [[4, 1, 1]] },
            [.idr(), .p(4, [0]), .p(1, [0, 4]), .p(2, [0, 4, 1]), .p(3, [0, 4])]),
        Case(
            "more pictures than sps_max_dec_pic_buffering_minus1", breaks: .syntax,
            with: { $0.buffering = [[2, 0, 0]] },
            [.idr(), .p(1, [0]), .p(2, [0, 1]), .p(3, [0, 1, 2])]),
        Case(
            "a full buffer", breaks: .pictureBuffer, with: { $0.buffering = [[2, 2, 0]] },
            // 0 and 4 are references, 3 waits; 2 finds no room without putting 3 out.
            [.idr(), .p(4, [0]), .p(3, [0, 4], type: 0), .p(2, [0, 4], type: 0)]),
        Case(
            "pictures discarded by no_output_of_prior_pics_flag", breaks: .pictureBuffer,
            [.idr(), .p(2, [0]), .idr { $0.noOutput = true }]),
        Case(
            "pictures that are never put out", with: { $0.hasOutputFlag = true },
            [.idr(), .p(1, [0]) { $0.isOutput = false }, .p(2, [1])]),
    ]

    static let randomAccess: [Case] = [
        Case("CRA with RASL", [.idr(), .p(4, [], type: 21) { $0.kind = 2 }, .p(2, [4], type: 8), .p(5, [4])]),
        Case(
            "CRA first, RASL pictures are not put out",
            [.p(4, [], type: 21) { $0.kind = 2 }, .p(2, [1, 4], type: 8), .p(5, [4])]),
        Case(
            "a leading picture called trailing", breaks: .pictureOrder,
            [.idr(), .p(4, [], type: 21) { $0.kind = 2 }, .p(2, [4])]),
        Case(
            "a trailing picture called RASL", breaks: .pictureOrder,
            [.idr(), .p(4, [], type: 21) { $0.kind = 2 }, .p(5, [4], type: 9)]),
        Case(
            "RASL behind trailing pictures", breaks: .accessUnit,
            [.idr(), .p(4, [], type: 21) { $0.kind = 2 }, .p(5, [4]), .p(2, [4], type: 8)]),
        Case("RASL of an IDR picture", breaks: .accessUnit, [.idr(19) { _ in }, .p(-1, [0], type: 8)]),
        Case("RADL of IDR_W_RADL", [.idr(19), .p(-1, [0], type: 6), .p(1, [0])]),
        Case("RADL of IDR_N_LP", breaks: .accessUnit, [.idr(20), .p(-1, [0], type: 6)]),
        Case(
            "RASL of BLA_W_RADL", breaks: .accessUnit,
            [.idr(), .p(4, [], type: 17) { $0.kind = 2 }, .p(2, [4], type: 8)]),
        Case("RADL of BLA_W_RADL", [.idr(), .p(4, [], type: 17) { $0.kind = 2 }, .p(2, [4], type: 6)]),
        Case(
            "RADL that refers to RASL", breaks: .referenceList,
            [.idr(), .p(4, [], type: 21) { $0.kind = 2 }, .p(2, [4], type: 9), .p(3, [2, 4], type: 6)]),
        Case(
            "RADL that refers behind its CRA", breaks: .referenceList,
            [.idr(), .p(4, [], type: 21, kept: [0]) { $0.kind = 2 }, .p(2, [0, 4], type: 6)]),
        Case(
            "a trailing picture that refers behind its CRA", breaks: .referenceList,
            [.idr(), .p(4, [], type: 21, kept: [0]) { $0.kind = 2 }, .p(5, [0, 4])]),
        Case(
            "a trailing picture that keeps what is behind its CRA", breaks: .referenceList,
            [.idr(), .p(4, [], type: 21, kept: [0]) { $0.kind = 2 }, .p(5, [4], kept: [0])]),
        Case(
            "a CRA that keeps what is behind the CRA before", breaks: .referenceList,
            [
                .idr(), .p(4, [], type: 21, kept: [0]) { $0.kind = 2 },
                .p(3, [4], type: 8, kept: [0]), .p(8, [], type: 21, kept: [0]) { $0.kind = 2 },
            ]),
        Case("a CRA that refers", breaks: .referenceList, [.idr(), .p(4, [0], type: 21) { $0.kind = 2 }]),
        Case(
            "a CRA that comes before what is coded before it", breaks: .pictureOrder,
            [.idr(), .p(6, [0]), .p(4, [], type: 21) { $0.kind = 2 }]),
        Case("an IDR picture of P slices", breaks: .syntax, [.idr { $0.kind = 1 }]),
        Case("an end of sequence", [.idr { $0.endsSequence = true }, .idr(), .p(1, [0])]),
        Case(
            "no IRAP picture behind an end of sequence", breaks: .accessUnit,
            [.idr(), .p(1, [0]) { $0.endsSequence = true }, .p(2, [1])]),
    ]

    static let references: [Case] = [
        Case("a missing reference", breaks: .referenceList, [.idr(), .p(2, [1])]),
        Case("a missing picture that is only kept", [.idr(), .p(2, [0], kept: [1])]),
        Case("what was dropped is gone", breaks: .referenceList, [.idr(), .p(1, [0]), .p(2, [1]), .p(3, [0, 2])]),
        Case("a picture that refers to nothing", breaks: .syntax, [.idr(), .p(1, [], kept: [0])]),
        Case(
            "two slices with other sets", breaks: .accessUnit, with: { $0.log2CTB = 5 },
            [.idr(), .p(1, [0]) { $0.addresses = [0, 64] }, .p(2, [1])].differing()),
        Case(
            "list entries", with: { ($0.modifiesLists, $0.references) = (true, 2) },
            [.idr(), .p(1, [0]), .p(2, [0, 1]) { $0.listEntries = [1, 1] }]),
        Case(
            "list entries of three", breaks: .syntax, with: { ($0.modifiesLists, $0.references) = (true, 2) },
            [.idr(), .p(1, [0]), .p(2, [0, 1]), .p(3, [2, 1, 0]) { $0.listEntries = [1, 3] }]),
        Case(
            "a collocated picture", with: { $0.hasTemporalMotion = true }, [.idr(), .p(1, [0]) { $0.collocated = 0 }]),
        Case(
            "a collocated picture behind the list", breaks: .syntax,
            with: { ($0.hasTemporalMotion, $0.references) = (true, 2) },
            [.idr(), .p(1, [0]) { $0.collocated = 2 }]),
    ]

    static let longTerm: [Case] = [
        Case(
            "a long-term picture", with: { $0.hasLongTerm = true },
            [
                .idr(), .p(1, [0]), .p(2, [1]) { $0.long = [(0, true, false)] },
                .p(3, [2]) { $0.long = [(0, true, false)] },
            ]),
        Case(
            "a long-term picture far away", with: { ($0.hasLongTerm, $0.pocBits) = (true, 4) },
            [.idr()] + (1..<40).map { poc in .p(poc, [poc - 1].filter { $0 > 0 }) { $0.long = [(0, true, true)] } }),
        Case(
            "a long-term picture whose LSBs another has", breaks: .marking,
            with: { ($0.hasLongTerm, $0.pocBits) = (true, 4) },
            [.idr()]
                + (1..<18).map { poc in .p(poc, [poc - 1].filter { $0 > 0 }) { $0.long = [(0, true, poc < 17)] } }),
        Case(
            "a long-term picture of other MSBs", breaks: .referenceList,
            with: { ($0.hasLongTerm, $0.pocBits) = (true, 4) },
            [.idr()]
                + (1..<18).map { poc in .p(poc, [poc - 1]) { if poc == 17 { $0.long = [(2, true, true)] } } }),
        Case(
            "a long-term picture that is short-term again", breaks: .marking, with: { $0.hasLongTerm = true },
            [.idr(), .p(1, [0]), .p(2, [1]) { $0.long = [(0, true, false)] }, .p(3, [2, 0])]),
        Case(
            "a picture twice in a set", breaks: .marking, with: { $0.hasLongTerm = true },
            [.idr(), .p(1, [0]), .p(2, [1, 0]) { $0.long = [(0, true, false)] }]),
    ]

    static let temporal: [Case] = [
        Case(
            "three sub-layers of TSA pictures", with: Self.layers,
            [
                .idr(), .p(4, [0]), .p(2, [0, 4], type: 3, layer: 1), .p(1, [0, 2], type: 2, layer: 2, kept: [4]),
                .p(3, [2, 4], type: 2, layer: 2), .p(8, [4]),
            ]),
        Case(
            "a reference to a higher sub-layer", breaks: .temporalLayer, with: Self.layers,
            [.idr(), .p(1, [0], type: 3, layer: 1), .p(2, [1])]),
        Case(
            "TSA that keeps its own sub-layer", breaks: .temporalLayer, with: Self.layers,
            [.idr(), .p(2, [0], type: 3, layer: 1), .p(1, [0], type: 3, layer: 1, kept: [2])]),
        Case(
            "STSA that refers to its own sub-layer", breaks: .temporalLayer,
            with: {
                Self.layers(&$0); $0.nests = false
            },
            [.idr(), .p(1, [0], type: 5, layer: 1), .p(2, [1], type: 5, layer: 1)]),
        Case(
            "trailing pictures that refer within a sub-layer",
            with: {
                Self.layers(&$0); $0.nests = false
            },
            [.idr(), .p(1, [0], type: 1, layer: 1), .p(2, [1], type: 0, layer: 1)]),
        Case(
            "a reference to a sub-layer non-reference picture", breaks: .temporalLayer,
            with: {
                Self.layers(&$0); $0.nests = false
            },
            [.idr(), .p(1, [0], type: 0, layer: 1), .p(2, [1], type: 0, layer: 1)]),
        Case(
            "a reference behind an STSA picture", breaks: .temporalLayer,
            with: {
                Self.layers(&$0); $0.nests = false
            },
            [
                .idr(), .p(1, [0], type: 1, layer: 1), .p(2, [0], type: 5, layer: 1, kept: [1]),
                .p(3, [1, 2], type: 0, layer: 1),
            ]),
        Case(
            "a reference across a lower sub-layer although they nest", breaks: .temporalLayer, with: Self.layers,
            [.idr(), .p(1, [0], type: 1, layer: 1), .p(2, [0], kept: [1]), .p(3, [1, 2], type: 0, layer: 1)]),
        Case("TSA in sub-layer 0", breaks: .temporalLayer, with: Self.layers, [.idr(), .p(1, [0], type: 3)]),
        Case(
            "a sub-layer too many", breaks: .temporalLayer, with: { $0.subLayers = 1 },
            [.idr(), .p(1, [0], type: 3, layer: 1)]),
        // Without sub-layer 1 nothing is reordered, and its buffer is as small.
        Case(
            "a lower sub-layer's smaller buffer",
            with: {
                Self.layers(&$0); $0.buffering = [[1, 0, 0], [2, 1, 0], [4, 2, 0]]
            },
            [.idr(), .p(4, [0]), .p(2, [0, 4], type: 2, layer: 1), .p(8, [4])]),
        Case(
            "a lower sub-layer's buffer that is too small", breaks: .pictureBuffer,
            with: {
                Self.layers(&$0); $0.buffering = [[1, 0, 0], [4, 2, 0], [4, 2, 0]]
            },
            [.idr(), .p(4, [0]), .p(2, [0, 4]), .p(8, [4])]),
    ]

    static let slices: [Case] = [
        Case("slices", [.idr { $0.addresses = [0, 16, 32] }]),
        Case("slices out of order", breaks: .accessUnit, [.idr { $0.addresses = [0, 32, 16] }]),
        Case("a missing first slice", breaks: .accessUnit, [.idr { $0.addresses = [16] }]),
        Case(
            "dependent slice segments", with: { $0.hasDependentSlices = true },
            [.idr { ($0.addresses, $0.dependent) = ([0, 5, 32], [5]) }]),
        // 16×8 blocks in tiles of 4×4 and 12×4: the second tile starts at block 4.
        Case(
            "tiles", with: { $0.tiles = (2, 2, [4], [4]) },
            [
                .idr { ($0.addresses, $0.entryPoints) = ([0], [10, 11, 12]) },
                .p(1, [0]) { $0.addresses = [0, 4, 64, 68] },
            ]),
        Case(
            "slices within tiles", with: { $0.tiles = (2, 2, [4], [4]) }, [.idr { $0.addresses = [0, 16, 4, 64, 68] }]),
        Case(
            "slices in raster order", breaks: .accessUnit, with: { $0.tiles = (2, 2, [4], [4]) },
            [.idr { $0.addresses = [0, 4, 16, 64, 68] }]),
        Case(
            "a slice that cuts a tile", breaks: .syntax, with: { $0.tiles = (2, 2, [4], [4]) },
            [.idr { $0.addresses = [0, 16, 64, 68] }]),
        Case("uniform tiles", with: { $0.tiles = (2, 3, [], []) }, [.idr { $0.addresses = [0, 8, 32, 40, 80, 88] }]),
        Case("narrow tiles", breaks: .level, with: { $0.tiles = (8, 1, [], []) }, [.idr()]),
        Case("too many tiles", breaks: .level, with: { ($0.level, $0.tiles) = (93, (4, 1, [], [])) }, [.idr()]),
        Case(
            "entry points behind the slice", breaks: .syntax, with: { $0.tiles = (2, 2, [4], [4]) },
            [.idr { $0.entryPoints = [30, 20, 30] }]),
        Case(
            "too many slices", breaks: .level, with: { ($0.level, $0.width) = (90, 1024) },
            [.idr { $0.addresses = Array(0..<31) }]),
        Case("too large a picture", breaks: .level, with: { $0.level = 63 }, [.idr()]),
        Case("too large a buffer", breaks: .level, with: { ($0.level, $0.buffering) = (90, [[6, 0, 0]]) }, [.idr()]),
        Case("no such level", breaks: .level, with: { $0.level = 100 }, [.idr()]),
    ]
}

extension [Picture] {
    /// Its second picture's second slice says the third's set.
    fileprivate func differing() -> [Picture] {
        var changed = self
        changed[1].addresses = [0]
        var second = changed[2]
        second.addresses = [64]
        second.poc = 1
        second.short = [(0, false), (-1, true)]
        return [changed[0], changed[1], second]
    }
}

/// Every rule is told by a stream that keeps it and by one that breaks it alone.
@Suite struct HEVCRuleTests {
    @Test(
        arguments: [Case.order, Case.randomAccess, Case.references, Case.longTerm, Case.temporal, Case.slices].flatMap {
            $0
        })
    fileprivate func eachRule(_ each: Case) {
        let violations = HEVCStream(annexB: each.crafted.stream()).violations
        if let rule = each.rule {
            #expect(violations.contains { $0.rule == rule }, "\(violations.map(\.description))")
        } else {
            #expect(violations.map(\.description) == [])
        }
    }

    /// FFmpeg reads the same headers, so the writer of these tests is sound.
    @Test(
        arguments: [Case.order, Case.randomAccess, Case.references, Case.longTerm, Case.temporal, Case.slices].flatMap {
            $0
        })
    fileprivate func headersAreFFmpegs(_ each: Case) throws {
        guard each.rule == nil, each.crafted.pictures.allSatisfy({ $0.dependent.isEmpty }) else { return }
        let bytes = each.crafted.stream()
        let stream = HEVCStream(annexB: bytes)
        #expect(HeaderAgreement.faults(stream, try TraceHeaders(stream: bytes, codec: "hevc")) == [])
    }

    @Test func listsAreThoseOfTheStandard() throws {
        var crafted = CraftedHEVC()
        (crafted.hasLongTerm, crafted.references, crafted.modifiesLists) = (true, 4, true)
        crafted.buffering = [[6, 2, 0]]
        crafted.pictures = [
            .idr(), .p(1, [0]), .p(2, [0, 1]), .p(8, [2, 1, 0]),
            .p(4, [2, 1, 8]) { ($0.kind, $0.long) = (0, [(0, true, false)]) },
            .p(5, [4, 2, 8]) { ($0.kind, $0.long, $0.listEntries) = (0, [(0, true, false)], [3, 0, 2, 1]) },
        ]
        let stream = HEVCStream(annexB: crafted.stream())
        #expect(stream.violations.map(\.description) == [])
        // Indices in coding order: POC 0, 1, 2, 8, 4, 5.
        #expect(stream.frames[4].slices[0].lists == [[2, 1, 3, 0], [3, 2, 1, 0]])
        #expect(stream.frames[5].slices[0].lists == [[0, 4, 3, 2], [0, 3, 2, 4]])
        #expect(stream.frames[3].slices[0].lists == [[2, 1, 0, 2], []])
        #expect(stream.frames[0].isLongTerm && !stream.frames[1].isLongTerm)
        #expect(stream.frames[4].referenceSet.ltCurr == [0] && stream.frames[4].referenceSet.stCurrAfter == [3])
        #expect(stream.framesInOutputOrder.map(\.pictureOrderCount) == [0, 1, 2, 4, 5, 8])
        #expect(stream.reorderDepth == 1)
    }

    /// Worked by hand from (7-61) and (7-62).
    @Test func setsArePredictedFromOthers() throws {
        var crafted = CraftedHEVC()
        crafted.setWriters = [
            { bits in
                // S0: −1 and −3, the second not used; S1: +2.
                bits.ue(2)
                bits.ue(1)
                for (delta, isUsed) in [(0, true), (1, false), (1, true)] {
                    bits.ue(delta)
                    bits.flag(isUsed)
                }
            },
            { bits in
                // Predicted, all moved by −2: −3, −5, 0 (drops out), and the source itself at −2; the second is left out.
                bits.flag(true)
                bits.flag(true)
                bits.ue(1)
                bits.flag(true)
                bits.flag(false)
                bits.flag(false)
                bits.flag(true)
                bits.flag(false)
                bits.flag(true)
            },
            { bits in
                // Predicted, all moved by +3: 0 (drops out), 1.
                bits.flag(true)
                bits.flag(false)
                bits.ue(2)
                bits.flag(true)
                bits.flag(true)
                bits.flag(true)
            },
        ]
        crafted.pictures = [.idr()]
        let bytes = crafted.stream()
        let sets = try #require(HEVCStream(annexB: bytes).sequenceSets.first).referenceSets
        #expect(HEVCStream(annexB: bytes).violations.map(\.description) == [])
        func text(_ set: HEVCReferenceSet) -> [String] {
            set.entries.map { "\($0.deltaPOC)\($0.isUsed ? "" : " kept")" }
        }
        #expect(sets.map(text) == [["-1", "-3 kept", "2"], ["-2 kept", "-3"], ["1", "3"]])
    }
}
