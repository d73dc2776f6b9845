package import BitstreamInspection

extension HeaderAgreement {
    private static func bit(_ flag: Bool) -> Int { flag ? 1 : 0 }

    package static func sequenceFields(_ sps: HEVCSequenceParameterSet) -> Fields {
        let window =
            sps.conformance_window_flag
            ? [
                sps.conf_win_left_offset, sps.conf_win_right_offset, sps.conf_win_top_offset,
                sps.conf_win_bottom_offset,
            ] : nil
        var fields: Fields = [
            ("sps_video_parameter_set_id", sps.sps_video_parameter_set_id),
            ("sps_max_sub_layers_minus1", sps.sps_max_sub_layers - 1),
            ("sps_temporal_id_nesting_flag", bit(sps.sps_temporal_id_nesting_flag)),
            ("general_profile_idc", sps.profileTierLevel.general.profile_idc),
            ("general_tier_flag", bit(sps.profileTierLevel.general.tier_flag)),
            ("general_level_idc", sps.profileTierLevel.general_level_idc),
            ("sps_seq_parameter_set_id", sps.sps_seq_parameter_set_id), ("chroma_format_idc", sps.chroma_format_idc),
            ("pic_width_in_luma_samples", sps.pic_width_in_luma_samples),
            ("pic_height_in_luma_samples", sps.pic_height_in_luma_samples),
            ("conformance_window_flag", bit(window != nil)), ("conf_win_left_offset", window?[0]),
            ("conf_win_right_offset", window?[1]), ("conf_win_top_offset", window?[2]),
            ("conf_win_bottom_offset", window?[3]), ("bit_depth_luma_minus8", sps.bit_depth_luma - 8),
            ("bit_depth_chroma_minus8", sps.bit_depth_chroma - 8),
            ("log2_max_pic_order_cnt_lsb_minus4", sps.log2_max_pic_order_cnt_lsb - 4),
            ("log2_min_luma_coding_block_size_minus3", sps.log2_min_luma_coding_block_size - 3),
            ("log2_diff_max_min_luma_coding_block_size", sps.log2_diff_max_min_luma_coding_block_size),
            ("log2_min_luma_transform_block_size_minus2", sps.log2_min_luma_transform_block_size - 2),
            ("log2_diff_max_min_luma_transform_block_size", sps.log2_diff_max_min_luma_transform_block_size),
            ("max_transform_hierarchy_depth_inter", sps.max_transform_hierarchy_depth_inter),
            ("max_transform_hierarchy_depth_intra", sps.max_transform_hierarchy_depth_intra),
            ("scaling_list_enabled_flag", bit(sps.scaling_list_enabled_flag)),
            ("sps_scaling_list_data_present_flag", bit(sps.sps_scaling_list_data_present_flag)),
            ("amp_enabled_flag", bit(sps.amp_enabled_flag)),
            ("sample_adaptive_offset_enabled_flag", bit(sps.sample_adaptive_offset_enabled_flag)),
            ("pcm_enabled_flag", bit(sps.pcm != nil)),
            ("num_short_term_ref_pic_sets", sps.short_term_ref_pic_sets.count),
            ("long_term_ref_pics_present_flag", bit(sps.long_term_ref_pics_present_flag)),
            ("num_long_term_ref_pics_sps", sps.long_term_ref_pics_sps.count),
            ("sps_temporal_mvp_enabled_flag", bit(sps.sps_temporal_mvp_enabled_flag)),
            ("strong_intra_smoothing_enabled_flag", bit(sps.strong_intra_smoothing_enabled_flag)),
            ("vui_parameters_present_flag", bit(sps.vui != nil)),
            ("sps_extension_present_flag", bit(sps.sps_extension_present_flag)),
        ]
        for (index, layer) in sps.subLayers.enumerated() {
            fields += [
                ("sps_max_dec_pic_buffering_minus1[\(index)]", layer.max_dec_pic_buffering - 1),
                ("sps_max_num_reorder_pics[\(index)]", layer.max_num_reorder_pics),
                ("sps_max_latency_increase_plus1[\(index)]", layer.max_latency_increase_plus1),
            ]
        }
        return fields + (sps.vui.map(usabilityFields) ?? [])
    }

