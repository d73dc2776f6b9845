import EncodePlanning
import Testing
import VideoBase

/// Sweeps HEVC's numbers over structures and judges them by a decoder model: whole streams, streams decoded from the
/// middle, and streams without their upper temporal sub-layers.
@Suite struct HEVCReferenceStateTests {
    /// The size of pic_order_cnt_lsb; it suffices for eight pictures between two of the lowest sub-layer.
    private static let log2MaxLsb = 5

    private struct Coded {
        var plan: FramePlan
        var numbers: HEVCPictureNumbers
    }

    private static func numbered(_ structure: GOPStructure, _ plans: [FramePlan]) -> [Coded] {
        var numbering = HEVCReferenceState(
            longTermReferences: structure.longTermReferences, log2_max_pic_order_cnt_lsb: log2MaxLsb)
        return plans.map { Coded(plan: $0, numbers: numbering.number($0)) }
    }

    private static func model(_ structure: GOPStructure) -> HEVCDecoderModel {
        HEVCDecoderModel(
            maxLsb: 1 << log2MaxLsb, maxDecPicBuffering: structure.storage + 1, maxReorder: structure.reorderDepth)
    }

    private static func plans(_ structure: GOPStructure, frames: Int, forced: Int) -> [FramePlan] {
        var planner = FramePlanner(structure: structure)
        return (0..<frames).flatMap { planner.add(forceKey: $0 == forced) } + planner.finish()
    }

    /// Returns what a decoder finds wrong with the pictures that it gets; it must output all of them in order.
    private static func faults(_ structure: GOPStructure, _ stream: [Coded]) -> [String] {
        var decoder = model(structure)
        var faults: [String] = []
        for coded in stream {
            let (plan, numbers) = (coded.plan, coded.numbers)
            let seen = decoder.decode(plan.type, name: plan.codingIndex, numbers)
            if seen.list0 != plan.list0 { faults.append("list 0: \(seen.list0), not \(plan.list0)") }
            if seen.list1 != plan.list1 { faults.append("list 1: \(seen.list1), not \(plan.list1)") }
            if numbers.list0.map(\.picture.codingIndex) != plan.list0 { faults.append("list 0's numbers") }
            // The stored pictures are the referenced ones, in the slots of the plan; those of the lists come first.
            let isPlanned = numbers.stored.allSatisfy { plan.stored.contains($0.picture) }
            if !isPlanned || Array(numbers.stored.map(\.picture.codingIndex).prefix(plan.list0.count)) != plan.list0 {
                faults.append("stored")
            }
            if decoder.frames.filter({ $0.isReference && $0.name != plan.codingIndex }).count != numbers.stored.count,
                plan.codingIndex != stream[0].plan.codingIndex
            {
                faults.append("the decoder keeps others")
            }
        }
        decoder.flush()
        let shown = stream.map(\.plan).sorted { $0.displayIndex < $1.displayIndex }.map(\.codingIndex)
        if decoder.output != shown { faults.append("output \(decoder.output), not \(shown)") }
        return (faults + decoder.faults).map { "\(structure): \($0)" }
    }

    /// Returns the faults of the streams that begin at each CRA picture, without its RASL pictures.
    private static func randomAccessFaults(_ structure: GOPStructure, _ stream: [Coded]) -> (faults: [String], Int) {
        let starts = stream.indices.filter { stream[$0].numbers.kind == .cra }
        let faults = starts.flatMap { start in
            var isLeading = true
            return Self.faults(
                structure,
                stream[start...].filter { coded in
                    let isSkipped = coded.numbers.kind == .skippedLeading
                    if !isSkipped, coded.plan.codingIndex > stream[start].plan.codingIndex { isLeading = false }
                    return !(isLeading && isSkipped)
                })
        }
        return (faults, starts.count)
    }

    @Test(arguments: [nil] + Array(1...14)) func everyStructureDecodesFromEachAccessPoint(_ interval: Int?) {
        var structures: Set<GOPStructure> = []
        for bFrames in 0...7 {
            for shape in 0..<4 {
                for idrInterval in 1...3 {
                    for references in 1...4 {
                        var structure = GOPStructure(keyInterval: interval, references: references)
                        structure.bFrames = bFrames
                        structure.isPyramid = shape & 1 == 1
                        structure.isOpen = shape & 2 == 2
                        structure.idrInterval = idrInterval
                        structure.references1 = references > 2 ? 2 : 1
                        structures.insert(structure.consistent)
                    }
                }
            }
        }
        var faults: [String] = []
        var (starts, leading) = (0, 0)
        for structure in structures {
            for forced in [1, 4, 7, 10] {
                let stream = Self.numbered(structure, Self.plans(structure, frames: 40, forced: forced))
                faults += Self.faults(structure, stream)
                let random = Self.randomAccessFaults(structure, stream)
                faults += random.faults
                starts += random.1
                leading += stream.count { $0.numbers.kind == .skippedLeading }
                let modified = stream.filter { !$0.numbers.listEntries0.isEmpty || !$0.numbers.listEntries1.isEmpty }
                if !modified.isEmpty { faults.append("\(structure): \(modified.count) lists modified") }
            }
        }
        #expect(structures.count > 50)
        #expect((starts > 100 && (leading > 100 || interval == 1)) == (interval != nil))
        #expect(faults.prefix(5) == [])
    }

