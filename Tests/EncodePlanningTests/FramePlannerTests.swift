import EncodePlanning
import Testing
import VideoBase

@Suite struct FramePlannerTests {
    private func plans(_ structure: GOPStructure, frames: Int, forced: Set<Int> = []) -> [FramePlan] {
        var planner = FramePlanner(structure: structure)
        return (0..<frames).flatMap { planner.add(forceKey: forced.contains($0)) } + planner.finish()
    }

    private func text(_ plans: [FramePlan]) -> String {
        plans.map { $0.type == .idr ? "I" : "P" }.joined()
    }

    @Test func keyFramesFollowTheIntervalAndRequests() {
        #expect(text(plans(GOPStructure(keyInterval: 4, references: 1), frames: 10)) == "IPPPIPPPIP")
        #expect(text(plans(GOPStructure(keyInterval: 1, references: 2), frames: 4)) == "IIII")
        #expect(text(plans(GOPStructure(keyInterval: nil, references: 1), frames: 6, forced: [0, 3])) == "IPPIPP")
        // A forced key frame restarts the interval.
        #expect(text(plans(GOPStructure(keyInterval: 4, references: 1), frames: 10, forced: [2])) == "IPIPPPIPPP")
    }

    @Test func predictedPicturesReferToTheLatestPictures() {
        let three = plans(GOPStructure(keyInterval: 6, references: 3), frames: 8)
        #expect(three.map(\.list0) == [[], [0], [1, 0], [2, 1, 0], [3, 2, 1], [4, 3, 2], [], [6]])
        #expect(three[3].stored.map(\.codingIndex) == [0, 1, 2])
        #expect(three.map(\.keyDisplayIndex) == [0, 0, 0, 0, 0, 0, 6, 6])
        #expect(three.map(\.sequenceIndex) == [0, 0, 0, 0, 0, 0, 1, 1])
    }

    /// Sweeps every GOP length × forced key position × number of references, with a frame_num that wraps: a decoder
    /// that has only the numbers must find the pictures of the plan.
    @Test func decoderFindsThePlannedReferences() {
        var runs = 0
        var faults: [String] = []
        for interval in [nil] + (1...12).map(Optional.some) {
            for forced in 0..<20 {
                for references in 1...6 {
                    runs += 1
                    let structure = GOPStructure(keyInterval: interval, references: references)
                    let plans = plans(structure, frames: 40, forced: [forced])
                    faults += check(plans, structure: structure).map { "\(structure), key \(forced): \($0)" }
                    if !plans[forced].type.isKey { faults.append("\(forced) is no key frame") }
                }
            }
        }
        #expect(runs == 1560)
        #expect(faults == [])
    }

    private func check(_ plans: [FramePlan], structure: GOPStructure) -> [String] {
        var judge = PlanJudge(structure, log2_max_pic_order_cnt_lsb: 4)
        for plan in plans { judge.take(plan) }
        judge.finish(frames: plans.count)
        var faults = judge.faults
        var sinceKey = 0
        for plan in plans {
            sinceKey = plan.type.isKey ? 0 : sinceKey + 1
            if plan.displayIndex != plan.codingIndex { faults.append("order at \(plan.codingIndex)") }
            if let interval = structure.keyInterval, sinceKey >= interval {
                faults.append("late key at \(plan.codingIndex)")
            }
        }
        return faults
    }

    @Test func steadyStreamNeedsNoModificationsOrMarking() {
        var numbering = H264ReferenceState(references: 4)
        for plan in plans(GOPStructure(keyInterval: 300, references: 4), frames: 600) {
            let numbers = numbering.number(plan)
            #expect(numbers.modifications0.isEmpty && numbers.marking.isEmpty)
        }
    }
}
