package import VideoBase

/// The coded picture buffer of Annex C (H.264, H.265), a leaky bucket. Bits arrive at the rate; the bits of a picture
/// leave at once when it is decoded.
///
/// The arithmetic is exact. Fullness is counted in fractions of a bit, 1 / (numerator of the frame rate), so a whole
/// number of fractions arrives in each frame interval. Pictures are one frame interval apart.
///
/// Fractions are counted in 128 bits. With rates, sizes and pictures of up to 2^63 bits and frame rate terms below
/// 2^31, the sums do not overflow within 2^30 pictures.
package struct CodedPictureBuffer: Sendable, Hashable {
    /// BitRate: the bits that arrive in a second.
    package private(set) var rate: Int
    /// CpbSize in bits.
    package private(set) var size: Int
    package private(set) var frameRate: Rational
    /// Whether bits arrive without a pause (cbr_flag), so the buffer can overflow. If `false`, arrival pauses while the
    /// buffer is full.
    package let isConstant: Bool
    /// The minimum size of a filler NAL unit with its start code, in bytes.
    package let minFillerBytes: Int
    /// The fullness just before the next picture leaves, in fractions of a bit.
    private var fullnessUnits: Int128

    /// The number of fractions in a bit.
    private var scale: Int128 { Int128(frameRate.numerator) }
    /// The buffer size in fractions of a bit.
    private var sizeUnits: Int128 { Int128(size) * scale }
    /// The fractions of a bit that arrive in a frame interval.
    private var arrivingUnits: Int128 { Int128(rate) * Int128(frameRate.denominator) }

    /// Creates a buffer just before the first picture is decoded.
    ///
    /// - Parameters:
    ///   - rate: Bits per second. `rate`, `size` and `frameRate` are positive; `frameRate` is reduced here.
    ///   - initialFullness: The bits that have arrived when the first picture is decoded, at most `size`.
    ///   - minFillerBytes: The minimum size of the codec's filler NAL unit: 6 in H.264, 7 in HEVC.
    package init(rate: Int, size: Int, initialFullness: Int, frameRate: Rational, isConstant: Bool, minFillerBytes: Int = 6) {
        self.rate = max(rate, 1)
        self.size = max(size, 1)
        self.frameRate = Self.counted(frameRate)
        self.isConstant = isConstant
        self.minFillerBytes = minFillerBytes
        fullnessUnits = Int128(min(max(initialFullness, 0), self.size)) * Int128(self.frameRate.numerator)
        // The first removal is a whole number of ticks after the arrival of the first bit.
        fullnessUnits = units(ticks: removalDelay)
    }

    /// Returns the reduced frame rate. A frame rate that is not positive becomes 1, to avoid a division by zero.
    private static func counted(_ frameRate: Rational) -> Rational {
        let reduced = frameRate.reduced
        return reduced.numerator > 0 && reduced.denominator > 0 ? reduced : Rational(1)
    }

    /// The whole bits in the buffer just before the next picture leaves. The next picture may have at most this many
    /// bits.
    package var fullness: Int {
        let (whole, rest) = fullnessUnits.quotientAndRemainder(dividingBy: scale)
        return Int(clamping: rest < 0 ? whole - 1 : whole)
    }

    /// The bits that arrive in a frame interval, rounded down.
    package var bitsPerFrame: Int { Int(clamping: arrivingUnits / scale) }

    /// initial_cpb_removal_delay of a buffering period that begins with the next picture: the arrival time of the bits
    /// in the buffer, in whole ticks of 90 kHz.
    package var removalDelay: Int { min(ticks(fullnessUnits), sizeDelay) }

    /// The number of 90 kHz ticks in which the whole buffer fills.
    package var sizeDelay: Int { Self.fillDelay(size: size, rate: rate) }

    /// The whole 90 kHz ticks in which a buffer of `size` bits fills at `rate` bits per second.
    package static func fillDelay(size: Int, rate: Int) -> Int { Int(clamping: Int128(size) * 90_000 / Int128(max(rate, 1))) }

    private func ticks(_ units: Int128) -> Int { Int(clamping: units * 90_000 / (Int128(rate) * scale)) }

    /// The smallest fullness, in fractions of a bit, that takes `ticks` 90 kHz ticks to arrive.
    private func units(ticks: Int) -> Int128 {
        let (whole, rest) = (Int128(rate) * scale * Int128(ticks)).quotientAndRemainder(dividingBy: 90_000)
        return rest > 0 ? whole + 1 : whole
    }

    /// Begins a buffering period with the next picture. If arrival can pause, the bits that exceed the delay in whole
    /// ticks arrive later.
    package mutating func beginBufferingPeriod() {
        if !isConstant { fullnessUnits = min(fullnessUnits, units(ticks: removalDelay)) }
    }

    /// Removes the next picture and advances by one frame interval.
    ///
    /// - Returns: Whether all bits of the picture had arrived (no underflow). Bits that had not arrived are removed as
    ///   well.
    @discardableResult
    package mutating func remove(bits: Int) -> Bool {
        fullnessUnits -= Int128(bits) * scale
        let hadArrived = fullnessUnits >= 0
        fullnessUnits += arrivingUnits
        if !isConstant { fullnessUnits = min(fullnessUnits, units(ticks: sizeDelay)) }
        return hadArrived
    }

    /// Returns the bits to add to a next picture of `bits` bits so that the buffer does not overflow before the picture
    /// after it leaves. The result is 0 or a whole number of bytes, at least a minimum filler NAL unit. It is 0 if
    /// arrival can pause.
    package func filler(afterBits bits: Int) -> Int {
        guard isConstant else { return 0 }
        let excess = fullnessUnits - Int128(bits) * scale + arrivingUnits - sizeUnits
        if excess <= 0 { return 0 }
        return Int(clamping: max(((excess + scale - 1) / scale + 7) / 8, Int128(minFillerBytes)) * 8)
    }

    /// Changes the parameters from the next picture on. The bits in the buffer stay, up to the new size.
    package mutating func change(rate: Int? = nil, size: Int? = nil, frameRate: Rational? = nil) {
        if let rate { self.rate = max(rate, 1) }
        if let size { self.size = max(size, 1) }
        if let new = frameRate.map(Self.counted), new != self.frameRate {
            let (whole, rest) = fullnessUnits.quotientAndRemainder(dividingBy: scale)
            fullnessUnits = whole * Int128(new.numerator) + rest * Int128(new.numerator) / scale
            self.frameRate = new
        }
        fullnessUnits = min(fullnessUnits, sizeUnits)
    }
}
