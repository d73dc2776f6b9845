import NALWriting
public import VideoBase

/// hrd_parameters(), H.264 E.1.2, with one schedule (cpb_cnt_minus1 0). Fields have the standard's names and values.
public struct HRDParameters: Sendable, Hashable {
    /// 0…15.
    public var bit_rate_scale: Int
    /// 0…15.
    public var cpb_size_scale: Int
    public var bit_rate_value_minus1: Int
    public var cpb_size_value_minus1: Int
    public var cbr_flag: Bool
    /// initial_cpb_removal_delay_length_minus1 + 1: bits of the buffering period's delays, 1…32.
    public var initial_cpb_removal_delay_length = 24
    /// cpb_removal_delay_length_minus1 + 1: bits of picture timing's cpb_removal_delay, 1…32.
    public var cpb_removal_delay_length = 24
    /// dpb_output_delay_length_minus1 + 1, 1…32.
    public var dpb_output_delay_length = 24
    public var time_offset_length = 24

    /// The parameters nearest below a rate and a buffer size (in bits): rates come in steps of 64 bits per second,
    /// sizes in steps of 16 bits, and both are at least one step. `bitrate` and `cpbSize` say what it came to.
    public init(bitrate: BitsPerSecond, cpbSize: Int, isConstant: Bool) {
        (bit_rate_scale, bit_rate_value_minus1) = Self.scaled(bitrate.value, step: 6)
        (cpb_size_scale, cpb_size_value_minus1) = Self.scaled(cpbSize, step: 4)
        cbr_flag = isConstant
    }

    /// BitRate[0], (E-37): what a decoder takes the rate to be.
    public var bitrate: BitsPerSecond { BitsPerSecond((bit_rate_value_minus1 + 1) << (6 + bit_rate_scale)) }

    /// CpbSize[0] in bits, (E-38).
    public var cpbSize: Int { (cpb_size_value_minus1 + 1) << (4 + cpb_size_scale) }

    /// The largest scale that loses nothing, or what fits 32 bits.
    private static func scaled(_ value: Int, step: Int) -> (scale: Int, valueMinus1: Int) {
        let value = max(value, 1 << step)
        var scale = min(max(value.trailingZeroBitCount - step, 0), 15)
        while scale < 15, value >> (step + scale) > Int(UInt32.max) - 1 { scale += 1 }
        return (scale, min(value >> (step + scale), Int(UInt32.max) - 1) - 1)
    }

    func write(to w: inout BitWriter) {
        w.ue(0)  // cpb_cnt_minus1
        w.u(4, bit_rate_scale)
        w.u(4, cpb_size_scale)
        w.ue(bit_rate_value_minus1)
        w.ue(cpb_size_value_minus1)
        w.flag(cbr_flag)
        w.u(5, initial_cpb_removal_delay_length - 1)
        w.u(5, cpb_removal_delay_length - 1)
        w.u(5, dpb_output_delay_length - 1)
        w.u(5, time_offset_length)
    }
}
