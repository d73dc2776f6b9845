import Testing
import VideoBase

@Suite struct TimeTests {
    @Test(arguments: [
        ("25", 25, 1), ("30000/1001", 30000, 1001), ("29.97", 30000, 1001), ("23.976", 24000, 1001), ("59.94", 60000, 1001),
        ("12.5", 25, 2), ("50/2", 25, 1),
    ])
    func frameRatesAreParsed(text: String, numerator: Int, denominator: Int) {
        let rate = Rational(rate: text)
        #expect(rate?.numerator == numerator)
        #expect(rate?.denominator == denominator)
    }

    @Test(arguments: ["", "0", "-25", "25/0", "0/1", "a", "25/1/1", "1e9", "nan", "inf", "0.0001", "/", "25/"])
    func malformedFrameRatesAreRefused(text: String) {
        #expect(Rational(rate: text) == nil)
    }

    /// Compares with the definition, value·to/from rounded half away from zero, in arithmetic that cannot overflow
    /// here.
    @Test func timescaleConversionIsExact() {
        for from in [1, 24, 25, 1001, 90000] {
            for to in [1, 25, 1000, 30000, 90000] {
                for value in -50...50 {
                    let product = value * to
                    let expected = (2 * abs(product) + from) / (2 * from) * (product < 0 ? -1 : 1)
                    let time = MediaTime(value: Int64(value), timescale: Int32(from)).converted(to: Int32(to))
                    #expect(time.value == Int64(expected), "\(value)/\(from) in \(to)")
                    #expect(time.timescale == Int32(to))
                }
            }
        }
    }

    @Test func largeTimesAreConverted() {
        let year = MediaTime(value: 90000 * 86400 * 365, timescale: 90000)
        #expect(year.converted(to: 1_000_000_000).value == 86400 * 365 * 1_000_000_000)
    }

    @Test func timesCompareAcrossTimescales() {
        let third = MediaTime(value: 1, timescale: 3)
        #expect(third == MediaTime(value: 30000, timescale: 90000))
        #expect(third.hashValue == MediaTime(value: 30000, timescale: 90000).hashValue)
        #expect(MediaTime(value: 29999, timescale: 90000) < third)
        #expect(MediaTime(value: -1, timescale: 3) < .zero)
        #expect(!(third < MediaTime(value: 2, timescale: 6)))
    }

    private static let values: [Int64] = [.min, .min + 1, -(1 << 62), -90000, -1, 0, 1, 90000, 1 << 62, .max - 1, .max]
    private static let scales: [Int32] = [.min, -1, 0, 1, 25, 90000, .max - 1, .max]
    private static let times = values.flatMap { value in scales.map { MediaTime(value: value, timescale: $0) } }

    /// Nothing traps, and order, equality and hash agree, also for invalid times.
    @Test func extremeTimesAreOrdered() {
        for a in Self.times {
            for b in Self.times {
                #expect([a < b, a == b, b < a].count { $0 } == 1, "\(a) \(b)")
                if a == b { #expect(a.hashValue == b.hashValue, "\(a) \(b)") }
                guard a.timescale > 0 else { continue }
                if b.timescale <= 0 { #expect(b < a) }
                guard b.timescale > 0 else { continue }
                #expect((a < b) == (Int128(a.value) * Int128(b.timescale) < Int128(b.value) * Int128(a.timescale)))
            }
        }
        let sorted = Self.times.sorted()
        for (a, b) in zip(sorted, sorted.dropFirst()) { #expect(a <= b) }
    }

    /// The result is rounded, or the nearest representable time.
    @Test func extremeTimesAreConverted() {
        for time in Self.times {
            for scale in Self.scales {
                let converted = time.converted(to: scale)
                guard time.timescale > 0, scale > 0 else {
                    #expect(converted.value == time.value && converted.timescale == time.timescale)
                    continue
                }
                let expected = Int128(time.value) * Int128(scale)
                let least = min(max(expected, Int128(Int64.min) * Int128(time.timescale)), Int128(Int64.max) * Int128(time.timescale))
                let error = (Int128(converted.value) * Int128(time.timescale) - least).magnitude
                #expect(2 * error <= UInt128(time.timescale) && converted.timescale == scale, "\(time) to \(scale)")
            }
        }
    }

    /// The result matches the definition if ticks can hold it; otherwise nothing traps.
    @Test func earlierTimeIsWholePicturesBefore() {
        for (scale, rate) in [(1000, Rational(25)), (90_000, Rational(30_000, 1001)), (40, Rational(24)), (7, Rational(50, 2)), (1, Rational(1, 3))] {
            for value in -3...3 {
                for count in -2...17 {
                    let earlier = MediaTime(value: Int64(value), timescale: Int32(scale)).earlier(byPictures: Int64(count), of: rate)
                    // The expected value is value/scale − count·denominator/numerator, with a common denominator.
                    let expected = Int128(value * rate.numerator - count * rate.denominator * scale)
                    #expect(
                        Int128(earlier.value) * Int128(scale * rate.numerator) == expected * Int128(earlier.timescale),
                        "\(value)/\(scale) \(count) \(rate)")
                }
            }
        }
        for time in Self.times {
            for rate in [Rational(.max, 1), Rational(1, .max), Rational(.min, .min), Rational(0, 0), Rational(1_000_003, 7)] {
                for count in [Int64.min, -1, 0, 1, .max] { _ = time.earlier(byPictures: count, of: rate) }
            }
        }
    }

    @Test func extremeRatiosAreReduced() {
        for numerator in [Int.min, -6, 0, 6, .max] {
            for denominator in [Int.min, -4, 4, .max] {
                let reduced = Rational(numerator, denominator).reduced
                #expect(reduced.denominator > 0)
                #expect((reduced.numerator < 0) == ((numerator < 0) != (denominator < 0) && numerator != 0))
                if abs(numerator.clamped) == 6, abs(denominator.clamped) == 4 {
                    #expect(abs(reduced.numerator) == 3 && reduced.denominator == 2)
                }
            }
        }
    }
}

extension Int {
    fileprivate var clamped: Int { Swift.max(self, -.max) }
}
