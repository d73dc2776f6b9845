package import VideoBase

/// The numbers that H.264 gives a picture, with the standard's names.
public struct H264PictureNumbers: Sendable, Hashable {
    /// 0: no later picture predicts from this one; else its weight, 1…3.
    public var nal_ref_idc: UInt8
    public var frame_num: Int
    /// Differs between consecutive IDR pictures; the number of the latest one otherwise.
    public var idr_pic_id: Int
    /// TopFieldOrderCnt and BottomFieldOrderCnt, two to a frame, 0 at each IDR picture.
    public var picOrderCount: Int
    public var pic_order_cnt_lsb: Int
    /// RefPicList0 and RefPicList1, 8.2.4.
    public var list0: [H264StoredPicture]
    public var list1: [H264StoredPicture]
    /// How the lists come from the initial ones; empty where they are those.
    public var modifications0: [H264ListModification]
    public var modifications1: [H264ListModification]
    /// The decoded picture buffer's references while this picture is coded.
    public var stored: [H264StoredPicture]
    /// dec_ref_pic_marking's operations; empty: the sliding window (8.2.5.3), or an IDR picture.
    package var marking: [MemoryManagementOperation]
    /// long_term_reference_flag of an IDR picture.
    public var isLongTermReference: Bool
}

/// A reference picture with its numbers.
public struct H264StoredPicture: Sendable, Hashable {
    public var picture: StoredPicture
    public var frame_num: Int
    public var picOrderCount: Int

    /// LongTermFrameIdx, which is a frame's LongTermPicNum (8-29); nil: a short-term reference.
    public var longTermIndex: Int? { picture.longTermIndex }
}

/// A step of ref_pic_list_modification, 8.2.4.3.
public enum H264ListModification: Sendable, Hashable {
    /// The difference of picNumLX from the one before, never 0.
    case shortTerm(picNumDifference: Int)
    case longTerm(long_term_pic_num: Int)
}
