public import NALUnits
public import VideoBase

/// hrd_parameters(1, …), H.265 E.2.2, of whole access units, with one schedule (cpb_cnt_minus1 0). Fields have the
/// standard's names and values.
public struct HRDParameters: Sendable, Hashable {
    /// The rate and buffer over all NAL units (NAL) and over slices alone (VCL) are given; one at least is true.
    public var nal_hrd_parameters_present_flag = true
    public var vcl_hrd_parameters_present_flag = false
    public var schedule: DeliverySchedule
    /// initial_cpb_removal_delay_length_minus1 + 1: bits of the buffering period's delays, 1…32.
    public var initial_cpb_removal_delay_length = 24
    /// au_cpb_removal_delay_length_minus1 + 1: bits of picture timing's removal delay, 1…32.
    public var au_cpb_removal_delay_length = 24
    /// dpb_output_delay_length_minus1 + 1, 1…32.
    public var dpb_output_delay_length = 24
    /// Pictures of the highest sub-layer come at the timing's rate exactly: one tick to a picture.
    public var fixed_pic_rate_general_flag: Bool
    /// Pictures may be removed late where they are too large to arrive in time (C.2.3); only without a fixed rate.
    public var low_delay_hrd_flag = false

    /// With the schedule nearest below a rate and a buffer size in bits.
    public init(bitrate: BitsPerSecond, cpbSize: Int, isConstant: Bool, fixedFrameRate: Bool = true) {
        schedule = DeliverySchedule(bitrate: bitrate, cpbSize: cpbSize, isConstant: isConstant)
        initial_cpb_removal_delay_length = schedule.initialDelayLength
        fixed_pic_rate_general_flag = fixedFrameRate
    }

    /// - Parameter subLayers: the temporal sub-layers. Those below the highest say the same rate and buffer, which
    ///   bound them too, and no fixed rate.
    func write(to w: inout BitWriter, subLayers: Int) {
        w.flag(nal_hrd_parameters_present_flag)
        w.flag(vcl_hrd_parameters_present_flag)
        if nal_hrd_parameters_present_flag || vcl_hrd_parameters_present_flag {
            w.flag(false)  // sub_pic_hrd_params_present_flag
            schedule.writeScales(to: &w)
            w.u(5, initial_cpb_removal_delay_length - 1)
            w.u(5, au_cpb_removal_delay_length - 1)
            w.u(5, dpb_output_delay_length - 1)
        }
        for index in 0..<subLayers {
            let isFixed = fixed_pic_rate_general_flag && index == subLayers - 1
            w.flag(isFixed)  // fixed_pic_rate_general_flag
            if !isFixed { w.flag(false) }  // fixed_pic_rate_within_cvs_flag
            if isFixed { w.ue(0) } else { w.flag(low_delay_hrd_flag) }  // elemental_duration_in_tc_minus1
            if isFixed || !low_delay_hrd_flag { w.ue(0) }  // cpb_cnt_minus1
            for isPresent in [nal_hrd_parameters_present_flag, vcl_hrd_parameters_present_flag] where isPresent {
                schedule.writeValues(to: &w)
            }
        }
    }
}
