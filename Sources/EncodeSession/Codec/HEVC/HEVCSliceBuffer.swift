import EncodePlanning
import HEVCSyntax
import VAAPI

extension HEVCSliceParameters {
    /// Creates VAEncSliceParameterBufferHEVC from the slice segment header, field by field, with the full lists.
    init(
        _ header: SliceSegmentHeader, _ numbers: HEVCPictureNumbers, _ headers: HEVCStreamHeaders, blocks: Int,
        isLast: Bool, reconstructions: [Surface]
    ) {
        let pps = headers.pps
        self.init(
            sliceSegmentAddress: UInt32(header.slice_segment_address), numCTUs: UInt32(blocks),
            sliceType: SliceType(header.slice_type), isLastOfPicture: isLast)
        picParameterSetID = UInt8(pps.pps_pic_parameter_set_id)
        numRefIdxActiveOverride = header.overridesReferenceCount(pps)
        numRefIdxL0ActiveMinus1 = UInt8(max(header.num_ref_idx_active[0], 1) - 1)
        numRefIdxL1ActiveMinus1 = UInt8(max(header.num_ref_idx_active[1], 1) - 1)
        let list0 = numbers.list0.map { HEVCPicture($0, numbers, reconstructions) }
        refPicList0 = list0
        // If a picture uses B slices without a list 1 of its own, both lists are equal.
        refPicList1 =
            numbers.list1.isEmpty && header.slice_type == .b
            ? list0 : numbers.list1.map { HEVCPicture($0, numbers, reconstructions) }
        maxNumMergeCand = UInt8(header.maxNumMergeCand)
        sliceQPDelta = Int8(header.qp - pps.init_qp)
        deblockingFilterDisabled = pps.pps_deblocking_filter_disabled_flag
        sliceBetaOffsetDiv2 = Int8(pps.pps_beta_offset_div2)
        sliceTcOffsetDiv2 = Int8(pps.pps_tc_offset_div2)
        temporalMVP = header.slice_temporal_mvp_enabled_flag && header.nal_unit_type.isIDR == false
        saoLuma = header.slice_sao_luma_flag
        saoChroma = header.slice_sao_chroma_flag
        mvdL1Zero = header.mvd_l1_zero_flag
        loopFilterAcrossSlices =
            pps.pps_loop_filter_across_slices_enabled_flag && header.slice_loop_filter_across_slices_enabled_flag
        collocatedFromL0 = header.collocated_from_l0_flag
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
