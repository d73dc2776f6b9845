import VideoBase

/// Turns plans, in coding order, into H.264's frame_num, picture order counts, lists and marking.
public struct H264Numbering: Sendable {
    /// log2 of MaxFrameNum, 4…16. Larger than the number of references, so that pictures can be told apart.
    public let log2_max_frame_num: Int
    /// log2 of MaxPicOrderCntLsb, 4…16.
    public let log2_max_pic_order_cnt_lsb: Int
    /// max_num_ref_frames.
    public let references: Int
    private var stored: [H264StoredPicture] = []
    private var prevRefFrameNum = 0

    public init(references: Int, log2_max_frame_num: Int = 8, log2_max_pic_order_cnt_lsb: Int = 8) {
        precondition(
            (4...16).contains(log2_max_frame_num) && (4...16).contains(log2_max_pic_order_cnt_lsb)
                && (1...16).contains(references), "numbering outside 7.4.2.1.1")
        self.references = references
        self.log2_max_frame_num = log2_max_frame_num
        self.log2_max_pic_order_cnt_lsb = log2_max_pic_order_cnt_lsb
    }

    private var maxFrameNum: Int { 1 << log2_max_frame_num }

    /// The numbers of the next picture in coding order. Its references must be stored: the plan comes from the same
    /// window of references.
    public mutating func number(_ plan: FramePlan) -> H264PictureNumbers {
        if plan.type == .idr { stored.removeAll() }
        let frameNum = plan.type == .idr ? 0 : (prevRefFrameNum + 1) % maxFrameNum
        let poc = 2 * (plan.displayIndex - plan.keyDisplayIndex)
        let list0 = plan.list0.compactMap(find)
        let list1 = plan.list1.compactMap(find)
        let initial = H264InitialLists(
            stored: stored, frame_num: frameNum, maxFrameNum: maxFrameNum, picOrderCount: poc, isB: plan.type == .b)
        let numbers = H264PictureNumbers(
            nal_ref_idc: plan.type == .idr ? 3 : plan.isReference ? 2 : 0,
            frame_num: frameNum,
            idr_pic_id: plan.sequenceIndex & 1,
            picOrderCount: poc,
            pic_order_cnt_lsb: poc & ((1 << log2_max_pic_order_cnt_lsb) - 1),
            list0: list0, list1: list1,
            modifications0: initial.modifications(from: initial.list0, to: list0),
            modifications1: initial.modifications(from: initial.list1, to: list1),
            stored: stored,
            forgotten: plan.released.compactMap(find).map { frameNum - initial.picNum($0) })
        if plan.isReference { store(plan, frameNum: frameNum, poc: poc) }
        return numbers
    }

    private func find(_ codingIndex: Int) -> H264StoredPicture? {
        stored.first { $0.picture.codingIndex == codingIndex }
    }

    private mutating func store(_ plan: FramePlan, frameNum: Int, poc: Int) {
        stored.removeAll { plan.released.contains($0.picture.codingIndex) }
        // 8.2.5.3: the sliding window drops the picture with the smallest FrameNumWrap, the first coded.
        if stored.count >= references { stored.removeFirst() }
        let picture = StoredPicture(codingIndex: plan.codingIndex, displayIndex: plan.displayIndex, slot: plan.slot)
        stored.append(H264StoredPicture(picture: picture, frame_num: frameNum, picOrderCount: poc))
        prevRefFrameNum = frameNum
    }
}
