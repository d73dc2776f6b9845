package import CVA

// SAFETY: the bit-field unions of VA-API's buffers consist of plain integers, and each has only one set of fields.

extension HEVCSequenceParameterSet {
    /// Creates the parameter set for a client that does not pack one, from its sequence buffer. The block sizes
    /// and the level must have been validated.
    ///
    /// The buffer does not specify the size of the decoded picture buffer. The maximum of the level is used, and
    /// reordering is allowed if there are B pictures.
    package init(_ buffer: VAEncSequenceParameterBufferHEVC) {
        let fields = unsafe buffer.seq_fields.bits
        profileTierLevel = HEVCProfileTierLevel(
            profile: Int(buffer.general_profile_idc), isHighTier: buffer.general_tier_flag != 0,
            level: Int(buffer.general_level_idc))
        chroma_format_idc = Int(fields.chroma_format_idc)
        pic_width_in_luma_samples = Int(buffer.pic_width_in_luma_samples)
        pic_height_in_luma_samples = Int(buffer.pic_height_in_luma_samples)
        bit_depth_luma = 8 + Int(fields.bit_depth_luma_minus8)
        bit_depth_chroma = 8 + Int(fields.bit_depth_chroma_minus8)
        log2_max_pic_order_cnt_lsb = 12
        let pictures = Self.maxDpbSize(
            level: profileTierLevel.general_level_idc, samples: pic_width_in_luma_samples * pic_height_in_luma_samples)
        subLayers = [
            SubLayerOrdering(
                max_dec_pic_buffering: pictures, max_num_reorder_pics: buffer.ip_period > 1 ? pictures - 1 : 0)
        ]
        log2_min_luma_coding_block_size = 3 + Int(buffer.log2_min_luma_coding_block_size_minus3)
        log2_diff_max_min_luma_coding_block_size = Int(buffer.log2_diff_max_min_luma_coding_block_size)
        log2_min_luma_transform_block_size = 2 + Int(buffer.log2_min_transform_block_size_minus2)
        log2_diff_max_min_luma_transform_block_size = Int(buffer.log2_diff_max_min_transform_block_size)
        max_transform_hierarchy_depth_inter = Int(buffer.max_transform_hierarchy_depth_inter)
        max_transform_hierarchy_depth_intra = Int(buffer.max_transform_hierarchy_depth_intra)
        scaling_list_enabled_flag = fields.scaling_list_enabled_flag != 0
        amp_enabled_flag = fields.amp_enabled_flag != 0
        sample_adaptive_offset_enabled_flag = fields.sample_adaptive_offset_enabled_flag != 0
        pcm_enabled_flag = fields.pcm_enabled_flag != 0
        long_term_ref_pics_present_flag = true
        sps_temporal_mvp_enabled_flag = fields.sps_temporal_mvp_enabled_flag != 0
        strong_intra_smoothing_enabled_flag = fields.strong_intra_smoothing_enabled_flag != 0
        if buffer.vui_parameters_present_flag != 0 { vuiAndExtensionBits = Self.vuiBits(buffer) }
    }

    /// Returns MaxDpbSize, A.4.2; 16 if the level is not in the standard.
    static func maxDpbSize(level: Int, samples: Int) -> Int {
        let levels = [
            30: 36_864, 60: 122_880, 63: 245_760, 90: 552_960, 93: 983_040, 120: 2_228_224, 123: 2_228_224,
            150: 8_912_896, 153: 8_912_896, 156: 8_912_896, 180: 35_651_584, 183: 35_651_584, 186: 35_651_584,
        ]
        guard let most = levels[level] else { return 16 }
        let base = 6
        if samples <= most >> 2 { return min(4 * base, 16) }
        if samples <= most >> 1 { return min(2 * base, 16) }
        return samples <= 3 * most >> 2 ? min(4 * base / 3, 16) : base
    }

