import Testing
import VideoBase

@Suite struct TimeTests {
    @Test(arguments: [
        ("25", 25, 1), ("30000/1001", 30000, 1001), ("29.97", 30000, 1001), ("23.976", 24000, 1001), ("59.94", 60000, 1001),
        ("12.5", 25, 2), ("50/2", 25, 1),
    ])
    func readsRates(text: String, numerator: Int, denominator: Int) {
        let rate = Rational(rate: text)
        #expect(rate?.numerator == numerator)
        #expect(rate?.denominator == denominator)
    }

    @Test(arguments: ["", "0", "-25", "25/0", "0/1", "a", "25/1/1", "1e9", "nan", "inf", "0.0001", "/", "25/"])
    func refusesWhatIsNoRate(text: String) {
        #expect(Rational(rate: text) == nil)
    }

    /// Against the definition, value·to/from rounded half away from zero, in arithmetic that cannot overflow here.
    @Test func convertsTimescalesExactly() {
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

    @Test func convertsLargeTimes() {
        let year = MediaTime(value: 90000 * 86400 * 365, timescale: 90000)
        #expect(year.converted(to: 1_000_000_000).value == 86400 * 365 * 1_000_000_000)
    }

    @Test func comparesAcrossTimescales() {
        let third = MediaTime(value: 1, timescale: 3)
        #expect(third == MediaTime(value: 30000, timescale: 90000))
        #expect(third.hashValue == MediaTime(value: 30000, timescale: 90000).hashValue)
        #expect(MediaTime(value: 29999, timescale: 90000) < third)
        #expect(MediaTime(value: -1, timescale: 3) < .zero)
        #expect(!(third < MediaTime(value: 2, timescale: 6)))
    }
}
