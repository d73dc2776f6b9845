import NALUnits

/// The access unit delimiter, access_unit_delimiter_rbsp(), H.264 7.3.2.4.
package enum AccessUnitDelimiter {
    /// Returns the NAL unit without a start code. primary_pic_type (Table 7-5) is the smallest set that contains the
    /// picture's slice types.
    package static func unit(for type: SliceType) -> [UInt8] {
        var w = BitWriter()
        switch type {
        case .i: w.u(3, 0)
        case .p: w.u(3, 1)
        case .b: w.u(3, 2)
        }
        return w.unit(.accessUnitDelimiter, nal_ref_idc: 0)
    }
}
