package import BitstreamInspection

/// Checks that this project's reader of HEVC headers and FFmpeg's read the same values.
extension HeaderAgreement {
    /// The names and values of syntax elements. The value is nil if the reader does not store it.
    package typealias Fields = [(name: String, value: Int?)]

    /// Returns every field of slice segment headers, parameter sets and timing messages that both readers name and read
    /// differently. `trace` must have been read in this process.
    package static func faults(_ stream: HEVCStream, _ trace: TraceHeaders) -> [String] {
        let theirs = trace.units(named: "Slice Segment Header")
        let ours = stream.frames.flatMap { frame in frame.slices.map { (frame, $0.header) } }
        if theirs.count != ours.count { return ["\(ours.count) slices, FFmpeg reads \(theirs.count)"] }
        var faults: [String] = []
        for (index, ((frame, slice), unit)) in zip(ours, theirs).enumerated() {
            let fields = sliceFields(slice, stream.sequenceSet(of: frame))
            faults += differences(fields, unit, "slice \(index) of picture \(frame.index)")
        }
        for (name, fields) in [
            ("Video Parameter Set", stream.videoSets.first.map(videoFields)),
            ("Sequence Parameter Set", stream.sequenceSets.first.map(sequenceFields)),
            ("Picture Parameter Set", stream.pictureSets.first.map(pictureFields)),
        ] {
            guard let fields, let unit = trace.units(named: name).first else {
                faults.append("no \(name)")
                continue
            }
            faults += differences(fields, unit, name)
        }
        return faults + messageFaults(stream, trace)
    }

    private static func differences(_ fields: Fields, _ unit: TraceHeaders.Unit, _ what: String) -> [String] {
        // Names of array elements repeat. The first field of each name is compared, as in `unit[name]`.
        let read = Dictionary(unit.fields.map { ($0.name, $0.value) }) { first, _ in first }
        return fields.compactMap { name, value in
            guard let value, let field = read[name], field != value else { return nil }
            return "\(what): \(name) is \(value), FFmpeg reads \(field)"
        }
    }

    private static func bit(_ flag: Bool) -> Int { flag ? 1 : 0 }

    private static func list(_ name: String, _ values: [Int]) -> Fields {
        values.enumerated().map { ("\(name)[\($0.offset)]", $0.element) }
    }

