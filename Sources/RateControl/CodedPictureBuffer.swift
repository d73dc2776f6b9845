package import VideoBase

/// The coded picture buffer of Annex C (H.264, H.265), a leaky bucket: bits arrive at the rate, and a picture's leave at once
/// when it is decoded.
///
/// Whole numbers without rounding: fullness is counted in fractions of a bit, as many to a bit as the frame rate's
/// numerator, so that what arrives in a frame's time is a whole number of them. Pictures are a frame's time apart.
package struct CodedPictureBuffer: Sendable, Hashable {
    /// Bits that arrive in a second: BitRate.
    package private(set) var rate: Int
    /// CpbSize in bits.
    package private(set) var size: Int
    package private(set) var frameRate: Rational
    /// Bits arrive without a pause (cbr_flag): the buffer can overflow. Otherwise they wait while it is full.
    package let isConstant: Bool
    /// Just before the next picture leaves, in fractions of a bit.
    private var fullnessUnits: Int

    /// Fractions to a bit.
    private var scale: Int { frameRate.numerator }

    /// - Parameters:
    ///   - rate: positive, as `size`; `frameRate` is positive and reduced here.
    ///   - initialFullness: bits that have arrived when the first picture is decoded, at most `size`.
    package init(rate: Int, size: Int, initialFullness: Int, frameRate: Rational, isConstant: Bool) {
        precondition(rate > 0 && size > 0, "a buffer has a size and a rate")
        self.rate = rate
        self.size = size
        self.frameRate = frameRate.reduced
        self.isConstant = isConstant
        fullnessUnits = min(max(initialFullness, 0), size) * self.frameRate.numerator
        // The first removal is a whole number of ticks after the first bit's arrival.
        fullnessUnits = units(ticks: removalDelay)
    }

    /// Whole bits in the buffer just before the next picture leaves: the most that picture may have.
    package var fullness: Int { Int((Double(fullnessUnits) / Double(scale)).rounded(.down)) }

    /// Bits that arrive in a frame's time, rounded down.
    package var bitsPerFrame: Int { rate * frameRate.denominator / scale }

    /// initial_cpb_removal_delay of a buffering period that begins with the next picture: the whole ticks of 90 kHz
    /// that what has arrived took.
    package var removalDelay: Int { min(ticks(fullnessUnits), sizeDelay) }

    /// The ticks of 90 kHz in which the whole buffer fills.
    package var sizeDelay: Int { ticks(size * scale) }

    private func ticks(_ units: Int) -> Int {
        let (high, low) = units.multipliedFullWidth(by: 90_000)
        return (rate * scale).dividingFullWidth((high, low)).quotient
    }

    /// The least that takes so many ticks.
    private func units(ticks: Int) -> Int {
        let (high, low) = (rate * scale).multipliedFullWidth(by: ticks)
        let (whole, rest) = 90_000.dividingFullWidth((high, low))
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
        fullnessUnits -= bits * scale
        let hadArrived = fullnessUnits >= 0
        fullnessUnits += rate * frameRate.denominator
        if !isConstant { fullnessUnits = min(fullnessUnits, units(ticks: sizeDelay)) }
        return hadArrived
    }

    /// Bits that must be added to the next picture of so many, so that the buffer does not overflow before the one
    /// after it leaves; 0 where bits wait. Whole bytes, and as many as a filler NAL unit has at least behind its start
    /// code: six in all.
    package func filler(afterBits bits: Int) -> Int {
        guard isConstant else { return 0 }
        let excess = fullnessUnits - bits * scale + rate * frameRate.denominator - size * scale
        return excess <= 0 ? 0 : max(((excess + scale - 1) / scale + 7) / 8, 6) * 8
    }

    /// From the next picture on. What is in the buffer stays, as far as it has room.
    package mutating func change(rate: Int? = nil, size: Int? = nil, frameRate: Rational? = nil) {
        if let rate { self.rate = max(rate, 1) }
        if let size { self.size = max(size, 1) }
        if let new = frameRate?.reduced, new.numerator > 0, new != self.frameRate {
            let (whole, rest) = fullnessUnits.quotientAndRemainder(dividingBy: scale)
            fullnessUnits = whole * new.numerator + rest * new.numerator / scale
            self.frameRate = new
        }
        fullnessUnits = min(fullnessUnits, self.size * scale)
    }
}
