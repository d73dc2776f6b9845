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
    ///
    /// - Parameter bits: of the field.
    func longestDelay(bits: Int) -> Int {
        let whole = Int(Double(size) * 90_000 / Double(max(bitrate, 1)))
        return min(max(whole, 1), 1 << bits - 1)
    }
}
