/// seq_parameter_set_data() (H.264 7.3.2.1.1).
package struct H264SequenceParameterSet: Sendable, Hashable {
    package var profile_idc: Int
    /// constraint_set0_flag to constraint_set5_flag; the first is bit 7.
    package var constraint_flags: Int
    package var level_idc: Int
    package var seq_parameter_set_id: Int
    package var chroma_format_idc = 1
    package var separate_colour_plane_flag = false
    package var bit_depth_luma = 8
    package var bit_depth_chroma = 8
    package var qpprime_y_zero_transform_bypass_flag = false
    package var seq_scaling_matrix_present_flag = false
    package var log2_max_frame_num: Int
    package var pic_order_cnt_type: Int
    package var log2_max_pic_order_cnt_lsb = 4
    package var delta_pic_order_always_zero_flag = false
    package var offset_for_non_ref_pic = 0
    package var offset_for_top_to_bottom_field = 0
    package var offset_for_ref_frame: [Int] = []
    package var max_num_ref_frames: Int
    package var gaps_in_frame_num_value_allowed_flag: Bool
    package var pic_width_in_mbs: Int
    package var pic_height_in_map_units: Int
    package var frame_mbs_only_flag: Bool
    package var mb_adaptive_frame_field_flag = false
    package var direct_8x8_inference_flag: Bool
    package var frame_cropping_flag: Bool
    /// The frame_crop offsets are 0 without frame_cropping_flag.
    package var frame_crop_left_offset = 0
    package var frame_crop_right_offset = 0
    package var frame_crop_top_offset = 0
    package var frame_crop_bottom_offset = 0
    package var vui: H264VUIParameters?

    /// MaxFrameNum.
    package var maxFrameNum: Int { 1 << log2_max_frame_num }
    /// FrameHeightInMbs.
    package var frameHeightInMbs: Int { pic_height_in_map_units * (frame_mbs_only_flag ? 1 : 2) }
    /// The number of macroblocks in a frame: PicWidthInMbs · FrameHeightInMbs.
    package var macroblocksPerFrame: Int { pic_width_in_mbs * frameHeightInMbs }
    /// ChromaArrayType.
    package var chromaArrayType: Int { separate_colour_plane_flag ? 0 : chroma_format_idc }
    package var constraint_set3_flag: Bool { constraint_flags & 0x10 != 0 }

    /// The visible width and height in luma samples (7-19 to 7-22).
    package var visibleSize: (width: Int, height: Int) {
        let unitX = chromaArrayType == 1 || chromaArrayType == 2 ? 2 : 1
        let unitY = (chromaArrayType == 1 ? 2 : 1) * (frame_mbs_only_flag ? 1 : 2)
        return (
            pic_width_in_mbs * 16 - unitX * (frame_crop_left_offset + frame_crop_right_offset),
            frameHeightInMbs * 16 - unitY * (frame_crop_top_offset + frame_crop_bottom_offset)
        )
    }

    /// The profiles whose parameter sets contain the chroma format (7.3.2.1.1).
    private static let withChromaFormat: Set<Int> = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]

    /// Parses a sequence parameter set.
    ///
    /// - Throws: `Malformed` if the set cannot be read or has a value that is out of range.
    init(rbsp: [UInt8]) throws(Malformed) {
        var reader = BitReader(rbsp)
        profile_idc = reader.bits(8)
        constraint_flags = reader.bits(8)
        level_idc = reader.bits(8)
        seq_parameter_set_id = try reader.unsigned("seq_parameter_set_id", in: 0...31)
        if Self.withChromaFormat.contains(profile_idc) {
            chroma_format_idc = try reader.unsigned("chroma_format_idc", in: 0...3)
            if chroma_format_idc == 3 { separate_colour_plane_flag = reader.flag() }
            bit_depth_luma = try reader.unsigned("bit_depth_luma_minus8", in: 0...6) + 8
            bit_depth_chroma = try reader.unsigned("bit_depth_chroma_minus8", in: 0...6) + 8
            qpprime_y_zero_transform_bypass_flag = reader.flag()
            seq_scaling_matrix_present_flag = reader.flag()
            if seq_scaling_matrix_present_flag {
                try H264ScalingLists.skip(&reader, count: chroma_format_idc == 3 ? 12 : 8)
            }
        }
        log2_max_frame_num = try reader.unsigned("log2_max_frame_num_minus4", in: 0...12) + 4
        pic_order_cnt_type = try reader.unsigned("pic_order_cnt_type", in: 0...2)
        if pic_order_cnt_type == 0 {
            log2_max_pic_order_cnt_lsb = try reader.unsigned("log2_max_pic_order_cnt_lsb_minus4", in: 0...12) + 4
        } else if pic_order_cnt_type == 1 {
            delta_pic_order_always_zero_flag = reader.flag()
            offset_for_non_ref_pic = reader.signed()
            offset_for_top_to_bottom_field = reader.signed()
            let count = try reader.unsigned("num_ref_frames_in_pic_order_cnt_cycle", in: 0...255)
            for _ in 0..<count { offset_for_ref_frame.append(reader.signed()) }
        }
        max_num_ref_frames = try reader.unsigned("max_num_ref_frames", in: 0...16)
        gaps_in_frame_num_value_allowed_flag = reader.flag()
        // Level 6.2 limits each side to √(8 · MaxFS) (A.3.1).
        pic_width_in_mbs = try reader.unsigned("pic_width_in_mbs_minus1", in: 0...1054) + 1
        pic_height_in_map_units = try reader.unsigned("pic_height_in_map_units_minus1", in: 0...1054) + 1
        frame_mbs_only_flag = reader.flag()
        if !frame_mbs_only_flag { mb_adaptive_frame_field_flag = reader.flag() }
        direct_8x8_inference_flag = reader.flag()
        frame_cropping_flag = reader.flag()
        if frame_cropping_flag {
            frame_crop_left_offset = try reader.unsigned("frame_crop_left_offset", in: 0...17000)
            frame_crop_right_offset = try reader.unsigned("frame_crop_right_offset", in: 0...17000)
            frame_crop_top_offset = try reader.unsigned("frame_crop_top_offset", in: 0...17000)
            frame_crop_bottom_offset = try reader.unsigned("frame_crop_bottom_offset", in: 0...17000)
        }
        if reader.flag() { vui = try H264VUIParameters(&reader) }
        try reader.checkEnd("the SPS")
        let size = visibleSize
        guard size.width > 0, size.height > 0 else { throw Malformed("cropping leaves \(size.width)×\(size.height)") }
        if !frame_mbs_only_flag, !direct_8x8_inference_flag {
            throw Malformed("direct_8x8_inference_flag must be 1 if fields are allowed")
        }
    }
}

enum H264ScalingLists {
    /// Skips the scaling lists of a parameter set (7.3.2.1.1.1).
    static func skip(_ reader: inout BitReader, count: Int) throws(Malformed) {
        for index in 0..<count where reader.flag() {
            var last = 8
            var next = 8
            for _ in 0..<(index < 6 ? 16 : 64) {
                if next != 0 {
                    next = (last + (try reader.signed("delta_scale", in: -128...127)) + 256) % 256
                }
                if next != 0 { last = next }
            }
        }
    }
}
