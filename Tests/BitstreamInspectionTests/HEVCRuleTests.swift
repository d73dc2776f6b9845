import BitstreamInspection
import TestOracles
import Testing

/// Each rule has a crafted stream that keeps it and one that breaks only this rule.
@Suite struct HEVCRuleTests {
    @Test(arguments: HEVCRuleCase.all) func eachBrokenRuleIsReported(_ each: HEVCRuleCase) {
        let violations = HEVCStream(annexB: each.crafted.stream()).violations
        if let rule = each.rule {
            #expect(violations.contains { $0.rule == rule }, "\(violations.map(\.description))")
        } else {
            #expect(violations.map(\.description) == [])
        }
    }

    /// FFmpeg's reader checks the header writer of these tests.
    @Test(arguments: HEVCRuleCase.all) func craftedHeadersMatchTraceHeaders(_ each: HEVCRuleCase) throws {
        guard each.rule == nil, each.crafted.pictures.allSatisfy({ $0.dependent.isEmpty }) else { return }
        let bytes = each.crafted.stream()
        let stream = HEVCStream(annexB: bytes)
        #expect(HeaderAgreement.faults(stream, try TraceHeaders(stream: bytes, codec: "hevc")) == [])
    }

    @Test func referenceListsFollowTheStandard() throws {
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
        // Frame indices are in coding order; their POCs are 0, 1, 2, 8, 4, 5.
        #expect(stream.frames[4].slices[0].lists == [[2, 1, 3, 0], [3, 2, 1, 0]])
        #expect(stream.frames[5].slices[0].lists == [[0, 4, 3, 2], [0, 3, 2, 4]])
        #expect(stream.frames[3].slices[0].lists == [[2, 1, 0, 2], []])
        #expect(stream.frames[0].isLongTerm && !stream.frames[1].isLongTerm)
        #expect(stream.frames[4].referenceSet.ltCurr == [0] && stream.frames[4].referenceSet.stCurrAfter == [3])
        #expect(stream.framesInOutputOrder.map(\.pictureOrderCount) == [0, 1, 2, 4, 5, 8])
        #expect(stream.reorderDepth == 1)
    }

    /// The expected sets are derived by hand from (7-61) and (7-62).
    @Test func referencePictureSetsArePredictedFromOthers() throws {
        var crafted = CraftedHEVC()
        crafted.setWriters = [
            { bits in
                // S0 is −1 and −3, the second unused; S1 is +2.
                bits.ue(2)
                bits.ue(1)
                for (delta, isUsed) in [(0, true), (1, false), (1, true)] {
                    bits.ue(delta)
                    bits.flag(isUsed)
                }
            },
            { bits in
                // Predicted, with all deltas shifted by −2: −3, −5, 0 (drops out), and the source set itself at −2. The
                // second is excluded.
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
                // Predicted, with all deltas shifted by +3: 0 (drops out), 1.
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
        let sets = try #require(HEVCStream(annexB: bytes).sequenceSets.first).short_term_ref_pic_sets
        #expect(HEVCStream(annexB: bytes).violations.map(\.description) == [])
        func text(_ set: HEVCShortTermReferencePictureSet) -> [String] {
            set.entries.map { "\($0.deltaPOC)\($0.isUsed ? "" : " kept")" }
        }
        #expect(sets.map(text) == [["-1", "-3 kept", "2"], ["-2 kept", "-3"], ["1", "3"]])
    }
}
