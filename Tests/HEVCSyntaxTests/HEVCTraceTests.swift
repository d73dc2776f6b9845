import HEVCSyntax
import NALUnits
import TestOracles
import Testing
import VideoBase

/// FFmpeg reads every header and message, field by field.
@Suite struct HEVCTraceTests {
    private func check(_ unit: TraceHeaders.Unit, _ expected: [String: [Int]]) {
        for (name, values) in expected { #expect(unit.values(name) == values, "\(unit.name): \(name)") }
    }

    private var hrd: HRDParameters {
        var hrd = HRDParameters(bitrate: BitsPerSecond(2_000_000), cpbSize: 3_000_000, isConstant: true)
        hrd.vcl_hrd_parameters_present_flag = true
        hrd.initial_cpb_removal_delay_length = 20
        hrd.au_cpb_removal_delay_length = 18
        hrd.dpb_output_delay_length = 7
        return hrd
    }

    private var fullSet: SequenceParameterSet {
        var vui = VUIParameters(
            sampleAspectRatio: Rational(7, 5),
            color: ColorDescription(primaries: 9, transfer: 16, matrix: 9, fullRange: true),
            frameRate: Rational(30000, 1001), hrd: hrd)
        vui.display.chroma_sample_loc_type = 2
        vui.frame_field_info_present_flag = true
        vui.min_spatial_segmentation_idc = 0
        return Headers.sps(.hevcMain10, size: VideoSize(width: 1918, height: 1078), subLayers: 2, vui: vui)
    }

    private func found(_ name: String, in headers: TraceHeaders) throws -> TraceHeaders.Unit {
        try #require(headers.units(named: name).last, "no \(name) in \(headers.units.map(\.name))")
    }

    private func key(_ sps: SequenceParameterSet) -> [[UInt8]] {
        let pps = PictureParameterSet(qp: 26)
        let vps = VideoParameterSet(profileTierLevel: sps.profileTierLevel, subLayers: sps.subLayers)
        let slice = SliceSegmentHeader(
            nal_unit_type: .IDR_W_RADL, slice_type: .i, slice_pic_order_cnt_lsb: 0, qp: 30)
        return [vps.unit, sps.unit, pps.unit, Headers.slice(slice, sps, pps)]
    }

    @Test func videoParameterSetIsReadAsWritten() throws {
        let sps = fullSet
        var vps = VideoParameterSet(
            profileTierLevel: sps.profileTierLevel, subLayers: sps.subLayers, frameRate: Rational(24000, 1001))
        vps.profileTierLevel.general_tier_flag = .high
        vps.profileTierLevel.sub_layer_level_idc = [90]
        vps.vps_num_ticks_poc_diff_one = 3
        vps.vps_temporal_id_nesting_flag = false
        let headers = try Headers.trace([vps.unit] + key(sps).dropFirst())
        check(
            try found("Video Parameter Set", in: headers),
            [
                "nal_unit_type": [32], "nuh_temporal_id_plus1": [1], "vps_max_sub_layers_minus1": [1],
                "vps_temporal_id_nesting_flag": [0], "general_tier_flag": [1], "general_profile_idc": [2],
                "general_profile_compatibility_flag": [0, 0, 1] + [Int](repeating: 0, count: 29),
                "general_progressive_source_flag": [1], "general_frame_only_constraint_flag": [1],
                "general_level_idc": [93], "sub_layer_level_present_flag": [1], "sub_layer_level_idc": [90],
                "vps_max_dec_pic_buffering_minus1": [1, 2], "vps_max_num_reorder_pics": [0, 1],
                "vps_max_latency_increase_plus1": [0, 0], "vps_num_units_in_tick": [1001], "vps_time_scale": [24000],
                "vps_num_ticks_poc_diff_one_minus1": [2], "vps_num_hrd_parameters": [0], "vps_extension_flag": [0],
            ])
    }

    @Test func vuiIsReadAsWritten() throws {
        let headers = try Headers.trace(key(fullSet))
        check(
            try found("Sequence Parameter Set", in: headers),
            [
                "pic_width_in_luma_samples": [1920], "pic_height_in_luma_samples": [1080],
                "conf_win_left_offset": [0], "conf_win_right_offset": [1], "conf_win_top_offset": [0],
                "conf_win_bottom_offset": [1], "bit_depth_luma_minus8": [2], "bit_depth_chroma_minus8": [2],
                "aspect_ratio_idc": [255], "sar_width": [7], "sar_height": [5], "video_full_range_flag": [1],
                "colour_primaries": [9], "transfer_characteristics": [16], "matrix_coefficients": [9],
                "chroma_sample_loc_type_top_field": [2], "chroma_sample_loc_type_bottom_field": [2],
                "frame_field_info_present_flag": [1], "vui_num_units_in_tick": [1001], "vui_time_scale": [30000],
                "nal_hrd_parameters_present_flag": [1], "vcl_hrd_parameters_present_flag": [1],
                "bit_rate_scale": [1], "cpb_size_scale": [2], "bit_rate_value_minus1": [15624, 15624, 15624, 15624],
                "cpb_size_value_minus1": [46874, 46874, 46874, 46874], "cbr_flag": [1, 1, 1, 1],
                "initial_cpb_removal_delay_length_minus1": [19], "au_cpb_removal_delay_length_minus1": [17],
                "dpb_output_delay_length_minus1": [6], "fixed_pic_rate_general_flag": [0, 1],
                "fixed_pic_rate_within_cvs_flag": [0], "elemental_duration_in_tc_minus1": [0],
                "low_delay_hrd_flag": [0], "cpb_cnt_minus1": [0, 0], "bitstream_restriction_flag": [1],
                "min_spatial_segmentation_idc": [0], "log2_max_mv_length_vertical": [15],
                "sps_extension_present_flag": [0],
            ])
        // These sets have low delay, one kind of HRD parameters, and no timing (so no HRD).
        var sps = fullSet
        sps.vui?.hrd?.low_delay_hrd_flag = true
        // Low delay excludes a fixed rate, so the highest sub-layer has its own number of schedules.
        check(
            try found("Sequence Parameter Set", in: Headers.trace(key(sps))),
            ["low_delay_hrd_flag": [1], "cpb_cnt_minus1": [0], "cbr_flag": [1, 1, 1, 1]])
        sps.vui?.hrd?.fixed_pic_rate_general_flag = false
        sps.vui?.hrd?.nal_hrd_parameters_present_flag = false
        check(
            try found("Sequence Parameter Set", in: Headers.trace(key(sps))),
            ["low_delay_hrd_flag": [1, 1], "cpb_cnt_minus1": [], "cbr_flag": [1, 1], "sps_extension_present_flag": [0]])
        sps.vui?.frameRate = nil
        check(
            try found("Sequence Parameter Set", in: Headers.trace(key(sps))),
            ["vui_timing_info_present_flag": [0], "cbr_flag": [], "sps_extension_present_flag": [0]])
    }

    @Test func messagesAreReadAsWritten() throws {
        let sps = fullSet
        typealias Point = MasteringDisplay.Point
        let display = MasteringDisplay(
            red: Point(x: 34000, y: 16000), green: Point(x: 13250, y: 34500), blue: Point(x: 7500, y: 3000),
            white: Point(x: 15635, y: 16450), maxLuminance: 10_000_000, minLuminance: 50)
        let period = try #require(
            SEIMessage.bufferingPeriod(
                sps, nal: .init(delay: 81000, offset: 9000), vcl: .init(delay: 70000, offset: 20000),
                removalDelayDelta: 5))
        let prefix =
            [
                period, .pictureTiming(sps, removalDelay: 77, outputDelay: 4),
                .recoveryPoint(pocCount: -3, isExact: false, isBroken: true), .masteringDisplay(display),
                .contentLightLevel(maxContent: 1000, maxPictureAverage: 400), .identifier("vaenc"),
            ] + SEIMessage.captions([0xFC, 0x94, 0x2C])
        var units = key(sps)
        units.insert(SEIMessage.prefixUnit(prefix), at: 3)
        units.append(FillerData.unit(byteCount: 40))
        let headers = try Headers.trace(units)
        var all = try #require(headers.units.first)
        all.fields = headers.units.flatMap(\.fields)
        check(
            all,
            [
                "bp_seq_parameter_set_id": [0], "irap_cpb_params_present_flag": [0], "concatenation_flag": [0],
                "au_cpb_removal_delay_delta_minus1": [4], "nal_initial_cpb_removal_delay": [81000],
                "nal_initial_cpb_removal_offset": [9000], "vcl_initial_cpb_removal_delay": [70000],
                "vcl_initial_cpb_removal_offset": [20000], "pic_struct": [0], "source_scan_type": [1],
                "duplicate_flag": [0], "au_cpb_removal_delay_minus1": [76], "pic_dpb_output_delay": [4],
                "recovery_poc_cnt": [-3], "exact_match_flag": [0], "broken_link_flag": [1],
                "display_primaries_x": [13250, 7500, 34000], "display_primaries_y": [34500, 3000, 16000],
                "white_point_x": [15635], "white_point_y": [16450], "max_display_mastering_luminance": [10_000_000],
                "min_display_mastering_luminance": [50], "max_content_light_level": [1000],
                "max_pic_average_light_level": [400], "itu_t_t35_country_code": [0xB5],
            ])
        // FFmpeg 5 skips filler data.
        #expect(all.values("nal_unit_type").prefix(5) == [32, 33, 34, 39, 19])
    }

