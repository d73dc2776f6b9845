import EncodePlanning
import Testing
import VideoBase

/// Tests plans that the planner does not make yet: any order of any of the stored pictures, and released pictures.
@Suite struct H264ReferenceStateTests {
    private func plan(
        _ index: Int, type: PictureType = .p, list0: [Int] = [], isReference: Bool = true, released: [Int] = []
    ) -> FramePlan {
        var plan = FramePlan(
            type: type, codingIndex: index, displayIndex: index, sequenceIndex: 0, keyDisplayIndex: 0, list0: list0,
            isReference: isReference, stored: [], slot: 0)
        plan.released = released
        return plan
    }

    /// Returns every ordered selection of `items` except the empty one.
    private func arrangements(_ items: [Int]) -> [[Int]] {
        items.flatMap { item in
            [[item]] + arrangements(items.filter { $0 != item }).map { [item] + $0 }
        }
    }

    /// Sweeps every ordered selection of four references at every value of a wrapping frame_num.
    @Test func decoderReadsEveryOrderOfReferences() {
        var tried = 0
        var faults: [String] = []
        for start in 4..<24 {
            var numbering = H264ReferenceState(references: 4, log2_max_frame_num: 4, log2_max_pic_order_cnt_lsb: 8)
            var decoder = DecoderModel(maxFrameNum: 16, maxLsb: 256, max_num_ref_frames: 4)
            for index in 0..<start {
                let list = index == 0 ? [] : [index - 1]
                let plan = self.plan(index, type: index == 0 ? .idr : .p, list0: list)
                _ = decoder.decode(plan.type, name: index, numbering.number(plan))
            }
            for list in arrangements([start - 1, start - 2, start - 3, start - 4]) {
                tried += 1
                var (numbering, decoder) = (numbering, decoder)
                let seen = decoder.decode(.p, name: start, numbering.number(self.plan(start, list0: list)))
                if seen.list0 != list { faults.append("\(list) read as \(seen.list0)") }
                faults += decoder.faults
            }
        }
        #expect(tried == 20 * 64)
        #expect(faults == [])
    }

    @Test func listsNeedTheFewestModifications() {
        var numbering = H264ReferenceState(references: 3)
        for index in 0..<3 { _ = numbering.number(plan(index, type: index == 0 ? .idr : .p, list0: [index - 1])) }
        func steps(_ list: [Int]) -> [Int] {
            var numbering = numbering
            return numbering.number(plan(3, list0: list)).modifications0.map { if case .shortTerm(let difference) = $0 { difference } else { 0 } }
        }
        #expect(steps([2, 1, 0]) == [])
        #expect(steps([2]) == [])
        #expect(steps([0, 2, 1]) == [-3])
        #expect(steps([1, 0]) == [-2, -1])
        #expect(steps([0, 1, 2]) == [-3, 1])
    }

    /// Pictures that no later picture predicts from share the next frame_num; released pictures leave the buffer.
    @Test func frameNumAndStorageFollowMarking() {
        var numbering = H264ReferenceState(references: 3)
        var decoder = DecoderModel(maxFrameNum: 256, maxLsb: 256, max_num_ref_frames: 3)
        let series: [FramePlan] = [
            plan(0, type: .idr), plan(1, list0: [0]), plan(2, list0: [1], isReference: false),
            plan(3, list0: [1, 0], isReference: false), plan(4, list0: [0], released: [1]), plan(5, list0: [4, 0]),
            plan(6, list0: [5, 4, 0], released: [0, 5]), plan(7, list0: [6, 4]),
        ]
        var frameNums: [Int] = []
        var stored: [[Int]] = []
        for plan in series {
            let numbers = numbering.number(plan)
            frameNums.append(numbers.frame_num)
            stored.append(numbers.stored.map(\.picture.codingIndex))
            let seen = decoder.decode(plan.type, name: plan.codingIndex, numbers)
            // Pictures are named in order of arrival, so the name is the coding index.
            #expect(seen.list0 == plan.list0)
        }
        #expect(frameNums == [0, 1, 2, 2, 2, 3, 4, 5])
        #expect(stored == [[], [0], [0, 1], [0, 1], [0, 1], [0, 4], [0, 4, 5], [4, 6]])
        #expect(decoder.faults == [])
    }
}
