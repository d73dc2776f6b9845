package import NALUnits
package import VideoBase

/// The VUI parameters, vui_parameters(), H.264 E.1.1. The fields have the names of the standard. A field that is nil is
/// not present.
package struct VUIParameters: Sendable, Hashable {
    /// The display properties of samples.
    package var display: DisplayInformation
    /// The frame rate in frames per second, or nil if the timing information is not present. A tick is half a frame
    /// (E.2.1).
    package var frameRate: Rational?
    /// Whether frames have exactly this rate. It is false if the input's times vary.
    package var fixed_frame_rate_flag: Bool
    /// The HRD parameters for the whole stream (C.1), or nil if they are not present.
    package var nal_hrd_parameters: HRDParameters?
    /// The HRD parameters for slices only (C.1), or nil if they are not present.
    package var vcl_hrd_parameters: HRDParameters?
    /// Whether a picture that is too large to arrive in time may be removed late from the coded picture buffer (C.1.2).
    package var low_delay_hrd_flag = false
    /// Whether picture timing messages contain pic_struct.
    package var pic_struct_present_flag = false
    /// The maximum number of frames that precede any frame in decoding order and follow it in output order, or nil if
    /// the bitstream restrictions are not present.
    package var max_num_reorder_frames: Int?
    /// The size of the decoded picture buffer in frames, written with the bitstream restrictions.
    package var max_dec_frame_buffering: Int

    /// Creates VUI parameters without HRD parameters.
    package init(
        sampleAspectRatio: Rational? = nil, color: ColorDescription = .unspecified, frameRate: Rational? = nil,
        fixed_frame_rate_flag: Bool = true, max_num_reorder_frames: Int?, max_dec_frame_buffering: Int
    ) {
        display = DisplayInformation(sampleAspectRatio: sampleAspectRatio, color: color)
        self.frameRate = frameRate
        self.fixed_frame_rate_flag = fixed_frame_rate_flag
        self.max_num_reorder_frames = max_num_reorder_frames
        self.max_dec_frame_buffering = max_dec_frame_buffering
    }

    /// num_units_in_tick and time_scale, with two ticks per frame; nil if they do not fit 32 bits.
    package var timing: (num_units_in_tick: UInt32, time_scale: UInt32)? {
        guard let rate = frameRate?.reduced, rate.numerator > 0,
            let units = UInt32(exactly: rate.denominator), let scale = UInt32(exactly: rate.numerator * 2)
        else { return nil }
        return (units, scale)
    }

    func write(to w: inout BitWriter) {
        display.write(to: &w)
        w.flag(timing != nil)
        if let timing {
            w.u(32, timing.num_units_in_tick)
            w.u(32, timing.time_scale)
            w.flag(fixed_frame_rate_flag)
        }
        w.flag(nal_hrd_parameters != nil)
        nal_hrd_parameters?.write(to: &w)
        w.flag(vcl_hrd_parameters != nil)
        vcl_hrd_parameters?.write(to: &w)
        if nal_hrd_parameters != nil || vcl_hrd_parameters != nil { w.flag(low_delay_hrd_flag) }
        w.flag(pic_struct_present_flag)
        w.flag(max_num_reorder_frames != nil)
        if let max_num_reorder_frames {
            w.flag(true)  // motion_vectors_over_pic_boundaries_flag
            w.ue(0)  // max_bytes_per_pic_denom: no limit
            w.ue(0)  // max_bits_per_mb_denom: no limit
            w.ue(15)  // log2_max_mv_length_horizontal
            w.ue(15)  // log2_max_mv_length_vertical
            w.ue(max_num_reorder_frames)
            w.ue(max_dec_frame_buffering)
        }
    }
}
