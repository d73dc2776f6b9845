import VideoBase

/// Tracks the bits that are added to access units after the encode. A driver that controls the rate does not see these
/// bits. So the driver gets a rate reduced by them and a buffer smaller than the real one.
struct DriverOverhead: Sendable, Hashable {
    private var bits = 0
    private var pictures = 0
    private var picturesSinceChange = 0
    /// The bits per picture by which the driver's rate is reduced.
    private(set) var rateReduction = 0
    /// The largest number of bits added to a picture.
    private var largest = 0
    /// The bits by which the driver overestimates the fullness of the decoder's buffer; negative if it underestimates
    /// it.
    private var excess = 0

    /// Changes of a byte or two, as emulation prevention causes them, are ignored.
    private static let noise = 64

    /// Sets the expected overhead before the first picture.
    ///
    /// - Parameters:
    ///   - keyBits: The bits added to pictures at which decoding can begin.
    ///   - otherBits: The bits added to other pictures.
    mutating func expect(keyBits: Int, otherBits: Int) {
        largest = max(keyBits, 0)
        rateReduction = min(max(otherBits, 0), largest)
    }

    /// The bits of the buffer that are hidden from the driver. They hold the largest addition to one picture.
    var reserve: Int { largest < Self.noise ? 0 : largest + 128 }

    /// Restarts the balance when the driver gets the buffer's fullness, less the reserve.
    mutating func begin() { excess = -reserve }

    /// Adds a picture's overhead.
    ///
    /// - Returns: Whether the driver needs a new rate. This is seldom `true`, because a change may disturb its
    ///   controller.
    mutating func add(_ added: Int) -> Bool {
        bits += max(added, 0)
        pictures += 1
        picturesSinceChange += 1
        largest = max(largest, added)
        excess += added - rateReduction
        let error = excess + reserve
        let tolerance = max(reserve / 2, 8 * Self.noise)
        guard abs(error) > tolerance, picturesSinceChange >= (abs(error) > 3 * tolerance ? 4 : 32) else { return false }
        picturesSinceChange = 0
        let new = max((bits + pictures - 1) / pictures + error / 32, 0)
        defer { rateReduction = new }
        return new != rateReduction
    }

    func bitsPerSecond(_ frameRate: Rational) -> Int { Int(Double(rateReduction) * frameRate.value) }
}
