import NALUnits

/// Prefix NAL units (type 14), H.264 7.3.2.12 and G.7.3.1.1 (F.7.3.1.1 in newer editions). They contain the temporal
/// layer of a base layer's slices, because a slice header has no field for it. Decoders of the base profiles ignore
/// them.
package enum PrefixUnit {
    /// Returns the unit that precedes each slice of a picture, without a start code.
    ///
    /// - Parameters:
    ///   - nal_ref_idc: The value of the slice.
    ///   - isIDR: Whether the slice belongs to an IDR picture.
    ///   - temporal_id: The temporal layer, 0…7.
    package static func unit(nal_ref_idc: UInt8, isIDR: Bool, temporalLayer temporal_id: Int) -> [UInt8] {
        var w = BitWriter()
        w.u(8, NALUnit.header(.prefix, nal_ref_idc: nal_ref_idc))
        w.flag(true)  // svc_extension_flag
        w.flag(isIDR)
        w.u(6, 0)  // priority_id
        w.flag(true)  // no_inter_layer_pred_flag
        w.u(3, 0)  // dependency_id
        w.u(4, 0)  // quality_id
        w.u(3, temporal_id)
        w.flag(false)  // use_ref_base_pic_flag
        w.flag(false)  // discardable_flag
        w.flag(true)  // output_flag
        w.u(2, 3)  // reserved_three_2bits
        if nal_ref_idc != 0 {
            w.flag(false)  // store_ref_base_pic_flag
            w.flag(false)  // additional_prefix_nal_unit_extension_flag
            w.trailingBits()
        }
        return w.bytes
    }
}
