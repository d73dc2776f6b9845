package import VideoBase

/// One schedule of hrd_parameters(): a bit rate and a buffer size, in the steps that H.264 E.1.2 and H.265 E.2.2 share.
/// The fields have the names and values of the standards.
package struct DeliverySchedule: Sendable, Hashable {
    /// The scale of the bit rate, 0…15.
    package var bit_rate_scale: Int
    /// The scale of the buffer size, 0…15.
    package var cpb_size_scale: Int
    /// The bit rate in scaled units, minus 1.
    package var bit_rate_value_minus1: Int
    /// The buffer size in scaled units, minus 1.
    package var cpb_size_value_minus1: Int
    /// Whether the bit rate is constant.
    package var cbr_flag: Bool

    /// Creates the schedule with the nearest values at or below a rate and a buffer size (in bits). Rates are multiples
    /// of 64 bits per second, sizes are multiples of 16 bits, and both are at least one step. `bitrate` and `cpbSize`
    /// contain the resulting values.
    package init(bitrate: BitsPerSecond, cpbSize: Int, isConstant: Bool) {
        (bit_rate_scale, bit_rate_value_minus1) = Self.scaled(bitrate.value, step: 6)
        (cpb_size_scale, cpb_size_value_minus1) = Self.scaled(cpbSize, step: 4)
        cbr_flag = isConstant
    }

    /// The bit rate that a decoder derives: BitRate[0], H.264 (E-37), H.265 E.3.3.
    package var bitrate: BitsPerSecond { BitsPerSecond((bit_rate_value_minus1 + 1) << (6 + bit_rate_scale)) }

    /// The buffer size in bits: CpbSize[0], H.264 (E-38), H.265 E.3.3.
    package var cpbSize: Int { (cpb_size_value_minus1 + 1) << (4 + cpb_size_scale) }

    /// The time in which the buffer fills, in ticks of 90 kHz. It is the largest initial_cpb_removal_delay, and the
    /// largest sum of the delay and its offset (H.264 D.2.2, H.265 D.3.2).
    package var fillDelay: Int { Int(clamping: Int128(cpbSize) * 90_000 / Int128(bitrate.value)) }

    /// The number of bits for `fillDelay`, 24…32: initial_cpb_removal_delay_length_minus1 + 1.
    package var initialDelayLength: Int { min(max(Int.bitWidth - fillDelay.leadingZeroBitCount, 24), 32) }

    /// Returns the largest scale that represents the value exactly. If the scaled value then exceeds 32 bits, returns
    /// the smallest scale with which it fits. The value is rounded down to a multiple of 2 to the power of `step`.
    private static func scaled(_ value: Int, step: Int) -> (scale: Int, valueMinus1: Int) {
        let value = max(value, 1 << step)
        var scale = min(max(value.trailingZeroBitCount - step, 0), 15)
        while scale < 15, value >> (step + scale) > Int(UInt32.max) - 1 { scale += 1 }
        return (scale, min(value >> (step + scale), Int(UInt32.max) - 1) - 1)
    }

    /// Writes the scales, which are common to all schedules.
    package func writeScales(to w: inout BitWriter) {
        w.u(4, bit_rate_scale)
        w.u(4, cpb_size_scale)
    }

    /// Writes the values of this schedule.
    package func writeValues(to w: inout BitWriter) {
        w.ue(bit_rate_value_minus1)
        w.ue(cpb_size_value_minus1)
        w.flag(cbr_flag)
    }
}
