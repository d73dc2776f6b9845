import RateControl
import VideoBase

/// What a stream's HRD parameters say of a decoder's buffer: one schedule over all NAL units.
struct BufferModel: Sendable, Hashable {
    /// Bits per second, a multiple of 64.
    var bitrate: Int
    /// Bits, a multiple of 16.
    var size: Int
    /// The buffer fills all the time (cbr_flag).
    var isConstant: Bool

    /// The delay before the first picture's removal where the buffer is filled whole, in ticks of 90 kHz.
    var longestDelay: Int { max(CodedPictureBuffer.fillDelay(size: size, rate: bitrate), 1) }

    /// The largest buffer at a rate whose `longestDelay` fits the 32 bits that initial_cpb_removal_delay may have.
    static func largestSize(bitrate: Int) -> Int { Int(clamping: Int128(bitrate) * Int128(UInt32.max) / 90_000) & ~15 }
}