    @Test(arguments: [nil, 1, 2, 3, 5, 8, 11]) func longTermReferencesAndSubLayersDecode(_ interval: Int?) {
        var structures: Set<GOPStructure> = []
        for bFrames in [0, 1, 2, 3, 7] {
            for shape in 0..<4 {
                for references in 1...4 {
                    for layers in 1...4 {
                        for longTerm in 0...3 {
                            var structure = GOPStructure(keyInterval: interval, references: references)
                            structure.bFrames = bFrames
                            structure.isPyramid = shape & 1 == 1
                            structure.isOpen = shape & 2 == 2
                            structure.idrInterval = shape & 2 == 2 ? 2 : 1
                            structure.temporalLayers = layers
                            structure.longTermReferences = longTerm
                            structure.longTermInterval = 3
                            structures.insert(structure.consistent)
                        }
                    }
                }
            }
        }
        var faults: [String] = []
        var (longTerm, layered, modified, cut) = (0, 0, 0, 0)
        for structure in structures {
            for forced in [1, 6, 100] {
                let stream = Self.numbered(structure, Self.plans(structure, frames: 72, forced: forced))
                faults += Self.faults(structure, stream)
                faults += Self.randomAccessFaults(structure, stream).faults
                longTerm += stream.count { $0.numbers.longTerm.contains { $0.deltaPOCMsbCycle > 0 } }
                layered += stream.count { $0.numbers.kind == .subLayerAccess }
                modified += stream.count { !$0.numbers.listEntries0.isEmpty }
                if structure.longTermReferences > 0, stream.contains(where: { $0.numbers.kind == .cra }) {
                    faults.append("\(structure): a CRA picture beside long-term references")
                }
                for layers in 1..<max(structure.temporalLayers, 1) {
                    let kept = stream.filter { $0.numbers.temporalID < layers }
                    cut += stream.count - kept.count
                    faults += Self.faults(structure, kept).map { "\($0) with \(layers) sub-layers" }
                    // From any picture on, one more sub-layer may be decoded.
                    for start in stride(from: 5, to: stream.count, by: 9) {
                        let joined = stream.filter {
                            $0.numbers.temporalID < ($0.plan.codingIndex >= start ? layers + 1 : layers)
                        }
                        faults += Self.faults(structure, joined).map { "\($0) from \(start)" }
                    }
                }
            }
        }
        #expect(structures.count > 200 && (layered > 1000 && cut > 1000 || interval == 1))
        #expect(interval != nil || longTerm > 100 && modified > 100)
        #expect(faults.prefix(5) == [])
    }

    /// The receiver misses a picture: the refresh refers to long-term pictures only, and later pictures decode
    /// correctly.
    @Test func refreshUsesOnlyLongTermReferences() {
        var faults: [String] = []
        var refreshes = 0
        for longTerm in 1...3 {
            for bFrames in [0, 2] {
                for lost in 9..<40 {
                    var structure = GOPStructure(keyInterval: nil, references: longTerm + 1)
                    structure.longTermReferences = longTerm
                    structure.bFrames = bFrames
                    structure = structure.consistent
                    var planner = FramePlanner(structure: structure)
                    var plans: [FramePlan] = []
                    for index in 0..<60 {
                        var request = FrameRequest()
                        request.acknowledgedTokens = index < lost ? plans.compactMap(\.acknowledgementToken) : []
                        request.refreshFromLongTerm = index == lost + 4
                        plans += planner.add(request)
                    }
                    plans += planner.finish()
                    let stream = Self.numbered(structure, plans)
                    faults += Self.faults(structure, stream)
                    let refresh = plans.firstIndex { $0.displayIndex == lost + 4 } ?? 0
                    if plans[refresh].type != .idr {
                        refreshes += 1
                        let numbers = stream[refresh].numbers
                        if !numbers.list0.allSatisfy(\.isLongTerm) { faults.append("\(lost): no refresh") }
                        if numbers.shortTerm.contains(where: \.isUsed) { faults.append("\(lost): short") }
                    }
                }
            }
        }
        #expect(refreshes > 100)
        #expect(faults.prefix(5) == [])
    }

    /// Damages every number of a stream in turn.
    @Test func decoderModelFindsDamagedNumbers() {
        var structure = GOPStructure(keyInterval: 9, references: 2)
        structure.bFrames = 3
        structure.isPyramid = true
        structure.isOpen = true
        structure.idrInterval = 3
        structure = structure.consistent
        let stream = Self.numbered(structure, Self.plans(structure, frames: 40, forced: 100))
        #expect(Self.faults(structure, stream) == [])
        var undetected: [String] = []
        func damage(_ name: String, _ index: Int, _ change: (inout HEVCPictureNumbers) -> Void) {
            var damaged = stream
            change(&damaged[index].numbers)
            if damaged[index].numbers != stream[index].numbers, Self.faults(structure, damaged).isEmpty {
                undetected.append("\(name) at \(index)")
            }
        }
        for index in stream.indices {
            let numbers = stream[index].numbers
            damage("order", index) { $0.pic_order_cnt_lsb = ($0.pic_order_cnt_lsb + 7) % 32 }
            for entry in numbers.shortTerm.indices {
                damage("delta", index) { $0.shortTerm[entry].deltaPOC -= 3 }
                damage("gone", index) { $0.shortTerm.remove(at: entry) }
                damage("use", index) { $0.shortTerm[entry].isUsed = false }
            }
            if numbers.kind == .skippedLeading { damage("kind", index) { $0.kind = .trailing } }
            if numbers.kind == .trailing, index > 0 { damage("kind", index) { $0.kind = .cra } }
        }
        #expect(undetected == [])
    }
}
