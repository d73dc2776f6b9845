package import VideoBase

/// The numbers of a picture in H.264, with the standard's names.
public struct H264PictureNumbers: Sendable, Hashable {
    /// nal_ref_idc: 0 if no later picture predicts from this one, otherwise its importance, 1…3.
    public var nal_ref_idc: UInt8
    /// frame_num, 7.4.3.
    public var frame_num: Int
    /// idr_pic_id: differs between consecutive IDR pictures. Other pictures hold the value of the latest IDR picture.
    public var idr_pic_id: Int
    /// TopFieldOrderCnt and BottomFieldOrderCnt: two per frame, 0 at each IDR picture.
    public var picOrderCount: Int
    /// pic_order_cnt_lsb: `picOrderCount` modulo MaxPicOrderCntLsb.
    public var pic_order_cnt_lsb: Int
    /// RefPicList0, 8.2.4.
    public var list0: [H264StoredPicture]
    /// RefPicList1, 8.2.4.
    public var list1: [H264StoredPicture]
    /// The modifications of the initial list 0; empty if the initial list is used.
    public var modifications0: [H264ListModification]
    /// The modifications of the initial list 1; empty if the initial list is used.
    public var modifications1: [H264ListModification]
    /// The references in the decoded picture buffer while this picture is coded.
    public var stored: [H264StoredPicture]
    /// The operations of dec_ref_pic_marking. Empty for the sliding window (8.2.5.3) and for IDR pictures.
    package var marking: [MemoryManagementOperation]
    /// long_term_reference_flag of an IDR picture.
    public var isLongTermReference: Bool
}

/// A reference picture with its numbers.
public struct H264StoredPicture: Sendable, Hashable {
    /// The picture.
    public var picture: StoredPicture
    /// frame_num of the stored picture.
    public var frame_num: Int
    /// The picture order count of the stored picture.
    public var picOrderCount: Int

    /// LongTermFrameIdx, which equals LongTermPicNum for a frame (8-29); nil: a short-term reference.
    public var longTermIndex: Int? { picture.longTermIndex }
}

/// A step of ref_pic_list_modification, 8.2.4.3.
public enum H264ListModification: Sendable, Hashable {
    /// The difference between picNumLX and the previous value; never 0.
    case shortTerm(picNumDifference: Int)
    /// A long-term picture, identified by LongTermPicNum.
    case longTerm(long_term_pic_num: Int)
}
