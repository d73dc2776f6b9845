public import NALUnits
public import VideoBase

/// seq_parameter_set_data(), H.264 7.3.2.1.1, for progressive 8-bit 4:2:0 with picture order count type 0.
///
/// Fields have the standard's names and values.
public struct SequenceParameterSet: Sendable, Hashable {
    public var profile_idc: UInt8
    /// constraint_set0_flag … constraint_set5_flag in the high bits, as the byte stands in the stream.
    public var constraint_flags: UInt8
    public var level_idc: UInt8
    public var seq_parameter_set_id = 0
    /// 4…16.
    public var log2_max_frame_num = 8
    /// 4…16.
    public var log2_max_pic_order_cnt_lsb = 8
    public var max_num_ref_frames: Int
    public var gaps_in_frame_num_value_allowed_flag = false
    public var pic_width_in_mbs: Int
    public var pic_height_in_map_units: Int
    public var direct_8x8_inference_flag = true
    /// In crop units of two luma samples (4:2:0 frames).
    public var frame_crop_right_offset: Int
    public var frame_crop_bottom_offset: Int
    public var vui: VUIParameters?

    /// The parameters that follow from profile, level and the visible size.
    ///
    /// `size` must be even on both sides: 4:2:0 crops in steps of two. `codedSize` is what the hardware codes, a
    /// multiple of 16 that holds `size`; nil takes the smallest.
    public init(
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

    /// frame_cropping_flag.
    public var frame_cropping_flag: Bool { frame_crop_right_offset > 0 || frame_crop_bottom_offset > 0 }

    /// What a decoder shows.
    public var croppedSize: VideoSize {
        VideoSize(
            width: pic_width_in_mbs * 16 - frame_crop_right_offset * 2,
            height: pic_height_in_map_units * 16 - frame_crop_bottom_offset * 2)
    }

    /// The NAL unit, without a start code.
    public var unit: [UInt8] {
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
        return w.unit(.sequenceParameterSet, refIdc: 3)
    }

    /// The end of the set, from frame_cropping_flag on: what says how the pictures are shown and not how they are
    /// coded, so that it can stand behind the beginning of another encoder's set.
    public func writeCroppingAndVUI(to w: inout BitWriter) {
        w.flag(frame_cropping_flag)
        if frame_cropping_flag {
            w.ue(0)
            w.ue(frame_crop_right_offset)
            w.ue(0)
            w.ue(frame_crop_bottom_offset)
        }
        w.flag(vui != nil)
        vui?.write(to: &w)
    }
}
