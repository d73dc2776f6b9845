public import NALUnits
public import VideoBase

/// hrd_parameters(), H.264 E.1.2, with one schedule (cpb_cnt_minus1 0). Fields have the standard's names and values.
public struct HRDParameters: Sendable, Hashable {
    public var schedule: DeliverySchedule
    /// initial_cpb_removal_delay_length_minus1 + 1: bits of the buffering period's delays, 1…32.
    public var initial_cpb_removal_delay_length = 24
    /// cpb_removal_delay_length_minus1 + 1: bits of picture timing's cpb_removal_delay, 1…32.
    public var cpb_removal_delay_length = 24
    /// dpb_output_delay_length_minus1 + 1, 1…32.
    public var dpb_output_delay_length = 24
    public var time_offset_length = 24

    /// With the schedule nearest below a rate and a buffer size in bits.
    public init(bitrate: BitsPerSecond, cpbSize: Int, isConstant: Bool) {
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
