import NALWriting
public import VideoBase

/// hrd_parameters(1, …), H.265 E.2.2, of whole access units, with one schedule (cpb_cnt_minus1 0). Fields have the
/// standard's names and values.
public struct HRDParameters: Sendable, Hashable {
    /// The rate and buffer over all NAL units (NAL) and over slices alone (VCL) are given; one at least is true.
    public var nal_hrd_parameters_present_flag = true
    public var vcl_hrd_parameters_present_flag = false
    /// 0…15.
    public var bit_rate_scale: Int
    /// 0…15.
    public var cpb_size_scale: Int
    public var bit_rate_value_minus1: Int
    public var cpb_size_value_minus1: Int
    public var cbr_flag: Bool
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

    /// The parameters nearest below a rate and a buffer size (in bits): rates come in steps of 64 bits per second,
    /// sizes in steps of 16 bits, and both are at least one step. `bitrate` and `cpbSize` say what it came to.
    public init(bitrate: BitsPerSecond, cpbSize: Int, isConstant: Bool, fixedFrameRate: Bool = true) {
        (bit_rate_scale, bit_rate_value_minus1) = Self.scaled(bitrate.value, step: 6)
        (cpb_size_scale, cpb_size_value_minus1) = Self.scaled(cpbSize, step: 4)
        cbr_flag = isConstant
        fixed_pic_rate_general_flag = fixedFrameRate
    }

    /// BitRate[0], (E-77): what a decoder takes the rate to be.
    public var bitrate: BitsPerSecond { BitsPerSecond((bit_rate_value_minus1 + 1) << (6 + bit_rate_scale)) }

    /// CpbSize[0] in bits, (E-78).
    public var cpbSize: Int { (cpb_size_value_minus1 + 1) << (4 + cpb_size_scale) }

    /// The largest scale that loses nothing, or what fits 32 bits.
    private static func scaled(_ value: Int, step: Int) -> (scale: Int, valueMinus1: Int) {
        let value = max(value, 1 << step)
        var scale = min(max(value.trailingZeroBitCount - step, 0), 15)
        while scale < 15, value >> (step + scale) > Int(UInt32.max) - 1 { scale += 1 }
        return (scale, min(value >> (step + scale), Int(UInt32.max) - 1) - 1)
    }

    /// - Parameter subLayers: the temporal sub-layers. Those below the highest say the same rate and buffer, which
    ///   bound them too, and no fixed rate.
    func write(to w: inout BitWriter, subLayers: Int) {
        w.flag(nal_hrd_parameters_present_flag)
        w.flag(vcl_hrd_parameters_present_flag)
        if nal_hrd_parameters_present_flag || vcl_hrd_parameters_present_flag {
            w.flag(false)  // sub_pic_hrd_params_present_flag
            w.u(4, bit_rate_scale)
            w.u(4, cpb_size_scale)
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
                w.ue(bit_rate_value_minus1)
                w.ue(cpb_size_value_minus1)
                w.flag(cbr_flag)
            }
        }
    }
}
