package import VideoBase

/// The coded picture buffer of Annex C (H.264, H.265), a leaky bucket: bits arrive at the rate, and a picture's leave at once
/// when it is decoded.
///
/// Whole numbers without rounding: fullness is counted in fractions of a bit, as many to a bit as the frame rate's
/// numerator, so that what arrives in a frame's time is a whole number of them. Pictures are a frame's time apart.
///
/// Fractions are counted in 128 bits. Rates, sizes and pictures of up to 2^63 bits, with the terms of a frame rate below
/// 2^31, add up for 2^30 pictures before they overflow.
package struct CodedPictureBuffer: Sendable, Hashable {
    /// Bits that arrive in a second: BitRate.
    package private(set) var rate: Int
    /// CpbSize in bits.
    package private(set) var size: Int
    package private(set) var frameRate: Rational
    /// Bits arrive without a pause (cbr_flag): the buffer can overflow. Otherwise they wait while it is full.
    package let isConstant: Bool
    /// A filler NAL unit's fewest bytes with its start code.
    package let leastFillerBytes: Int
    /// Just before the next picture leaves, in fractions of a bit.
    private var fullnessUnits: Int128

    /// Fractions to a bit.
    private var scale: Int128 { Int128(frameRate.numerator) }
    /// Fractions of a bit that the buffer holds, and that arrive in a frame's time.
    private var sizeUnits: Int128 { Int128(size) * scale }
    private var arrivingUnits: Int128 { Int128(rate) * Int128(frameRate.denominator) }

    /// - Parameters:
    ///   - rate: positive, as `size` and `frameRate`; the latter is reduced here.
    ///   - initialFullness: bits that have arrived when the first picture is decoded, at most `size`.
    ///   - leastFillerBytes: of the codec, 6 in H.264 and 7 in HEVC.
    package init(rate: Int, size: Int, initialFullness: Int, frameRate: Rational, isConstant: Bool, leastFillerBytes: Int = 6) {
        self.rate = max(rate, 1)
        self.size = max(size, 1)
        self.frameRate = Self.counted(frameRate)
        self.isConstant = isConstant
        self.leastFillerBytes = leastFillerBytes
        fullnessUnits = Int128(min(max(initialFullness, 0), self.size)) * Int128(self.frameRate.numerator)
        // The first removal is a whole number of ticks after the first bit's arrival.
        fullnessUnits = units(ticks: removalDelay)
    }

    /// A rate that is not positive is no rate: a frame a second stands in, so that nothing is divided by zero.
    private static func counted(_ frameRate: Rational) -> Rational {
        let reduced = frameRate.reduced
        return reduced.numerator > 0 && reduced.denominator > 0 ? reduced : Rational(1)
    }

    /// Whole bits in the buffer just before the next picture leaves: the most that picture may have.
    package var fullness: Int {
        let (whole, rest) = fullnessUnits.quotientAndRemainder(dividingBy: scale)
        return Int(clamping: rest < 0 ? whole - 1 : whole)
    }

    /// Bits that arrive in a frame's time, rounded down.
    package var bitsPerFrame: Int { Int(clamping: arrivingUnits / scale) }

    /// initial_cpb_removal_delay of a buffering period that begins with the next picture: the whole ticks of 90 kHz
    /// that what has arrived took.
    package var removalDelay: Int { min(ticks(fullnessUnits), sizeDelay) }

    /// The ticks of 90 kHz in which the whole buffer fills.
    package var sizeDelay: Int { Self.fillDelay(size: size, rate: rate) }

    /// The whole ticks of 90 kHz in which a buffer of `size` bits fills at `rate` bits per second.
    package static func fillDelay(size: Int, rate: Int) -> Int { Int(clamping: Int128(size) * 90_000 / Int128(max(rate, 1))) }

    private func ticks(_ units: Int128) -> Int { Int(clamping: units * 90_000 / (Int128(rate) * scale)) }

    /// The least that takes so many ticks.
    private func units(ticks: Int) -> Int128 {
        let (whole, rest) = (Int128(rate) * scale * Int128(ticks)).quotientAndRemainder(dividingBy: 90_000)
        return rest > 0 ? whole + 1 : whole
    }

    /// A buffering period begins with the next picture: where bits do not arrive all the time, those that the delay in
    /// whole ticks has no time for arrive later.
    package mutating func beginBufferingPeriod() {
        if !isConstant { fullnessUnits = min(fullnessUnits, units(ticks: removalDelay)) }
    }

    /// The next picture leaves, and a frame's time passes.
    ///
    /// - Returns: whether the picture had arrived whole (no underflow). What had not is taken all the same.
    @discardableResult
    package mutating func remove(bits: Int) -> Bool {
        fullnessUnits -= Int128(bits) * scale
        let hadArrived = fullnessUnits >= 0
        fullnessUnits += arrivingUnits
        if !isConstant { fullnessUnits = min(fullnessUnits, units(ticks: sizeDelay)) }
        return hadArrived
    }

    /// Bits that must be added to the next picture of so many, so that the buffer does not overflow before the one
    /// after it leaves; 0 where bits wait. Whole bytes, and as many as a filler NAL unit has at least.
    package func filler(afterBits bits: Int) -> Int {
        guard isConstant else { return 0 }
        let excess = fullnessUnits - Int128(bits) * scale + arrivingUnits - sizeUnits
        if excess <= 0 { return 0 }
        return Int(clamping: max(((excess + scale - 1) / scale + 7) / 8, Int128(leastFillerBytes)) * 8)
    }

    /// From the next picture on. What is in the buffer stays, as far as it has room.
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
