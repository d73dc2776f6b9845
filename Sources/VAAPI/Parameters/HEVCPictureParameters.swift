internal import CVA

/// The picture parameters of HEVC: VAEncPictureParameterBufferHEVC.
///
/// The fields have the names of `va_enc_hevc.h`. H.265 7.4.3.3 explains them.
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
    package var decoded_curr_pic: HEVCPicture
    /// The reference picture set, at most 15 pictures.
    package var reference_frames: [HEVCPicture]
    package var coded_buf: UInt32
    /// The index of the collocated picture in `reference_frames` (not collocated_ref_idx), or nil if the slices do not
    /// use temporal motion vector prediction.
    package var collocated_ref_pic_index: Int?
    /// Flags that make the driver end the sequence or the stream after this picture: HEVC_LAST_PICTURE_EOSEQ and
    /// HEVC_LAST_PICTURE_EOSTREAM.
    package var last_picture: UInt8 = 0
    /// init_qp_minus26 + 26.
    package var pic_init_qp: UInt8 = 26
    package var diff_cu_qp_delta_depth: UInt8 = 0
    package var pps_cb_qp_offset: Int8 = 0
    package var pps_cr_qp_offset: Int8 = 0
    /// The tiles, or nil for tiles_enabled_flag 0.
    package var tiles: Tiles?
    package var log2_parallel_merge_level_minus2: UInt8 = 0
    /// The maximum number of bits of a coding tree unit, or 0 for no limit.
    package var ctu_max_bitsize_allowed: UInt8 = 0
    package var num_ref_idx_l0_default_active_minus1: UInt8 = 0
    package var num_ref_idx_l1_default_active_minus1: UInt8 = 0
    package var slice_pic_parameter_set_id: UInt8 = 0
    /// The nal_unit_type of the picture's slices, H.265 table 7-1.
    package var nal_unit_type: UInt8
    package var idr_pic_flag: Bool
    package var coding_type: CodingType
    package var reference_pic_flag: Bool
    package var dependent_slice_segments_enabled_flag = false
    package var sign_data_hiding_enabled_flag = false
    package var constrained_intra_pred_flag = false
    package var transform_skip_enabled_flag = false
    package var cu_qp_delta_enabled_flag = false
    package var weighted_pred_flag = false
    package var weighted_bipred_flag = false
    package var transquant_bypass_enabled_flag = false
    package var entropy_coding_sync_enabled_flag = false
    package var loop_filter_across_tiles_enabled_flag = false
    package var pps_loop_filter_across_slices_enabled_flag = false
    package var scaling_list_data_present_flag = false
    package var screen_content_flag = false
    /// Whether the device chooses the weights of weighted prediction.
    package var enable_gpu_weighted_prediction = false
    package var no_output_of_prior_pics_flag = false
    /// The picture's level in the pyramid plus 1, or 0 if `coding_type` gives the level.
    package var hierarchical_level_plus1: UInt8 = 0
    package var pps_curr_pic_ref_enabled_flag = false

    /// The sizes of tile columns and rows in coding tree blocks, minus 1. At most 19 columns and 21 rows.
    ///
    /// The last column and row are included, because drivers read them even if tiles are spaced uniformly.
    package struct Tiles: Sendable, Hashable {
        package var column_width_minus1: [UInt8]
        package var row_height_minus1: [UInt8]
        package init(column_width_minus1: [UInt8], row_height_minus1: [UInt8]) {
            self.column_width_minus1 = column_width_minus1
            self.row_height_minus1 = row_height_minus1
        }
    }

    package init(
        decoded_curr_pic: HEVCPicture, reference_frames: [HEVCPicture], coded_buf: CodedBuffer, nal_unit_type: UInt8,
        idr_pic_flag: Bool,
        coding_type: CodingType, reference_pic_flag: Bool
    ) {
        self.decoded_curr_pic = decoded_curr_pic
        self.reference_frames = reference_frames
        self.coded_buf = coded_buf.identifier
        self.nal_unit_type = nal_unit_type
        self.idr_pic_flag = idr_pic_flag
        self.coding_type = coding_type
        self.reference_pic_flag = reference_pic_flag
    }

    package func withBuffers(_ body: (BufferType, UnsafeRawBufferPointer) -> Void) {
        unsafe withBytes(lowered, as: .picture, to: body)
    }

    var lowered: VAEncPictureParameterBufferHEVC {
        var c = VAEncPictureParameterBufferHEVC()
        c.decoded_curr_pic = decoded_curr_pic.lowered
        HEVCPicture.fill(&c.reference_frames, with: reference_frames)
        c.coded_buf = coded_buf
        c.collocated_ref_pic_index = collocated_ref_pic_index.flatMap(UInt8.init(exactly:)) ?? 0xff
        c.last_picture = last_picture
        c.pic_init_qp = pic_init_qp
        c.diff_cu_qp_delta_depth = diff_cu_qp_delta_depth
        c.pps_cb_qp_offset = pps_cb_qp_offset
        c.pps_cr_qp_offset = pps_cr_qp_offset
        if let tiles { lower(tiles, into: &c) }
        c.log2_parallel_merge_level_minus2 = log2_parallel_merge_level_minus2
        c.ctu_max_bitsize_allowed = ctu_max_bitsize_allowed
        c.num_ref_idx_l0_default_active_minus1 = num_ref_idx_l0_default_active_minus1
        c.num_ref_idx_l1_default_active_minus1 = num_ref_idx_l1_default_active_minus1
        c.slice_pic_parameter_set_id = slice_pic_parameter_set_id
        c.nal_unit_type = nal_unit_type
        unsafe c.pic_fields.bits.idr_pic_flag = idr_pic_flag ? 1 : 0
        unsafe c.pic_fields.bits.coding_type = coding_type.rawValue
        unsafe c.pic_fields.bits.reference_pic_flag = reference_pic_flag ? 1 : 0
        unsafe c.pic_fields.bits.dependent_slice_segments_enabled_flag = dependent_slice_segments_enabled_flag ? 1 : 0
        unsafe c.pic_fields.bits.sign_data_hiding_enabled_flag = sign_data_hiding_enabled_flag ? 1 : 0
        unsafe c.pic_fields.bits.constrained_intra_pred_flag = constrained_intra_pred_flag ? 1 : 0
        unsafe c.pic_fields.bits.transform_skip_enabled_flag = transform_skip_enabled_flag ? 1 : 0
        unsafe c.pic_fields.bits.cu_qp_delta_enabled_flag = cu_qp_delta_enabled_flag ? 1 : 0
        unsafe c.pic_fields.bits.weighted_pred_flag = weighted_pred_flag ? 1 : 0
        unsafe c.pic_fields.bits.weighted_bipred_flag = weighted_bipred_flag ? 1 : 0
        unsafe c.pic_fields.bits.transquant_bypass_enabled_flag = transquant_bypass_enabled_flag ? 1 : 0
        unsafe c.pic_fields.bits.entropy_coding_sync_enabled_flag = entropy_coding_sync_enabled_flag ? 1 : 0
        unsafe c.pic_fields.bits.loop_filter_across_tiles_enabled_flag = loop_filter_across_tiles_enabled_flag ? 1 : 0
        unsafe c.pic_fields.bits.pps_loop_filter_across_slices_enabled_flag =
            pps_loop_filter_across_slices_enabled_flag ? 1 : 0
        unsafe c.pic_fields.bits.scaling_list_data_present_flag = scaling_list_data_present_flag ? 1 : 0
        unsafe c.pic_fields.bits.screen_content_flag = screen_content_flag ? 1 : 0
        unsafe c.pic_fields.bits.enable_gpu_weighted_prediction = enable_gpu_weighted_prediction ? 1 : 0
        unsafe c.pic_fields.bits.no_output_of_prior_pics_flag = no_output_of_prior_pics_flag ? 1 : 0
        c.hierarchical_level_plus1 = hierarchical_level_plus1
        unsafe c.scc_fields.bits.pps_curr_pic_ref_enabled_flag = pps_curr_pic_ref_enabled_flag ? 1 : 0
        return c
    }

    private func lower(_ tiles: Tiles, into c: inout VAEncPictureParameterBufferHEVC) {
        unsafe c.pic_fields.bits.tiles_enabled_flag = 1
        c.num_tile_columns_minus1 = UInt8(clamping: max(tiles.column_width_minus1.count, 1) - 1)
        c.num_tile_rows_minus1 = UInt8(clamping: max(tiles.row_height_minus1.count, 1) - 1)
        CArray.copy(tiles.column_width_minus1, to: &c.column_width_minus1)
        CArray.copy(tiles.row_height_minus1, to: &c.row_height_minus1)
    }
}
