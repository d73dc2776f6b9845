import NALWriting
public import VideoBase

/// vui_parameters(), H.264 E.1.1. Fields have the standard's names; what is nil is not present.
public struct VUIParameters: Sendable, Hashable {
    /// Width to height of a sample; nil: not known.
    public var sampleAspectRatio: Rational?
    /// 5: unspecified video format.
    public var video_format: UInt8 = 5
    public var color = ColorDescription.unspecified
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
        self.sampleAspectRatio = sampleAspectRatio
        self.color = color
        self.frameRate = frameRate
        fixed_frame_rate_flag = fixedFrameRate
        max_num_reorder_frames = maxReorderFrames
        max_dec_frame_buffering = maxDecFrameBuffering
    }

    /// Table E-1: the ratios that have a number of their own, 1 on.
    private static let knownAspectRatios = [
        (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11), (80, 33), (18, 11), (15, 11),
        (64, 33), (160, 99), (4, 3), (3, 2), (2, 1),
    ]

    /// aspect_ratio_idc, and sar_width and sar_height where it is Extended_SAR (255); nil where the ratio is not known
    /// or has no 16-bit form.
    public var aspectRatio: (idc: UInt8, width: Int, height: Int)? {
        guard let ratio = sampleAspectRatio?.reduced, ratio.numerator > 0, ratio.numerator < 65536,
            ratio.denominator < 65536
        else { return nil }
        if let index = Self.knownAspectRatios.firstIndex(where: { $0 == (ratio.numerator, ratio.denominator) }) {
            return (UInt8(index + 1), 0, 0)
        }
        return (255, ratio.numerator, ratio.denominator)
    }

    /// num_units_in_tick and time_scale: two ticks to a frame; nil where they do not fit 32 bits.
    public var timing: (num_units_in_tick: UInt32, time_scale: UInt32)? {
        guard let rate = frameRate?.reduced, rate.numerator > 0,
            let units = UInt32(exactly: rate.denominator), let scale = UInt32(exactly: rate.numerator * 2)
        else { return nil }
        return (units, scale)
    }

    func write(to w: inout BitWriter) {
        w.flag(aspectRatio != nil)
        if let aspectRatio {
            w.u(8, aspectRatio.idc)
            if aspectRatio.idc == 255 {
                w.u(16, aspectRatio.width)
                w.u(16, aspectRatio.height)
            }
        }
        w.flag(false)  // overscan_info_present_flag
        let signalType = color.isSpecified || color.fullRange != nil
        w.flag(signalType)
        if signalType {
            w.u(3, video_format)
            w.flag(color.fullRange ?? false)
            w.flag(color.isSpecified)
            if color.isSpecified {
                w.u(8, color.primaries)
                w.u(8, color.transfer)
                w.u(8, color.matrix)
            }
        }
        w.flag(false)  // chroma_loc_info_present_flag
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
