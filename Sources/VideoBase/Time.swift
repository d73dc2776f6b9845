/// A ratio of two integers, such as a frame rate (30000/1001) or a sample aspect ratio (1/1).
public struct Rational: Sendable, Hashable, CustomStringConvertible {
    /// The numerator.
    public var numerator: Int
    /// The denominator.
    public var denominator: Int

    /// Creates a ratio. A ratio with the denominator 0 is invalid: its value is infinite or NaN, and sessions reject
    /// it.
    public init(_ numerator: Int, _ denominator: Int = 1) {
        self.numerator = numerator
        self.denominator = denominator
    }

    /// The value as a floating-point number.
    public var value: Double { Double(numerator) / Double(denominator) }

    /// The duration of a frame at this rate in frames per second, with the numerator as time scale.
    public var frameDuration: MediaTime {
        let rate = reduced
        return MediaTime(value: Int64(rate.denominator), timescale: Int32(clamping: rate.numerator))
    }

    /// The ratio divided by the greatest common divisor, with a positive denominator.
    public var reduced: Rational {
        let divisor = Int128(max(greatestCommonDivisor(numerator.magnitude, denominator.magnitude), 1))
        let sign: Int128 = denominator < 0 ? -1 : 1
        return Rational(
            Int(clamping: Int128(numerator) / divisor * sign), Int(clamping: Int128(denominator) / divisor * sign))
    }

    /// Parses `25`, `30000/1001` or a decimal such as `29.97` (NTSC rates are recognized). Returns nil if the rate is
    /// not positive.
    public init?(rate text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        if parts.count == 2 {
            guard let n = Int(parts[0]), let d = Int(parts[1]), n > 0, d > 0 else { return nil }
            self = Rational(n, d).reduced
        } else if let whole = Int(text), whole > 0 {
            self.init(whole, 1)
        } else if let number = Double(text), number > 0, number.isFinite, number < 1e6 {
            for nominal in [24, 30, 48, 60, 120] where abs(number - Double(nominal) * 1000 / 1001) < 0.005 {
                self.init(nominal * 1000, 1001)
                return
            }
            self = Rational(Int((number * 1000).rounded()), 1000).reduced
            if numerator <= 0 { return nil }
        } else {
            return nil
        }
    }

    /// The ratio as text: `30000/1001`.
    public var description: String { "\(numerator)/\(denominator)" }

    /// The ratio as human-readable text: `25`, `30000/1001`.
    package var words: String { denominator == 1 ? "\(numerator)" : description }
}

extension Rational: Codable {
    /// Decodes a ratio from its text. Throws a `DecodingError` for other text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = Rational(rate: text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a ratio: \(text)")
        }
        self = value
    }

    /// Encodes the ratio as its text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// A time or a duration on the media timeline: `value / timescale` seconds.
///
/// Values that cannot be represented are clamped; no operation traps.
public struct MediaTime: Sendable, Hashable, Comparable {
    /// The number of ticks.
    public var value: Int64
    /// The number of ticks per second, which must be positive. Otherwise the time is invalid: it sorts before all valid
    /// times, and sessions reject it.
    public var timescale: Int32

    /// Creates a time.
    public init(value: Int64, timescale: Int32) {
        self.value = value
        self.timescale = timescale
    }

    /// The time 0.
    public static let zero = MediaTime(value: 0, timescale: 1)

    /// The time in seconds.
    public var seconds: Double { Double(value) / Double(timescale) }

    /// Returns the same time in ticks of `timescale`, rounded to the nearest tick, with halves away from zero.
    public func converted(to timescale: Int32) -> MediaTime {
        if timescale == self.timescale || timescale <= 0 || self.timescale <= 0 { return self }
        let ticks = Self.rounded(Int128(value) * Int128(timescale), by: Int128(self.timescale))
        return MediaTime(value: ticks, timescale: timescale)
    }

    /// Returns a quotient rounded to the nearest integer, with halves away from zero.
    package static func rounded(_ dividend: Int128, by divisor: Int128) -> Int64 {
        let (quotient, remainder) = dividend.quotientAndRemainder(dividingBy: divisor)
        let away: Int128 = remainder.magnitude * 2 >= divisor.magnitude ? (dividend < 0) == (divisor < 0) ? 1 : -1 : 0
        return Int64(clamping: quotient + away)
    }

