import Testing
import VideoBase

@testable import RateControl

/// Sweeps the controller over simulated content.
@Suite struct SimulationTests {
    struct Case: CustomStringConvertible {
        var rate: Int
        var fps: Rational
        var gop: Int?
        var bFrames: Int
        var delay: Int
        var hardness: Double
        var cuts: Bool
        var description: String {
            "\(rate) bit/s, \(fps) fps, GOP \(gop ?? 0), \(bFrames) B, delay \(delay), \(hardness)\(cuts ? ", cuts" : "")"
        }
    }

    static let cases: [Case] = {
        var cases: [Case] = []
        for rate in [300_000, 1_000_000, 6_000_000] {
            for fps in [Rational(24000, 1001), Rational(50)] {
                for (gop, bFrames) in [(nil, 0), (250, 2), (60, 0), (15, 1), (1, 0)] as [(Int?, Int)] {
                    for delay in 0...2 {
                        for hardness in [0.3, 1.0, 4.0] {
                            for cuts in [false, true] {
                                cases.append(
                                    Case(
                                        rate: rate, fps: fps, gop: gop, bFrames: bFrames, delay: delay,
                                        hardness: hardness, cuts: cuts))
                            }
                        }
                    }
                }
            }
        }
        return cases
    }()

    private func simulation(_ each: Case, _ aim: RateTargets.Aim, _ maximum: Double) -> Simulation {
        var targets = RateTargets(
            aim: aim, bitrate: each.rate, maxBitrate: Int(Double(each.rate) * maximum), frameRate: each.fps,
            macroblocks: 920)
        if maximum > 1 { targets.windows = [WindowLimit(bits: targets.maxBitrate, seconds: 1)] }
        targets.reorderDepth = each.bFrames
        var content = SimulatedContent(intra: 60_000 * each.hardness, inter: 15_000 * each.hardness)
        if each.cuts {
            for cut in 1..<12 { content.cuts[cut * 97] = [0.5, 2.5, 1, 4, 0.3][cut % 5] }
        }
        return Simulation(targets: targets, content: content, gop: each.gop, bFrames: each.bFrames, delay: each.delay)
    }

    /// Whether most pictures have a QP from 1 to 50, so that the rate is attainable.
    private func isAttainable(_ result: Simulation.Result) -> Bool {
        let ends = result.qps.count { $0 == 51 || $0 == 0 }
        return ends * 50 < result.qps.count
    }

    /// Whether limits must hold: a higher QP is left, and no scene cut occurs while the next picture is already in
    /// flight.
    private func mustHold(_ each: Case, _ result: Simulation.Result) -> Bool {
        !result.qps.contains(51) && (each.delay == 0 || !each.cuts)
    }

    /// Runs thirty seconds of each case. If the rate is attainable, which most cases must be, it must be met within
    /// `tolerance`.
    private func judge(
        _ aim: RateTargets.Aim, maximum: Double, tolerance: Double, _ others: (Case, Simulation.Result) -> Void
    ) {
        var attained = 0
        for each in Self.cases {
            let frames = Int(each.fps.value * 30)
            let result = simulation(each, aim, maximum).run(frames: frames)
            guard isAttainable(result) else { continue }
            attained += 1
            let error = result.rate(0..<frames, fps: each.fps.value) / Double(each.rate) - 1
            #expect(abs(error) < tolerance, "\(each): \(error)")
            if mustHold(each, result) { #expect(result.violations == 0, "\(each)") }
            others(each, result)
        }
        #expect(attained * 10 > Self.cases.count * 6)
    }

    @Test func constantRateIsMet() {
        judge(.constant, maximum: 1, tolerance: 0.02) { each, result in
            if !each.cuts { #expect(result.filler * 50 < result.bits.reduce(0, +), "\(each): \(result.filler)") }
        }
    }

    @Test func variableRateIsMetBelowTheMaximum() {
        judge(.variable, maximum: 1.5, tolerance: 0.05) { each, result in
            #expect(result.filler == 0)
            guard mustHold(each, result) else { return }
            let peak = result.peak(frames: Int(each.fps.value.rounded(.up)))
            #expect(peak <= each.rate * 3 / 2, "\(each): \(peak)")
        }
    }

    /// The rate is at most the average; if the quality needs less, all pictures except the first ones have its QP.
    @Test func qualityIsKeptWithinTheAverageRate() {
        var (reached, missed) = (0, 0)
        for each in Self.cases {
            let frames = Int(each.fps.value * 30)
            let result = simulation(each, .quality(qp: 22), 1.5).run(frames: frames)
            guard isAttainable(result) else { continue }
            let share = result.rate(0..<frames, fps: each.fps.value) / Double(each.rate)
            #expect(share < 1.05, "\(each): \(share)")
            if share < 0.5, !each.cuts {
                let qps = zip(result.types, result.qps).filter { $0.0 == .p }.map(\.1)
                #expect(qps.count { $0 == 22 } * 20 >= qps.count * 19, "\(each): \(qps.prefix(40))")
                reached += 1
            } else if share > 0.95 {
                missed += 1
            }
        }
        #expect(reached > 20 && missed > 20, "\(reached), \(missed)")
    }
}
