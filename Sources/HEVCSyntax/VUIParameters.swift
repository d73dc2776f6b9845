public import NALUnits
public import VideoBase

/// vui_parameters(), H.265 E.2.1. Fields have the standard's names; what is nil is not present.
public struct VUIParameters: Sendable, Hashable {
    public var display: DisplayInformation
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
        display = DisplayInformation(sampleAspectRatio: sampleAspectRatio, color: color)
        self.frameRate = frameRate
        self.hrd = hrd
    }

    /// vui_num_units_in_tick and vui_time_scale: a tick to a frame; nil where they do not fit 32 bits.
    public var timing: TickTiming? { frameRate.flatMap(TickTiming.init) }

    /// The HRD that is written.
    public var presentHRD: HRDParameters? { timing == nil ? nil : hrd }

    func write(to w: inout BitWriter, subLayers: Int) {
        display.write(to: &w)
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
}
