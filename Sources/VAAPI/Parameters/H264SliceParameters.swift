internal import CVA

/// The parameters of one H.264 slice: VAEncSliceParameterBufferH264. Weighted prediction tables are not supported,
/// because no driver accepts them.
package struct H264SliceParameters: ParameterBuffer, Sendable, Hashable {
    /// slice_type (H.264 7.4.3), limited to the values that do not constrain the other slices: 0 P, 1 B, 2 I.
    package enum SliceType: UInt8, Sendable, Hashable {
        case p = 0, b = 1, i = 2
    }

    /// The address of the first macroblock.
    package var macroblock_address: UInt32
    package var num_macroblocks: UInt32
    package var slice_type: SliceType
    package var pic_parameter_set_id: UInt8 = 0
    package var idr_pic_id: UInt16 = 0
    package var pic_order_cnt_lsb: UInt16 = 0
    package var delta_pic_order_cnt_bottom: Int32 = 0
    package var direct_spatial_mv_pred_flag = true
    package var num_ref_idx_active_override_flag = false
    package var num_ref_idx_l0_active_minus1: UInt8 = 0
    package var num_ref_idx_l1_active_minus1: UInt8 = 0
    /// The reference picture lists in their final order, with at most 32 entries each.
    package var RefPicList0: [H264Picture] = []
    package var RefPicList1: [H264Picture] = []
    package var cabac_init_idc: UInt8 = 0
    package var slice_qp_delta: Int8 = 0
    package var disable_deblocking_filter_idc: UInt8 = 0
    package var slice_alpha_c0_offset_div2: Int8 = 0
    package var slice_beta_offset_div2: Int8 = 0

    package init(macroblock_address: UInt32, num_macroblocks: UInt32, slice_type: SliceType) {
        self.macroblock_address = macroblock_address
        self.num_macroblocks = num_macroblocks
        self.slice_type = slice_type
    }

    package func withBuffers(_ body: (BufferType, UnsafeRawBufferPointer) -> Void) {
        unsafe withBytes(lowered, as: .slice, to: body)
    }

    var lowered: VAEncSliceParameterBufferH264 {
        var c = VAEncSliceParameterBufferH264()
        c.macroblock_address = macroblock_address
        c.num_macroblocks = num_macroblocks
        c.macroblock_info = VA_INVALID_ID
        c.slice_type = slice_type.rawValue
        c.pic_parameter_set_id = pic_parameter_set_id
        c.idr_pic_id = idr_pic_id
        c.pic_order_cnt_lsb = pic_order_cnt_lsb
        c.delta_pic_order_cnt_bottom = delta_pic_order_cnt_bottom
        c.direct_spatial_mv_pred_flag = direct_spatial_mv_pred_flag ? 1 : 0
        c.num_ref_idx_active_override_flag = num_ref_idx_active_override_flag ? 1 : 0
        c.num_ref_idx_l0_active_minus1 = num_ref_idx_l0_active_minus1
        c.num_ref_idx_l1_active_minus1 = num_ref_idx_l1_active_minus1
        H264Picture.fill(&c.RefPicList0, with: RefPicList0)
        H264Picture.fill(&c.RefPicList1, with: RefPicList1)
        c.cabac_init_idc = cabac_init_idc
        c.slice_qp_delta = slice_qp_delta
        c.disable_deblocking_filter_idc = disable_deblocking_filter_idc
        c.slice_alpha_c0_offset_div2 = slice_alpha_c0_offset_div2
        c.slice_beta_offset_div2 = slice_beta_offset_div2
        return c
    }
}
