/// The numbers of a picture in HEVC, with the standard's names.
package struct HEVCPictureNumbers: Sendable, Hashable {
    /// The picture kind in nal_unit_type. Whether other pictures of the sub-layer refer to the picture is separate.
    package enum Kind: Sendable, Hashable {
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
    package var kind: Kind
    /// Whether later pictures may refer to this one: selects the _R type of the kind, otherwise the _N type.
    package var isReference: Bool
    /// TemporalId.
    package var temporalID: Int
    /// PicOrderCntVal: one per frame, 0 at each IDR picture.
    package var picOrderCount: Int
    /// pic_order_cnt_lsb: `picOrderCount` modulo MaxPicOrderCntLsb.
    package var pic_order_cnt_lsb: Int
    /// The short-term reference picture set.
    package var shortTerm: [HEVCShortTermEntry]
    /// The long-term reference picture set, by descending picture order count: slice segment headers can code only this
    /// order.
    package var longTerm: [HEVCLongTermEntry]
    /// RefPicList0, 8.3.4.
    package var list0: [HEVCStoredPicture]
    /// RefPicList1, 8.3.4.
    package var list1: [HEVCStoredPicture]
    /// list_entry_l0; empty if the initial list is used.
    package var listEntries0: [Int]
    /// list_entry_l1; empty if the initial list is used.
    package var listEntries1: [Int]
    /// All pictures of the reference picture set, which a decoder keeps. The pictures of the lists come first, in list
    /// order.
    package var stored: [HEVCStoredPicture]
}

/// A picture of the short-term reference picture set.
package struct HEVCShortTermEntry: Sendable, Hashable {
    /// The picture order count of the stored picture minus that of the current picture.
    package var deltaPOC: Int
    /// used_by_curr_pic: whether the current picture refers to it. If `false`, it only stays for later pictures.
    package var isUsed: Bool
}

/// A picture of the long-term reference picture set.
package struct HEVCLongTermEntry: Sendable, Hashable {
    /// poc_lsb_lt: the lower bits of its picture order count.
    package var poc_lsb_lt: Int
    /// DeltaPocMsbCycleLt: the difference between the upper parts of the two picture order counts, in units of
    /// MaxPicOrderCntLsb.
    package var deltaPOCMsbCycle: Int
    /// used_by_curr_pic_lt_flag.
    package var isUsed: Bool
}

/// A reference picture with its numbers.
package struct HEVCStoredPicture: Sendable, Hashable {
    /// The picture.
    package var picture: StoredPicture
    /// PicOrderCntVal.
    package var picOrderCount: Int
    /// TemporalId.
    package var temporalID: Int
    /// Whether the picture is marked "used for long-term reference". The mark starts with the first picture that is
    /// coded after it and shown after it. Pictures shown before it keep it as a short-term reference, because (7-52)
    /// cannot express an upper part that is larger than their own.
    package var isLongTerm = false
}
