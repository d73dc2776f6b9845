import TestOracles
import Testing
import VAAPI
@testable import Vaenc

/// `change` and `set` during a running session have the same effect, which a later swap keeps.
@Suite(.timeLimit(.minutes(60))) struct RunningChangeTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var device: DeviceSelector
        var configure: @Sendable (inout EncoderConfiguration) -> Void
        var change: RunningChange
        var properties: [String: PropertyValue]
        /// Sets the values that the configuration has afterwards.
        var expect: @Sendable (inout EncoderConfiguration) -> Void
        var used: [String: String]
        var testDescription: String { name }
    }

    private static func change(_ body: (inout RunningChange) -> Void) -> RunningChange {
        var change = RunningChange()
        body(&change)
        return change
    }

    private static func vbr(_ most: Int?) -> @Sendable (inout EncoderConfiguration) -> Void {
        {
            $0.rate.qp = nil
            $0.rate.qpI = nil
            $0.rate.qpB = nil
            $0.rate.rateControl = .vbr
            $0.rate.bitrate = BitsPerSecond(384_000)
            $0.rate.maxBitrate = most.map { BitsPerSecond($0) }
        }
    }

    private static let windows = [DataRateLimit(bytes: 100_000, duration: .seconds(1))]

    static let cases = [
        Case(
            name: "QP, and those that go with it", device: .reference, configure: { $0.rate.qpI = 27 },
            change: change { $0.qp = 38 }, properties: ["QP": 38],
            expect: { ($0.rate.qp, $0.rate.qpI, $0.rate.qpB) = (38, 35, 38) }, used: ["qp": "38", "qpI": "35"]),
        Case(
            name: "QP beyond its limits", device: .reference, configure: { ($0.rate.maxQP, $0.rate.qpB) = (40, nil) },
            change: change { $0.qp = 45 }, properties: ["QP": 45],
            expect: { ($0.rate.qp, $0.rate.qpI) = (45, 40) }, used: ["qp": "40", "qpI": "40"]),
        Case(
            name: "a rate and its maximum", device: .reference, configure: vbr(480_000),
            change: change { $0.bitrate = BitsPerSecond(1_536_000) }, properties: ["AverageBitRate": 1_536_000],
            expect: { ($0.rate.bitrate, $0.rate.maxBitrate) = (BitsPerSecond(1_536_000), BitsPerSecond(1_920_000)) },
            used: ["bitrate": "1536000 bit/s", "maxBitrate": "1920000 bit/s"]),
        Case(
            name: "a lower rate below its maximum", device: .reference, configure: vbr(480_000),
            change: change { $0.bitrate = BitsPerSecond(192_000) }, properties: ["AverageBitRate": 192_000],
            expect: { $0.rate.bitrate = BitsPerSecond(192_000) },
            used: ["bitrate": "192000 bit/s", "maxBitrate": "480000 bit/s"]),
        Case(
            name: "a rate without one", device: .reference,
            configure: {
                vbr(nil)(&$0)
                $0.headers.hrdParameters = false
            },
            change: change { $0.bitrate = BitsPerSecond(320_000) }, properties: ["AverageBitRate": 320_000],
            expect: { $0.rate.bitrate = BitsPerSecond(320_000) },
            used: ["bitrate": "320000 bit/s", "maxBitrate": "480000 bit/s", "vbvSize": "480000"]),
        Case(
            name: "everything of a rate", device: .reference,
            configure: {
                vbr(480_000)(&$0)
                $0.rate.rateController = .vaenc
            },
            change: change {
                $0.bitrate = BitsPerSecond(300_032)
                $0.maxBitrate = BitsPerSecond(900_032)
                $0.minQP = 20
                $0.maxQP = 45
                $0.frameRate = Rational(30000, 1001)
                $0.dataRateLimits = windows
            },
            properties: [
                "AverageBitRate": 300_032, "VBVMaxBitRate": 900_032, "MinAllowedFrameQP": 20, "MaxAllowedFrameQP": 45,
                "ExpectedFrameRate": "30000/1001", "DataRateLimits": [100_000, 1.0],
            ],
            expect: {
                ($0.rate.bitrate, $0.rate.maxBitrate) = (BitsPerSecond(300_032), BitsPerSecond(900_032))
                ($0.rate.minQP, $0.rate.maxQP, $0.frameRate, $0.rate.dataRateLimits) = (20, 45, Rational(30000, 1001), windows)
            },
            used: [
                "bitrate": "300032 bit/s", "maxBitrate": "900032 bit/s", "minQP": "20", "maxQP": "45",
                "frameRate": "30000/1001", "dataRateLimits": "100000 bytes in 1.0 s",
            ]),
        Case(
            name: "a rate in software", device: .software, configure: vbr(480_000),
            change: change { $0.bitrate = BitsPerSecond(1_536_000) }, properties: ["AverageBitRate": 1_536_000],
            expect: { ($0.rate.bitrate, $0.rate.maxBitrate) = (BitsPerSecond(1_536_000), BitsPerSecond(1_920_000)) },
            used: ["bitrate": "1536000", "maxBitrate": "1920000", "vbvSize": "1920000"]),
        Case(
            name: "a lower rate in software", device: .software, configure: vbr(480_000),
            change: change { $0.bitrate = BitsPerSecond(192_000) }, properties: ["AverageBitRate": 192_000],
            expect: { $0.rate.bitrate = BitsPerSecond(192_000) }, used: ["bitrate": "192000", "maxBitrate": "480000"]),
        Case(
            name: "a rate and its maximum in software", device: .software, configure: vbr(480_000),
            change: change {
                $0.bitrate = BitsPerSecond(300_000)
                $0.maxBitrate = BitsPerSecond(700_000)
            },
            properties: ["AverageBitRate": 300_000, "VBVMaxBitRate": 700_000],
            expect: { ($0.rate.bitrate, $0.rate.maxBitrate) = (BitsPerSecond(300_000), BitsPerSecond(700_000)) },
            used: ["bitrate": "300000", "maxBitrate": "700000", "vbvSize": "700000"]),
    ]

    private func entries(_ session: CompressionSession, _ options: some Collection<String>) throws -> [String: EffectiveEntry] {
        let all = try session.encoderDescription.effective.filter { options.contains($0.option) }
        return Dictionary(uniqueKeysWithValues: all.map { ($0.option, $0) })
    }

    @Test(arguments: cases) func changeAndSetHaveTheSameEffect(_ each: Case) async throws {
        var configuration = Pictures.configuration()
        each.configure(&configuration)
        var expected = configuration
        each.expect(&expected)
        let changed = try CompressionSession(configuration: configuration, device: each.device)
        let set = try CompressionSession(configuration: configuration, device: each.device)
        for session in [changed, set] { try Pictures.encode(0..<3, on: session) }
        try changed.change(each.change)
        try set.set(each.properties)
        for session in [changed, set] {
            #expect(session.configuration == expected)
            for (name, value) in each.properties {
                #expect(try session.value(named: name) == value, "\(name)")
                #expect(session.serializableProperties[name] == value, "\(name)")
            }
            let reported = try entries(session, each.used.keys)
            #expect(reported.mapValues(\.used) == each.used)
            #expect(reported.values.allSatisfy { $0.why != .requested || !each.properties.keys.contains($0.option) })
            try Pictures.encode(3..<6, on: session)
            // The running values equal the session's configuration.
            try await session.swap(to: session.configuration)
            let after = try entries(session, each.used.keys.filter { $0 != "frameRate" })
            #expect(after.mapValues(\.used) == each.used.filter { $0.key != "frameRate" })
            try Pictures.encode(6..<9, on: session)
            try await session.completeFrames()
            let counts = session.statistics
            #expect(counts.taken == 9 && counts.delivered == 9 && counts.dropped == 0 && counts.pending == 0)
            session.invalidate()
        }
        let (a, b) = (try await read(9, of: changed), try await read(9, of: set))
        #expect(a.map(\.qp) == b.map(\.qp))
        if let qp = each.used["qp"], let qpI = each.used["qpI"] {
            #expect(a[3..<6].allSatisfy { "\($0.qp ?? -1)" == qp } && a[6].isKey)
            #expect("\(a[6].qp ?? -1)" == qpI && a[7...].allSatisfy { "\($0.qp ?? -1)" == qp })
        }
    }

    /// A rate above the maximum raises the maximum, also if other properties are set in the same call.
    @Test(arguments: [["MinAllowedFrameQP": 12], ["ExpectedFrameRate": 20]] as [[String: PropertyValue]])
    func setRaisesTheMaximumLikeChange(_ others: [String: PropertyValue]) throws {
        var configuration = Pictures.configuration()
        Self.vbr(480_000)(&configuration)
        let session = try CompressionSession(configuration: configuration, device: .reference)
        defer { session.invalidate() }
        try Pictures.encode(0..<2, on: session)
        try session.set(others.merging(["AverageBitRate": 768_000]) { $1 })
        #expect(session.configuration.rate.maxBitrate == BitsPerSecond(960_000))
        #expect(throws: VaencError.self) { try session.set(["AverageBitRate": 900_000, "VBVMaxBitRate": 800_000]) }
    }

    /// A refused change has no effect.
    @Test(arguments: [DeviceSelector.reference, .software]) func refusedChangeIsNotKept(_ device: DeviceSelector) throws {
        var configuration = Pictures.configuration()
        Self.vbr(nil)(&configuration)
        let session = try CompressionSession(configuration: configuration, device: device)
        try Pictures.encode(0..<2, on: session)
        let before = try session.encoderDescription
        #expect(throws: VaencError.self) {
            try session.change(Self.change { ($0.bitrate, $0.maxBitrate) = (BitsPerSecond(600_000), BitsPerSecond(500_000)) })
        }
        #expect(throws: VaencError.self) { try session.change(Self.change { ($0.qp, $0.minQP) = (20, 10) }) }
        let low = #expect(throws: VaencError.self) { try session.change(Self.change { $0.maxBitrate = BitsPerSecond(1010) }) }
        #expect(low?.message.contains("1010 bit/s") == true, "\(low as Any)")
        #expect(session.configuration == configuration)
        #expect(try session.encoderDescription == before)
        session.invalidate()
    }

    /// A property that is set afterwards, still before the first frame, makes a new encoder, which keeps the change.
    @Test func changeBeforeTheFirstFrameIsKept() async throws {
        let session = try CompressionSession(configuration: Pictures.configuration(), device: .reference)
        try session.change(Self.change { $0.qp = 41 })
        try session.set(.bFrameCount, to: 0)
        try Pictures.encode(0..<3, on: session)
        try await session.completeFrames()
        session.invalidate()
        #expect(try await read(3, of: session).map(\.qp) == [41, 41, 41])
    }
}
