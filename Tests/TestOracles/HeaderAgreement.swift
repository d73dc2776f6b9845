package import BitstreamInspection

/// Checks that this project's reader of headers and FFmpeg's read the same values.
package enum HeaderAgreement {
    /// Returns every field of slice headers, parameter sets, timing messages and prefix units that both readers name
    /// and read differently. `trace` must have been read in this process: the ffmpeg program reads the first parameter
    /// sets twice.
    package static func faults(_ stream: H264Stream, _ trace: TraceHeaders) -> [String] {
        var faults: [String] = []
        let theirs = trace.units(named: "Slice Header")
        let ours = stream.frames.flatMap { frame in frame.slices.map { (frame, $0.header) } }
        if theirs.count != ours.count { return ["\(ours.count) slices, FFmpeg reads \(theirs.count)"] }
        for (index, ((frame, slice), unit)) in zip(ours, theirs).enumerated() {
            let pps = stream.pictureSets.last { $0.pic_parameter_set_id == slice.pic_parameter_set_id }
            for (name, value) in fields(slice, initialQP: pps?.pic_init_qp) {
                guard let field = unit[name], let value, value != field else { continue }
                faults.append("slice \(index) of picture \(frame.index): \(name) is \(value), FFmpeg reads \(field)")
            }
            let operations = unit.fields.filter { $0.name.hasPrefix("memory_management_control_operation") }
            if case .adaptive(let list)? = slice.marking, operations.count != list.count + 1 {
                faults.append("slice \(index): \(list.count) marking operations, FFmpeg reads \(operations.count)")
            }
        }
        faults += sequence(stream, trace) + timing(stream, trace) + prefixes(stream, trace)
        return faults
    }

    private static func fields(_ slice: H264SliceHeader, initialQP: Int?) -> [(String, Int?)] {
        func bit(_ flag: Bool) -> Int { flag ? 1 : 0 }
        return [
            ("nal_ref_idc", slice.nal_ref_idc), ("nal_unit_type", slice.nal_unit_type),
            ("first_mb_in_slice", slice.first_mb_in_slice),
            ("slice_type", slice.slice_type.rawValue + (slice.sliceTypeHoldsForPicture ? 5 : 0)),
            ("frame_num", slice.frame_num), ("idr_pic_id", slice.idr_pic_id),
            ("pic_order_cnt_lsb", slice.pic_order_cnt_lsb),
            ("delta_pic_order_cnt_bottom", slice.delta_pic_order_cnt_bottom),
            ("direct_spatial_mv_pred_flag", bit(slice.direct_spatial_mv_pred_flag)),
            ("num_ref_idx_active_override_flag", bit(slice.num_ref_idx_active_override_flag)),
            ("num_ref_idx_l0_active_minus1", slice.num_ref_idx_active[0] - 1),
            ("num_ref_idx_l1_active_minus1", slice.num_ref_idx_active[1] - 1),
            ("ref_pic_list_modification_flag_l0", bit(slice.modifications[0] != nil)),
            ("ref_pic_list_modification_flag_l1", bit(slice.modifications[1] != nil)),
            ("luma_log2_weight_denom", slice.weights?.luma_log2_weight_denom),
            ("cabac_init_idc", slice.cabac_init_idc), ("slice_qp_delta", initialQP.map { slice.qp - $0 }),
            ("disable_deblocking_filter_idc", slice.disable_deblocking_filter_idc),
            ("slice_alpha_c0_offset_div2", slice.slice_alpha_c0_offset_div2),
            ("slice_beta_offset_div2", slice.slice_beta_offset_div2),
            ("adaptive_ref_pic_marking_mode_flag", slice.marking == .slidingWindow ? 0 : nil),
        ]
    }

    private static func sequence(_ stream: H264Stream, _ trace: TraceHeaders) -> [String] {
        guard let sps = stream.sequenceSets.first else { return ["no SPS"] }
        var fields: [(String, Int?)] = [
            ("profile_idc", sps.profile_idc), ("level_idc", sps.level_idc),
            ("log2_max_frame_num_minus4", sps.log2_max_frame_num - 4), ("pic_order_cnt_type", sps.pic_order_cnt_type),
            ("log2_max_pic_order_cnt_lsb_minus4", sps.log2_max_pic_order_cnt_lsb - 4),
            ("max_num_ref_frames", sps.max_num_ref_frames), ("pic_width_in_mbs_minus1", sps.pic_width_in_mbs - 1),
            ("frame_crop_right_offset", sps.frame_cropping_flag ? sps.frame_crop_right_offset : nil),
            ("max_num_reorder_frames", sps.vui?.restriction?.max_num_reorder_frames),
            ("max_dec_frame_buffering", sps.vui?.restriction?.max_dec_frame_buffering),
            ("num_units_in_tick", sps.vui?.timing?.num_units_in_tick), ("time_scale", sps.vui?.timing?.time_scale),
            ("cbr_flag[0]", sps.vui?.nal_hrd_parameters.map { $0.schedules[0].cbr_flag ? 1 : 0 }),
        ]
        fields.append(
            (
                "initial_cpb_removal_delay_length_minus1",
                sps.vui?.nal_hrd_parameters.map { $0.initial_cpb_removal_delay_length - 1 }
            ))
        let schedule = sps.vui?.nal_hrd_parameters?.schedules.first
        if let scale = trace["bit_rate_scale"].first {
            fields.append(("bit_rate_value_minus1[0]", schedule.map { ($0.bitrate >> (6 + scale)) - 1 }))
        }
        if let scale = trace["cpb_size_scale"].first {
            fields.append(("cpb_size_value_minus1[0]", schedule.map { ($0.cpbSize >> (4 + scale)) - 1 }))
        }
        return fields.compactMap { name, value in
            guard let field = trace[name].first, let value, value != field else { return nil }
            return "\(name) is \(value), FFmpeg reads \(field)"
        }
    }

    private static func timing(_ stream: H264Stream, _ trace: TraceHeaders) -> [String] {
        func compare(_ what: String, _ ours: [Int], _ theirs: [Int]) -> [String] {
            ours == theirs ? [] : ["\(what): \(ours.prefix(20)), FFmpeg reads \(theirs.prefix(20))"]
        }
        let timings = stream.frames.compactMap(\.pictureTiming)
        return compare(
            "cpb_removal_delay", timings.compactMap(\.cpb_removal_delay), trace["cpb_removal_delay"])
            + compare("dpb_output_delay", timings.compactMap(\.dpb_output_delay), trace["dpb_output_delay"])
            + compare(
                "recovery_frame_cnt", stream.frames.compactMap(\.recoveryPoint).map(\.recovery_frame_cnt),
                trace["recovery_frame_cnt"])
            + compare(
                "nal_initial_cpb_removal_delay",
                stream.frames.compactMap(\.bufferingPeriod).flatMap(\.nal).map(\.initial_cpb_removal_delay),
                trace.units.flatMap { unit in
                    // Older versions of FFmpeg omit the prefix.
                    unit.fields.filter {
                        $0.name.hasPrefix("nal_initial_cpb_removal_delay[")
                            || $0.name.hasPrefix("initial_cpb_removal_delay[")
                    }.map(\.value)
                })
    }

    private static func prefixes(_ stream: H264Stream, _ trace: TraceHeaders) -> [String] {
        let ours = stream.nalUnits.filter { $0.type == 14 }.map { $0.scalable?.temporal_id ?? -1 }
        let theirs = trace["temporal_id"]
        // FFmpeg names the fields of the extension only in versions that read these units.
        guard !theirs.isEmpty, ours != theirs else { return [] }
        return ["temporal_id: \(ours.prefix(20)), FFmpeg reads \(theirs.prefix(20))"]
    }
}
