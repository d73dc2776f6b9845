internal import CVA

/// The parameters of one HEVC slice segment: VAEncSliceParameterBufferHEVC.
///
/// The names are those of H.265 7.4.7 and `va_enc_hevc.h`, in Swift spelling.
package struct HEVCSliceParameters: ParameterBuffer, Sendable, Hashable {
    /// slice_type, H.265 table 7-7.
    package enum SliceType: UInt8, Sendable, Hashable {
        case b = 0, p = 1, i = 2
    }

    /// The address of the first coding tree unit, in raster order.
    package var sliceSegmentAddress: UInt32
    /// The number of coding tree units.
    package var numCTUs: UInt32
    package var sliceType: SliceType
    package var picParameterSetID: UInt8 = 0
    package var numRefIdxL0ActiveMinus1: UInt8 = 0
    package var numRefIdxL1ActiveMinus1: UInt8 = 0
    /// The reference picture lists in their final order, with at most 15 entries each.
    package var refPicList0: [HEVCPicture] = []
    package var refPicList1: [HEVCPicture] = []
    /// The weighted prediction table, or nil for none.
    package var weights: Weights?
    /// MaxNumMergeCand, 1…5.
    package var maxNumMergeCand: UInt8 = 5
    package var sliceQPDelta: Int8 = 0
    package var sliceCbQPOffset: Int8 = 0
    package var sliceCrQPOffset: Int8 = 0
    package var sliceBetaOffsetDiv2: Int8 = 0
    package var sliceTcOffsetDiv2: Int8 = 0
    package var isLastOfPicture: Bool
    package var isDependent = false
    package var colourPlaneID: UInt32 = 0
    package var temporalMVP = false
    /// The SAO flags. Intel's driver requires them to be equal in all slices of a sequence that uses SAO.
    package var saoLuma = false
    package var saoChroma = false
    package var numRefIdxActiveOverride = false
    package var mvdL1Zero = false
    package var cabacInit = false
    package var deblockingFilterDisabled = false
    package var loopFilterAcrossSlices = false
    package var collocatedFromL0 = true
    /// The offset of pred_weight_table() in the packed slice header, in bits. Used if the device chooses the weights.
    package var predWeightTableBitOffset: UInt32 = 0
    package var predWeightTableBitLength: UInt32 = 0

    /// The syntax elements of pred_weight_table(), H.265 7.4.7.3.
    package struct Weights: Sendable, Hashable {
        package var lumaLog2Denom: UInt8
        package var deltaChromaLog2Denom: Int8
        /// The weights for each entry of the reference picture list, at most 15.
        package var list0: [Entry]
        package var list1: [Entry]

        package struct Entry: Sendable, Hashable {
            package var deltaLumaWeight: Int8 = 0
            package var lumaOffset: Int8 = 0
            package var deltaCbWeight: Int8 = 0
            package var deltaCrWeight: Int8 = 0
            /// ChromaOffsetL0 or ChromaOffsetL1, not their deltas.
            package var cbOffset: Int8 = 0
            package var crOffset: Int8 = 0
            package init() {}
        }

        package init(lumaLog2Denom: UInt8, deltaChromaLog2Denom: Int8, list0: [Entry], list1: [Entry] = []) {
            self.lumaLog2Denom = lumaLog2Denom
            self.deltaChromaLog2Denom = deltaChromaLog2Denom
            self.list0 = list0
            self.list1 = list1
        }
    }

    package init(sliceSegmentAddress: UInt32, numCTUs: UInt32, sliceType: SliceType, isLastOfPicture: Bool) {
        self.sliceSegmentAddress = sliceSegmentAddress
        self.numCTUs = numCTUs
        self.sliceType = sliceType
        self.isLastOfPicture = isLastOfPicture
    }

    package func withBuffers(_ body: (BufferType, UnsafeRawBufferPointer) -> Void) {
        unsafe lend(lowered, as: .slice, to: body)
    }

    var lowered: VAEncSliceParameterBufferHEVC {
        var c = VAEncSliceParameterBufferHEVC()
        c.slice_segment_address = sliceSegmentAddress
        c.num_ctu_in_slice = numCTUs
        c.slice_type = sliceType.rawValue
        c.slice_pic_parameter_set_id = picParameterSetID
        c.num_ref_idx_l0_active_minus1 = numRefIdxL0ActiveMinus1
        c.num_ref_idx_l1_active_minus1 = numRefIdxL1ActiveMinus1
        HEVCPicture.fill(&c.ref_pic_list0, with: refPicList0)
        HEVCPicture.fill(&c.ref_pic_list1, with: refPicList1)
        if let weights { lower(weights, into: &c) }
        c.max_num_merge_cand = maxNumMergeCand
        c.slice_qp_delta = sliceQPDelta
        c.slice_cb_qp_offset = sliceCbQPOffset
        c.slice_cr_qp_offset = sliceCrQPOffset
        c.slice_beta_offset_div2 = sliceBetaOffsetDiv2
        c.slice_tc_offset_div2 = sliceTcOffsetDiv2
        unsafe c.slice_fields.bits.last_slice_of_pic_flag = isLastOfPicture ? 1 : 0
        unsafe c.slice_fields.bits.dependent_slice_segment_flag = isDependent ? 1 : 0
        unsafe c.slice_fields.bits.colour_plane_id = colourPlaneID
        unsafe c.slice_fields.bits.slice_temporal_mvp_enabled_flag = temporalMVP ? 1 : 0
        unsafe c.slice_fields.bits.slice_sao_luma_flag = saoLuma ? 1 : 0
        unsafe c.slice_fields.bits.slice_sao_chroma_flag = saoChroma ? 1 : 0
        unsafe c.slice_fields.bits.num_ref_idx_active_override_flag = numRefIdxActiveOverride ? 1 : 0
        unsafe c.slice_fields.bits.mvd_l1_zero_flag = mvdL1Zero ? 1 : 0
        unsafe c.slice_fields.bits.cabac_init_flag = cabacInit ? 1 : 0
        unsafe c.slice_fields.bits.slice_deblocking_filter_disabled_flag = deblockingFilterDisabled ? 1 : 0
        unsafe c.slice_fields.bits.slice_loop_filter_across_slices_enabled_flag = loopFilterAcrossSlices ? 1 : 0
        unsafe c.slice_fields.bits.collocated_from_l0_flag = collocatedFromL0 ? 1 : 0
        c.pred_weight_table_bit_offset = predWeightTableBitOffset
        c.pred_weight_table_bit_length = predWeightTableBitLength
        return c
    }

    private func lower(_ weights: Weights, into c: inout VAEncSliceParameterBufferHEVC) {
        c.luma_log2_weight_denom = weights.lumaLog2Denom
        c.delta_chroma_log2_weight_denom = weights.deltaChromaLog2Denom
        CArray.copy(weights.list0.map(\.deltaLumaWeight), to: &c.delta_luma_weight_l0)
        CArray.copy(weights.list0.map(\.lumaOffset), to: &c.luma_offset_l0)
        CArray.copy(weights.list0.flatMap { [$0.deltaCbWeight, $0.deltaCrWeight] }, to: &c.delta_chroma_weight_l0)
        CArray.copy(weights.list0.flatMap { [$0.cbOffset, $0.crOffset] }, to: &c.chroma_offset_l0)
        CArray.copy(weights.list1.map(\.deltaLumaWeight), to: &c.delta_luma_weight_l1)
        CArray.copy(weights.list1.map(\.lumaOffset), to: &c.luma_offset_l1)
        CArray.copy(weights.list1.flatMap { [$0.deltaCbWeight, $0.deltaCrWeight] }, to: &c.delta_chroma_weight_l1)
        CArray.copy(weights.list1.flatMap { [$0.cbOffset, $0.crOffset] }, to: &c.chroma_offset_l1)
    }
}
