internal import CVA

/// A reference to a picture in parameter buffers: VAPictureHEVC.
package struct HEVCPicture: Sendable, Hashable {
    /// The subset of the current picture's reference picture set that holds the picture (H.265 8.3.2):
    /// VA_PICTURE_HEVC_… flags.
    package enum Role: Sendable, Hashable {
        /// The current picture itself, or a short-term reference that only later pictures use (RefPicSetStFoll).
        case none
        /// A short-term reference of the current picture that precedes it in output order (RefPicSetStCurrBefore).
        case shortTermBefore
        /// A short-term reference of the current picture that follows it in output order (RefPicSetStCurrAfter).
        case shortTermAfter
        /// A long-term reference of the current picture (RefPicSetLtCurr).
        case longTerm
        /// A long-term reference that only later pictures use (RefPicSetLtFoll).
        case longTermKept
    }

    package var picture_id: UInt32
    /// PicOrderCntVal, H.265 8.3.1.
    package var pic_order_cnt: Int32
    package var role: Role

    package init(_ surface: Surface, pic_order_cnt: Int32, role: Role) {
        self.picture_id = surface.identifier
        self.pic_order_cnt = pic_order_cnt
        self.role = role
    }

    var lowered: VAPictureHEVC {
        var c = VAPictureHEVC()
        c.picture_id = picture_id
        c.pic_order_cnt = pic_order_cnt
        c.flags =
            switch role {
            case .none: 0
            case .shortTermBefore: UInt32(VA_PICTURE_HEVC_RPS_ST_CURR_BEFORE)
            case .shortTermAfter: UInt32(VA_PICTURE_HEVC_RPS_ST_CURR_AFTER)
            case .longTerm: UInt32(VA_PICTURE_HEVC_RPS_LT_CURR | VA_PICTURE_HEVC_LONG_TERM_REFERENCE)
            case .longTermKept: UInt32(VA_PICTURE_HEVC_LONG_TERM_REFERENCE)
            }
        return c
    }

    /// An entry that refers to no picture.
    static var invalid: VAPictureHEVC {
        var c = VAPictureHEVC()
        c.picture_id = VA_INVALID_SURFACE
        c.flags = UInt32(VA_PICTURE_HEVC_INVALID)
        return c
    }

    /// Writes the pictures into a C array and marks the remaining elements as invalid. Pictures that do not fit are
    /// ignored.
    static func fill<Tuple: BitwiseCopyable>(_ tuple: inout Tuple, with pictures: [HEVCPicture]) {
        unsafe withUnsafeMutableBytes(of: &tuple) { bytes in
            // SAFETY: The tuple is a C array of VAPictureHEVC: all callers pass such a member.
            let entries = unsafe bytes.bindMemory(to: VAPictureHEVC.self)
            unsafe entries.update(repeating: invalid)
            for index in 0..<min(pictures.count, entries.count) { unsafe entries[index] = pictures[index].lowered }
        }
    }
}