    /// Returns the fields of a slice segment header that is not dependent, by the names of H.265 7.3.6.1.
    package static func sliceFields(_ slice: HEVCSliceSegmentHeader, _ sps: HEVCSequenceParameterSet) -> Fields {
        var fields: Fields = [
            ("nal_unit_type", slice.nal_unit_type), ("nuh_temporal_id_plus1", slice.temporalID + 1),
            ("first_slice_segment_in_pic_flag", bit(slice.first_slice_segment_in_pic_flag)),
            ("no_output_of_prior_pics_flag", bit(slice.no_output_of_prior_pics_flag)),
            ("slice_pic_parameter_set_id", slice.slice_pic_parameter_set_id),
            ("slice_segment_address", slice.slice_segment_address), ("slice_type", slice.slice_type.rawValue),
            ("pic_output_flag", bit(slice.pic_output_flag)),
            ("slice_pic_order_cnt_lsb", slice.slice_pic_order_cnt_lsb),
            ("short_term_ref_pic_set_sps_flag", bit(slice.short_term_ref_pic_set_sps_flag)),
            ("short_term_ref_pic_set_idx", slice.short_term_ref_pic_set_idx),
            ("slice_temporal_mvp_enabled_flag", bit(slice.slice_temporal_mvp_enabled_flag)),
            ("slice_sao_luma_flag", bit(slice.slice_sao_luma_flag)),
            ("slice_sao_chroma_flag", bit(slice.slice_sao_chroma_flag)),
            ("num_ref_idx_active_override_flag", bit(slice.num_ref_idx_active_override_flag)),
            ("num_ref_idx_l0_active_minus1", slice.num_ref_idx_active[0] - 1),
            ("num_ref_idx_l1_active_minus1", slice.num_ref_idx_active[1] - 1),
            ("ref_pic_list_modification_flag_l0", bit(slice.list_entry[0] != nil)),
            ("ref_pic_list_modification_flag_l1", bit(slice.list_entry[1] != nil)),
            ("mvd_l1_zero_flag", bit(slice.mvd_l1_zero_flag)), ("cabac_init_flag", bit(slice.cabac_init_flag)),
            ("collocated_from_l0_flag", bit(slice.collocated_from_l0_flag)),
            ("collocated_ref_idx", slice.collocated_ref_idx),
            ("luma_log2_weight_denom", slice.weights?.luma_log2_weight_denom),
            ("delta_chroma_log2_weight_denom", slice.weights?.delta_chroma_log2_weight_denom),
            ("five_minus_max_num_merge_cand", 5 - slice.maxNumMergeCand), ("slice_qp_delta", slice.slice_qp_delta),
            ("slice_cb_qp_offset", slice.slice_cb_qp_offset), ("slice_cr_qp_offset", slice.slice_cr_qp_offset),
            ("deblocking_filter_override_flag", bit(slice.deblocking_filter_override_flag)),
            ("slice_deblocking_filter_disabled_flag", bit(slice.slice_deblocking_filter_disabled_flag)),
            ("slice_beta_offset_div2", slice.slice_beta_offset_div2),
            ("slice_tc_offset_div2", slice.slice_tc_offset_div2),
            (
                "slice_loop_filter_across_slices_enabled_flag",
                bit(slice.slice_loop_filter_across_slices_enabled_flag)
            ),
            ("num_entry_point_offsets", slice.entry_point_offset.count), ("offset_len_minus1", slice.offset_len - 1),
            ("slice_segment_header_extension_length", slice.slice_segment_header_extension_length),
        ]
        fields += list("entry_point_offset_minus1", slice.entry_point_offset.map { $0 - 1 })
        for index in 0..<2 {
            fields += list("list_entry_l\(index)", slice.list_entry[index] ?? [])
            if let weights = slice.weights, index < weights.luma.count {
                fields += list("luma_weight_l\(index)_flag", weights.luma[index].map(bit))
                fields += list("chroma_weight_l\(index)_flag", weights.chroma[index].map(bit))
            }
        }
        if !slice.short_term_ref_pic_set_sps_flag { fields += setFields(slice.shortTermSet) }
        let fromSequence = slice.longTermReferences.count { $0.lt_idx_sps != nil }
        fields += [
            ("num_long_term_sps", fromSequence), ("num_long_term_pics", slice.longTermReferences.count - fromSequence),
        ]
        for (index, picture) in slice.longTermReferences.enumerated() {
            fields += [
                ("lt_idx_sps[\(index)]", picture.lt_idx_sps), ("poc_lsb_lt[\(index)]", picture.poc_lsb_lt),
                ("used_by_curr_pic_lt_flag[\(index)]", bit(picture.used_by_curr_pic_lt_flag)),
                ("delta_poc_msb_present_flag[\(index)]", bit(picture.deltaPOCMsbCycle != nil)),
            ]
        }
        return fields
    }

    /// Returns the fields of an st_ref_pic_set(). FFmpeg's trace of a predicted set lacks these names, so that it is
    /// not compared.
    private static func setFields(_ set: HEVCShortTermReferencePictureSet) -> Fields {
        var fields: Fields = [("num_negative_pics", set.negative.count), ("num_positive_pics", set.positive.count)]
        for (name, entries) in [("s0", set.negative), ("s1", set.positive)] {
            var last = 0
            for (index, entry) in entries.enumerated() {
                fields.append(("delta_poc_\(name)_minus1[\(index)]", abs(entry.deltaPOC - last) - 1))
                fields.append(("used_by_curr_pic_\(name)_flag[\(index)]", bit(entry.isUsed)))
                last = entry.deltaPOC
            }
        }
        return fields
    }

    private static func profileFields(_ set: HEVCProfileTierLevel) -> Fields {
        [
            ("general_profile_space", set.general.profile_space), ("general_tier_flag", bit(set.general.tier_flag)),
            ("general_profile_idc", set.general.profile_idc),
            ("general_progressive_source_flag", bit(set.general.progressive_source_flag)),
            ("general_interlaced_source_flag", bit(set.general.interlaced_source_flag)),
            ("general_non_packed_constraint_flag", bit(set.general.non_packed_constraint_flag)),
            ("general_frame_only_constraint_flag", bit(set.general.frame_only_constraint_flag)),
            ("general_level_idc", set.general_level_idc),
        ]
            + (0..<32).map { ("general_profile_compatibility_flag[\($0)]", bit(set.general.isCompatible(with: $0))) }
    }

