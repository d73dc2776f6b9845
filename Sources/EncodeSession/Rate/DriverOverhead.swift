import VideoBase

/// What is put into access units after the encode, which a driver that controls the rate does not see: it is told
/// that much less.
struct DriverOverhead: Sendable, Hashable {
    private var bits = 0
    private var pictures = 0
    /// Bits of a picture on average, as the driver was last told.
    private(set) var mean = 0
    /// Bits of the picture that had most.
    private(set) var largest = 0

    /// - Parameter keyBits: of a key frame, before the first picture.
    mutating func expect(keyBits: Int) {
        largest = max(keyBits, 0)
        // A delimiter and picture timing.
        mean = min(largest, 160)
    }

    /// - Returns: whether the driver should be told anew. Rarely: after 4, 8, 16… pictures, where it matters.
    mutating func add(_ added: Int) -> Bool {
        bits += max(added, 0)
        pictures += 1
        largest = max(largest, added)
        guard pictures >= 4, pictures & (pictures - 1) == 0 else { return false }
        // Rather too much: what is missing then is filled up, or saved.
        let new = (bits + bits / 16 + pictures - 1) / pictures
        guard abs(new - mean) > max(mean / 20, 16) else { return false }
        mean = new
        return true
    }

    func bitsPerSecond(_ frameRate: Rational) -> Int { Int(Double(mean) * frameRate.value) }

    /// Bits of the decoder's buffer that the driver must not count on.
    var reserve: Int { 2 * largest }
}
