import Glibc
import Testing

@testable import ReferenceDriver

/// Tests the controller with a model of content, without an encoder.
@Suite struct RateControllerTests {
    /// Returns the size of a picture in bits as in HEVC. B pictures that no other picture refers to are almost
    /// completely skipped, and at lower QPs they grow far faster than others. `cost` is the content's.
    private func bits(_ kind: RatedPicture.Kind, _ qp: Int, _ cost: Double) -> Int {
        let (at26, doublings, least): (Double, Double, Double) =
            switch kind {
            case .intra: (250_000, 0.85, 600)
            case .predicted, .bidirectionalReference: (45_000, 1.1, 600)
            case .disposable: (1200, 4, 400)
            }
        var size = at26 * cost
        let steps = (26 - Double(qp)) / 6 * doublings
        for _ in 0..<Int(abs(steps) * 16) { size *= steps < 0 ? 0.957_603 : 1.044_274 }
        return Int(max(size, least))
    }

    /// The buffer lasts one second, and an I picture takes more than half of it: there is room for what is saved for
    /// it, and B pictures do not use up the surplus. Scenes of 1.2 seconds have 1.6, 0.6, 1 and 0.5 times the cost.
    @Test func bufferKeepsRoomForIntraPictures() throws {
        let rate = 500_000
        let settings = RateSettings(
            mode: .constantBitRate, layers: [.init(maximumBitRate: rate, targetPercentage: 100, framesPerSecond: 25)],
            bufferBits: rate, intraPeriod: 125, referencePeriod: 3)
        var sizes: [RatedPicture.Kind: [Int]] = [:]
        var (total, filler) = (0, 0)
        var started: RateController?
        for index in 0..<500 {
            let position = index % 125
            let kind: RatedPicture.Kind = position == 0 ? .intra : position % 3 == 1 ? .predicted : .disposable
            let cost = [1.6, 0.6, 1, 0.5][index / 30 % 4]
            let picture = RatedPicture(settings: settings, kind: kind, layer: 0, samples: 640 * 360)
            var controller = started ?? RateController(picture)
            var qp = controller.begin(picture)
            var size = bits(kind, qp, cost)
            while let again = controller.retry(bits: size, qp: qp) {
                qp = again
                size = bits(kind, qp, cost)
            }
            #expect(!controller.overruns(bits: size))
            let fill = 8 * controller.fillerBytes(bits: size)
            controller.end(bits: size, filler: fill, qp: qp, intraShare: 0)
            sizes[kind, default: []].append(size)
            total += size + fill
            filler += fill
            started = controller
        }
        #expect(abs(Double(total) / 20 / Double(rate) - 1) < 0.02, "\(total)")
        // The costs fall to half every few seconds. The controller follows such a fall carefully, because it may be a
        // flash.
        #expect(Double(filler) < 0.09 * Double(total), "\(filler) bits of filler")
        let most = try #require(sizes[.disposable]?.max())
        #expect(most < 5 * rate / 25, "\(most) bits in a picture that no other refers to")
    }

    /// One minute of pictures in scenes of eight seconds; each is up to three times harder or easier than the one
    /// before, and no second may take more than 1.5 times the rate. The reserves for harder pictures leave almost
    /// nothing of the rate unused.
    @Test(arguments: [1, 3]) func variableRateIsAlmostFullyUsed(_ referencePeriod: Int) {
        let rate = 500_000
        let settings = RateSettings(
            mode: .variableBitRate,
            layers: [.init(maximumBitRate: rate * 3 / 2, targetPercentage: 67, framesPerSecond: 25)],
            window: 1000, bufferBits: rate * 3 / 2, intraPeriod: 125, referencePeriod: referencePeriod)
        var (state, noise): (UInt32, Double) = (1, 0)
        var sizes: [Int] = []
        var started: RateController?
        for index in 0..<1500 {
            state = state &* 1_664_525 &+ 1_013_904_223
            noise = 0.3 * noise + 1.5 * (Double(state >> 8) / Double(1 << 23) - 1)
            let position = index % 125
            let kind: RatedPicture.Kind =
                position == 0 ? .intra : position % referencePeriod == 1 % referencePeriod ? .predicted : .disposable
            let at26: Double = kind == .intra ? 120_000 : kind == .predicted ? 20_000 : 8000
            let octaves = log2(at26 * [1, 0.7, 1.5, 0.8][index / 200 % 4]) + noise
            func bits(_ qp: Int) -> Int {
                Int(max(exp2(octaves + Double(26 - qp) / 6 * (kind == .intra ? 0.85 : 1.1)), 100))
            }
            let picture = RatedPicture(settings: settings, kind: kind, layer: 0, samples: 640 * 360)
            var controller = started ?? RateController(picture)
            var qp = controller.begin(picture)
            while let again = controller.retry(bits: bits(qp), qp: qp) { qp = again }
            controller.end(bits: bits(qp), filler: 0, qp: qp, intraShare: kind == .intra ? 1 : 0)
            sizes.append(bits(qp))
            #expect(sizes.suffix(25).reduce(0, +) <= rate * 3 / 2, "the second before picture \(index)")
            started = controller
        }
        let share = Double(sizes.reduce(0, +)) / 60 / Double(rate)
        #expect((0.96...1.01).contains(share), "\(share) of the rate")
    }

    /// Noise that is too much at the highest QP makes the decoder's buffer underflow: the deficit is made up before
    /// pictures become finer, and no filler is added until then.
    @Test func bufferDeficitIsMadeUp() {
        let settings = RateSettings(
            mode: .constantBitRate,
            layers: [.init(maximumBitRate: 300_000, targetPercentage: 100, framesPerSecond: 25)],
            bufferBits: 150_000)
        func bits(_ index: Int, _ qp: Int) -> Int {
            var size = (50..<130).contains(index) ? 15_000.0 : 800
            for _ in qp..<51 { size *= 1.122_462 }
            return Int(size)
        }
        var (fullness, least) = (112_500.0, 0.0)
        var started: RateController?
        for index in 0..<300 {
            let picture = RatedPicture(
                settings: settings, kind: index == 0 ? .intra : .predicted, layer: 0, samples: 320 * 180)
            var controller = started ?? RateController(picture)
            var qp = controller.begin(picture)
            while let again = controller.retry(bits: bits(index, qp), qp: qp) { qp = again }
            let size = bits(index, qp)
            let filler = 8 * controller.fillerBytes(bits: size)
            #expect(fullness >= 0 || filler == 0)
            #expect(index < 170 || fullness >= Double(size), "\(index): \(fullness)")
            least = min(least, fullness)
            controller.end(bits: size, filler: filler, qp: qp, intraShare: 0)
            fullness += 12_000 - Double(size + filler)
            started = controller
        }
        #expect(least < -50_000)
    }
}
