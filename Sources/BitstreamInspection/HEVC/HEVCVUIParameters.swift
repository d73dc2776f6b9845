/// vui_parameters() (H.265 E.2.1). Parts that the stream omits are nil.
package struct HEVCVUIParameters: Sendable, Hashable {
    package struct Restriction: Sendable, Hashable {
        package var tiles_fixed_structure_flag: Bool
        package var motion_vectors_over_pic_boundaries_flag: Bool
        package var restricted_ref_pic_lists_flag: Bool
        package var min_spatial_segmentation_idc: Int
        package var max_bytes_per_pic_denom: Int
        package var max_bits_per_min_cu_denom: Int
        package var log2_max_mv_length_horizontal: Int
        package var log2_max_mv_length_vertical: Int
    }

    package var aspect_ratio_idc: Int?
    /// sar_width and sar_height if aspect_ratio_idc is 255, otherwise the ratio of aspect_ratio_idc (table E.1).
    package var sampleAspectRatio: [Int]?
    package var overscan_appropriate_flag: Bool?
    package var videoSignal: VideoSignal?
    /// chroma_sample_loc_type_top_field and chroma_sample_loc_type_bottom_field.
    package var chroma_sample_loc_type: [Int]?
    package var neutral_chroma_indication_flag = false
    package var field_seq_flag = false
    package var frame_field_info_present_flag = false
    package var default_display_window_flag = false
    /// The def_disp_win offsets are 0 without default_display_window_flag.
    package var def_disp_win_left_offset = 0
    package var def_disp_win_right_offset = 0
    package var def_disp_win_top_offset = 0
    package var def_disp_win_bottom_offset = 0
    package var timing: HEVCVideoParameterSet.Timing?
    package var hrd: HEVCHRDParameters?
    package var restriction: Restriction?

    init(_ reader: inout BitReader, maxSubLayers: Int) throws(Malformed) {
        if reader.flag() {
            let aspect_ratio_idc = reader.bits(8)
            self.aspect_ratio_idc = aspect_ratio_idc
            if aspect_ratio_idc == 255 {
                sampleAspectRatio = [reader.bits(16), reader.bits(16)]
            } else {
                guard aspect_ratio_idc < SampleAspectRatios.table.count else {
                    throw Malformed("aspect_ratio_idc is \(aspect_ratio_idc)")
                }
                sampleAspectRatio = SampleAspectRatios.table[aspect_ratio_idc]
            }
        }
        if reader.flag() { overscan_appropriate_flag = reader.flag() }
        if reader.flag() {
            var signal = VideoSignal(
                video_format: reader.bits(3), video_full_range_flag: reader.flag())
            if reader.flag() { signal.color = [reader.bits(8), reader.bits(8), reader.bits(8)] }
            videoSignal = signal
        }
        if reader.flag() {
            chroma_sample_loc_type = [
                try reader.unsigned("chroma_sample_loc_type_top_field", in: 0...5),
                try reader.unsigned("chroma_sample_loc_type_bottom_field", in: 0...5),
            ]
        }
        neutral_chroma_indication_flag = reader.flag()
        field_seq_flag = reader.flag()
        frame_field_info_present_flag = reader.flag()
        if field_seq_flag, !frame_field_info_present_flag {
            throw Malformed("frame_field_info_present_flag must be 1 with field_seq_flag")
        }
        default_display_window_flag = reader.flag()
        if default_display_window_flag {
            def_disp_win_left_offset = try reader.unsigned("def_disp_win_left_offset", in: 0...17000)
            def_disp_win_right_offset = try reader.unsigned("def_disp_win_right_offset", in: 0...17000)
            def_disp_win_top_offset = try reader.unsigned("def_disp_win_top_offset", in: 0...17000)
            def_disp_win_bottom_offset = try reader.unsigned("def_disp_win_bottom_offset", in: 0...17000)
        }
        if reader.flag() {
            timing = try HEVCVideoParameterSet.Timing(&reader)
            if reader.flag() { hrd = try HEVCHRDParameters(&reader, common: nil, maxSubLayers: maxSubLayers) }
        }
        if reader.flag() {
            restriction = Restriction(
                tiles_fixed_structure_flag: reader.flag(), motion_vectors_over_pic_boundaries_flag: reader.flag(),
                restricted_ref_pic_lists_flag: reader.flag(),
                min_spatial_segmentation_idc: try reader.unsigned("min_spatial_segmentation_idc", in: 0...4095),
                max_bytes_per_pic_denom: try reader.unsigned("max_bytes_per_pic_denom", in: 0...16),
                max_bits_per_min_cu_denom: try reader.unsigned("max_bits_per_min_cu_denom", in: 0...16),
                log2_max_mv_length_horizontal: try reader.unsigned("log2_max_mv_length_horizontal", in: 0...16),
                log2_max_mv_length_vertical: try reader.unsigned("log2_max_mv_length_vertical", in: 0...15))
        }
        try reader.checkEnd("vui_parameters()")
    }
}
