public import VideoBase

/// One schedule of hrd_parameters(): a rate and a buffer size in steps that H.264 E.1.2 and H.265 E.2.2 share. Fields
/// have the standards' names and values.
public struct DeliverySchedule: Sendable, Hashable {
    /// 0…15.
    public var bit_rate_scale: Int
    /// 0…15.
    public var cpb_size_scale: Int
    public var bit_rate_value_minus1: Int
    public var cpb_size_value_minus1: Int
    public var cbr_flag: Bool

    /// The schedule nearest below a rate and a buffer size (in bits): rates come in steps of 64 bits per second, sizes
    /// in steps of 16 bits, and both are at least one step. `bitrate` and `cpbSize` say what it came to.
    public init(bitrate: BitsPerSecond, cpbSize: Int, isConstant: Bool) {
        (bit_rate_scale, bit_rate_value_minus1) = Self.scaled(bitrate.value, step: 6)
        (cpb_size_scale, cpb_size_value_minus1) = Self.scaled(cpbSize, step: 4)
        cbr_flag = isConstant
    }

    /// BitRate[0], H.264 (E-37), H.265 (E-77): what a decoder takes the rate to be.
    public var bitrate: BitsPerSecond { BitsPerSecond((bit_rate_value_minus1 + 1) << (6 + bit_rate_scale)) }

    /// CpbSize[0] in bits, H.264 (E-38), H.265 (E-78).
    public var cpbSize: Int { (cpb_size_value_minus1 + 1) << (4 + cpb_size_scale) }

    /// The ticks of 90 kHz in which the buffer fills: the largest initial_cpb_removal_delay, and the largest sum of it and
    /// its offset (H.264 D.2.1, H.265 D.3.2).
    public var fillDelay: Int { Int(clamping: Int128(cpbSize) * 90_000 / Int128(bitrate.value)) }

    /// initial_cpb_removal_delay_length_minus1 + 1: the bits that `fillDelay` takes, at least 24 and at most 32.
    public var initialDelayLength: Int { min(max(Int.bitWidth - fillDelay.leadingZeroBitCount, 24), 32) }

    /// The largest scale that loses nothing, or what fits 32 bits.
    private static func scaled(_ value: Int, step: Int) -> (scale: Int, valueMinus1: Int) {
        let value = max(value, 1 << step)
        var scale = min(max(value.trailingZeroBitCount - step, 0), 15)
        while scale < 15, value >> (step + scale) > Int(UInt32.max) - 1 { scale += 1 }
        return (scale, min(value >> (step + scale), Int(UInt32.max) - 1) - 1)
    }

    /// The scales, which stand once for all schedules.
    public func writeScales(to w: inout BitWriter) {
        w.u(4, bit_rate_scale)
        w.u(4, cpb_size_scale)
    }

    public func writeValues(to w: inout BitWriter) {
        w.ue(bit_rate_value_minus1)
        w.ue(cpb_size_value_minus1)
        w.flag(cbr_flag)
    }
}
