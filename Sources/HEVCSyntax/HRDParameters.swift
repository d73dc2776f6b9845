package import NALUnits
package import VideoBase

/// The HRD parameters, hrd_parameters(1, …), H.265 E.2.2, for whole access units, with one schedule (cpb_cnt_minus1 0).
/// The fields have the names and values of the standard.
package struct HRDParameters: Sendable, Hashable {
    /// Whether the rate and buffer for all NAL units are present. At least one of this and the following flag is true.
    package var nal_hrd_parameters_present_flag = true
    /// Whether the rate and buffer for slices only are present.
    package var vcl_hrd_parameters_present_flag = false
    /// The bit rate and the buffer size.
    package var schedule: DeliverySchedule
    /// initial_cpb_removal_delay_length_minus1 + 1: the size of the delays in buffering period messages in bits, 1…32.
    package var initial_cpb_removal_delay_length = 24
    /// au_cpb_removal_delay_length_minus1 + 1: the size of the removal delay in picture timing messages in bits, 1…32.
    package var au_cpb_removal_delay_length = 24
    /// dpb_output_delay_length_minus1 + 1: the size of the output delay in bits, 1…32.
    package var dpb_output_delay_length = 24
    /// Whether pictures of the highest sub-layer have exactly the rate of the timing information, with one tick per
    /// picture.
    package var fixed_pic_rate_general_flag: Bool
    /// Whether a picture that is too large to arrive in time may be removed late from the coded picture buffer (C.2.3).
    /// A stream with a fixed rate must not set it.
    package var low_delay_hrd_flag = false

    /// Creates parameters with the nearest schedule at or below a rate and a buffer size in bits.
    package init(bitrate: BitsPerSecond, cpbSize: Int, isConstant: Bool, fixed_pic_rate_general_flag: Bool = true) {
        schedule = DeliverySchedule(bitrate: bitrate, cpbSize: cpbSize, isConstant: isConstant)
        initial_cpb_removal_delay_length = schedule.initialDelayLength
        self.fixed_pic_rate_general_flag = fixed_pic_rate_general_flag
    }

    /// Writes the parameters.
    ///
    /// - Parameter subLayers: The number of temporal sub-layers. Those below the highest repeat the rate and buffer,
    ///   which are upper bounds for them, too, and have no fixed picture rate.
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
