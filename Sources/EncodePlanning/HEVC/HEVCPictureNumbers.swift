/// The numbers that HEVC gives a picture, with the standard's names.
public struct HEVCPictureNumbers: Sendable, Hashable {
    /// What nal_unit_type says of the picture, beside whether others of its sub-layer refer to it.
    public enum Kind: Sendable, Hashable {
        /// An IDR picture.
        case idr
        /// A clean random access picture: decoding may begin here, pictures before it stay for those shown before it.
        case cra
        /// Coded after a CRA picture, shown before it, and predicted from what was before it (RASL).
        case skippedLeading
        /// Of an upper temporal sub-layer; neither it nor what follows refers to anything before it of its sub-layer or
        /// above (TSA).
        case subLayerAccess
        case trailing
    }

    public var kind: Kind
    /// Later pictures may refer to this one: the kind's _R type, else its _N.
    public var isReference: Bool
    /// TemporalId.
    public var temporalID: Int
    /// PicOrderCntVal: a picture counts one, 0 at each IDR picture.
    public var picOrderCount: Int
    public var pic_order_cnt_lsb: Int
    /// The short-term reference picture set.
    public var shortTerm: [HEVCShortTermEntry]
    /// The long-term one, in the order in which slice segment headers can say it: falling order counts.
    public var longTerm: [HEVCLongTermEntry]
    /// RefPicList0 and RefPicList1, 8.3.4.
    public var list0: [HEVCStoredPicture]
    public var list1: [HEVCStoredPicture]
    /// list_entry_l0 and list_entry_l1; empty where the lists are the initial ones.
    public var listEntries0: [Int]
    public var listEntries1: [Int]
    /// All pictures of the reference picture set: what a decoder keeps. Those of the lists come first, in their order.
    public var stored: [HEVCStoredPicture]
}

/// A picture of the short-term reference picture set.
public struct HEVCShortTermEntry: Sendable, Hashable {
    /// Its order count less the current picture's.
    public var deltaPOC: Int
    /// used_by_curr_pic: the current picture refers to it, else it only stays for later ones.
    public var isUsed: Bool
}

/// A picture of the long-term reference picture set.
public struct HEVCLongTermEntry: Sendable, Hashable {
    public var poc_lsb_lt: Int
    /// DeltaPocMsbCycleLt: how many times MaxPicOrderCntLsb the upper parts of the order counts are apart.
    public var deltaPOCMsbCycle: Int
    /// used_by_curr_pic_lt_flag.
    public var isUsed: Bool
}

/// A reference picture with its numbers.
public struct HEVCStoredPicture: Sendable, Hashable {
    public var picture: StoredPicture
    public var picOrderCount: Int
    public var temporalID: Int
    /// "Used for long-term reference": from the first picture on that is shown after it. Those shown before it could
    /// not say its order count's upper part, which only goes back (7-52), and keep it as a short-term reference.
    public var isLongTerm = false
}
