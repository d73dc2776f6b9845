internal import CVA

/// VAPictureHEVC: a picture as parameter buffers name it.
package struct HEVCPicture: Sendable, Hashable {
    /// VA_PICTURE_HEVC_…: which subset of the current picture's reference picture set holds the picture, H.265 8.3.2.
    package enum Role: Sendable, Hashable {
        /// The current picture itself, or a picture that only later ones refer to (the Foll subsets).
        case none
        /// RefPicSetStCurrBefore: used now, and before the current picture in output order.
        case shortTermBefore
        /// RefPicSetStCurrAfter: used now, and after the current picture in output order.
        case shortTermAfter
        /// RefPicSetLtCurr: used now.
        case longTerm
        /// A long-term reference that only later pictures use (RefPicSetLtFoll).
        case longTermKept
    }

    package var surface: UInt32
    /// PicOrderCntVal, H.265 8.3.1.
    package var pictureOrderCount: Int32
    package var role: Role

    package init(_ surface: Surface, pictureOrderCount: Int32, role: Role) {
        self.surface = surface.identifier
        self.pictureOrderCount = pictureOrderCount
        self.role = role
    }

    var lowered: VAPictureHEVC {
        var c = VAPictureHEVC()
        c.picture_id = surface
        c.pic_order_cnt = pictureOrderCount
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

    /// An entry that names no picture.
    static var invalid: VAPictureHEVC {
        var c = VAPictureHEVC()
        c.picture_id = VA_INVALID_SURFACE
        c.flags = UInt32(VA_PICTURE_HEVC_INVALID)
        return c
    }

    /// Writes the pictures into a C array of that many elements, the rest invalid. Pictures past its end are left out.
    static func fill<Tuple: BitwiseCopyable>(_ tuple: inout Tuple, with pictures: [HEVCPicture]) {
        unsafe withUnsafeMutableBytes(of: &tuple) { bytes in
            // SAFETY: the tuple is an array of VAPictureHEVC in C, and nothing else calls this.
            let entries = unsafe bytes.bindMemory(to: VAPictureHEVC.self)
            for index in entries.indices {
                unsafe entries[index] = index < pictures.count ? pictures[index].lowered : invalid
            }
        }
    }
}
