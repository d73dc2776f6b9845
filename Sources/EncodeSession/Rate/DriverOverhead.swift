import VideoBase

/// What is put into access units after the encode, which a driver that controls the rate does not see: it is told
/// that much less.
struct DriverOverhead: Sendable, Hashable {
    private var bits = 0
    private var pictures = 0
    /// Bits of a picture on average, as the driver was last told.
    private(set) var mean = 0

    /// - Returns: whether the driver should be told anew. Rarely: after 8, 16, 32… pictures, where it matters.
    mutating func add(_ added: Int) -> Bool {
        bits += max(added, 0)
        pictures += 1
        guard pictures >= 8, pictures & (pictures - 1) == 0 else { return false }
        let new = (bits + pictures - 1) / pictures
        guard abs(new - mean) > max(mean / 20, 16) else { return false }
        mean = new
        return true
    }

    func bitsPerSecond(_ frameRate: Rational) -> Int { Int(Double(mean) * frameRate.value) }
}
