import ExtremeValues
import BitstreamInspection
import H264Syntax
import RateControl
import TestOracles
import Testing
import VideoBase

@testable import EncodeSession

/// Tests the counts of pictures that break limits, and the levels of streams without a rate limit.
@Suite struct RateComplianceTrackerTests {
    private func makeTracker(_ change: (inout EncoderConfiguration) -> Void) throws -> RateComplianceTracker {
        let limits = SettingsResolverTests.limits { $0.rateControl = [.cqp] }
        let requested = SettingsResolverTests.configuration(176, 144) {
            $0.frameRate = Rational(10)
            $0.rate.bitrate = BitsPerSecond(80_000)
            $0.rate.maxBitrate = BitsPerSecond(100_000)
            change(&$0)
        }
        return RateComplianceTracker(
            try SettingsResolver.resolve(requested, on: DeviceCapabilities(driver: "a driver", encoders: [limits])))
    }

    /// Returns the indices of the pictures that broke the limit; sizes are in bits.
    private func broken(_ tracker: RateComplianceTracker, _ sizes: [Int], _ limit: RateLimit) -> [Int] {
        var tracker = tracker
        return sizes.indices.filter { tracker.add(bits: sizes[$0], keepsBuffer: true, largestSlice: 0).contains(limit) }
    }

    @Test func frameAndBufferViolationsAreCounted() throws {
        var tracker = try makeTracker { $0.rate.maxFrameBytes = 1500 }
        let kept = tracker.add(bits: 12_000, keepsBuffer: true, largestSlice: 9000)
        let broken = tracker.add(bits: 12_008, keepsBuffer: false, largestSlice: 9000)
        #expect(kept == [] && broken == [.buffer, .frameBytes])
        #expect(tracker.broken.overMaxFrameBytes == 1 && tracker.broken.bufferUnderflows == 1)
        #expect(tracker.broken.notices.count == 2)
    }

    /// The limit applies to any three pictures, which last 0.3 s.
    @Test func dataRateLimitAppliesToEveryWindow() throws {
        let tracker = try makeTracker { $0.rate.dataRateLimits = [DataRateLimit(bytes: 3000, duration: .seconds(0.3))] }
        #expect(broken(tracker, [8000, 8000, 8000, 8000], .dataRate) == [])
        #expect(broken(tracker, [8000, 8000, 8001, 8000, 7999, 8001, 8001], .dataRate) == [2, 3, 6])
        #expect(broken(tracker, [24_001, 0, 0, 24_000, 1], .dataRate) == [0, 1, 2, 4])
    }

    /// A second has ten pictures.
    @Test func maximumRateAppliesToEverySecond() throws {
        let tracker = try makeTracker { _ in }
        #expect(broken(tracker, Array(repeating: 9984, count: 30), .maximum) == [])
        #expect(broken(tracker, [50_000] + Array(repeating: 6000, count: 12), .maximum) == [9])
    }

    /// Level 1.1 with MinCR 2 allows 192 bytes for each of the first picture's 99 macroblocks, and for each of the 300
    /// macroblocks that the level decodes in 0.1 s for later pictures. The rate and the buffer of the level allow all
    /// of these sizes.
    @Test func minimumCompressionRatioIsChecked() throws {
        let tracker = try makeTracker { $0.level = 11 }
        #expect(broken(tracker, [8 * 19_008, 8 * 57_600, 8], .level) == [])
        #expect(broken(tracker, [8 * 19_009, 8, 8], .level) == [0])
        #expect(broken(tracker, [8, 8 * 57_601, 8, 8], .level) == [1])
    }

    /// vaenc's own controller treats MinCR as a limit of picture size like `maxFrameBytes`; the lower of the two
    /// applies.
    @Test(arguments: [(nil, 57_600), (100_000, 57_600), (50_000, 50_000)] as [(Int?, Int)])
    func controllerKeepsTheMinimumCompressionRatio(_ bytes: Int?, _ most: Int) throws {
        let limits = SettingsResolverTests.limits { $0.rateControl = [.cqp] }
        let requested = SettingsResolverTests.configuration(176, 144) {
            $0.frameRate = Rational(10)
            $0.rate.bitrate = BitsPerSecond(80_000)
            $0.level = 11
            $0.rate.maxFrameBytes = bytes
        }
        let settings = try SettingsResolver.resolve(requested, on: DeviceCapabilities(driver: "a driver", encoders: [limits]))
        let targets = RateSession.targets(settings.rate, frameRate: settings.frameRate, settings: settings)
        #expect(targets.maxPictureBits == 8 * most)
        let fastTargets = RateSession.targets(settings.rate, frameRate: Rational(1000), settings: settings)
        #expect(fastTargets.maxPictureBits == 8 * 19_008)
    }

    /// After a change, the pictures planned before it and one second of settling do not count.
    @Test func picturesAfterAChangeAreExcluded() throws {
        var tracker = try makeTracker { _ in }
        var rate = RateSettings()
        rate.mode = .vbr
        rate.maxBitrate = 20_000
        tracker.change(rate, Rational(10), pending: 3)
        var found: [Int] = []
        for index in 0..<20 where tracker.add(bits: 4000, keepsBuffer: true, largestSlice: 0).contains(.maximum) {
            found.append(index)
        }
        #expect(found.first == 18)
    }

    @Test(arguments: [(0, 250), (12, 1), (24, 1), (24, 250), (36, 250)])
    func levelWithoutARateSufficesForTheStream(_ qp: Int, _ gop: Int) throws {
        let run = try TestClip.packets(qp: qp, gop: gop)
        let level = try #require(Level(number: run.level))
        // The factor 1250 is MaxBR's of the High profile.
        #expect(Double(run.bitrate) <= Double(level.maxBR) * 1250, "level \(level.name), \(run.bitrate) bit/s")
    }

    private enum TestClip {
        static func packets(qp: Int, gop: Int) throws -> (level: Int, bitrate: Int) {
            let result = try ClipSession.run(frames: 60) {
                $0.rate.qp = qp
                $0.coding.preset = 7
                $0.structure.gopFrames = gop
                $0.frameRate = Rational(30)
            }
            let bits = result.packets.reduce(0) { $0 + $1.bytes.count * 8 }
            let level = Streams.inspect(result.packets.stream).sequenceSets[0].level_idc
            return (Int(level), bits * 30 / result.packets.count)
        }
    }

    /// For these sizes, a usual QP does not raise the level.
    @Test(arguments: [(1280, 720, 30, "3.1"), (1280, 720, 60, "3.2"), (1920, 1080, 30, "4.0"), (1920, 1080, 60, "4.2"), (3840, 2160, 30, "5.1")])
    func usualQPKeepsTheLevelOfTheSize(_ width: Int, _ height: Int, _ fps: Int, _ level: String) throws {
        let requested = SettingsResolverTests.configuration(width, height) { $0.frameRate = Rational(fps) }
        let settings = try SettingsResolver.resolve(
            requested, on: DeviceCapabilities(driver: "a driver", encoders: [SettingsResolverTests.limits()]))
        #expect(settings.level.name == level)
        let fine = try SettingsResolver.resolve(
            SettingsResolverTests.configuration(width, height) {
                $0.frameRate = Rational(fps)
                $0.rate.qp = 1
            }, on: DeviceCapabilities(driver: "a driver", encoders: [SettingsResolverTests.limits()]))
        #expect(fine.level.maxBitrate > settings.level.maxBitrate)
        #expect(fine.effective.first { $0.option == "level" }?.why.description.contains("at this QP") == true)
    }
}
