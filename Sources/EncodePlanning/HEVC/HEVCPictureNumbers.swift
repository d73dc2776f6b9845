/// The numbers of a picture in HEVC, with the standard's names.
public struct HEVCPictureNumbers: Sendable, Hashable {
    /// The picture kind in nal_unit_type. Whether other pictures of the sub-layer refer to the picture is separate.
    public enum Kind: Sendable, Hashable {
        /// An IDR picture.
        case idr
        /// A clean random access picture. Decoding may begin here. Pictures before it stay available for pictures that
        /// are shown before it.
        case cra
        /// Coded after a CRA picture, shown before it, and predicted from pictures before it (RASL).
        case skippedLeading
        /// A picture of an upper temporal sub-layer. Neither it nor a later picture refers to an earlier picture of the
        /// same or a higher sub-layer (TSA).
        case subLayerAccess
        /// Any other picture.
        case trailing
    }

    /// The picture kind.
    public var kind: Kind
    /// Whether later pictures may refer to this one: selects the _R type of the kind, otherwise the _N type.
    public var isReference: Bool
    /// TemporalId.
    public var temporalID: Int
    /// PicOrderCntVal: one per frame, 0 at each IDR picture.
    public var picOrderCount: Int
    /// pic_order_cnt_lsb: `picOrderCount` modulo MaxPicOrderCntLsb.
    public var pic_order_cnt_lsb: Int
    /// The short-term reference picture set.
    public var shortTerm: [HEVCShortTermEntry]
    /// The long-term reference picture set, by descending picture order count: slice segment headers can code only this
    /// order.
    public var longTerm: [HEVCLongTermEntry]
    /// RefPicList0, 8.3.4.
    public var list0: [HEVCStoredPicture]
    /// RefPicList1, 8.3.4.
    public var list1: [HEVCStoredPicture]
    /// list_entry_l0; empty if the initial list is used.
    public var listEntries0: [Int]
    /// list_entry_l1; empty if the initial list is used.
    public var listEntries1: [Int]
    /// All pictures of the reference picture set, which a decoder keeps. The pictures of the lists come first, in list
    /// order.
    public var stored: [HEVCStoredPicture]
}

/// A picture of the short-term reference picture set.
public struct HEVCShortTermEntry: Sendable, Hashable {
    /// The picture order count of the stored picture minus that of the current picture.
    public var deltaPOC: Int
    /// used_by_curr_pic: whether the current picture refers to it. If `false`, it only stays for later pictures.
    public var isUsed: Bool
}

/// A picture of the long-term reference picture set.
public struct HEVCLongTermEntry: Sendable, Hashable {
    /// poc_lsb_lt: the lower bits of its picture order count.
    public var poc_lsb_lt: Int
    /// DeltaPocMsbCycleLt: the difference between the upper parts of the two picture order counts, in units of
    /// MaxPicOrderCntLsb.
    public var deltaPOCMsbCycle: Int
    /// used_by_curr_pic_lt_flag.
    public var isUsed: Bool
}

/// A reference picture with its numbers.
public struct HEVCStoredPicture: Sendable, Hashable {
    /// The picture.
    public var picture: StoredPicture
    /// PicOrderCntVal.
    public var picOrderCount: Int
    /// TemporalId.
    public var temporalID: Int
    /// Whether the picture is marked "used for long-term reference". The mark starts with the first picture that is
    /// coded after it and shown after it. Pictures shown before it keep it as a short-term reference, because (7-52)
    /// cannot express an upper part that is larger than their own.
    public var isLongTerm = false
}
