import EncodePlanning
import H264Syntax
import NALUnits
import VAAPI

extension H264SliceParameters {
    /// Creates VAEncSliceParameterBufferH264 from the slice header, field by field, with the full lists.
    init(
        _ header: SliceHeader, _ numbers: H264PictureNumbers, pps: PictureParameterSet, macroblocks: Int,
        reconstructions: [Surface]
    ) {
        self.init(
            macroblock_address: UInt32(header.first_mb_in_slice), num_macroblocks: UInt32(macroblocks),
            slice_type: SliceType(header.slice_type))
        pic_parameter_set_id = UInt8(pps.pic_parameter_set_id)
        idr_pic_id = UInt16(header.idr_pic_id)
        pic_order_cnt_lsb = UInt16(header.pic_order_cnt_lsb)
        direct_spatial_mv_pred_flag = header.direct_spatial_mv_pred_flag
        num_ref_idx_active_override_flag = header.overridesReferenceCount(pps)
        num_ref_idx_l0_active_minus1 = UInt8(max(header.num_ref_idx_active[0], 1) - 1)
        num_ref_idx_l1_active_minus1 = UInt8(max(header.num_ref_idx_active[1], 1) - 1)
        RefPicList0 = numbers.list0.map { H264Picture($0, reconstructions) }
        RefPicList1 = numbers.list1.map { H264Picture($0, reconstructions) }
        cabac_init_idc = UInt8(header.cabac_init_idc)
        slice_qp_delta = Int8(header.qp - pps.pic_init_qp)
        disable_deblocking_filter_idc = UInt8(header.disable_deblocking_filter_idc)
        slice_alpha_c0_offset_div2 = Int8(header.slice_alpha_c0_offset_div2)
        slice_beta_offset_div2 = Int8(header.slice_beta_offset_div2)
    }
}

extension H264SliceParameters.SliceType {
    init(_ type: H264Syntax.SliceType) {
        self =
            switch type {
            case .p: .p
            case .b: .b
            case .i: .i
            }
    }
}
