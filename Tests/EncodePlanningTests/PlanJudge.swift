import EncodePlanning
import VideoBase

/// Judges a series of plans by the rules of the standard and of the structure, with the models of the decoder and its
/// output. Faults are texts, so that a sweep can add the run that they come from.
struct PlanJudge {
    let structure: GOPStructure
    var numbering: H264ReferenceState
    var decoder: DecoderModel
    private var output: OutputModel
    private(set) var faults: [String] = []
    /// The coded pictures by coding index.
    private(set) var coded: [FramePlan] = []
    private(set) var commands = 0
    private(set) var deepestReorder = 0
    private var owners: [Int?]
    /// The display indices by coding index.
    private var shown: [Int] = []

    init(_ structure: GOPStructure, log2_max_frame_num: Int = 4, log2_max_pic_order_cnt_lsb: Int = 6) {
        self.structure = structure
        numbering = H264ReferenceState(
            references: structure.storage, longTermReferences: structure.longTermReferences,
            log2_max_frame_num: log2_max_frame_num, log2_max_pic_order_cnt_lsb: log2_max_pic_order_cnt_lsb)
        decoder = DecoderModel(
            maxFrameNum: 1 << log2_max_frame_num, maxLsb: 1 << log2_max_pic_order_cnt_lsb,
            max_num_ref_frames: structure.storage)
        output = OutputModel(size: structure.storage)
        owners = [Int?](repeating: nil, count: structure.slotCount)
    }

    /// Judges the next plan in coding order.
    ///
    /// - Parameter damage: changes the picture's syntax elements before the decoder gets them.
    mutating func take(_ plan: FramePlan, damage: (inout H264PictureNumbers) -> Void = { _ in }) {
        let index = coded.count
        func fault(_ text: String) { faults.append("\(text) at \(index)") }
        if plan.codingIndex != index { fault("coding index \(plan.codingIndex)") }
        var numbers = numbering.number(plan)
        damage(&numbers)
        // According to the syntax elements so far, the decoder keeps the pictures that the plan expects.
        if plan.type != .idr {
            let isSame =
                decoder.frames.count == plan.stored.count
                && decoder.frames.allSatisfy { frame in
                    plan.stored.contains { $0.codingIndex == frame.name && $0.longTermIndex == frame.longTerm }
                }
            if !isSame {
                let kept = decoder.frames.map { [$0.name ?? -1, $0.longTerm ?? -1] }
                fault("the decoder keeps \(kept), not \(plan.stored.map { [$0.codingIndex, $0.longTermIndex ?? -1] })")
            }
        }
        commands += numbers.modifications0.count + numbers.modifications1.count + numbers.marking.count
        let seen = decoder.decode(plan.type, name: index, numbers)
        if seen.list0 != plan.list0 { fault("list 0: \(seen.list0), not \(plan.list0)") }
        if seen.list1 != plan.list1 { fault("list 1: \(seen.list1), not \(plan.list1)") }
        if seen.poc != numbers.picOrderCount || seen.poc != 2 * (plan.displayIndex - plan.keyDisplayIndex) {
            fault("order count")
        }
        if numbers.stored.map(\.picture) != plan.stored { fault("stored") }
        // The slots still hold the stored pictures, and the new reconstruction overwrites none of them.
        for stored in plan.stored where owners[stored.slot] != stored.codingIndex || stored.slot == plan.slot {
            fault("slot of \(stored.codingIndex)")
        }
        owners[plan.slot] = plan.codingIndex
        if plan.list0.count > (plan.type == .b ? structure.referencesB ?? structure.references : structure.references)
            || plan.list1.count > structure.references1
        {
            fault("too long a list")
        }
        if plan.type == .b {
            if plan.list0.contains(where: { shown[$0] > plan.displayIndex })
                || plan.list1.contains(where: { shown[$0] < plan.displayIndex })
            {
                fault("a list on the wrong side")
            }
            if plan.isReference != (plan.depth > 0 && plan.depth <= structure.bReferenceLevels),
                plan.isReference || !structure.isPyramid
            {
                fault("a B picture kept")
            }
        }
        deepestReorder = max(deepestReorder, shown.count { $0 > plan.displayIndex })
        output.decode(
            name: plan.displayIndex, poc: seen.poc, isIDR: plan.type == .idr, isReference: plan.isReference,
            references: decoder.frames.compactMap { $0.name.map { $0 == index ? plan.displayIndex : shown[$0] } })
        coded.append(plan)
        shown.append(plan.displayIndex)
    }

    /// Judges the whole stream: output, reordering, and random access at intra pictures.
    mutating func finish(frames: Int) {
        output.flush()
        if output.output != Array(0..<frames) { faults.append("output \(output.output)") }
        if deepestReorder > structure.reorderDepth { faults.append("reordered by \(deepestReorder)") }
        faults += decoder.faults + output.faults
        for intra in coded.indices where coded[intra].type == .idr || coded[intra].type == .i {
            let isClosed = coded[intra].type == .idr || !structure.isOpen
            let barrier = shown[intra]
            for other in coded.indices where other != intra {
                let isAfter = shown[other] > barrier
                if isClosed, isAfter != (other > intra) { faults.append("\(other) crosses the intra picture \(intra)") }
                guard isAfter else { continue }
                if coded[other].list0.contains(where: { shown[$0] < barrier })
                    || coded[other].list1.contains(where: { shown[$0] < barrier })
                {
                    faults.append("\(other) predicts across the intra picture \(intra)")
                }
            }
        }
    }

    /// Returns the types in display order: I for IDR, i, P and B.
    static func types(_ plans: [FramePlan]) -> String {
        let letters: [PictureType: String] = [.idr: "I", .i: "i", .p: "P", .b: "B"]
        return plans.sorted { $0.displayIndex < $1.displayIndex }.map { letters[$0.type] ?? "?" }.joined()
    }

    /// Returns the types that the structure requires: it counts frames to find the intra pictures, then fills the runs
    /// between them.
    static func expectedTypes(_ structure: GOPStructure, frames: Int, forced: Set<Int>) -> String {
        var types = [Character](repeating: "B", count: frames)
        var last = 0
        var ordinal = 0
        for index in 0..<frames {
            if index == 0 || forced.contains(index) {
                types[index] = "I"
                (last, ordinal) = (index, 0)
            } else if let interval = structure.keyInterval, index - last >= interval {
                ordinal = (ordinal + 1) % structure.idrInterval
                types[index] = ordinal == 0 ? "I" : "i"
                last = index
            }
        }
        var run = 0
        for index in 0..<frames where types[index] == "B" {
            run += 1
            let next = index + 1 < frames ? types[index + 1] : "I"
            let isLast = next == "I" || (next == "i" && !structure.isOpen)
            if isLast || run > structure.bFrames { types[index] = "P" }
            if types[index] == "P" || next != "B" { run = 0 }
        }
        return String(types)
    }
}