    /// Returns the time this many ticks earlier.
    package func earlier(byTicks ticks: Int64) -> MediaTime {
        MediaTime(value: Int64(clamping: Int128(value) - Int128(ticks)), timescale: timescale)
    }

    /// Returns the time this many pictures (at most 2^31) earlier, at a frame rate.
    ///
    /// The result is exact if there is a timescale that represents both the time and the picture interval. Otherwise it
    /// is rounded to ticks of the frame rate.
    package func earlier(byPictures count: Int64, of rate: Rational) -> MediaTime {
        guard timescale > 0 else { return self }
        let rate = rate.reduced
        let (own, frames) = (Int128(timescale), Int128(max(rate.numerator, 1)))
        let distance = Int128(Int32(clamping: count)) * Int128(rate.denominator)
        let common = own / Int128(greatestCommonDivisor(own.magnitude, frames.magnitude)) * frames
        if let scale = Int32(exactly: common) {
            let ticks = Int128(value) * (common / own) - distance * (common / frames)
            if ticks.magnitude < 1 << 62 { return MediaTime(value: Int64(ticks), timescale: scale) }
        }
        // Times of any magnitude fit into these ticks.
        let scale: Int32 = frames <= 1_000_000 ? Int32(frames) : 90_000
        return converted(to: scale).earlier(byTicks: Self.rounded(distance * Int128(scale), by: frames))
    }

    /// Whether the time is close enough to zero that sums and differences of such times fit, in the ticks of either:
    /// less than 2^40 seconds (35 thousand years), and fewer than 2^62 ticks.
    package var isInRange: Bool {
        timescale > 0 && value.magnitude < 1 << 62 && value.magnitude >> 40 < UInt64(timescale)
    }

    /// Returns whether time `a` is before time `b`. Invalid times are before all valid ones.
    public static func < (a: MediaTime, b: MediaTime) -> Bool {
        guard a.timescale > 0, b.timescale > 0 else { return a.rank < b.rank }
        return Int128(a.value) * Int128(b.timescale) < Int128(b.value) * Int128(a.timescale)
    }

    /// The sort key that orders invalid times among each other and before all valid times.
    private var rank: (Int, Int32, Int64) { timescale > 0 ? (1, 0, 0) : (0, timescale, value) }

    /// Returns whether both times are equal, also with different timescales.
    public static func == (a: MediaTime, b: MediaTime) -> Bool { !(a < b) && !(b < a) }

    /// Hashes the reduced time, so that equal times have equal hashes.
    public func hash(into hasher: inout Hasher) {
        let divisor = timescale > 0 ? greatestCommonDivisor(value.magnitude, UInt64(timescale)) : 1
        hasher.combine(value / Int64(divisor))
        hasher.combine(Int64(timescale) / Int64(divisor))
    }
}

/// Returns the greatest common divisor, or 0 if both values are 0.
private func greatestCommonDivisor<T: UnsignedInteger>(_ a: T, _ b: T) -> T {
    var (a, b) = (a, b)
    while b != 0 { (a, b) = (b, a % b) }
    return a
}

/// The presentation time and the duration of a frame.
public struct FrameTiming: Sendable, Hashable {
    /// The presentation time.
    public var presentation: MediaTime
    /// The duration, or nil if it is unknown. The frame rate then determines it.
    public var duration: MediaTime?

    /// Creates a timing.
    public init(presentation: MediaTime, duration: MediaTime? = nil) {
        self.presentation = presentation
        self.duration = duration
    }

    /// Checks that an encoder can calculate with the times.
    ///
    /// - Throws: A `VaencError` of category `.usage` if they are out of range.
    package func check() throws(VaencError) {
        guard presentation.isInRange else {
            throw VaencError(
                .usage, "the presentation time \(presentation.value)/\(presentation.timescale) s is out of range",
                remedy: "use times from -2^40 to 2^40 seconds, with fewer than 2^62 ticks of a positive timescale")
        }
        if let duration, duration.value < 0 || !duration.isInRange {
            throw VaencError(
                .usage, "the duration \(duration.value)/\(duration.timescale) s is out of range",
                remedy: "use a duration from 0 to 2^40 seconds, or nil")
        }
    }
}
