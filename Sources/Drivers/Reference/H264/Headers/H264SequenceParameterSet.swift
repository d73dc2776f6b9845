/// seq_parameter_set_data, H.264 7.3.2.1.1, limited to what the driver writes and reads: 8-bit 4:2:0 without scaling
/// lists.
package struct H264SequenceParameterSet: Equatable, Sendable {
    package var profile_idc: UInt8 = 100
    package var constraint_flags: UInt8 = 0
    package var level_idc: UInt8 = 40
    package var seq_parameter_set_id = 0
    package var chroma_format_idc = 1
    package var bit_depth_luma = 8
    package var bit_depth_chroma = 8
    package var seq_scaling_matrix_present_flag = false
    package var log2_max_frame_num = 4
    package var pic_order_cnt_type = 0
    package var log2_max_pic_order_cnt_lsb = 4
    package var delta_pic_order_always_zero_flag = false
    package var offset_for_non_ref_pic = 0
    package var offset_for_top_to_bottom_field = 0
    /// offset_for_ref_frame, with one entry for each frame of the picture order count cycle.
    package var offset_for_ref_frame: [Int] = []
    package var max_num_ref_frames = 1
    package var gaps_in_frame_num_value_allowed_flag = false
    package var pic_width_in_mbs = 1
    /// pic_height_in_map_units_minus1 + 1.
    package var pic_height_in_map_units = 1
    package var frame_mbs_only_flag = true
    package var mb_adaptive_frame_field_flag = false
    package var direct_8x8_inference_flag = true
    package var frame_cropping_flag = false
    /// The frame_crop offsets are in units of 2 luma samples (4:2:0 frames), and 0 without frame_cropping_flag.
    package var frame_crop_left_offset = 0
    package var frame_crop_right_offset = 0
    package var frame_crop_top_offset = 0
    package var frame_crop_bottom_offset = 0
    /// The VUI parameters, or nil if vui_parameters_present_flag is 0. They are written but not read.
    package var vui: VUIParameters?

    /// vui_parameters, E.1.1, limited to the fields of VA-API's buffer.
    package struct VUIParameters: Equatable, Sendable {
        /// aspect_ratio_idc, or nil if aspect_ratio_info_present_flag is 0. If it is 255, `sampleAspectRatio` has the
        /// width and height.
        var aspect_ratio_idc: UInt8?
        var sampleAspectRatio = (width: UInt16(0), height: UInt16(0))
        var timing: Timing?
        var restriction: Restriction?

        package struct Timing: Equatable, Sendable {
            var num_units_in_tick: UInt32
            var time_scale: UInt32
            var fixed_frame_rate_flag: Bool
        }

        package struct Restriction: Equatable, Sendable {
            var motion_vectors_over_pic_boundaries_flag: Bool
            var log2_max_mv_length_horizontal: Int
            var log2_max_mv_length_vertical: Int
            var max_num_reorder_frames: Int
            var max_dec_frame_buffering: Int
        }

        /// Makes parameters in which nothing is present.
        init() {}

        /// Makes parameters in which only bitstream_restriction is present.
        package init(max_num_reorder_frames: Int, max_dec_frame_buffering: Int) {
            restriction = Restriction(
                motion_vectors_over_pic_boundaries_flag: true, log2_max_mv_length_horizontal: 16, log2_max_mv_length_vertical: 16,
                max_num_reorder_frames: max_num_reorder_frames, max_dec_frame_buffering: max_dec_frame_buffering)
        }

        package static func == (a: VUIParameters, b: VUIParameters) -> Bool {
            a.aspect_ratio_idc == b.aspect_ratio_idc && a.sampleAspectRatio == b.sampleAspectRatio
                && a.timing == b.timing && a.restriction == b.restriction
        }
    }

    package init() {}

    /// Returns whether parameter sets of a profile contain chroma_format_idc and the fields after it, 7.3.2.1.1.
    package static func hasChromaFormat(_ profile_idc: UInt8) -> Bool {
        [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135].contains(profile_idc)
    }
}

// MARK: Writing

extension H264SequenceParameterSet {
    /// Returns the NAL unit with a four-byte start code.
    package func nalUnit() -> [UInt8] {
        var bits = HeaderBitWriter()
        write(to: &bits)
        bits.putTrailingBits()
        return EmulationPrevention.escape(bits.bytes, after: [0, 0, 0, 1, 0x67])
    }

    private func write(to bits: inout HeaderBitWriter) {
        bits.put(UInt32(profile_idc), 8)
        bits.put(UInt32(constraint_flags), 8)
        bits.put(UInt32(level_idc), 8)
        bits.putUnsigned(seq_parameter_set_id)
        if Self.hasChromaFormat(profile_idc) {
            bits.putUnsigned(chroma_format_idc)
            bits.putUnsigned(bit_depth_luma - 8)
            bits.putUnsigned(bit_depth_chroma - 8)
            bits.put(false)  // qpprime_y_zero_transform_bypass_flag
            bits.put(false)  // seq_scaling_matrix_present_flag
        }
        bits.putUnsigned(log2_max_frame_num - 4)
        bits.putUnsigned(pic_order_cnt_type)
        if pic_order_cnt_type == 0 {
            bits.putUnsigned(log2_max_pic_order_cnt_lsb - 4)
        } else if pic_order_cnt_type == 1 {
            bits.put(delta_pic_order_always_zero_flag)
            bits.putSigned(offset_for_non_ref_pic)
            bits.putSigned(offset_for_top_to_bottom_field)
            bits.putUnsigned(offset_for_ref_frame.count)
            for offset in offset_for_ref_frame { bits.putSigned(offset) }
        }
        bits.putUnsigned(max_num_ref_frames)
        bits.put(gaps_in_frame_num_value_allowed_flag)
        bits.putUnsigned(pic_width_in_mbs - 1)
        bits.putUnsigned(pic_height_in_map_units - 1)
        bits.put(frame_mbs_only_flag)
        if !frame_mbs_only_flag { bits.put(mb_adaptive_frame_field_flag) }
        bits.put(direct_8x8_inference_flag)
        bits.put(frame_cropping_flag)
        if frame_cropping_flag {
            bits.putUnsigned(frame_crop_left_offset)
            bits.putUnsigned(frame_crop_right_offset)
            bits.putUnsigned(frame_crop_top_offset)
            bits.putUnsigned(frame_crop_bottom_offset)
        }
        bits.put(vui != nil)
        if let vui { write(vui, to: &bits) }
    }

