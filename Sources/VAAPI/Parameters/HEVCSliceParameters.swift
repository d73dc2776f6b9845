internal import CVA

/// The parameters of one HEVC slice segment: VAEncSliceParameterBufferHEVC.
///
/// The fields have the names of `va_enc_hevc.h`. H.265 7.4.7 explains them.
package struct HEVCSliceParameters: ParameterBuffer, Sendable, Hashable {
    /// slice_type, H.265 table 7-7.
    package enum SliceType: UInt8, Sendable, Hashable {
        case b = 0, p = 1, i = 2
    }

    /// The address of the first coding tree unit, in raster order.
    package var slice_segment_address: UInt32
    /// The number of coding tree units.
    package var num_ctu_in_slice: UInt32
    package var slice_type: SliceType
    package var slice_pic_parameter_set_id: UInt8 = 0
    package var num_ref_idx_l0_active_minus1: UInt8 = 0
    package var num_ref_idx_l1_active_minus1: UInt8 = 0
    /// The reference picture lists in their final order, with at most 15 entries each.
    package var ref_pic_list0: [HEVCPicture] = []
    package var ref_pic_list1: [HEVCPicture] = []
    /// The weighted prediction table, or nil for none.
    package var weights: Weights?
    /// MaxNumMergeCand, 1…5.
    package var max_num_merge_cand: UInt8 = 5
    package var slice_qp_delta: Int8 = 0
    package var slice_cb_qp_offset: Int8 = 0
    package var slice_cr_qp_offset: Int8 = 0
    package var slice_beta_offset_div2: Int8 = 0
    package var slice_tc_offset_div2: Int8 = 0
    package var last_slice_of_pic_flag: Bool
    package var dependent_slice_segment_flag = false
    package var colour_plane_id: UInt32 = 0
    package var slice_temporal_mvp_enabled_flag = false
    /// The SAO flags. They are equal in all slices of a sequence (`DriverQuirk.needsEqualSAOFlags`).
    package var slice_sao_luma_flag = false
    package var slice_sao_chroma_flag = false
    package var num_ref_idx_active_override_flag = false
    package var mvd_l1_zero_flag = false
    package var cabac_init_flag = false
    package var slice_deblocking_filter_disabled_flag = false
    package var slice_loop_filter_across_slices_enabled_flag = false
    package var collocated_from_l0_flag = true
    /// The offset of pred_weight_table() in the packed slice header, in bits. It is used if the device chooses the
    /// weights.
    package var pred_weight_table_bit_offset: UInt32 = 0
    package var pred_weight_table_bit_length: UInt32 = 0

    /// The syntax elements of pred_weight_table(), H.265 7.4.7.3.
    package struct Weights: Sendable, Hashable {
        package var luma_log2_weight_denom: UInt8
        package var delta_chroma_log2_weight_denom: Int8
        /// The weights for each entry of the reference picture list, at most 15.
        package var list0: [Entry]
        package var list1: [Entry]

        package struct Entry: Sendable, Hashable {
            package var delta_luma_weight: Int8 = 0
            package var luma_offset: Int8 = 0
            package var delta_cb_weight: Int8 = 0
            package var delta_cr_weight: Int8 = 0
            /// ChromaOffsetL0 or ChromaOffsetL1, not their deltas.
            package var cb_offset: Int8 = 0
            package var cr_offset: Int8 = 0
            package init() {}
        }

        package init(
            luma_log2_weight_denom: UInt8, delta_chroma_log2_weight_denom: Int8, list0: [Entry], list1: [Entry] = []
        ) {
            self.luma_log2_weight_denom = luma_log2_weight_denom
            self.delta_chroma_log2_weight_denom = delta_chroma_log2_weight_denom
            self.list0 = list0
            self.list1 = list1
        }
    }

    package init(
        slice_segment_address: UInt32, num_ctu_in_slice: UInt32, slice_type: SliceType, last_slice_of_pic_flag: Bool
    ) {
        self.slice_segment_address = slice_segment_address
        self.num_ctu_in_slice = num_ctu_in_slice
        self.slice_type = slice_type
        self.last_slice_of_pic_flag = last_slice_of_pic_flag
    }

    package func withBuffers(_ body: (BufferType, UnsafeRawBufferPointer) -> Void) {
        unsafe withBytes(lowered, as: .slice, to: body)
    }

    var lowered: VAEncSliceParameterBufferHEVC {
        var c = VAEncSliceParameterBufferHEVC()
        c.slice_segment_address = slice_segment_address
        c.num_ctu_in_slice = num_ctu_in_slice
        c.slice_type = slice_type.rawValue
        c.slice_pic_parameter_set_id = slice_pic_parameter_set_id
        c.num_ref_idx_l0_active_minus1 = num_ref_idx_l0_active_minus1
        c.num_ref_idx_l1_active_minus1 = num_ref_idx_l1_active_minus1
        HEVCPicture.fill(&c.ref_pic_list0, with: ref_pic_list0)
        HEVCPicture.fill(&c.ref_pic_list1, with: ref_pic_list1)
        if let weights { lower(weights, into: &c) }
        c.max_num_merge_cand = max_num_merge_cand
        c.slice_qp_delta = slice_qp_delta
        c.slice_cb_qp_offset = slice_cb_qp_offset
        c.slice_cr_qp_offset = slice_cr_qp_offset
        c.slice_beta_offset_div2 = slice_beta_offset_div2
        c.slice_tc_offset_div2 = slice_tc_offset_div2
        unsafe c.slice_fields.bits.last_slice_of_pic_flag = last_slice_of_pic_flag ? 1 : 0
        unsafe c.slice_fields.bits.dependent_slice_segment_flag = dependent_slice_segment_flag ? 1 : 0
        unsafe c.slice_fields.bits.colour_plane_id = colour_plane_id
        unsafe c.slice_fields.bits.slice_temporal_mvp_enabled_flag = slice_temporal_mvp_enabled_flag ? 1 : 0
        unsafe c.slice_fields.bits.slice_sao_luma_flag = slice_sao_luma_flag ? 1 : 0
        unsafe c.slice_fields.bits.slice_sao_chroma_flag = slice_sao_chroma_flag ? 1 : 0
        unsafe c.slice_fields.bits.num_ref_idx_active_override_flag = num_ref_idx_active_override_flag ? 1 : 0
        unsafe c.slice_fields.bits.mvd_l1_zero_flag = mvd_l1_zero_flag ? 1 : 0
        unsafe c.slice_fields.bits.cabac_init_flag = cabac_init_flag ? 1 : 0
        unsafe c.slice_fields.bits.slice_deblocking_filter_disabled_flag = slice_deblocking_filter_disabled_flag ? 1 : 0
        unsafe c.slice_fields.bits.slice_loop_filter_across_slices_enabled_flag =
            slice_loop_filter_across_slices_enabled_flag ? 1 : 0
        unsafe c.slice_fields.bits.collocated_from_l0_flag = collocated_from_l0_flag ? 1 : 0
        c.pred_weight_table_bit_offset = pred_weight_table_bit_offset
        c.pred_weight_table_bit_length = pred_weight_table_bit_length
        return c
    }

    private func lower(_ weights: Weights, into c: inout VAEncSliceParameterBufferHEVC) {
        c.luma_log2_weight_denom = weights.luma_log2_weight_denom
        c.delta_chroma_log2_weight_denom = weights.delta_chroma_log2_weight_denom
        CArray.copy(weights.list0.map(\.delta_luma_weight), to: &c.delta_luma_weight_l0)
        CArray.copy(weights.list0.map(\.luma_offset), to: &c.luma_offset_l0)
        CArray.copy(weights.list0.flatMap { [$0.delta_cb_weight, $0.delta_cr_weight] }, to: &c.delta_chroma_weight_l0)
        CArray.copy(weights.list0.flatMap { [$0.cb_offset, $0.cr_offset] }, to: &c.chroma_offset_l0)
        CArray.copy(weights.list1.map(\.delta_luma_weight), to: &c.delta_luma_weight_l1)
        CArray.copy(weights.list1.map(\.luma_offset), to: &c.luma_offset_l1)
        CArray.copy(weights.list1.flatMap { [$0.delta_cb_weight, $0.delta_cr_weight] }, to: &c.delta_chroma_weight_l1)
        CArray.copy(weights.list1.flatMap { [$0.cb_offset, $0.cr_offset] }, to: &c.chroma_offset_l1)
    }
}
