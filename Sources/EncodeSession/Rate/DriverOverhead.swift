import VideoBase

/// What is put into access units after the encode, which a driver that controls the rate does not see: it is told
/// that much less rate, and led to believe in less buffer than there is.
struct DriverOverhead: Sendable, Hashable {
    private var bits = 0
    private var pictures = 0
    private var picturesSinceTold = 0
    /// Bits of a picture that the driver's rate leaves out.
    private(set) var told = 0
    /// Bits of the picture that had most.
    private var largest = 0
    /// Bits that the driver believes to be in the decoder's buffer and are not; negative where it believes too few.
    private var excess = 0

    /// Changes of a byte or two, as emulation prevention makes them, do not count.
    private static let noise = 64

    /// Before the first picture.
    ///
    /// - Parameters:
    ///   - keyBits: of pictures at which decoding can begin.
    ///   - otherBits: of the others.
    mutating func expect(keyBits: Int, otherBits: Int) {
        largest = max(keyBits, 0)
        told = min(max(otherBits, 0), largest)
    }

    /// Bits of the buffer that the driver does not count on: one picture more than it sees fits.
    var reserve: Int { largest < Self.noise ? 0 : largest + 128 }

    /// The driver was told how full the buffer is, less the reserve.
    mutating func begin() { excess = -reserve }

    /// - Returns: whether the driver should be told anew. Seldom: a change may disturb its controller.
    mutating func add(_ added: Int) -> Bool {
        bits += max(added, 0)
        pictures += 1
        picturesSinceTold += 1
        largest = max(largest, added)
        excess += added - told
        let error = excess + reserve
        let tolerance = max(reserve / 2, 8 * Self.noise)
        guard abs(error) > tolerance, picturesSinceTold >= (abs(error) > 3 * tolerance ? 4 : 32) else { return false }
        picturesSinceTold = 0
        let new = max((bits + pictures - 1) / pictures + error / 32, 0)
        defer { told = new }
        return new != told
    }

    func bitsPerSecond(_ frameRate: Rational) -> Int { Int(Double(told) * frameRate.value) }
}
