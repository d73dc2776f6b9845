/// pic_parameter_set_rbsp() (H.264 7.3.2.2).
package struct H264PictureParameterSet: Sendable, Hashable {
    package var pic_parameter_set_id: Int
    package var seq_parameter_set_id: Int
    package var entropy_coding_mode_flag: Bool
    package var bottom_field_pic_order_in_frame_present_flag: Bool
    package var num_slice_groups: Int
    package var slice_group_map_type = 0
    /// SliceGroupChangeRate (slice_group_change_rate_minus1 + 1), for slice_group_map_type 3 to 5.
    package var slice_group_change_rate = 1
    /// num_ref_idx_l0_default_active_minus1 + 1 and num_ref_idx_l1_default_active_minus1 + 1.
    package var num_ref_idx_default_active: [Int]
    package var weighted_pred_flag: Bool
    package var weighted_bipred_idc: Int
    /// 26 + pic_init_qp_minus26.
    package var pic_init_qp: Int
    /// 26 + pic_init_qs_minus26.
    package var pic_init_qs: Int
    package var chroma_qp_index_offset: Int
    package var deblocking_filter_control_present_flag: Bool
    package var constrained_intra_pred_flag: Bool
    package var redundant_pic_cnt_present_flag: Bool
    package var transform_8x8_mode_flag = false
    package var pic_scaling_matrix_present_flag = false
    package var second_chroma_qp_index_offset: Int

    /// Parses a picture parameter set.
    ///
    /// - Parameter chroma_format_idc: Returns chroma_format_idc of a sequence parameter set by its id.
    /// - Throws: `Malformed` if the set cannot be read.
    init(rbsp: [UInt8], chroma_format_idc: (Int) -> Int?) throws(Malformed) {
        var reader = BitReader(rbsp)
        pic_parameter_set_id = try reader.unsigned("pic_parameter_set_id", in: 0...255)
        seq_parameter_set_id = try reader.unsigned("seq_parameter_set_id", in: 0...31)
        entropy_coding_mode_flag = reader.flag()
        bottom_field_pic_order_in_frame_present_flag = reader.flag()
        num_slice_groups = try reader.unsigned("num_slice_groups_minus1", in: 0...7) + 1
        if num_slice_groups > 1 {
            let map = try Self.sliceGroups(&reader, count: num_slice_groups)
            (slice_group_map_type, slice_group_change_rate) = map
        }
        num_ref_idx_default_active = [
            try reader.unsigned("num_ref_idx_l0_default_active_minus1", in: 0...31) + 1,
            try reader.unsigned("num_ref_idx_l1_default_active_minus1", in: 0...31) + 1,
        ]
        weighted_pred_flag = reader.flag()
        weighted_bipred_idc = reader.bits(2)
        // The minimum with the highest luma bit depth: −(26 + 6 · 6).
        pic_init_qp = try reader.signed("pic_init_qp_minus26", in: -62...25) + 26
        pic_init_qs = try reader.signed("pic_init_qs_minus26", in: -26...25) + 26
        chroma_qp_index_offset = try reader.signed("chroma_qp_index_offset", in: -12...12)
        deblocking_filter_control_present_flag = reader.flag()
        constrained_intra_pred_flag = reader.flag()
        redundant_pic_cnt_present_flag = reader.flag()
        second_chroma_qp_index_offset = chroma_qp_index_offset
        try reader.checkEnd("the PPS")
        if weighted_bipred_idc == 3 { throw Malformed("weighted_bipred_idc is 3") }
        if reader.hasMoreData {
            transform_8x8_mode_flag = reader.flag()
            pic_scaling_matrix_present_flag = reader.flag()
            if pic_scaling_matrix_present_flag {
                let eights = chroma_format_idc(seq_parameter_set_id) == 3 ? 6 : 2
                try H264ScalingLists.skip(&reader, count: 6 + (transform_8x8_mode_flag ? eights : 0))
            }
            second_chroma_qp_index_offset = try reader.signed("second_chroma_qp_index_offset", in: -12...12)
        }
        try reader.checkEnd("the PPS")
    }

    /// Skips the slice group map.
    ///
    /// - Returns: slice_group_map_type and SliceGroupChangeRate.
    private static func sliceGroups(_ reader: inout BitReader, count: Int) throws(Malformed) -> (Int, Int) {
        let type = try reader.unsigned("slice_group_map_type", in: 0...6)
        var slice_group_change_rate = 1
        switch type {
        case 0:
            for _ in 0..<count { _ = reader.unsigned() }
        case 2:
            for _ in 0..<(2 * (count - 1)) { _ = reader.unsigned() }
        case 3, 4, 5:
            _ = reader.flag()
            slice_group_change_rate = try reader.unsigned("slice_group_change_rate_minus1", in: 0...1_200_000) + 1
        case 6:
            let units = try reader.unsigned("pic_size_in_map_units_minus1", in: 0...1_200_000) + 1
            let bits = count > 4 ? 3 : count > 2 ? 2 : 1
            reader.skip(units * bits)
        default: break
        }
        try reader.checkEnd("the PPS")
        return (type, slice_group_change_rate)
    }
}
