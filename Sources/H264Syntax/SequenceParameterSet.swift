package import NALUnits
package import VideoBase

/// The sequence parameter set, seq_parameter_set_data(), H.264 7.3.2.1.1, for progressive 8-bit 4:2:0 video with
/// picture order count type 0.
///
/// The fields have the names and values of the standard.
package struct SequenceParameterSet: Sendable, Hashable {
    /// The profile, H.264 A.2.
    package var profile_idc: UInt8
    /// constraint_set0_flag … constraint_set5_flag in the high bits, as the byte is written to the stream.
    package var constraint_flags: UInt8
    /// The level, H.264 A.3.
    package var level_idc: UInt8
    /// The ID of the sequence parameter set, 0…31.
    package var seq_parameter_set_id = 0
    /// log2_max_frame_num_minus4 + 4, 4…16.
    package var log2_max_frame_num = 8
    /// log2_max_pic_order_cnt_lsb_minus4 + 4, 4…16.
    package var log2_max_pic_order_cnt_lsb = 8
    /// The maximum number of reference frames.
    package var max_num_ref_frames: Int
    /// Whether frame_num may have gaps.
    package var gaps_in_frame_num_value_allowed_flag = false
    /// pic_width_in_mbs_minus1 + 1: the coded width in macroblocks.
    package var pic_width_in_mbs: Int
    /// pic_height_in_map_units_minus1 + 1: the coded height in macroblocks.
    package var pic_height_in_map_units: Int
    /// Whether direct prediction in B slices works on 8×8 blocks.
    package var direct_8x8_inference_flag = true
    /// The cropping at the right edge, in crop units of two luma samples (4:2:0 frames).
    package var frame_crop_right_offset: Int
    /// The cropping at the bottom edge, in crop units of two luma samples.
    package var frame_crop_bottom_offset: Int
    /// The VUI parameters, or nil if they are not present.
    package var vui: VUIParameters?

    /// Creates the parameters for a profile, a level and a visible size.
    ///
    /// - Parameters:
    ///   - size: The visible size. Both sides must be even, because 4:2:0 is cropped in steps of two samples.
    ///   - codedSize: The size that the hardware encodes, a multiple of 16 that contains `size`. nil uses the smallest
    ///     multiple.
    ///   - references: The maximum number of reference frames.
    package init(
        profile: CodecProfile, level: Level, size: VideoSize, codedSize: VideoSize? = nil, references: Int,
        hasBFrames: Bool, vui: VUIParameters?
    ) {
        let coded = codedSize ?? size.aligned(to: 16)
        profile_idc = profile.profile_idc
        constraint_flags = profile.constraintFlags(level: level, hasBFrames: hasBFrames)
        level_idc = level.level_idc(for: profile)
        max_num_ref_frames = references
        pic_width_in_mbs = coded.width / 16
        pic_height_in_map_units = coded.height / 16
        frame_crop_right_offset = (coded.width - size.width) / 2
        frame_crop_bottom_offset = (coded.height - size.height) / 2
        self.vui = vui
    }

    /// Whether the coded size is cropped.
    package var frame_cropping_flag: Bool { frame_crop_right_offset > 0 || frame_crop_bottom_offset > 0 }

    /// The size that a decoder outputs.
    package var croppedSize: VideoSize {
        VideoSize(
            width: pic_width_in_mbs * 16 - frame_crop_right_offset * 2,
            height: pic_height_in_map_units * 16 - frame_crop_bottom_offset * 2)
    }

    /// The NAL unit without a start code.
    package var unit: [UInt8] {
        var w = BitWriter()
        w.u(8, profile_idc)
        w.u(8, constraint_flags)
        w.u(8, level_idc)
        w.ue(seq_parameter_set_id)
        if profile_idc == 100 {
            w.ue(1)  // chroma_format_idc: 4:2:0
            w.ue(0)  // bit_depth_luma_minus8
            w.ue(0)  // bit_depth_chroma_minus8
            w.flag(false)  // qpprime_y_zero_transform_bypass_flag
            w.flag(false)  // seq_scaling_matrix_present_flag
        }
        w.ue(log2_max_frame_num - 4)
        w.ue(0)  // pic_order_cnt_type
        w.ue(log2_max_pic_order_cnt_lsb - 4)
        w.ue(max_num_ref_frames)
        w.flag(gaps_in_frame_num_value_allowed_flag)
        w.ue(pic_width_in_mbs - 1)
        w.ue(pic_height_in_map_units - 1)
        w.flag(true)  // frame_mbs_only_flag
        w.flag(direct_8x8_inference_flag)
        writeCroppingAndVUI(to: &w)
        return w.unit(.sequenceParameterSet, nal_ref_idc: 3)
    }

    /// Writes the end of the set, from frame_cropping_flag on. These fields determine how pictures are displayed and
    /// buffered, not how they are coded. They can therefore replace the end of another encoder's set.
    package func writeCroppingAndVUI(to w: inout BitWriter) {
        w.flag(frame_cropping_flag)
        if frame_cropping_flag {
            w.ue(0)  // frame_crop_left_offset
            w.ue(frame_crop_right_offset)
            w.ue(0)  // frame_crop_top_offset
            w.ue(frame_crop_bottom_offset)
        }
        w.flag(vui != nil)
        vui?.write(to: &w)
    }
}
