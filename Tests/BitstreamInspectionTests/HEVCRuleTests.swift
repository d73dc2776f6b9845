import BitstreamInspection
import TestOracles
import Testing

/// Every rule is told by a stream that keeps it and by one that breaks it alone.
@Suite struct HEVCRuleTests {
    @Test(arguments: HEVCRuleCase.all) func eachRule(_ each: HEVCRuleCase) {
        let violations = HEVCStream(annexB: each.crafted.stream()).violations
        if let rule = each.rule {
            #expect(violations.contains { $0.rule == rule }, "\(violations.map(\.description))")
        } else {
            #expect(violations.map(\.description) == [])
        }
    }

    /// FFmpeg reads the same headers, so the writer of these tests is sound.
    @Test(arguments: HEVCRuleCase.all) func headersAreFFmpegs(_ each: HEVCRuleCase) throws {
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