    private static func usabilityFields(_ vui: HEVCVUIParameters) -> Fields {
        let signal = vui.videoSignal
        let window =
            vui.default_display_window_flag
            ? [
                vui.def_disp_win_left_offset, vui.def_disp_win_right_offset, vui.def_disp_win_top_offset,
                vui.def_disp_win_bottom_offset,
            ] : nil
        let limits = vui.restriction
        let fields: Fields = [
            ("aspect_ratio_info_present_flag", bit(vui.aspect_ratio_idc != nil)),
            ("aspect_ratio_idc", vui.aspect_ratio_idc), ("sar_width", vui.sampleAspectRatio?[0]),
            ("sar_height", vui.sampleAspectRatio?[1]),
            ("overscan_info_present_flag", bit(vui.overscan_appropriate_flag != nil)),
            ("overscan_appropriate_flag", vui.overscan_appropriate_flag.map(bit)),
            ("video_signal_type_present_flag", bit(signal != nil)), ("video_format", signal?.video_format),
            ("video_full_range_flag", signal.map { bit($0.video_full_range_flag) }),
            ("colour_description_present_flag", bit(signal?.color != nil)),
            ("colour_primaries", signal?.color?[0]), ("transfer_characteristics", signal?.color?[1]),
            ("matrix_coefficients", signal?.color?[2]),
            ("chroma_loc_info_present_flag", bit(vui.chroma_sample_loc_type != nil)),
            ("chroma_sample_loc_type_top_field", vui.chroma_sample_loc_type?[0]),
            ("chroma_sample_loc_type_bottom_field", vui.chroma_sample_loc_type?[1]),
            ("neutral_chroma_indication_flag", bit(vui.neutral_chroma_indication_flag)),
            ("field_seq_flag", bit(vui.field_seq_flag)),
            ("frame_field_info_present_flag", bit(vui.frame_field_info_present_flag)),
            ("default_display_window_flag", bit(window != nil)), ("def_disp_win_left_offset", window?[0]),
            ("def_disp_win_right_offset", window?[1]), ("def_disp_win_top_offset", window?[2]),
            ("def_disp_win_bottom_offset", window?[3]), ("vui_timing_info_present_flag", bit(vui.timing != nil)),
            ("vui_num_units_in_tick", vui.timing?.num_units_in_tick), ("vui_time_scale", vui.timing?.time_scale),
            ("vui_poc_proportional_to_timing_flag", bit(vui.timing?.num_ticks_poc_diff_one != nil)),
            ("vui_num_ticks_poc_diff_one_minus1", vui.timing?.num_ticks_poc_diff_one.map { $0 - 1 }),
            ("vui_hrd_parameters_present_flag", bit(vui.hrd != nil)),
            ("bitstream_restriction_flag", bit(limits != nil)),
            ("tiles_fixed_structure_flag", limits.map { bit($0.tiles_fixed_structure_flag) }),
            (
                "motion_vectors_over_pic_boundaries_flag",
                limits.map { bit($0.motion_vectors_over_pic_boundaries_flag) }
            ),
            ("restricted_ref_pic_lists_flag", limits.map { bit($0.restricted_ref_pic_lists_flag) }),
            ("min_spatial_segmentation_idc", limits?.min_spatial_segmentation_idc),
            ("max_bytes_per_pic_denom", limits?.max_bytes_per_pic_denom),
            ("max_bits_per_min_cu_denom", limits?.max_bits_per_min_cu_denom),
            ("log2_max_mv_length_horizontal", limits?.log2_max_mv_length_horizontal),
            ("log2_max_mv_length_vertical", limits?.log2_max_mv_length_vertical),
        ]
        return fields + (vui.hrd.map(hrdFields) ?? [])
    }