    /// Returns vui_parameters from the buffer's values, and no extension.
    private static func vuiBits(_ buffer: VAEncSequenceParameterBufferHEVC) -> HeaderBits {
        let fields = unsafe buffer.vui_fields.bits
        var bits = HeaderBitWriter()
        bits.put(true)  // vui_parameters_present_flag
        bits.put(fields.aspect_ratio_info_present_flag != 0)
        if fields.aspect_ratio_info_present_flag != 0 {
            bits.put(UInt32(buffer.aspect_ratio_idc), 8)
            if buffer.aspect_ratio_idc == 255 {
                bits.put(buffer.sar_width & 0xffff, 16)
                bits.put(buffer.sar_height & 0xffff, 16)
            }
        }
        bits.put(0, 3)  // overscan_info, video_signal_type, chroma_loc_info
        bits.put(fields.neutral_chroma_indication_flag != 0)
        bits.put(fields.field_seq_flag != 0)
        bits.put(0, 2)  // frame_field_info, default_display_window
        bits.put(fields.vui_timing_info_present_flag != 0)
        if fields.vui_timing_info_present_flag != 0 {
            bits.put(buffer.vui_num_units_in_tick, 32)
            bits.put(buffer.vui_time_scale, 32)
            bits.put(0, 2)  // vui_poc_proportional_to_timing_flag, vui_hrd_parameters_present_flag
        }
        bits.put(fields.bitstream_restriction_flag != 0)
        if fields.bitstream_restriction_flag != 0 {
            bits.put(fields.tiles_fixed_structure_flag != 0)
            bits.put(fields.motion_vectors_over_pic_boundaries_flag != 0)
            bits.put(fields.restricted_ref_pic_lists_flag != 0)
            bits.putUnsigned(Int(min(buffer.min_spatial_segmentation_idc, 4095)))
            bits.putUnsigned(Int(min(buffer.max_bytes_per_pic_denom, 16)))
            bits.putUnsigned(Int(min(buffer.max_bits_per_min_cu_denom, 16)))
            bits.putUnsigned(Int(min(fields.log2_max_mv_length_horizontal, 15)))
            bits.putUnsigned(Int(min(fields.log2_max_mv_length_vertical, 15)))
        }
        bits.put(false)  // sps_extension_present_flag
        return HeaderBits(bits)
    }
}

extension HEVCPictureParameterSet {
    /// Creates the parameter set for a client that does not pack one, from its picture buffer. Everything that
    /// a slice header may override stays overridable.
    package init(_ buffer: VAEncPictureParameterBufferHEVC) {
        let fields = unsafe buffer.pic_fields.bits
        pps_pic_parameter_set_id = Int(buffer.slice_pic_parameter_set_id)
        dependent_slice_segments_enabled_flag = fields.dependent_slice_segments_enabled_flag != 0
        sign_data_hiding_enabled_flag = fields.sign_data_hiding_enabled_flag != 0
        cabac_init_present_flag = true
        num_ref_idx_default_active = [
            min(Int(buffer.num_ref_idx_l0_default_active_minus1), 14) + 1,
            min(Int(buffer.num_ref_idx_l1_default_active_minus1), 14) + 1,
        ]
        init_qp = Int(buffer.pic_init_qp)
        constrained_intra_pred_flag = fields.constrained_intra_pred_flag != 0
        transform_skip_enabled_flag = fields.transform_skip_enabled_flag != 0
        if fields.cu_qp_delta_enabled_flag != 0 { diff_cu_qp_delta_depth = Int(buffer.diff_cu_qp_delta_depth) }
        pps_cb_qp_offset = Int(buffer.pps_cb_qp_offset)
        pps_cr_qp_offset = Int(buffer.pps_cr_qp_offset)
        pps_slice_chroma_qp_offsets_present_flag = true
        weighted_pred_flag = fields.weighted_pred_flag != 0
        weighted_bipred_flag = fields.weighted_bipred_flag != 0
        transquant_bypass_enabled_flag = fields.transquant_bypass_enabled_flag != 0
        entropy_coding_sync_enabled_flag = fields.entropy_coding_sync_enabled_flag != 0
        if fields.tiles_enabled_flag != 0 {
            var tiles = Tiles(
                num_tile_columns: Int(buffer.num_tile_columns_minus1) + 1,
                num_tile_rows: Int(buffer.num_tile_rows_minus1) + 1)
            func sizes(_ values: [UInt8]) -> [Int] { values.map { Int($0) + 1 } }
            tiles.column_width = sizes(
                FixedArray.values(buffer.column_width_minus1, as: UInt8.self, count: tiles.num_tile_columns - 1))
            tiles.row_height = sizes(
                FixedArray.values(buffer.row_height_minus1, as: UInt8.self, count: tiles.num_tile_rows - 1))
            tiles.loop_filter_across_tiles_enabled_flag = fields.loop_filter_across_tiles_enabled_flag != 0
            self.tiles = tiles
        }
        pps_loop_filter_across_slices_enabled_flag = fields.pps_loop_filter_across_slices_enabled_flag != 0
        deblocking_filter_control_present_flag = true
        deblocking_filter_override_enabled_flag = true
        pps_scaling_list_data_present_flag = fields.scaling_list_data_present_flag != 0
        lists_modification_present_flag = true
        log2_parallel_merge_level = 2 + Int(buffer.log2_parallel_merge_level_minus2)
    }
}
