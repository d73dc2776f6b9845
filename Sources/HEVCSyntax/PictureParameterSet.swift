package import NALUnits

/// The picture parameter set, pic_parameter_set_rbsp(), H.265 7.3.2.3.1, without scaling lists and extensions. The
/// fields have the names and values of the standard.
package struct PictureParameterSet: Sendable, Hashable {
    /// Tiles in rows and columns of equal size (uniform_spacing_flag 1).
    package struct Tiles: Sendable, Hashable {
        /// num_tile_columns_minus1 + 1.
        package var num_tile_columns: Int
        /// num_tile_rows_minus1 + 1.
        package var num_tile_rows: Int
        /// Whether in-loop filters cross tile boundaries.
        package var loop_filter_across_tiles_enabled_flag = true

        /// Creates tiles. `num_tile_columns` and `num_tile_rows` must not both be 1.
        package init(num_tile_columns: Int, num_tile_rows: Int) {
            self.num_tile_columns = num_tile_columns
            self.num_tile_rows = num_tile_rows
        }
    }

    /// The ID of the picture parameter set, 0…63.
    package var pps_pic_parameter_set_id = 0
    /// The ID of the sequence parameter set to which this set refers, 0…15.
    package var pps_seq_parameter_set_id = 0
    /// Whether slices may consist of several slice segments.
    package var dependent_slice_segments_enabled_flag = false
    /// Whether slice headers contain pic_output_flag.
    package var output_flag_present_flag = false
    /// Whether signs of coefficients are hidden.
    package var sign_data_hiding_enabled_flag = false
    /// Whether slice headers contain cabac_init_flag.
    package var cabac_init_present_flag = false
    /// num_ref_idx_l0_default_active_minus1 + 1 and num_ref_idx_l1_default_active_minus1 + 1: the default numbers of
    /// entries in lists 0 and 1.
    package var num_ref_idx_default_active = PerList(1, 1)
    /// init_qp_minus26 + 26: from −6·(bit depth − 8) to 51.
    package var init_qp: Int
    /// Whether intra blocks predict only from intra blocks.
    package var constrained_intra_pred_flag = false
    /// Whether blocks may skip the transform.
    package var transform_skip_enabled_flag = false
    /// The number of times that a coding tree block is halved to obtain the size of the smallest blocks that can change
    /// the QP; nil for cu_qp_delta_enabled_flag 0.
    package var diff_cu_qp_delta_depth: Int?
    /// The offset of the QP of Cb, −12…12.
    package var pps_cb_qp_offset = 0
    /// The offset of the QP of Cr, −12…12.
    package var pps_cr_qp_offset = 0
    /// Whether slice headers contain QP offsets for chroma.
    package var pps_slice_chroma_qp_offsets_present_flag = false
    /// Whether coding units may bypass the transform and quantization.
    package var transquant_bypass_enabled_flag = false
    /// The tiles, or nil for tiles_enabled_flag 0.
    package var tiles: Tiles?
    /// Whether wavefront parallel processing is used.
    package var entropy_coding_sync_enabled_flag = false
    /// Whether in-loop filters may cross slice boundaries.
    package var pps_loop_filter_across_slices_enabled_flag = false
    /// Whether slice headers may override the following three fields.
    package var deblocking_filter_override_enabled_flag = false
    /// Whether deblocking is off.
    package var pps_deblocking_filter_disabled_flag = false
    /// The beta offset of deblocking, divided by 2, −6…6.
    package var pps_beta_offset_div2 = 0
    /// The tC offset of deblocking, divided by 2, −6…6.
    package var pps_tc_offset_div2 = 0
    /// Whether slice headers may modify the reference picture lists.
    package var lists_modification_present_flag = false
    /// log2_parallel_merge_level_minus2 + 2.
    package var log2_parallel_merge_level = 2

    /// Creates a parameter set.
    ///
    /// - Parameters:
    ///   - qp: The initial QP of slices.
    ///   - references: The default number of entries in list 0.
    package init(qp: Int, references: Int = 1) {
        init_qp = qp
        num_ref_idx_default_active[0] = max(references, 1)
    }

    /// Whether a deblocking field differs from the value that a decoder infers if the fields are not present.
    package var deblocking_filter_control_present_flag: Bool {
        deblocking_filter_override_enabled_flag || pps_deblocking_filter_disabled_flag || pps_beta_offset_div2 != 0
            || pps_tc_offset_div2 != 0
    }

    /// The NAL unit without a start code.
    package var unit: [UInt8] {
        var w = BitWriter()
        w.ue(pps_pic_parameter_set_id)
        w.ue(pps_seq_parameter_set_id)
        w.flag(dependent_slice_segments_enabled_flag)
        w.flag(output_flag_present_flag)
        w.u(3, 0)  // num_extra_slice_header_bits
        w.flag(sign_data_hiding_enabled_flag)
        w.flag(cabac_init_present_flag)
        w.ue(num_ref_idx_default_active[0] - 1)
        w.ue(num_ref_idx_default_active[1] - 1)
        w.se(init_qp - 26)
        w.flag(constrained_intra_pred_flag)
        w.flag(transform_skip_enabled_flag)
        w.flag(diff_cu_qp_delta_depth != nil)  // cu_qp_delta_enabled_flag
        if let diff_cu_qp_delta_depth { w.ue(diff_cu_qp_delta_depth) }
        w.se(pps_cb_qp_offset)
        w.se(pps_cr_qp_offset)
        w.flag(pps_slice_chroma_qp_offsets_present_flag)
        w.flag(false)  // weighted_pred_flag
        w.flag(false)  // weighted_bipred_flag
        w.flag(transquant_bypass_enabled_flag)
        w.flag(tiles != nil)  // tiles_enabled_flag
        w.flag(entropy_coding_sync_enabled_flag)
        if let tiles {
            w.ue(tiles.num_tile_columns - 1)
            w.ue(tiles.num_tile_rows - 1)
            w.flag(true)  // uniform_spacing_flag
            w.flag(tiles.loop_filter_across_tiles_enabled_flag)
        }
        w.flag(pps_loop_filter_across_slices_enabled_flag)
        w.flag(deblocking_filter_control_present_flag)
        if deblocking_filter_control_present_flag {
            w.flag(deblocking_filter_override_enabled_flag)
            w.flag(pps_deblocking_filter_disabled_flag)
            if !pps_deblocking_filter_disabled_flag {
                w.se(pps_beta_offset_div2)
                w.se(pps_tc_offset_div2)
            }
        }
        w.flag(false)  // pps_scaling_list_data_present_flag
        w.flag(lists_modification_present_flag)
        w.ue(log2_parallel_merge_level - 2)
        w.flag(false)  // slice_segment_header_extension_present_flag
        w.flag(false)  // pps_extension_present_flag
        return w.unit(.pictureParameterSet)
    }
}
