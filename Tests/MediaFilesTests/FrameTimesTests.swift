import Testing
import VideoBase

@testable import MediaFiles

/// Whether times are those of a fixed rate.
@Suite struct FrameTimesTests {
    private static let milliseconds = Rational(1, 1000)

    /// Fixed rates, in a container's milliseconds.
    @Test(arguments: [Rational(24000, 1001), Rational(25), Rational(30000, 1001), Rational(60), Rational(120)])
    func fixedRates(_ rate: Rational) {
        let times = (0..<400).map { Int64((Double($0) * 1000 / rate.value).rounded()) }
        #expect(FrameTimes.meanRate(times, Self.milliseconds) == nil)
        // A frame or two missing make no varying rate.
        #expect(FrameTimes.meanRate(times.filter { $0 != times[50] }, Self.milliseconds) == nil)
    }

    @Test func varyingRates() throws {
        // Two of seven are left out.
        let shown = (0..<300).filter { $0 % 7 != 2 && $0 % 7 != 3 }
        let times = shown.map { (frame: Int) in Int64((Double(frame) * 1000 / 30).rounded()) }
        let rate = try #require(FrameTimes.meanRate(times, Self.milliseconds))
        #expect(abs(rate.value - 30 * 5 / 7) < 0.3, "\(rate)")
    }
}
