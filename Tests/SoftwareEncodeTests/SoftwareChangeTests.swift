import BitstreamInspection
import Testing
import TestOracles
import VideoBase

@testable import SoftwareEncode

@Suite struct SoftwareChangeTests {
    /// The rate follows a change of the running encoder. A constant rate needs no key frame; libx264 cannot change the
    /// average of a variable rate in a running stream, so a key frame starts a new one.
    @Test(arguments: [RateControlMode.cbr, .vbr]) func rateChangesWhileRunning(_ mode: RateControlMode) throws {
        var configuration = EncoderConfiguration(size: VideoSize(width: 320, height: 240))
        configuration.frameRate = SoftwareRun.rate
        configuration.coding.preset = 6
        configuration.structure.bFrames = 0
        configuration.rate.bitrate = BitsPerSecond(150_000)
        configuration.rate.rateControl = mode
        if mode == .vbr { configuration.rate.maxBitrate = BitsPerSecond(200_000) }
        configuration.rate.vbvSize = 50_000
        configuration.headers.hrdParameters = false
        let collector = Collector()
        let encoder = try SoftwareEncoder(configuration: configuration) { collector.take($0) }
        try SoftwareRun.feed(encoder, 0..<60, size: configuration.size)
        var change = RunningChange()
        change.bitrate = BitsPerSecond(600_000)
        try encoder.change(change)
        try SoftwareRun.feed(encoder, 60..<120, size: configuration.size)
        try encoder.completeFrames(until: nil)
        let packets = collector.packets
        #expect(packets.filter(\.isKey).map(\.displayIndex) == (mode == .cbr ? [0] : [0, 60]))
        #expect(packets.map(\.displayIndex) == Array(0..<120))
        func rate(_ range: Range<Int>) -> Int { packets[range].reduce(0) { $0 + $1.bytes.count } * 8 * 25 / range.count }
        #expect(rate(85..<120) > rate(25..<60) * 2, "\(rate(25..<60)) then \(rate(85..<120))")
        // The additional bits are not only filler: the quality is better.
        let pictures = Streams.inspect(packets.flatMap(\.bytes)).frames
        func qp(_ range: Range<Int>) -> Int { pictures[range].reduce(0) { $0 + $1.qp } / range.count }
        #expect(qp(85..<120) < qp(25..<60) - 3, "\(qp(25..<60)) then \(qp(85..<120))")
        change.bitrate = nil
        change.qp = 3
        #expect(throws: VaencError.self) { try encoder.change(change) }
        // Invalidated references are answered with a key frame.
        try encoder.invalidateReferences(displayIndices: [110])
        try SoftwareRun.feed(encoder, 120..<123, size: configuration.size)
        // A key frame answers all reports of frames before it. Frames that do not exist are ignored.
        for lost in [110, 119, 123, 500, -1] { try encoder.invalidateReferences(displayIndices: [lost]) }
        try SoftwareRun.feed(encoder, 123..<126, size: configuration.size)
        try encoder.completeFrames(until: nil)
        #expect(collector.packets.last { $0.isKey }?.displayIndex == 120)
        let counts = encoder.statistics
        #expect(counts.taken == 126 && counts.delivered == 126 && counts.dropped == 0)
        encoder.invalidate()
    }

    /// A change is refused for the same reasons as a configuration, and then has no effect. Existing limits continue.
    @Test func contradictingChangesAreRefused() throws {
        var configuration = EncoderConfiguration(size: VideoSize(width: 176, height: 144))
        configuration.frameRate = SoftwareRun.rate
        configuration.rate.bitrate = BitsPerSecond(500_000)
        configuration.rate.maxBitrate = BitsPerSecond(900_000)
        configuration.rate.dataRateLimits = [DataRateLimit(bytes: 100_000, duration: .seconds(1))]
        let settings = try EncoderSettings(configuration)
        func change(_ body: (inout RunningChange) -> Void) throws -> RateLimits {
            var change = RunningChange()
            body(&change)
            return try settings.changed(settings.limits, by: change)
        }
        let wrong: [(inout RunningChange) -> Void] = [
            { $0.maxBitrate = BitsPerSecond(400_000) }, { $0.bitrate = BitsPerSecond(810_000) },
            { $0.dataRateLimits = [DataRateLimit(bytes: 60_000, duration: .seconds(1))] }, { $0.bitrate = BitsPerSecond(0) },
            { $0.dataRateLimits = [DataRateLimit(bytes: 0, duration: .seconds(1))] }, { $0.bitrate = BitsPerSecond(-1) },
            { $0.qp = -1 }, { $0.qp = 52 }, { $0.minQP = -1 }, { $0.maxQP = 52 }, { $0.frameRate = Rational(0) },
            { $0.frameRate = Rational(1, 0) },
        ]
        for body in wrong {
            let error = #expect(throws: VaencError.self) { _ = try change(body) }
            #expect(error?.category == .usage && error?.remedy != nil, "\(error as Any)")
        }
        // Another encoder supports these changes, this one does not.
        for body in [{ $0.qp = 30 }, { $0.frameRate = Rational(30) }] as [(inout RunningChange) -> Void] {
            let error = #expect(throws: VaencError.self) { _ = try change(body) }
            #expect(error?.category == .unavailable, "\(error as Any)")
        }
        #expect(try change { $0.bitrate = BitsPerSecond(700_000) }.maxRate == 800)
        #expect(try change { $0.dataRateLimits = [DataRateLimit(bytes: 75_000, duration: .seconds(1))] }.maxRate == 600)
    }
}
