import TestOracles
import Testing

@Suite struct BDRateTests {
    // Two curves are often printed with Bjøntegaard's formula, and two are uneven. The expected values are those of
    // SciPy 1.17's PchipInterpolator.
    private let a = points([(686.76, 40.28), (309.58, 37.18), (157.11, 34.24), (85.95, 31.42)])
    private let b = points([(893.34, 40.39), (407.8, 37.21), (204.93, 34.17), (112.75, 31.24)])
    private let c = points([(4212, 44.1), (2100, 41.7), (1200, 38.2), (700, 36.9), (330, 33.0)])
    private let d = points([(3900, 43.0), (2500, 42.1), (1100, 39.9), (650, 35.2), (400, 34.9)])

    @Test func bdRateMatchesSciPy() throws {
        #expect(abs(try #require(BDRate.percent(of: b, against: a)) - 31.379878202397627) < 1e-9)
        #expect(abs(try #require(BDRate.percent(of: a, against: b)) + 23.884843426369507) < 1e-9)
        #expect(abs(try #require(BDRate.percent(of: d, against: c)) + 2.940978369374747) < 1e-9)
        #expect(abs(try #require(BDRate.percent(of: c, against: d)) - 3.030092741473478) < 1e-9)
    }

    @Test func doubledRateIsOneHundredPercent() throws {
        let doubled = a.map { BDRate.Point(rate: $0.rate * 2, psnr: $0.psnr) }
        #expect(abs(try #require(BDRate.percent(of: doubled, against: a)) - 100) < 1e-9)
        #expect(abs(try #require(BDRate.percent(of: a, against: a))) < 1e-9)
    }

    @Test func incomparableCurvesHaveNoBDRate() {
        #expect(BDRate.percent(of: a, against: a.map { BDRate.Point(rate: $0.rate, psnr: $0.psnr + 20) }) == nil)
        #expect(BDRate.percent(of: a, against: [a[0]]) == nil)
        #expect(BDRate.percent(of: a, against: [a[0], BDRate.Point(rate: a[0].rate * 2, psnr: a[0].psnr - 1)]) == nil)
    }

    private static func points(_ values: [(Double, Double)]) -> [BDRate.Point] {
        values.map { BDRate.Point(rate: $0.0, psnr: $0.1) }
    }
}
