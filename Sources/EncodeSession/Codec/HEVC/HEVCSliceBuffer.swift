import EncodePlanning
import HEVCSyntax
import NALUnits
import VAAPI

extension HEVCSliceParameters {
    /// Creates VAEncSliceParameterBufferHEVC from the slice segment header, field by field, with the full lists.
    init(
        _ header: SliceSegmentHeader, numbers: HEVCPictureNumbers, headers: HEVCStreamHeaders, blocks: Int,
        isLast: Bool, reconstructions: [Surface]
    ) {
        let pps = headers.pps
        self.init(
            slice_segment_address: UInt32(header.slice_segment_address), num_ctu_in_slice: UInt32(blocks),
            slice_type: SliceType(header.slice_type), last_slice_of_pic_flag: isLast)
        slice_pic_parameter_set_id = UInt8(pps.pps_pic_parameter_set_id)
        num_ref_idx_active_override_flag = header.overridesReferenceCount(pps)
        num_ref_idx_l0_active_minus1 = UInt8(max(header.num_ref_idx_active[0], 1) - 1)
        num_ref_idx_l1_active_minus1 = UInt8(max(header.num_ref_idx_active[1], 1) - 1)
        let list0 = numbers.list0.map { HEVCPicture($0, numbers: numbers, reconstructions: reconstructions) }
        ref_pic_list0 = list0
        // If a picture uses B slices without a list 1 of its own, both lists are equal.
        ref_pic_list1 =
            numbers.list1.isEmpty && header.slice_type == .b
            ? list0 : numbers.list1.map { HEVCPicture($0, numbers: numbers, reconstructions: reconstructions) }
        max_num_merge_cand = UInt8(header.maxNumMergeCand)
        slice_qp_delta = Int8(header.qp - pps.init_qp)
        slice_deblocking_filter_disabled_flag = pps.pps_deblocking_filter_disabled_flag
        slice_beta_offset_div2 = Int8(pps.pps_beta_offset_div2)
        slice_tc_offset_div2 = Int8(pps.pps_tc_offset_div2)
        slice_temporal_mvp_enabled_flag = header.slice_temporal_mvp_enabled_flag && header.nal_unit_type.isIDR == false
        slice_sao_luma_flag = header.slice_sao_luma_flag
        slice_sao_chroma_flag = header.slice_sao_chroma_flag
        mvd_l1_zero_flag = header.mvd_l1_zero_flag
        slice_loop_filter_across_slices_enabled_flag =
            pps.pps_loop_filter_across_slices_enabled_flag && header.slice_loop_filter_across_slices_enabled_flag
        collocated_from_l0_flag = header.collocated_from_l0_flag
    }
}

extension HEVCSliceParameters.SliceType {
    init(_ type: HEVCSyntax.SliceType) {
        self =
            switch type {
            case .b: .b
            case .p: .p
            case .i: .i
            }
    }
}