    @Test func longTermPicturesAreReadAsWritten() throws {
        var sps = Headers.sps()
        sps.long_term_ref_pics_present_flag = true
        var pps = PictureParameterSet(qp: 26)
        pps.lists_modification_present_flag = true
        var p = SliceSegmentHeader(nal_unit_type: .TRAIL_R, slice_type: .p, slice_pic_order_cnt_lsb: 9, qp: 31)
        p.num_ref_idx_active[0] = 4
        p.shortTermReferences = .explicit(
            ShortTermReferencePictureSet([.init(deltaPOC: -1), .init(deltaPOC: -5, isUsed: false)]))
        p.longTermReferences = [
            .init(poc_lsb_lt: 3, deltaPOCMsbCycle: 2), .init(poc_lsb_lt: 7, used_by_curr_pic_lt_flag: false),
            .init(poc_lsb_lt: 200, deltaPOCMsbCycle: 5),
        ]
        p.list_entry[0] = [2, 1, 0, 2]
        #expect(p.numPicTotalCurr(sps) == 3)
        let delimiter = AccessUnitDelimiter.unit(for: .p)
        let header = try #require(
            Headers.trace(key(sps).dropLast(2) + [pps.unit, delimiter, Headers.slice(p, sps, pps)])
                .units.first { $0["slice_type"] != nil })
        check(
            header,
            [
                "num_negative_pics": [2], "delta_poc_s0_minus1": [0, 3], "used_by_curr_pic_s0_flag": [1, 0],
                "num_long_term_pics": [3], "poc_lsb_lt": [3, 7, 200], "used_by_curr_pic_lt_flag": [1, 0, 1],
                "delta_poc_msb_present_flag": [1, 0, 1], "delta_poc_msb_cycle_lt": [2, 3],
                "num_ref_idx_l0_active_minus1": [3], "ref_pic_list_modification_flag_l0": [1],
                "list_entry_l0": [2, 1, 0, 2], "five_minus_max_num_merge_cand": [0], "slice_qp_delta": [5],
            ])
    }
}
