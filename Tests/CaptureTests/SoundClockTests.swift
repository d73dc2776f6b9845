@testable import Capture
import Testing
import VideoBase

/// The clock for the samples of a sound card.
@Suite struct SoundClockTests {
    /// For a minute, the card deviates by some ppm and its times jitter: the output stays within 4 ms of the system's
    /// clock, and the drift is measured.
    @Test(arguments: [-500.0, -100, 0, 100, 500], [0, 5_000_000]) func driftIsMeasuredAndCorrected(_ ppm: Double, _ jitter: Int) {
        let rate = 48_000
        var clock = SoundClock(rate: rate)
        var random = SystemRandomNumberGenerator()
        let start: Int64 = 1_000_000_000_000
        var fraction = 0.0
        var put = 0
        for period in 0..<3000 {
            let count = rate / 50
            // The card's 960 samples take a little less or more than 20 ms.
            let time = start + Int64(Double(period * count) / (Double(rate) * (1 + ppm / 1e6)) * 1e9)
            let noise = jitter == 0 ? 0 : Int64.random(in: 0...Int64(jitter), using: &random)
            let plan = clock.recordCapture(count, at: period == 0 ? time : time + noise)
            #expect(plan.silence == 0 && plan.excess == 0)
            // Applies the correction as the resampler does: the additional samples in two seconds.
            fraction += Double(plan.correction) * Double(count) / Double(2 * rate)
            let more = Int(fraction.rounded(.towardZero))
            fraction -= Double(more)
            let position = clock.recordOutput(count + more)
            put += count + more
            let due = Double(time - start) / 1e9
            if period > 200 {
                #expect(abs(position.seconds - Double(start) / 1e9 - due) < 0.004 + Double(jitter) / 1e9, "at \(due) s")
            }
        }
        #expect(abs(clock.driftPPM - ppm) < 1 + Double(jitter) / 1e9 / 60 * 1e6 * 1.1, "\(clock.driftPPM)")
        #expect(abs(Double(put) / Double(rate) - 60) < 0.1)
    }

    /// Lost samples become silence, and repeated ones are left out.
    @Test func lostSamplesBecomeSilence() {
        var clock = SoundClock(rate: 1000)
        #expect(clock.recordCapture(100, at: 5_000_000_000) == SoundClock.Plan())
        #expect(clock.recordOutput(100).seconds == 5)
        #expect(clock.recordCapture(100, at: 5_600_000_000) == SoundClock.Plan(silence: 500))
        #expect(abs(clock.recordOutput(600).seconds - 5.1) < 1e-9)
        #expect(abs(clock.position.seconds - 5.7) < 1e-9)
        #expect(clock.recordCapture(100, at: 5_400_000_000) == SoundClock.Plan(excess: 300))
    }

    /// A driver's times are arbitrary numbers.
    @Test(arguments: [Int64.min, -1, 0, .max]) func anyTimeIsAccepted(_ time: Int64) {
        for start in [Int64.min, 5_000_000_000, .max] {
            var clock = SoundClock(rate: 384_000)
            #expect(clock.recordCapture(100, at: start) == SoundClock.Plan())
            _ = clock.recordOutput(100)
            let plan = clock.recordCapture(100, at: time)
            #expect(plan.silence >= 0 && plan.excess >= 0)
            _ = clock.recordOutput(100 + plan.silence)
            #expect(!clock.driftPPM.isNaN && clock.position.timescale > 0)
        }
    }

    /// Four seconds of samples are lost, and the clock is correct.
    @Test func lostSamplesAreNoDrift() {
        var clock = SoundClock(rate: 1000)
        for period in 0..<100 {
            let lost = period < 50 ? 0 : Int64(4_000_000_000)
            let plan = clock.recordCapture(100, at: 1_000_000_000 + Int64(period) * 100_000_000 + lost)
            #expect((plan.silence > 0) == (period == 50))
            _ = clock.recordOutput(100 + plan.silence)
        }
        #expect(abs(clock.driftPPM) < 0.1, "\(clock.driftPPM)")
    }
}
