/// pic_parameter_set_rbsp, H.264 7.3.2.2. It has one slice group and no scaling lists.
package struct H264PictureParameterSet: Equatable, Sendable {
    package var pic_parameter_set_id = 0
    package var seq_parameter_set_id = 0
    package var entropy_coding_mode_flag = false
    package var bottom_field_pic_order_in_frame_present_flag = false
    /// num_ref_idx_l0_default_active_minus1 + 1 and num_ref_idx_l1_default_active_minus1 + 1.
    package var defaultReferenceCounts = [1, 1]
    package var weighted_pred_flag = false
    package var weighted_bipred_idc = 0
    /// 26 + pic_init_qp_minus26.
    package var initialQP = H264PictureParameterSet.usualQP
    /// The QP for which pic_init_qp_minus26 is 0.
    package static let usualQP = 26
    package var chroma_qp_index_offset = 0
    package var deblocking_filter_control_present_flag = false
    package var constrained_intra_pred_flag = false
    package var redundant_pic_cnt_present_flag = false
    /// The syntax elements that High profile adds, or nil if they are not present.
    package var highFields: HighFields?

    package struct HighFields: Equatable, Sendable {
        package var transform_8x8_mode_flag: Bool
        package var second_chroma_qp_index_offset: Int

        package init(transform8x8: Bool = false, secondChromaQPIndexOffset: Int = 0) {
            self.transform_8x8_mode_flag = transform8x8
            self.second_chroma_qp_index_offset = secondChromaQPIndexOffset
        }
    }

    /// Returns the NAL unit with a four-byte start code.
    package func nalUnit() -> [UInt8] {
        var bits = HeaderBitWriter()
        bits.putUnsigned(pic_parameter_set_id)
        bits.putUnsigned(seq_parameter_set_id)
        bits.put(entropy_coding_mode_flag)
        bits.put(bottom_field_pic_order_in_frame_present_flag)
        bits.putUnsigned(0)  // num_slice_groups_minus1
        for count in defaultReferenceCounts { bits.putUnsigned(count - 1) }
        bits.put(weighted_pred_flag)
        bits.put(UInt32(weighted_bipred_idc), 2)
        bits.putSigned(initialQP - 26)
        bits.putSigned(0)  // pic_init_qs_minus26
        bits.putSigned(chroma_qp_index_offset)
        bits.put(deblocking_filter_control_present_flag)
        bits.put(constrained_intra_pred_flag)
        bits.put(redundant_pic_cnt_present_flag)
        if let highFields {
            bits.put(highFields.transform_8x8_mode_flag)
            bits.put(false)  // pic_scaling_matrix_present_flag
            bits.putSigned(highFields.second_chroma_qp_index_offset)
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
        defaultReferenceCounts = [bits.unsigned() + 1, bits.unsigned() + 1]
        weighted_pred_flag = bits.flag()
        weighted_bipred_idc = Int(bits.get(2))
        initialQP = 26 + bits.signed()
        _ = bits.signed()
        chroma_qp_index_offset = bits.signed()
        deblocking_filter_control_present_flag = bits.flag()
        constrained_intra_pred_flag = bits.flag()
        redundant_pic_cnt_present_flag = bits.flag()
        if bits.position < end {
            var fields = HighFields()
            fields.transform_8x8_mode_flag = bits.flag()
            if bits.flag() {
                H264SequenceParameterSet.skipScalingLists(&bits, count: fields.transform_8x8_mode_flag ? 8 : 6)
            }
            fields.second_chroma_qp_index_offset = bits.signed()
            highFields = fields
        }
        guard !bits.failed, pic_parameter_set_id <= 255, seq_parameter_set_id <= 31, defaultReferenceCounts.allSatisfy({ $0 <= 32 }) else {
            return nil
        }
    }
}