    private static func bufferingFields(_ prefix: String, _ layers: [HEVCSubLayerOrdering]) -> Fields {
        list("\(prefix)_max_dec_pic_buffering_minus1", layers.map { $0.max_dec_pic_buffering - 1 })
            + list("\(prefix)_max_num_reorder_pics", layers.map(\.max_num_reorder_pics))
            + list("\(prefix)_max_latency_increase_plus1", layers.map(\.max_latency_increase_plus1))
    }

    private static func timingFields(_ prefix: String, _ timing: HEVCVideoParameterSet.Timing?) -> Fields {
        [
            ("\(prefix)_timing_info_present_flag", bit(timing != nil)),
            ("\(prefix)_num_units_in_tick", timing?.num_units_in_tick), ("\(prefix)_time_scale", timing?.time_scale),
            ("\(prefix)_poc_proportional_to_timing_flag", bit(timing?.num_ticks_poc_diff_one != nil)),
            ("\(prefix)_num_ticks_poc_diff_one_minus1", timing?.num_ticks_poc_diff_one.map { $0 - 1 }),
        ]
    }

    package static func videoFields(_ set: HEVCVideoParameterSet) -> Fields {
        [
            ("vps_video_parameter_set_id", set.vps_video_parameter_set_id),
            ("vps_base_layer_internal_flag", bit(set.vps_base_layer_internal_flag)),
            ("vps_base_layer_available_flag", bit(set.vps_base_layer_available_flag)),
            ("vps_max_layers_minus1", set.vps_max_layers - 1),
            ("vps_max_sub_layers_minus1", set.vps_max_sub_layers - 1),
            ("vps_temporal_id_nesting_flag", bit(set.vps_temporal_id_nesting_flag)),
            ("vps_max_layer_id", set.vps_max_layer_id), ("vps_num_hrd_parameters", set.vps_num_hrd_parameters),
            ("vps_extension_flag", bit(set.vps_extension_flag)),
        ] + profileFields(set.profileTierLevel) + bufferingFields("vps", set.subLayers)
            + timingFields("vps", set.timing) + (set.firstHRD.map(hrdFields) ?? [])
    }

    package static func hrdFields(_ hrd: HEVCHRDParameters) -> Fields {
        var fields: Fields = [
            ("nal_hrd_parameters_present_flag", bit(hrd.nal_hrd_parameters_present_flag)),
            ("vcl_hrd_parameters_present_flag", bit(hrd.vcl_hrd_parameters_present_flag)),
            ("sub_pic_hrd_params_present_flag", bit(hrd.subPicture != nil)), ("bit_rate_scale", hrd.bit_rate_scale),
            ("cpb_size_scale", hrd.cpb_size_scale),
            ("initial_cpb_removal_delay_length_minus1", hrd.initial_cpb_removal_delay_length - 1),
            ("au_cpb_removal_delay_length_minus1", hrd.au_cpb_removal_delay_length - 1),
            ("dpb_output_delay_length_minus1", hrd.dpb_output_delay_length - 1),
        ]
        fields += list("fixed_pic_rate_general_flag", hrd.subLayers.map { bit($0.fixed_pic_rate_general_flag) })
        fields += list("fixed_pic_rate_within_cvs_flag", hrd.subLayers.map { bit($0.fixed_pic_rate_within_cvs_flag) })
        fields += list("low_delay_hrd_flag", hrd.subLayers.map { bit($0.low_delay_hrd_flag) })
        fields += list("cpb_cnt_minus1", hrd.subLayers.map { $0.cpb_cnt - 1 })
        fields += hrd.subLayers.enumerated().map { index, layer in
            ("elemental_duration_in_tc_minus1[\(index)]", layer.elemental_duration_in_tc.map { $0 - 1 })
        }
        // Only the first schedule is compared: the arrays of later ones repeat the names.
        if let schedule = hrd.subLayers.first.flatMap({ $0.nal.first ?? $0.vcl.first }) {
            fields += [
                ("bit_rate_value_minus1[0]", schedule.bitrate >> (6 + hrd.bit_rate_scale) - 1),
                ("cpb_size_value_minus1[0]", schedule.cpbSize >> (4 + hrd.cpb_size_scale) - 1),
                ("cbr_flag[0]", bit(schedule.cbr_flag)),
            ]
        }
        return fields
    }
}
