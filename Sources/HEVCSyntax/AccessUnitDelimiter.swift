import NALUnits

/// The access unit delimiter, access_unit_delimiter_rbsp(), H.265 7.3.2.5.
package enum AccessUnitDelimiter {
    /// Returns the NAL unit without a start code. pic_type (Table 7-2) is the smallest set that contains the picture's
    /// slice types.
    ///
    /// - Parameter temporalID: The TemporalId of the picture.
    package static func unit(for type: SliceType, temporalID: Int = 0) -> [UInt8] {
        var w = BitWriter()
        switch type {
        case .i: w.u(3, 0)
        case .p: w.u(3, 1)
        case .b: w.u(3, 2)
        }
        return w.unit(.accessUnitDelimiter, temporalID: temporalID)
    }
}
