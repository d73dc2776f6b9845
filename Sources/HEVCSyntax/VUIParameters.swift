import NALWriting
public import VideoBase

/// vui_parameters(), H.265 E.2.1. Fields have the standard's names; what is nil is not present.
public struct VUIParameters: Sendable, Hashable {
    /// Width to height of a sample; nil: not known.
    public var sampleAspectRatio: Rational?
    /// 5: unspecified video format.
    public var video_format: UInt8 = 5
    public var color = ColorDescription.unspecified
    /// chroma_sample_loc_type of both fields, 0…5 (Figure E.1; 2 is the top left, as in HDR10); nil: not said, which
    /// means 0.
    public var chroma_sample_loc_type: Int?
    /// Picture timing messages carry pic_struct, source_scan_type and duplicate_flag.
    public var frame_field_info_present_flag = false
    /// Frames per second; the tick is a frame's time. nil: no timing info.
    public var frameRate: Rational?
    /// vui_num_ticks_poc_diff_one_minus1 + 1: order counts go up by one in so many ticks
    /// (vui_poc_proportional_to_timing_flag); nil: not said. Written only where there is timing.
    public var vui_num_ticks_poc_diff_one: Int?
    /// Written only where there is timing.
    public var hrd: HRDParameters?
    /// bitstream_restriction: bound on how finely pictures are cut (min_spatial_segmentation_idc, 0: none), with every
    /// other field at what means no limit; nil: not present.
    public var min_spatial_segmentation_idc: Int?

    public init(
        sampleAspectRatio: Rational? = nil, color: ColorDescription = .unspecified, frameRate: Rational? = nil,
        hrd: HRDParameters? = nil
    ) {
        self.sampleAspectRatio = sampleAspectRatio
        self.color = color
        self.frameRate = frameRate
        self.hrd = hrd
    }

    /// Table E.1: the ratios that have a number of their own, 1 on.
    private static let knownAspectRatios = [
        (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11), (80, 33), (18, 11), (15, 11),
        (64, 33), (160, 99), (4, 3), (3, 2), (2, 1),
    ]

    /// aspect_ratio_idc, and sar_width and sar_height where it is EXTENDED_SAR (255); nil where the ratio is not known
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

    /// vui_num_units_in_tick and vui_time_scale: a tick to a frame; nil where they do not fit 32 bits.
    public var timing: TickTiming? { frameRate.flatMap(TickTiming.init) }

    /// The HRD that is written.
    public var presentHRD: HRDParameters? { timing == nil ? nil : hrd }

    func write(to w: inout BitWriter, subLayers: Int) {
        writeDisplay(to: &w)
        w.flag(false)  // neutral_chroma_indication_flag
        w.flag(false)  // field_seq_flag
        w.flag(frame_field_info_present_flag)
        w.flag(false)  // default_display_window_flag
        w.flag(timing != nil)
        if let timing {
            timing.write(to: &w)
            w.flag(vui_num_ticks_poc_diff_one != nil)  // vui_poc_proportional_to_timing_flag
            if let vui_num_ticks_poc_diff_one { w.ue(vui_num_ticks_poc_diff_one - 1) }
            w.flag(presentHRD != nil)
            presentHRD?.write(to: &w, subLayers: subLayers)
        }
        w.flag(min_spatial_segmentation_idc != nil)  // bitstream_restriction_flag
        if let min_spatial_segmentation_idc {
            w.flag(false)  // tiles_fixed_structure_flag
            w.flag(true)  // motion_vectors_over_pic_boundaries_flag
            w.flag(false)  // restricted_ref_pic_lists_flag
            w.ue(min_spatial_segmentation_idc)
            w.ue(0)  // max_bytes_per_pic_denom: no limit
            w.ue(0)  // max_bits_per_min_cu_denom: no limit
            w.ue(15)  // log2_max_mv_length_horizontal
            w.ue(15)  // log2_max_mv_length_vertical
        }
    }

    /// The beginning: how samples are shown.
    private func writeDisplay(to w: inout BitWriter) {
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
        w.flag(chroma_sample_loc_type != nil)
        if let chroma_sample_loc_type {
            w.ue(chroma_sample_loc_type)
            w.ue(chroma_sample_loc_type)
        }
    }
}
