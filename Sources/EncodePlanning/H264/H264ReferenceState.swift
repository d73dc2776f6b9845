import VideoBase

/// Converts plans, in coding order, into H.264's frame_num, picture order counts, lists and marking.
package struct H264ReferenceState: Sendable {
    /// log2 of MaxFrameNum, 4…16. MaxFrameNum is larger than the number of references, so each reference has its own
    /// frame_num.
    package let log2_max_frame_num: Int
    /// log2 of MaxPicOrderCntLsb, 4…16. The range must cover a group of B pictures: 5 is enough for seven B pictures.
    package let log2_max_pic_order_cnt_lsb: Int
    /// max_num_ref_frames: `GOPStructure.storage`.
    package let references: Int
    /// MaxLongTermFrameIdx + 1. With long-term references, lists are coded in full.
    package let longTermReferences: Int
    private var stored: [H264StoredPicture] = []
    private var prevRefFrameNum = 0

    /// Creates the state before the first picture.
    ///
    /// - Precondition: `references` is 1…16 and both logarithms are 4…16.
    package init(
        references: Int, longTermReferences: Int = 0, log2_max_frame_num: Int = 8, log2_max_pic_order_cnt_lsb: Int = 8
    ) {
        precondition(
            (4...16).contains(log2_max_frame_num) && (4...16).contains(log2_max_pic_order_cnt_lsb)
                && (1...16).contains(references), "numbering outside 7.4.2.1.1")
        self.references = references
        self.longTermReferences = longTermReferences
        self.log2_max_frame_num = log2_max_frame_num
        self.log2_max_pic_order_cnt_lsb = log2_max_pic_order_cnt_lsb
    }

    private var maxFrameNum: Int { 1 << log2_max_frame_num }

    /// Returns the numbers of the next picture in coding order and stores the picture if it is a reference.
    ///
    /// The references of `plan` must be stored: all plans come from one planner, in order.
    package mutating func number(_ plan: FramePlan) -> H264PictureNumbers {
        if plan.type == .idr { stored.removeAll() }
        let frame_num = plan.type == .idr ? 0 : (prevRefFrameNum + 1) % maxFrameNum
        let poc = 2 * (plan.displayIndex - plan.keyDisplayIndex)
        let list0 = plan.list0.compactMap(find)
        let list1 = plan.list1.compactMap(find)
        let initial = H264InitialLists(
            stored: stored, frame_num: frame_num, maxFrameNum: maxFrameNum, picOrderCount: poc, isB: plan.type == .b)
        let isExplicit = longTermReferences > 0
        let isIDR = plan.type == .idr
        let numbers = H264PictureNumbers(
            nal_ref_idc: isIDR ? 3 : !plan.isReference ? 0 : plan.type == .b || plan.temporalLayer > 0 ? 1 : 2,
            frame_num: frame_num,
            idr_pic_id: plan.sequenceIndex & 1,
            picOrderCount: poc,
            pic_order_cnt_lsb: poc & ((1 << log2_max_pic_order_cnt_lsb) - 1),
            list0: list0, list1: list1,
            modifications0: initial.modifications(from: initial.list0, to: list0, isExplicit: isExplicit),
            modifications1: initial.modifications(from: initial.list1, to: list1, isExplicit: isExplicit),
            stored: stored,
            marking: isIDR || !plan.isReference ? [] : marking(plan, initial),
            isLongTermReference: isIDR && plan.longTermIndex != nil)
        if plan.isReference { store(plan, frame_num: frame_num, poc: poc) }
        return numbers
    }

    private func find(_ codingIndex: Int) -> H264StoredPicture? {
        stored.first { $0.picture.codingIndex == codingIndex }
    }

    /// Returns the marking operations: first the released pictures, then the new long-term reference. The number of
    /// long-term indices is repeated each time, because a decoder may have missed the first command.
    private func marking(_ plan: FramePlan, _ initial: H264InitialLists) -> [MemoryManagementOperation] {
        var operations: [MemoryManagementOperation] = []
        for picture in plan.released.compactMap(find) {
            if let index = picture.longTermIndex {
                operations.append(.forgetLongTerm(long_term_pic_num: index))
            } else {
                operations.append(
                    .forgetShortTerm(difference_of_pic_nums: initial.frame_num - initial.picNum(picture)))
            }
        }
        guard let index = plan.longTermIndex else { return operations }
        operations.append(.setLongTermCount(max_long_term_frame_idx_plus1: max(longTermReferences, index + 1)))
        operations.append(.makeCurrentLongTerm(long_term_frame_idx: index))
        return operations
    }

    private mutating func store(_ plan: FramePlan, frame_num: Int, poc: Int) {
        stored.removeAll { plan.released.contains($0.picture.codingIndex) }
        if let index = plan.longTermIndex { stored.removeAll { $0.longTermIndex == index } }
        // 8.2.5.3: the sliding window drops the short-term picture with the smallest FrameNumWrap, which was coded
        // first.
        if stored.count >= references, let oldest = stored.firstIndex(where: { $0.longTermIndex == nil }) {
            stored.remove(at: oldest)
        }
        var picture = StoredPicture(codingIndex: plan.codingIndex, displayIndex: plan.displayIndex, slot: plan.slot)
        picture.longTermIndex = plan.longTermIndex
        stored.append(H264StoredPicture(picture: picture, frame_num: frame_num, picOrderCount: poc))
        prevRefFrameNum = frame_num
    }
}
