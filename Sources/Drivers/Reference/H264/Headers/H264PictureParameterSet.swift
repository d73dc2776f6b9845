/// pic_parameter_set_rbsp, H.264 7.3.2.2. It has one slice group and no scaling lists.
package struct H264PictureParameterSet: Equatable, Sendable {
    package var pic_parameter_set_id = 0
    package var seq_parameter_set_id = 0
    package var entropy_coding_mode_flag = false
    package var bottom_field_pic_order_in_frame_present_flag = false
    /// num_ref_idx_l0_default_active_minus1 + 1 and num_ref_idx_l1_default_active_minus1 + 1.
    package var num_ref_idx_default_active = [1, 1]
    package var weighted_pred_flag = false
    package var weighted_bipred_idc = 0
    /// 26 + pic_init_qp_minus26.
    package var pic_init_qp = H264PictureParameterSet.usual_pic_init_qp
    /// The QP for which pic_init_qp_minus26 is 0.
    package static let usual_pic_init_qp = 26
    package var chroma_qp_index_offset = 0
    package var deblocking_filter_control_present_flag = false
    package var constrained_intra_pred_flag = false
    package var redundant_pic_cnt_present_flag = false
    /// Whether the syntax elements that High profile adds are present: the two below.
    package var hasHighFields = false
    package var transform_8x8_mode_flag = false
    package var second_chroma_qp_index_offset = 0

    /// Returns the NAL unit with a four-byte start code.
    package func nalUnit() -> [UInt8] {
        var bits = HeaderBitWriter()
        bits.putUnsigned(pic_parameter_set_id)
        bits.putUnsigned(seq_parameter_set_id)
        bits.put(entropy_coding_mode_flag)
        bits.put(bottom_field_pic_order_in_frame_present_flag)
        bits.putUnsigned(0)  // num_slice_groups_minus1
        for count in num_ref_idx_default_active { bits.putUnsigned(count - 1) }
        bits.put(weighted_pred_flag)
        bits.put(UInt32(weighted_bipred_idc), 2)
        bits.putSigned(pic_init_qp - 26)
        bits.putSigned(0)  // pic_init_qs_minus26
        bits.putSigned(chroma_qp_index_offset)
        bits.put(deblocking_filter_control_present_flag)
        bits.put(constrained_intra_pred_flag)
        bits.put(redundant_pic_cnt_present_flag)
        if hasHighFields {
            bits.put(transform_8x8_mode_flag)
            bits.put(false)  // pic_scaling_matrix_present_flag
            bits.putSigned(second_chroma_qp_index_offset)
        }
        bits.putTrailingBits()
        return EmulationPrevention.escape(bits.bytes, after: [0, 0, 0, 1, 0x68])
    }

    package init() {}

    /// Reads the RBSP of a picture parameter set, without its NAL unit header. Returns nil if the data ends too early,
    /// if a value is out of range or if there are several slice groups. Scaling lists are skipped.
    package init?(rbsp: [UInt8]) {
        // The position of the stop bit shows whether the fields of High profile are present.
        guard let last = rbsp.lastIndex(where: { $0 != 0 }) else { return nil }
        let end = 8 * last + 7 - rbsp[last].trailingZeroBitCount
        var bits = HeaderBitReader(rbsp, bitCount: end)
        pic_parameter_set_id = bits.unsigned()
        seq_parameter_set_id = bits.unsigned()
        entropy_coding_mode_flag = bits.flag()
        bottom_field_pic_order_in_frame_present_flag = bits.flag()
        guard bits.unsigned() == 0 else { return nil }
        num_ref_idx_default_active = [bits.unsigned() + 1, bits.unsigned() + 1]
        weighted_pred_flag = bits.flag()
        weighted_bipred_idc = Int(bits.get(2))
        pic_init_qp = 26 + bits.signed()
        _ = bits.signed()
        chroma_qp_index_offset = bits.signed()
        deblocking_filter_control_present_flag = bits.flag()
        constrained_intra_pred_flag = bits.flag()
        redundant_pic_cnt_present_flag = bits.flag()
        hasHighFields = bits.position < end
        if hasHighFields {
            transform_8x8_mode_flag = bits.flag()
            if bits.flag() {
                H264SequenceParameterSet.skipScalingLists(&bits, count: transform_8x8_mode_flag ? 8 : 6)
            }
            second_chroma_qp_index_offset = bits.signed()
        }
        guard !bits.failed, pic_parameter_set_id <= 255, seq_parameter_set_id <= 31,
            num_ref_idx_default_active.allSatisfy({ $0 <= 32 })
        else {
            return nil
        }
    }
}
