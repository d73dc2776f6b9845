import Testing
import VideoBase

@testable import MediaFiles

/// Detection of a fixed frame rate from the times.
@Suite struct FrameTimesTests {
    private static let milliseconds = Rational(1, 1000)

    /// The rates are fixed, with times rounded to a container's milliseconds.
    @Test(arguments: [Rational(24000, 1001), Rational(25), Rational(30000, 1001), Rational(60), Rational(120)])
    func fixedRatesAreRecognized(_ rate: Rational) {
        let times = (0..<400).map { Int64((Double($0) * 1000 / rate.value).rounded()) }
        #expect(FrameTimes.meanRate(times, Self.milliseconds) == nil)
        // One or two missing frames do not make the rate a varying one.
        #expect(FrameTimes.meanRate(times.filter { $0 != times[50] }, Self.milliseconds) == nil)
    }

    @Test func varyingRateHasItsMean() throws {
        // Two of seven frames are missing.
        let shown = (0..<300).filter { $0 % 7 != 2 && $0 % 7 != 3 }
        let times = shown.map { (frame: Int) in Int64((Double(frame) * 1000 / 30).rounded()) }
        let rate = try #require(FrameTimes.meanRate(times, Self.milliseconds))
        #expect(abs(rate.value - 30 * 5 / 7) < 0.3, "\(rate)")
    }
}
