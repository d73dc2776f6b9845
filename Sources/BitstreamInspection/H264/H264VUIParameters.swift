/// vui_parameters() (H.264 E.1.1). Parts that the stream omits are nil.
package struct H264VUIParameters: Sendable, Hashable {
    package struct Timing: Sendable, Hashable {
        package var num_units_in_tick: Int
        package var time_scale: Int
        package var fixed_frame_rate_flag: Bool

        /// The duration of one field in seconds. A frame lasts two ticks.
        package var tick: Double { Double(num_units_in_tick) / Double(max(time_scale, 1)) }
    }

    package struct Restriction: Sendable, Hashable {
        package var motion_vectors_over_pic_boundaries_flag: Bool
        package var max_bytes_per_pic_denom: Int
        package var max_bits_per_mb_denom: Int
        package var log2_max_mv_length_horizontal: Int
        package var log2_max_mv_length_vertical: Int
        package var max_num_reorder_frames: Int
        package var max_dec_frame_buffering: Int
    }

    /// sar_width and sar_height, or the ratio of aspect_ratio_idc (table E-1); 0:0 is unspecified.
    package var sampleAspectRatio: [Int]?
    package var overscan_appropriate_flag: Bool?
    package var videoSignal: VideoSignal?
    /// chroma_sample_loc_type_top_field and chroma_sample_loc_type_bottom_field.
    package var chroma_sample_loc_type: [Int]?
    package var timing: Timing?
    package var nal_hrd_parameters: H264HRDParameters?
    package var vcl_hrd_parameters: H264HRDParameters?
    package var low_delay_hrd_flag = false
    package var pic_struct_present_flag = false
    package var restriction: Restriction?

    init(_ reader: inout BitReader) throws(Malformed) {
        if reader.flag() {
            let aspect_ratio_idc = reader.bits(8)
            if aspect_ratio_idc == 255 {
                sampleAspectRatio = [reader.bits(16), reader.bits(16)]
            } else {
                sampleAspectRatio =
                    aspect_ratio_idc < SampleAspectRatios.table.count
                    ? SampleAspectRatios.table[aspect_ratio_idc] : [0, 0]
            }
        }
        if reader.flag() { overscan_appropriate_flag = reader.flag() }
        if reader.flag() {
            var signal = VideoSignal(video_format: reader.bits(3), video_full_range_flag: reader.flag())
            if reader.flag() { signal.color = [reader.bits(8), reader.bits(8), reader.bits(8)] }
            videoSignal = signal
        }
        if reader.flag() {
            chroma_sample_loc_type = [
                try reader.unsigned("chroma_sample_loc_type_top_field", in: 0...5),
                try reader.unsigned("chroma_sample_loc_type_bottom_field", in: 0...5),
            ]
        }
        if reader.flag() {
            let found = Timing(
                num_units_in_tick: reader.bits(32), time_scale: reader.bits(32), fixed_frame_rate_flag: reader.flag())
            try reader.checkEnd("vui_parameters()")
            guard found.num_units_in_tick > 0, found.time_scale > 0 else {
                throw Malformed("num_units_in_tick and time_scale must not be zero")
            }
            timing = found
        }
        if reader.flag() { nal_hrd_parameters = try H264HRDParameters(&reader) }
        if reader.flag() { vcl_hrd_parameters = try H264HRDParameters(&reader) }
        if nal_hrd_parameters != nil || vcl_hrd_parameters != nil { low_delay_hrd_flag = reader.flag() }
        pic_struct_present_flag = reader.flag()
        if reader.flag() {
            restriction = Restriction(
                motion_vectors_over_pic_boundaries_flag: reader.flag(),
                max_bytes_per_pic_denom: try reader.unsigned("max_bytes_per_pic_denom", in: 0...16),
                max_bits_per_mb_denom: try reader.unsigned("max_bits_per_mb_denom", in: 0...16),
                log2_max_mv_length_horizontal: try reader.unsigned("log2_max_mv_length_horizontal", in: 0...16),
                log2_max_mv_length_vertical: try reader.unsigned("log2_max_mv_length_vertical", in: 0...16),
                max_num_reorder_frames: try reader.unsigned("max_num_reorder_frames", in: 0...16),
                max_dec_frame_buffering: try reader.unsigned("max_dec_frame_buffering", in: 0...16))
        }
        try reader.checkEnd("vui_parameters()")
    }
}
