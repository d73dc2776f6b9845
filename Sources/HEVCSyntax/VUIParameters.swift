package import NALUnits
package import VideoBase

/// The VUI parameters, vui_parameters(), H.265 E.2.1. The fields have the names of the standard. A field that is nil is
/// not present.
package struct VUIParameters: Sendable, Hashable {
    /// The display properties of samples.
    package var display: DisplayInformation
    /// Whether picture timing messages contain pic_struct, source_scan_type and duplicate_flag.
    package var frame_field_info_present_flag = false
    /// The frame rate in frames per second, or nil if the timing information is not present. A tick is one frame.
    package var frameRate: Rational?
    /// vui_num_ticks_poc_diff_one_minus1 + 1: the number of ticks per increment of the picture order count
    /// (vui_poc_proportional_to_timing_flag), or nil if it is not specified. Written only with timing information.
    package var vui_num_ticks_poc_diff_one: Int?
    /// The HRD parameters, written only with timing information.
    package var hrd: HRDParameters?
    /// A limit on the spatial segmentation of pictures (0 for no limit), or nil if the bitstream restrictions are not
    /// present. The other limits are written with the value for no limit.
    package var min_spatial_segmentation_idc: Int?

    /// Creates VUI parameters.
    package init(
        sampleAspectRatio: Rational? = nil, color: ColorDescription = .unspecified, frameRate: Rational? = nil,
        hrd: HRDParameters? = nil
    ) {
        display = DisplayInformation(sampleAspectRatio: sampleAspectRatio, color: color)
        self.frameRate = frameRate
        self.hrd = hrd
    }

    /// vui_num_units_in_tick and vui_time_scale, with one tick per frame; nil if they do not fit 32 bits.
    package var timing: TickTiming? { frameRate.flatMap(TickTiming.init) }

    /// The HRD parameters that are written; nil without timing information.
    package var presentHRD: HRDParameters? { timing == nil ? nil : hrd }

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
