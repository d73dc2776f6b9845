public import NALUnits
public import VideoBase

/// vui_parameters(), H.264 E.1.1. Fields have the standard's names; what is nil is not present.
public struct VUIParameters: Sendable, Hashable {
    public var display: DisplayInformation
    /// Frames per second; the tick is half a frame's time (E.2.1). nil: no timing_info.
    public var frameRate: Rational?
    /// Frames come at that rate exactly; false where the input's times vary.
    public var fixed_frame_rate_flag: Bool
    /// The HRD over the whole stream, and over slices alone (C.1); nil: not present.
    public var nal_hrd_parameters: HRDParameters?
    public var vcl_hrd_parameters: HRDParameters?
    /// Pictures may be removed late where they are too large to arrive in time (C.1.2).
    public var low_delay_hrd_flag = false
    /// Picture timing messages carry pic_struct.
    public var pic_struct_present_flag = false
    /// bitstream_restriction: frames that precede any frame in decoding order and follow it in output order.
    public var max_num_reorder_frames: Int?
    public var max_dec_frame_buffering: Int

    public init(
        sampleAspectRatio: Rational? = nil, color: ColorDescription = .unspecified, frameRate: Rational? = nil,
        fixedFrameRate: Bool = true, maxReorderFrames: Int?, maxDecFrameBuffering: Int
    ) {
        display = DisplayInformation(sampleAspectRatio: sampleAspectRatio, color: color)
        self.frameRate = frameRate
        fixed_frame_rate_flag = fixedFrameRate
        max_num_reorder_frames = maxReorderFrames
        max_dec_frame_buffering = maxDecFrameBuffering
    }

    /// num_units_in_tick and time_scale: two ticks to a frame; nil where they do not fit 32 bits.
    public var timing: (num_units_in_tick: UInt32, time_scale: UInt32)? {
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
