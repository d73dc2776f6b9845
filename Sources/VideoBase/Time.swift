/// A ratio of two integers, as for frame rates (30000/1001) and sample aspect ratios (1/1).
public struct Rational: Sendable, Hashable, CustomStringConvertible {
    public var numerator: Int
    public var denominator: Int

    /// The denominator must not be zero.
    public init(_ numerator: Int, _ denominator: Int = 1) {
        precondition(denominator != 0, "a ratio needs a denominator")
        self.numerator = numerator
        self.denominator = denominator
    }

    public var value: Double { Double(numerator) / Double(denominator) }

    /// Divided by the greatest common divisor, with a positive denominator.
    public var reduced: Rational {
        var (a, b) = (abs(numerator), abs(denominator))
        while b != 0 { (a, b) = (b, a % b) }
        let divisor = max(a, 1) * (denominator < 0 ? -1 : 1)
        return Rational(numerator / divisor, denominator / divisor)
    }

    /// Reads `25`, `30000/1001` or a decimal such as `29.97` (the NTSC rates are recognised); nil unless positive.
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

    public var description: String { "\(numerator)/\(denominator)" }
}

extension Rational: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = Rational(rate: text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a ratio: \(text)")
        }
        self = value
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// A point on, or a length of, the media time line: `value / timescale` seconds.
public struct MediaTime: Sendable, Hashable, Comparable {
    public var value: Int64
    /// Ticks per second, positive.
    public var timescale: Int32

    public init(value: Int64, timescale: Int32) {
        precondition(timescale > 0, "a time needs a positive timescale")
        self.value = value
        self.timescale = timescale
    }

    public static let zero = MediaTime(value: 0, timescale: 1)

    public var seconds: Double { Double(value) / Double(timescale) }

    /// The same time in ticks of `timescale`, rounded to the nearest, halves away from zero.
    public func converted(to timescale: Int32) -> MediaTime {
        if timescale == self.timescale { return self }
        let product = value.multipliedFullWidth(by: Int64(timescale))
        let divisor = Int64(self.timescale)
        let (quotient, remainder) = divisor.dividingFullWidth(product)
        let away: Int64 = abs(remainder) * 2 >= divisor ? (value < 0 ? -1 : 1) : 0
        return MediaTime(value: quotient + away, timescale: timescale)
    }

    public static func < (a: MediaTime, b: MediaTime) -> Bool {
        let left = a.value.multipliedFullWidth(by: Int64(b.timescale))
        let right = b.value.multipliedFullWidth(by: Int64(a.timescale))
        return (left.high, left.low) < (right.high, right.low)
    }

    public static func == (a: MediaTime, b: MediaTime) -> Bool { !(a < b) && !(b < a) }

    public func hash(into hasher: inout Hasher) {
        let r = Rational(Int(value), Int(timescale)).reduced
        hasher.combine(r)
    }
}

/// When a frame is shown, and for how long.
public struct FrameTiming: Sendable, Hashable {
    public var presentation: MediaTime
    /// nil where it is not known; the frame rate then stands in.
    public var duration: MediaTime?

    public init(presentation: MediaTime, duration: MediaTime? = nil) {
        self.presentation = presentation
        self.duration = duration
    }
}