    private func write(_ vui: VUIParameters, to bits: inout HeaderBitWriter) {
        bits.put(vui.aspect_ratio_idc != nil)
        if let idc = vui.aspect_ratio_idc {
            bits.put(UInt32(idc), 8)
            if idc == 255 {
                bits.put(UInt32(vui.sampleAspectRatio.width), 16)
                bits.put(UInt32(vui.sampleAspectRatio.height), 16)
            }
        }
        bits.put(false)  // overscan_info_present_flag
        bits.put(false)  // video_signal_type_present_flag
        bits.put(false)  // chroma_loc_info_present_flag
        bits.put(vui.timing != nil)
        if let timing = vui.timing {
            bits.put(timing.num_units_in_tick, 32)
            bits.put(timing.time_scale, 32)
            bits.put(timing.fixed_frame_rate_flag)
        }
        bits.put(false)  // nal_hrd_parameters_present_flag
        bits.put(false)  // vcl_hrd_parameters_present_flag
        bits.put(false)  // pic_struct_present_flag
        bits.put(vui.restriction != nil)
        if let restriction = vui.restriction {
            bits.put(restriction.motion_vectors_over_pic_boundaries_flag)
            bits.putUnsigned(0)  // max_bytes_per_pic_denom: no limit
            bits.putUnsigned(0)  // max_bits_per_mb_denom: no limit
            bits.putUnsigned(restriction.log2_max_mv_length_horizontal)
            bits.putUnsigned(restriction.log2_max_mv_length_vertical)
            bits.putUnsigned(restriction.max_num_reorder_frames)
            bits.putUnsigned(restriction.max_dec_frame_buffering)
        }
    }
}

// MARK: Reading

extension H264SequenceParameterSet {
    /// Reads the RBSP of a sequence parameter set, without its NAL unit header, up to the cropping offsets. Returns nil
    /// if the data ends too early or a value is out of range.
    package init?(rbsp: [UInt8]) {
        var bits = HeaderBitReader(rbsp, bitCount: 8 * rbsp.count)
        profile_idc = UInt8(bits.get(8))
        constraint_flags = UInt8(bits.get(8))
        level_idc = UInt8(bits.get(8))
        seq_parameter_set_id = bits.unsigned()
        if Self.hasChromaFormat(profile_idc) {
            chroma_format_idc = bits.unsigned()
            if chroma_format_idc == 3 { _ = bits.flag() }
            bit_depth_luma = 8 + bits.unsigned()
            bit_depth_chroma = 8 + bits.unsigned()
            _ = bits.flag()
            seq_scaling_matrix_present_flag = bits.flag()
            if seq_scaling_matrix_present_flag { Self.skipScalingLists(&bits, count: chroma_format_idc == 3 ? 12 : 8) }
        }
        log2_max_frame_num = 4 + bits.unsigned()
        pic_order_cnt_type = bits.unsigned()
        if pic_order_cnt_type == 0 {
            log2_max_pic_order_cnt_lsb = 4 + bits.unsigned()
        } else if pic_order_cnt_type == 1 {
            delta_pic_order_always_zero_flag = bits.flag()
            offset_for_non_ref_pic = bits.signed()
            offset_for_top_to_bottom_field = bits.signed()
            let count = bits.unsigned()
            guard count <= 255 else { return nil }
            offset_for_ref_frame = (0..<count).map { _ in bits.signed() }
        }
        max_num_ref_frames = bits.unsigned()
        gaps_in_frame_num_value_allowed_flag = bits.flag()
        pic_width_in_mbs = bits.unsigned() + 1
        pic_height_in_map_units = bits.unsigned() + 1
        frame_mbs_only_flag = bits.flag()
        if !frame_mbs_only_flag { mb_adaptive_frame_field_flag = bits.flag() }
        direct_8x8_inference_flag = bits.flag()
        frame_cropping_flag = bits.flag()
        if frame_cropping_flag {
            frame_crop_left_offset = bits.unsigned()
            frame_crop_right_offset = bits.unsigned()
            frame_crop_top_offset = bits.unsigned()
            frame_crop_bottom_offset = bits.unsigned()
        }
        guard !bits.failed, seq_parameter_set_id <= 31, log2_max_frame_num <= 16, pic_order_cnt_type <= 2,
            log2_max_pic_order_cnt_lsb <= 16
        else { return nil }
    }

    /// Skips scaling_list, 7.3.2.1.1.1, `count` times, each with the flag before it.
    package static func skipScalingLists(_ bits: inout HeaderBitReader, count: Int) {
        for list in 0..<count where bits.flag() {
            var next = 8
            for _ in 0..<(list < 6 ? 16 : 64) where next != 0 { next = (next + bits.signed() + 256) & 255 }
        }
    }
}
