import Testing
import VideoBase

@testable import RateControl

/// Tests changes while the controller runs, and limits.
@Suite struct ChangeTests {
    private func targets(_ aim: RateTargets.Aim, _ rate: Int, _ fps: Int = 30) -> RateTargets {
        var targets = RateTargets(
            aim: aim, bitrate: rate, maxBitrate: aim == .constant ? rate : rate * 3 / 2, frameRate: Rational(fps),
            macroblocks: 920)
        if aim == .variable { targets.windows = [WindowLimit(bits: targets.maxBitrate, seconds: 1)] }
        return targets
    }

    /// The rate changes between 1 and 4 Mbit/s and others: after half a second, the rate is the new one.
    @Test(arguments: [RateTargets.Aim.constant, .variable], [(1, 4), (4, 1), (2, 3), (6, 1)])
    func bitRateFollowsTheChange(aim: RateTargets.Aim, rates: (Int, Int)) {
        for gop in [nil, 300, 45] {
            for at in [150, 163, 190] {
                let new = targets(aim, rates.1 * 1_000_000)
                let simulation = Simulation(
                    targets: targets(aim, rates.0 * 1_000_000),
                    content: SimulatedContent(intra: 100_000, inter: 30_000), gop: gop,
                    change: { frame, controller in if frame == at { controller.change(new) } })
                let result = simulation.run(frames: 400)
                let before = result.rate(60..<150, fps: 30) / Double(rates.0 * 1_000_000)
                let after = result.rate(at + 15..<at + 60, fps: 30) / Double(rates.1 * 1_000_000)
                #expect(abs(before - 1) < 0.2, "GOP \(gop ?? 0), at \(at): \(before)")
                #expect(abs(after - 1) < 0.2, "GOP \(gop ?? 0), at \(at): \(after)")
            }
        }
    }

    @Test func frameRateChangeKeepsTheBitRate() {
        let new = targets(.constant, 1_000_000, 15)
        let simulation = Simulation(
            targets: targets(.constant, 1_000_000), content: SimulatedContent(intra: 100_000, inter: 30_000), gop: nil,
            change: { frame, controller in if frame == 300 { controller.change(new) } })
        let result = simulation.run(frames: 600)
        let before = result.rate(60..<300, fps: 30) / 1e6
        let after = result.rate(330..<600, fps: 15) / 1e6
        #expect(abs(before - 1) < 0.05 && abs(after - 1) < 0.05, "\(before) \(after)")
    }

    @Test func qpLimitsApplyFromTheNextPicture() {
        var new = targets(.variable, 1_000_000)
        new.qpRange = 30...34
        let simulation = Simulation(
            targets: targets(.variable, 1_000_000), content: SimulatedContent(intra: 30_000, inter: 10_000), gop: 30,
            change: { frame, controller in if frame == 90 { controller.change(new) } })
        let result = simulation.run(frames: 200)
        #expect(result.qps[..<90].contains { $0 < 30 })
        #expect(result.qps[90...].allSatisfy { (30...34).contains($0) })
    }

    /// No picture exceeds its limit, scene cuts included, and no window does.
    @Test func pictureAndWindowLimitsHold() {
        var limited = targets(.variable, 1_000_000)
        limited.maxPictureBits = 80_000
        limited.windows.append(WindowLimit(bits: 120_000, seconds: 0.1))
        var content = SimulatedContent(intra: 150_000, inter: 20_000)
        for cut in 1..<10 { content.cuts[cut * 31] = cut % 2 == 0 ? 1 : 1.7 }
        let result = Simulation(targets: limited, content: content, gop: 60).run(frames: 330)
        #expect(result.bits.max() ?? 0 <= 80_000 && result.violations == 0 && result.repeats > 0)
        #expect(result.peak(frames: 3) <= 120_000)
    }

    /// The quality is kept unless the maximum rate limits it.
    @Test func qualityIsKeptWithinTheMaximumRate() {
        var targets = targets(.quality(qp: 28), 1_000_000)
        let easy = Simulation(targets: targets, content: SimulatedContent(intra: 40_000, inter: 5_000), gop: 60)
            .run(frames: 300)
        for (type, qp) in zip(easy.types, easy.qps) { #expect(qp == (type == .idr ? 25 : 28)) }
        targets.windows = [WindowLimit(bits: 1_000_000, seconds: 1)]
        let hard = Simulation(targets: targets, content: SimulatedContent(intra: 300_000, inter: 90_000), gop: 60)
            .run(frames: 300)
        #expect(hard.peak(frames: 30) <= 1_000_000 && hard.qps.contains { $0 > 30 })
    }

    /// At the lowest QP, the content is too easy for the rate.
    @Test func fillerKeepsTheConstantRate() {
        var targets = targets(.constant, 2_000_000)
        targets.qpRange = 20...51
        let result = Simulation(targets: targets, content: SimulatedContent(intra: 20_000, inter: 1_000), gop: 60)
            .run(frames: 600)
        #expect(result.filler > 0 && result.violations == 0)
        #expect(abs(result.rate(0..<600, fps: 30) / 2e6 - 1) < 0.03)
    }
}
