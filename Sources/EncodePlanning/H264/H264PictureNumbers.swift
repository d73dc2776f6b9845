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
    /// Short-term pictures to forget, as difference_of_pic_nums; empty: the sliding window does it.
    public var forgotten: [Int]
}

/// A reference picture with its numbers.
public struct H264StoredPicture: Sendable, Hashable {
    public var picture: StoredPicture
    public var frame_num: Int
    public var picOrderCount: Int
}

/// A step of ref_pic_list_modification, 8.2.4.3.1: the difference of picNumLX from the one before, never 0.
public struct H264ListModification: Sendable, Hashable {
    public var picNumDifference: Int
}
