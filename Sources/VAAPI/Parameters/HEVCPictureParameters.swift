internal import CVA

/// The picture parameters of HEVC: VAEncPictureParameterBufferHEVC.
///
/// The names are those of H.265 7.4.3.3 and `va_enc_hevc.h`, in Swift spelling.
package struct HEVCPictureParameters: ParameterBuffer, Sendable, Hashable {
    /// The coding_type of `va_enc_hevc.h`.
    package enum CodingType: UInt32, Sendable, Hashable {
        case i = 1
        /// A P picture, or a picture whose B slices have two equal lists.
        case p = 2
        case b = 3
        /// A B picture at level 1 of a pyramid; `b2` is level 2.
        case b1 = 4
        case b2 = 5
    }

    /// The reconstructed picture.
    package var current: HEVCPicture
    /// The reference picture set, at most 15 pictures.
    package var references: [HEVCPicture]
    package var codedBuffer: UInt32
    /// The index of the collocated picture in `references` (not collocated_ref_idx), or nil if the slices do not use
    /// temporal motion vector prediction.
    package var collocatedReference: Int?
    /// Flags that make the driver end the sequence or the stream after this picture: HEVC_LAST_PICTURE_EOSEQ and
    /// HEVC_LAST_PICTURE_EOSTREAM.
    package var lastPicture: UInt8 = 0
    /// init_qp_minus26 + 26.
    package var picInitQP: UInt8 = 26
    package var diffCUQPDeltaDepth: UInt8 = 0
    package var cbQPOffset: Int8 = 0
    package var crQPOffset: Int8 = 0
    /// The tiles, or nil for tiles_enabled_flag 0.
    package var tiles: Tiles?
    package var log2ParallelMergeLevelMinus2: UInt8 = 0
    /// The maximum number of bits of a coding tree unit, or 0 for no limit.
    package var maxCTUBits: UInt8 = 0
    package var numRefIdxL0DefaultActiveMinus1: UInt8 = 0
    package var numRefIdxL1DefaultActiveMinus1: UInt8 = 0
    package var slicePicParameterSetID: UInt8 = 0
    /// The nal_unit_type of the picture's slices, H.265 table 7-1.
    package var nalUnitType: UInt8
    package var isIDR: Bool
    package var codingType: CodingType
    package var isReference: Bool
    package var dependentSliceSegments = false
    package var signDataHiding = false
    package var constrainedIntraPred = false
    package var transformSkip = false
    package var cuQPDelta = false
    package var weightedPred = false
    package var weightedBipred = false
    package var transquantBypass = false
    package var entropyCodingSync = false
    package var loopFilterAcrossTiles = false
    package var loopFilterAcrossSlices = false
    package var scalingListDataPresent = false
    package var screenContent = false
    /// Whether the device chooses the weights of weighted prediction.
    package var deviceWeights = false
    package var noOutputOfPriorPics = false
    /// The picture's level in the pyramid plus 1, or 0 if `codingType` gives the level.
    package var hierarchicalLevelPlus1: UInt8 = 0
    package var currPicRef = false

    /// The sizes of tile columns and rows in coding tree blocks, minus 1. At most 19 columns and 21 rows.
    ///
    /// The last column and row are included, because drivers read them even if tiles are spaced uniformly.
    package struct Tiles: Sendable, Hashable {
        package var columnWidthsMinus1: [UInt8]
        package var rowHeightsMinus1: [UInt8]
        package init(columnWidthsMinus1: [UInt8], rowHeightsMinus1: [UInt8]) {
            self.columnWidthsMinus1 = columnWidthsMinus1
            self.rowHeightsMinus1 = rowHeightsMinus1
        }
    }

    package init(
        current: HEVCPicture, references: [HEVCPicture], codedBuffer: CodedBuffer, nalUnitType: UInt8, isIDR: Bool,
        codingType: CodingType, isReference: Bool
    ) {
        self.current = current
        self.references = references
        self.codedBuffer = codedBuffer.identifier
        self.nalUnitType = nalUnitType
        self.isIDR = isIDR
        self.codingType = codingType
        self.isReference = isReference
    }

    package func withBuffers(_ body: (BufferType, UnsafeRawBufferPointer) -> Void) {
        unsafe lend(lowered, as: .picture, to: body)
    }

    var lowered: VAEncPictureParameterBufferHEVC {
        var c = VAEncPictureParameterBufferHEVC()
        c.decoded_curr_pic = current.lowered
        HEVCPicture.fill(&c.reference_frames, with: references)
        c.coded_buf = codedBuffer
        c.collocated_ref_pic_index = collocatedReference.flatMap(UInt8.init(exactly:)) ?? 0xff
        c.last_picture = lastPicture
        c.pic_init_qp = picInitQP
        c.diff_cu_qp_delta_depth = diffCUQPDeltaDepth
        c.pps_cb_qp_offset = cbQPOffset
        c.pps_cr_qp_offset = crQPOffset
        if let tiles { lower(tiles, into: &c) }
        c.log2_parallel_merge_level_minus2 = log2ParallelMergeLevelMinus2
        c.ctu_max_bitsize_allowed = maxCTUBits
        c.num_ref_idx_l0_default_active_minus1 = numRefIdxL0DefaultActiveMinus1
        c.num_ref_idx_l1_default_active_minus1 = numRefIdxL1DefaultActiveMinus1
        c.slice_pic_parameter_set_id = slicePicParameterSetID
        c.nal_unit_type = nalUnitType
        unsafe c.pic_fields.bits.idr_pic_flag = isIDR ? 1 : 0
        unsafe c.pic_fields.bits.coding_type = codingType.rawValue
        unsafe c.pic_fields.bits.reference_pic_flag = isReference ? 1 : 0
        unsafe c.pic_fields.bits.dependent_slice_segments_enabled_flag = dependentSliceSegments ? 1 : 0
        unsafe c.pic_fields.bits.sign_data_hiding_enabled_flag = signDataHiding ? 1 : 0
        unsafe c.pic_fields.bits.constrained_intra_pred_flag = constrainedIntraPred ? 1 : 0
        unsafe c.pic_fields.bits.transform_skip_enabled_flag = transformSkip ? 1 : 0
        unsafe c.pic_fields.bits.cu_qp_delta_enabled_flag = cuQPDelta ? 1 : 0
        unsafe c.pic_fields.bits.weighted_pred_flag = weightedPred ? 1 : 0
        unsafe c.pic_fields.bits.weighted_bipred_flag = weightedBipred ? 1 : 0
        unsafe c.pic_fields.bits.transquant_bypass_enabled_flag = transquantBypass ? 1 : 0
        unsafe c.pic_fields.bits.entropy_coding_sync_enabled_flag = entropyCodingSync ? 1 : 0
        unsafe c.pic_fields.bits.loop_filter_across_tiles_enabled_flag = loopFilterAcrossTiles ? 1 : 0
        unsafe c.pic_fields.bits.pps_loop_filter_across_slices_enabled_flag = loopFilterAcrossSlices ? 1 : 0
        unsafe c.pic_fields.bits.scaling_list_data_present_flag = scalingListDataPresent ? 1 : 0
        unsafe c.pic_fields.bits.screen_content_flag = screenContent ? 1 : 0
        unsafe c.pic_fields.bits.enable_gpu_weighted_prediction = deviceWeights ? 1 : 0
        unsafe c.pic_fields.bits.no_output_of_prior_pics_flag = noOutputOfPriorPics ? 1 : 0
        c.hierarchical_level_plus1 = hierarchicalLevelPlus1
        unsafe c.scc_fields.bits.pps_curr_pic_ref_enabled_flag = currPicRef ? 1 : 0
        return c
    }

    private func lower(_ tiles: Tiles, into c: inout VAEncPictureParameterBufferHEVC) {
        unsafe c.pic_fields.bits.tiles_enabled_flag = 1
        c.num_tile_columns_minus1 = UInt8(clamping: max(tiles.columnWidthsMinus1.count, 1) - 1)
        c.num_tile_rows_minus1 = UInt8(clamping: max(tiles.rowHeightsMinus1.count, 1) - 1)
        CArray.copy(tiles.columnWidthsMinus1, to: &c.column_width_minus1)
        CArray.copy(tiles.rowHeightsMinus1, to: &c.row_height_minus1)
    }
}
