import EncodePlanning
import H264Syntax
import VAAPI

extension H264SliceParameters {
    /// Creates VAEncSliceParameterBufferH264 from the slice header, field by field, with the full lists.
    init(
        _ header: SliceHeader, _ numbers: H264PictureNumbers, pps: PictureParameterSet, macroblocks: Int,
        reconstructions: [Surface]
    ) {
        self.init(
            macroblockAddress: UInt32(header.first_mb_in_slice), numMacroblocks: UInt32(macroblocks),
            sliceType: SliceType(header.slice_type))
        picParameterSetID = UInt8(pps.pic_parameter_set_id)
        idrPicID = UInt16(header.idr_pic_id)
        picOrderCntLsb = UInt16(header.pic_order_cnt_lsb)
        directSpatialMVPred = header.direct_spatial_mv_pred_flag
        numRefIdxActiveOverride = header.overridesReferenceCount(pps)
        numRefIdxL0ActiveMinus1 = UInt8(max(header.num_ref_idx_active[0], 1) - 1)
        numRefIdxL1ActiveMinus1 = UInt8(max(header.num_ref_idx_active[1], 1) - 1)
        refPicList0 = numbers.list0.map { H264Picture($0, reconstructions) }
        refPicList1 = numbers.list1.map { H264Picture($0, reconstructions) }
        cabacInitIDC = UInt8(header.cabac_init_idc)
        sliceQPDelta = Int8(header.qp - pps.pic_init_qp)
        disableDeblockingFilterIDC = UInt8(header.disable_deblocking_filter_idc)
        sliceAlphaC0OffsetDiv2 = Int8(header.slice_alpha_c0_offset_div2)
        sliceBetaOffsetDiv2 = Int8(header.slice_beta_offset_div2)
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
