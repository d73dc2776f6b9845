internal import CVA

/// The parameters of one H.264 slice: VAEncSliceParameterBufferH264. Weighted prediction tables are not supported,
/// because no driver accepts them.
package struct H264SliceParameters: ParameterBuffer, Sendable, Hashable {
    /// slice_type (H.264 7.4.3), limited to the values that do not constrain the other slices: 0 P, 1 B, 2 I.
    package enum SliceType: UInt8, Sendable, Hashable {
        case p = 0, b = 1, i = 2
    }

    /// The address of the first macroblock.
    package var macroblockAddress: UInt32
    package var numMacroblocks: UInt32
    package var sliceType: SliceType
    package var picParameterSetID: UInt8 = 0
    package var idrPicID: UInt16 = 0
    package var picOrderCntLsb: UInt16 = 0
    package var deltaPicOrderCntBottom: Int32 = 0
    package var directSpatialMVPred = true
    package var numRefIdxActiveOverride = false
    package var numRefIdxL0ActiveMinus1: UInt8 = 0
    package var numRefIdxL1ActiveMinus1: UInt8 = 0
    /// The reference picture lists in their final order, with at most 32 entries each.
    package var refPicList0: [H264Picture] = []
    package var refPicList1: [H264Picture] = []
    package var cabacInitIDC: UInt8 = 0
    package var sliceQPDelta: Int8 = 0
    package var disableDeblockingFilterIDC: UInt8 = 0
    package var sliceAlphaC0OffsetDiv2: Int8 = 0
    package var sliceBetaOffsetDiv2: Int8 = 0

    package init(macroblockAddress: UInt32, numMacroblocks: UInt32, sliceType: SliceType) {
        self.macroblockAddress = macroblockAddress
        self.numMacroblocks = numMacroblocks
        self.sliceType = sliceType
    }

    package func withBuffers(_ body: (BufferType, UnsafeRawBufferPointer) -> Void) {
        unsafe lend(lowered, as: .slice, to: body)
    }

    var lowered: VAEncSliceParameterBufferH264 {
        var c = VAEncSliceParameterBufferH264()
        c.macroblock_address = macroblockAddress
        c.num_macroblocks = numMacroblocks
        c.macroblock_info = VA_INVALID_ID
        c.slice_type = sliceType.rawValue
        c.pic_parameter_set_id = picParameterSetID
        c.idr_pic_id = idrPicID
        c.pic_order_cnt_lsb = picOrderCntLsb
        c.delta_pic_order_cnt_bottom = deltaPicOrderCntBottom
        c.direct_spatial_mv_pred_flag = directSpatialMVPred ? 1 : 0
        c.num_ref_idx_active_override_flag = numRefIdxActiveOverride ? 1 : 0
        c.num_ref_idx_l0_active_minus1 = numRefIdxL0ActiveMinus1
        c.num_ref_idx_l1_active_minus1 = numRefIdxL1ActiveMinus1
        H264Picture.fill(&c.RefPicList0, with: refPicList0)
        H264Picture.fill(&c.RefPicList1, with: refPicList1)
        c.cabac_init_idc = cabacInitIDC
        c.slice_qp_delta = sliceQPDelta
        c.disable_deblocking_filter_idc = disableDeblockingFilterIDC
        c.slice_alpha_c0_offset_div2 = sliceAlphaC0OffsetDiv2
        c.slice_beta_offset_div2 = sliceBetaOffsetDiv2
        return c
    }
}
