internal import CVA

/// The sequence parameters of H.264, which are valid from one IDR picture to the next:
/// VAEncSequenceParameterBufferH264.
///
/// The fields have the names of `va_enc_h264.h`. H.264 7.4.2.1 explains them.
package struct H264SequenceParameters: ParameterBuffer, Sendable, Hashable {
    package var seq_parameter_set_id: UInt8 = 0
    package var level_idc: UInt8
    /// The distance between I pictures, in pictures.
    package var intra_period: UInt32
    /// The distance between IDR pictures, in pictures.
    package var intra_idr_period: UInt32
    /// The number of B pictures between I or P pictures, plus 1; 0 if all pictures are I.
    package var ip_period: UInt32
    /// The bit rate in bits per second, or 0 if the rate control mode has none.
    package var bits_per_second: UInt32 = 0
    package var max_num_ref_frames: UInt32
    package var picture_width_in_mbs: UInt16
    package var picture_height_in_mbs: UInt16
    package var chroma_format_idc: UInt32 = 1
    package var frame_mbs_only_flag = true
    package var mb_adaptive_frame_field_flag = false
    package var seq_scaling_matrix_present_flag = false
    package var direct_8x8_inference_flag = true
    package var log2_max_frame_num_minus4: UInt32
    package var pic_order_cnt_type: UInt32
    package var log2_max_pic_order_cnt_lsb_minus4: UInt32
    package var delta_pic_order_always_zero_flag = false
    package var bit_depth_luma_minus8: UInt8 = 0
    package var bit_depth_chroma_minus8: UInt8 = 0
    /// The cropping in crop units (H.264 7.4.2.1.1), or nil for none.
    package var crop: Crop?
    package var vui: VUI?

    package struct Crop: Sendable, Hashable {
        package var left: UInt32
        package var right: UInt32
        package var top: UInt32
        package var bottom: UInt32
        package init(left: UInt32 = 0, right: UInt32 = 0, top: UInt32 = 0, bottom: UInt32 = 0) {
            self.left = left
            self.right = right
            self.top = top
            self.bottom = bottom
        }
    }

    /// The part of the VUI that the driver receives.
    package struct VUI: Sendable, Hashable {
        /// The aspect_ratio_idc, or nil if the aspect ratio is not written.
        package var aspect_ratio_idc: UInt8?
        package var sar_width: UInt32 = 0
        package var sar_height: UInt32 = 0
        /// The values of num_units_in_tick and time_scale, or nil if they are not written.
        package var timing: Timing?
        package var fixed_frame_rate_flag = false
        package var low_delay_hrd_flag = false
        /// The bitstream restrictions, or nil if they are not written.
        package var restriction: Restriction?
        package init() {}
    }

    package struct Timing: Sendable, Hashable {
        package var num_units_in_tick: UInt32
        package var time_scale: UInt32
        package init(num_units_in_tick: UInt32, time_scale: UInt32) {
            self.num_units_in_tick = num_units_in_tick
            self.time_scale = time_scale
        }
    }

    package struct Restriction: Sendable, Hashable {
        package var log2_max_mv_length_horizontal: UInt32 = 15
        package var log2_max_mv_length_vertical: UInt32 = 15
        package var motion_vectors_over_pic_boundaries_flag = true
        package init() {}
    }

    package init(
        level_idc: UInt8, intra_period: UInt32, intra_idr_period: UInt32, ip_period: UInt32, max_num_ref_frames: UInt32,
        picture_width_in_mbs: UInt16, picture_height_in_mbs: UInt16, log2_max_frame_num_minus4: UInt32,
        pic_order_cnt_type: UInt32,
        log2_max_pic_order_cnt_lsb_minus4: UInt32
    ) {
        self.level_idc = level_idc
        self.intra_period = intra_period
        self.intra_idr_period = intra_idr_period
        self.ip_period = ip_period
        self.max_num_ref_frames = max_num_ref_frames
        self.picture_width_in_mbs = picture_width_in_mbs
        self.picture_height_in_mbs = picture_height_in_mbs
        self.log2_max_frame_num_minus4 = log2_max_frame_num_minus4
        self.pic_order_cnt_type = pic_order_cnt_type
        self.log2_max_pic_order_cnt_lsb_minus4 = log2_max_pic_order_cnt_lsb_minus4
    }

    package func withBuffers(_ body: (BufferType, UnsafeRawBufferPointer) -> Void) {
        unsafe withBytes(lowered, as: .sequence, to: body)
    }

    var lowered: VAEncSequenceParameterBufferH264 {
        var c = VAEncSequenceParameterBufferH264()
        c.seq_parameter_set_id = seq_parameter_set_id
        c.level_idc = level_idc
        c.intra_period = intra_period
        c.intra_idr_period = intra_idr_period
        c.ip_period = ip_period
        c.bits_per_second = bits_per_second
        c.max_num_ref_frames = max_num_ref_frames
        c.picture_width_in_mbs = picture_width_in_mbs
        c.picture_height_in_mbs = picture_height_in_mbs
        unsafe c.seq_fields.bits.chroma_format_idc = chroma_format_idc
        unsafe c.seq_fields.bits.frame_mbs_only_flag = frame_mbs_only_flag ? 1 : 0
        unsafe c.seq_fields.bits.mb_adaptive_frame_field_flag = mb_adaptive_frame_field_flag ? 1 : 0
        unsafe c.seq_fields.bits.seq_scaling_matrix_present_flag = seq_scaling_matrix_present_flag ? 1 : 0
        unsafe c.seq_fields.bits.direct_8x8_inference_flag = direct_8x8_inference_flag ? 1 : 0
        unsafe c.seq_fields.bits.log2_max_frame_num_minus4 = log2_max_frame_num_minus4
        unsafe c.seq_fields.bits.pic_order_cnt_type = pic_order_cnt_type
        unsafe c.seq_fields.bits.log2_max_pic_order_cnt_lsb_minus4 = log2_max_pic_order_cnt_lsb_minus4
        unsafe c.seq_fields.bits.delta_pic_order_always_zero_flag = delta_pic_order_always_zero_flag ? 1 : 0
        c.bit_depth_luma_minus8 = bit_depth_luma_minus8
        c.bit_depth_chroma_minus8 = bit_depth_chroma_minus8
        if let crop {
            c.frame_cropping_flag = 1
            c.frame_crop_left_offset = crop.left
            c.frame_crop_right_offset = crop.right
            c.frame_crop_top_offset = crop.top
            c.frame_crop_bottom_offset = crop.bottom
        }
        if let vui { lower(vui, into: &c) }
        return c
    }

    private func lower(_ vui: VUI, into c: inout VAEncSequenceParameterBufferH264) {
        c.vui_parameters_present_flag = 1
        if let idc = vui.aspect_ratio_idc {
            unsafe c.vui_fields.bits.aspect_ratio_info_present_flag = 1
            c.aspect_ratio_idc = idc
            c.sar_width = vui.sar_width
            c.sar_height = vui.sar_height
        }
        if let timing = vui.timing {
            unsafe c.vui_fields.bits.timing_info_present_flag = 1
            c.num_units_in_tick = timing.num_units_in_tick
            c.time_scale = timing.time_scale
        }
        unsafe c.vui_fields.bits.fixed_frame_rate_flag = vui.fixed_frame_rate_flag ? 1 : 0
        unsafe c.vui_fields.bits.low_delay_hrd_flag = vui.low_delay_hrd_flag ? 1 : 0
        if let restriction = vui.restriction {
            unsafe c.vui_fields.bits.bitstream_restriction_flag = 1
            unsafe c.vui_fields.bits.log2_max_mv_length_horizontal = restriction.log2_max_mv_length_horizontal
            unsafe c.vui_fields.bits.log2_max_mv_length_vertical = restriction.log2_max_mv_length_vertical
            unsafe c.vui_fields.bits.motion_vectors_over_pic_boundaries_flag =
                restriction.motion_vectors_over_pic_boundaries_flag ? 1 : 0
        }
    }
}