    package static func pictureFields(_ pps: HEVCPictureParameterSet) -> Fields {
        [
            ("pps_pic_parameter_set_id", pps.pps_pic_parameter_set_id),
            ("pps_seq_parameter_set_id", pps.pps_seq_parameter_set_id),
            ("dependent_slice_segments_enabled_flag", bit(pps.dependent_slice_segments_enabled_flag)),
            ("output_flag_present_flag", bit(pps.output_flag_present_flag)),
            ("num_extra_slice_header_bits", pps.num_extra_slice_header_bits),
            ("sign_data_hiding_enabled_flag", bit(pps.sign_data_hiding_enabled_flag)),
            ("cabac_init_present_flag", bit(pps.cabac_init_present_flag)),
            ("num_ref_idx_l0_default_active_minus1", pps.num_ref_idx_default_active[0] - 1),
            ("num_ref_idx_l1_default_active_minus1", pps.num_ref_idx_default_active[1] - 1),
            ("init_qp_minus26", pps.init_qp - 26),
            ("constrained_intra_pred_flag", bit(pps.constrained_intra_pred_flag)),
            ("transform_skip_enabled_flag", bit(pps.transform_skip_enabled_flag)),
            ("cu_qp_delta_enabled_flag", bit(pps.cu_qp_delta_enabled_flag)),
            ("diff_cu_qp_delta_depth", pps.diff_cu_qp_delta_depth), ("pps_cb_qp_offset", pps.pps_cb_qp_offset),
            ("pps_cr_qp_offset", pps.pps_cr_qp_offset),
            ("pps_slice_chroma_qp_offsets_present_flag", bit(pps.pps_slice_chroma_qp_offsets_present_flag)),
            ("weighted_pred_flag", bit(pps.weighted_pred_flag)),
            ("weighted_bipred_flag", bit(pps.weighted_bipred_flag)),
            ("transquant_bypass_enabled_flag", bit(pps.transquant_bypass_enabled_flag)),
            ("tiles_enabled_flag", bit(pps.tiles != nil)),
            ("entropy_coding_sync_enabled_flag", bit(pps.entropy_coding_sync_enabled_flag)),
            ("num_tile_columns_minus1", pps.tiles.map { $0.num_tile_columns - 1 }),
            ("num_tile_rows_minus1", pps.tiles.map { $0.num_tile_rows - 1 }),
            ("uniform_spacing_flag", pps.tiles.map { bit($0.column_width == nil) }),
            (
                "loop_filter_across_tiles_enabled_flag",
                pps.tiles.map { bit($0.loop_filter_across_tiles_enabled_flag) }
            ),
            ("pps_loop_filter_across_slices_enabled_flag", bit(pps.pps_loop_filter_across_slices_enabled_flag)),
            ("deblocking_filter_control_present_flag", bit(pps.deblocking_filter_control_present_flag)),
            ("deblocking_filter_override_enabled_flag", bit(pps.deblocking_filter_override_enabled_flag)),
            ("pps_deblocking_filter_disabled_flag", bit(pps.pps_deblocking_filter_disabled_flag)),
            ("pps_beta_offset_div2", pps.pps_beta_offset_div2), ("pps_tc_offset_div2", pps.pps_tc_offset_div2),
            ("pps_scaling_list_data_present_flag", bit(pps.pps_scaling_list_data_present_flag)),
            ("lists_modification_present_flag", bit(pps.lists_modification_present_flag)),
            ("log2_parallel_merge_level_minus2", pps.log2_parallel_merge_level - 2),
            (
                "slice_segment_header_extension_present_flag",
                bit(pps.slice_segment_header_extension_present_flag)
            ),
            ("pps_extension_present_flag", bit(pps.pps_extension_present_flag)),
        ]
    }

    /// Compares SEI messages, each kind in stream order.
    static func messageFaults(_ stream: HEVCStream, _ trace: TraceHeaders) -> [String] {
        func compare(_ names: [String], _ ours: [Int]) -> [String] {
            let theirs = trace.units.flatMap { unit in
                unit.fields.filter { field in names.contains { field.name == $0 || field.name.hasPrefix($0 + "[") } }
                    .map(\.value)
            }
            return ours == theirs ? [] : ["\(names): \(ours.prefix(20)), FFmpeg reads \(theirs.prefix(20))"]
        }
        let timings = stream.frames.compactMap(\.pictureTiming)
        let periods = stream.frames.compactMap(\.bufferingPeriod)
        let points = stream.frames.compactMap(\.recoveryPoint)
        var displays: [HEVCMasteringDisplay] = []
        var lights: [HEVCContentLight] = []
        for case .masteringDisplay(let display) in stream.frames.flatMap(\.information) { displays.append(display) }
        for case .contentLight(let light) in stream.frames.flatMap(\.information) { lights.append(light) }
        return compare(["au_cpb_removal_delay_minus1"], timings.compactMap { $0.au_cpb_removal_delay.map { $0 - 1 } })
            + compare(["pic_dpb_output_delay"], timings.compactMap(\.pic_dpb_output_delay))
            + compare(["pic_struct"], timings.compactMap(\.pic_struct))
            + compare(["source_scan_type"], timings.compactMap(\.source_scan_type))
            + compare(["nal_initial_cpb_removal_delay"], periods.flatMap(\.nal).map(\.initial_cpb_removal_delay))
            + compare(
                ["nal_initial_cpb_removal_offset"], periods.flatMap(\.nal).map(\.initial_cpb_removal_delay_offset))
            + compare(["concatenation_flag"], periods.map { bit($0.concatenation_flag) })
            + compare(["au_cpb_removal_delay_delta_minus1"], periods.map { $0.au_cpb_removal_delay_delta - 1 })
            + compare(["recovery_poc_cnt"], points.map(\.recovery_poc_cnt))
            + compare(["exact_match_flag"], points.map { bit($0.exact_match_flag) })
            + compare(["display_primaries_x"], displays.flatMap { $0.display_primaries.map { $0[0] } })
            + compare(["white_point_y"], displays.map { $0.white_point[1] })
            + compare(["max_display_mastering_luminance"], displays.map(\.max_display_mastering_luminance))
            + compare(["min_display_mastering_luminance"], displays.map(\.min_display_mastering_luminance))
            + compare(["max_content_light_level"], lights.map(\.max_content_light_level))
            + compare(["max_pic_average_light_level"], lights.map(\.max_pic_average_light_level))
    }
}
