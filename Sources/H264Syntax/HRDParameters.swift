package import NALUnits
package import VideoBase

/// The HRD parameters, hrd_parameters(), H.264 E.1.2, with one schedule (cpb_cnt_minus1 0). The fields have the names
/// and values of the standard.
package struct HRDParameters: Sendable, Hashable {
    /// The bit rate and the buffer size.
    package var schedule: DeliverySchedule
    /// initial_cpb_removal_delay_length_minus1 + 1: the size of the delays in buffering period messages in bits, 1…32.
    package var initial_cpb_removal_delay_length = 24
    /// cpb_removal_delay_length_minus1 + 1: the size of cpb_removal_delay in picture timing messages in bits, 1…32.
    package var cpb_removal_delay_length = 24
    /// dpb_output_delay_length_minus1 + 1: the size of dpb_output_delay in bits, 1…32.
    package var dpb_output_delay_length = 24
    /// The size of time_offset in bits, 0…31.
    package var time_offset_length = 24

    /// Creates parameters with the nearest schedule at or below a rate and a buffer size in bits.
    package init(bitrate: BitsPerSecond, cpbSize: Int, isConstant: Bool) {
        schedule = DeliverySchedule(bitrate: bitrate, cpbSize: cpbSize, isConstant: isConstant)
        initial_cpb_removal_delay_length = schedule.initialDelayLength
    }

    func write(to w: inout BitWriter) {
        w.ue(0)  // cpb_cnt_minus1
        schedule.writeScales(to: &w)
        schedule.writeValues(to: &w)
        w.u(5, initial_cpb_removal_delay_length - 1)
        w.u(5, cpb_removal_delay_length - 1)
        w.u(5, dpb_output_delay_length - 1)
        w.u(5, time_offset_length)
    }
}
