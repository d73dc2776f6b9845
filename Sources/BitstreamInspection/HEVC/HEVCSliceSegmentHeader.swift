/// slice_segment_header() (H.265 7.3.6.1). Values that a dependent segment omits come from the preceding slice segment.
package struct HEVCSliceSegmentHeader: Sendable, Hashable {
    /// slice_type.
    package enum SliceType: Int, Sendable, Hashable {
        case b
        case p
        case i
    }

    /// A long-term picture of the slice's reference picture set.
    package struct LongTermReference: Sendable, Hashable {
        /// lt_idx_sps; nil if the slice describes the picture itself.
        package var lt_idx_sps: Int?
        /// PocLsbLt.
        package var poc_lsb_lt: Int
        /// UsedByCurrPicLt.
        package var used_by_curr_pic_lt_flag: Bool
        /// DeltaPocMsbCycleLt (7-52); nil without delta_poc_msb_present_flag.
        package var deltaPOCMsbCycle: Int?
    }

    /// The contents of pred_weight_table() (7.3.6.3) that are stored.
    package struct Weights: Sendable, Hashable {
        package var luma_log2_weight_denom: Int
        package var delta_chroma_log2_weight_denom: Int?
        /// luma_weight_l0_flag[] and luma_weight_l1_flag[].
        package var luma: [[Bool]]
        /// chroma_weight_l0_flag[] and chroma_weight_l1_flag[].
        package var chroma: [[Bool]]
    }

    package var nal_unit_type: Int
    /// TemporalId.
    package var temporalID: Int
    package var first_slice_segment_in_pic_flag: Bool
    package var no_output_of_prior_pics_flag = false
    package var slice_pic_parameter_set_id: Int
    package var dependent_slice_segment_flag = false
    package var slice_segment_address = 0
    package var slice_type = SliceType.i
    package var pic_output_flag = true
    package var slice_pic_order_cnt_lsb = 0
    package var short_term_ref_pic_set_sps_flag = false
    package var short_term_ref_pic_set_idx = 0
    /// The short-term reference picture set, from the header or from the SPS.
    package var shortTermSet = HEVCShortTermReferencePictureSet()
    package var longTermReferences: [LongTermReference] = []
    package var slice_temporal_mvp_enabled_flag = false
    package var slice_sao_luma_flag = false
    package var slice_sao_chroma_flag = false
    package var num_ref_idx_active_override_flag = false
    /// num_ref_idx_l0_active_minus1 + 1 and num_ref_idx_l1_active_minus1 + 1, or the defaults of the PPS; 0 if the
    /// slice has no such list.
    package var num_ref_idx_active = [0, 0]
    /// list_entry_l0 and list_entry_l1; nil without ref_pic_list_modification_flag.
    package var list_entry: [[Int]?] = [nil, nil]
    package var mvd_l1_zero_flag = false
    package var cabac_init_flag = false
    package var collocated_from_l0_flag = true
    package var collocated_ref_idx = 0
    package var weights: Weights?
    /// MaxNumMergeCand; 0 in an I slice.
    package var maxNumMergeCand = 0
    package var slice_qp_delta = 0
    /// SliceQpY.
    package var qp = 0
    package var slice_cb_qp_offset = 0
    package var slice_cr_qp_offset = 0
    package var deblocking_filter_override_flag = false
    package var slice_deblocking_filter_disabled_flag = false
    package var slice_beta_offset_div2 = 0
    package var slice_tc_offset_div2 = 0
    package var slice_loop_filter_across_slices_enabled_flag = false
    /// entry_point_offset_minus1[] + 1.
    package var entry_point_offset: [Int] = []
    /// offset_len_minus1 + 1; 0 without entry points.
    package var offset_len = 0
    /// slice_segment_header_extension_length; nil if the PPS does not enable the extension.
    package var slice_segment_header_extension_length: Int?
    /// The size of the header with its byte alignment, without emulation prevention bytes and the NAL unit header.
    package var byteCount = 0

    package var isIDR: Bool { nal_unit_type == 19 || nal_unit_type == 20 }
    package var isIRAP: Bool { (16...23).contains(nal_unit_type) }

    /// NumPicTotalCurr (7-55).
    package var numPicTotalCurr: Int {
        shortTermSet.entries.count { $0.isUsed } + longTermReferences.count { $0.used_by_curr_pic_lt_flag }
    }
}
