import RateControl
import VideoBase

/// The decoder buffer that the HRD parameters signal: one schedule for all NAL units.
struct BufferModel: Sendable, Hashable {
    /// Bits per second, a multiple of 64.
    var bitrate: Int
    /// The size in bits, a multiple of 16.
    var size: Int
    /// Whether bits arrive without a pause (cbr_flag).
    var isConstant: Bool

    /// The delay before the first picture's removal if the buffer is filled completely, in ticks of 90 kHz.
    var longestDelay: Int { max(CodedPictureBuffer.fillDelay(size: size, rate: bitrate), 1) }

    /// Returns the largest buffer, in bits, whose `longestDelay` at a rate fits the 32 bits of
    /// initial_cpb_removal_delay.
    static func largestSize(bitrate: Int) -> Int { Int(clamping: Int128(bitrate) * Int128(UInt32.max) / 90_000) & ~15 }
}
