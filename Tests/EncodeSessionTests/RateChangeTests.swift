import BitstreamInspection
import ReferenceDisplay
import TestOracles
import Testing
import VideoBase

@testable import EncodeSession

/// Changes while the encoder runs apply from the next picture on, without an IDR picture and without draining.
@Suite struct RateChangeTests {
    static let size = VideoSize(width: 352, height: 288)
    /// The clip's own size.
    static let smallSize = VideoSize(width: 176, height: 144)

    /// The clip carphone, enlarged, and played forwards and backwards without end.
    private static let clip = Result { try pictures(size) }
    /// The clip in its own size.
    private static let smallClip = Result { try pictures(smallSize) }

    private static func pictures(_ size: VideoSize) throws -> [SystemPixelBuffer] {
        try Fixture.carphone.frames(60, width: size.width, height: size.height).map { frame in
            let buffer = try SystemPixelBuffer(format: .i420, size: size)
            try unsafe buffer.withUnsafePlanes { planes in
                var next = 0
                for plane in 0..<3 {
                    let (width, height) = plane == 0 ? (size.width, size.height) : (size.width / 2, size.height / 2)
                    for y in 0..<height {
                        for x in 0..<width {
                            unsafe planes.base(plane).storeBytes(
                                of: frame.bytes[next], toByteOffset: y * planes.pitch(plane) + x, as: UInt8.self)
                            next += 1
                        }
                    }
                }
            }
            return buffer
        }
    }

    /// A session and its next frame index.
    private final class Run {
        let encoder: HardwareEncoder
        let received = Received()
        private(set) var frames = 0
        private let clip: [SystemPixelBuffer]

        init(isSmall: Bool = false, _ change: (inout EncoderConfiguration) -> Void) throws {
            clip = try (isSmall ? RateChangeTests.smallClip : RateChangeTests.clip).get()
            var configuration = EncoderConfiguration(size: isSmall ? RateChangeTests.smallSize : RateChangeTests.size)
            configuration.frameRate = Rational(30)
            configuration.coding.preset = 7
            configuration.structure.gopFrames = 1000
            change(&configuration)
            encoder = try HardwareEncoder(
                display: ReferenceDisplay.open(), configuration: configuration, onPacket: received.handler)
        }

        func encode(_ count: Int) throws {
            for _ in 0..<count {
                let position = frames % (2 * clip.count)
                try encoder.encode(
                    clip[position < clip.count ? position : 2 * clip.count - 1 - position],
                    timing: FrameTiming(presentation: MediaTime(value: Int64(frames) * 3000, timescale: 90000)),
                    options: FrameOptions())
                frames += 1
            }
        }

        func change(_ body: (inout RunningChange) -> Void) throws {
            var change = RunningChange()
            body(&change)
            try encoder.change(change)
        }

        func finish() throws -> [EncodedPacket] {
            try encoder.completeFrames(until: nil)
            encoder.invalidate()
            if let error = received.errors.first { throw VaencError(.internalFault, error) }
            return received.packets
        }
    }

    /// Returns the rate in bits/s at 30 pictures/s by default.
    private func rate(_ packets: [EncodedPacket], _ range: Range<Int>, framesPerSecond: Double = 30) -> Double {
        Double(packets[range].reduce(0) { $0 + $1.bytes.count }) * 8 * framesPerSecond / Double(range.count)
    }

    private func checkWhole(_ packets: [EncodedPacket], frames: Int) {
        #expect(packets.filter(\.isKey).map(\.displayIndex) == [0])
        #expect(packets.count == frames)
        let decoded = ForeignDecoder.libavcodec.decode(packets.stream)
        #expect(decoded.messages == [] && decoded.frames.count == frames)
        #expect(Streams.inspect(packets.stream).violations.map(\.description) == [])
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var mode: RateControlMode
        var controller: RateControlOwner
        var bFrames = 0
        var testDescription: String { "\(mode.rawValue), \(controller.rawValue), \(bFrames) B pictures" }
    }

    static let cases = [
        Case(mode: .cbr, controller: .driver), Case(mode: .cbr, controller: .vaenc, bFrames: 2),
        Case(mode: .vbr, controller: .driver, bFrames: 2), Case(mode: .vbr, controller: .vaenc),
    ]

    /// The next picture carries all changes made before it; a refused change has no effect.
    @Test(arguments: [RateControlMode.cbr, .vbr]) func changesBetweenPicturesAddUp(_ mode: RateControlMode) throws {
        let run = try Run {
            $0.rate.rateControl = mode
            $0.rate.rateController = .driver
            $0.structure.bFrames = 0
            $0.rate.bitrate = BitsPerSecond(500_000)
        }
        try run.encode(30)
        try run.change { $0.bitrate = BitsPerSecond(2_000_000) }
        try run.change { $0.frameRate = Rational(60) }
        try run.change { $0.frameRate = Rational(60) }
        try run.change { _ in }
        try run.encode(90)
        let driverRate = try #require(run.encoder.statistics.driverRates.last)
        let packets = try run.finish()
        checkWhole(packets, frames: 120)
        #expect((1_980_000...2_000_000).contains(driverRate.bitrate), "\(driverRate)")
        #expect((0.8...1.2).contains(rate(packets, 60..<120, framesPerSecond: 60) / 2_000_000))
    }

    /// A constant rate falls below the first one, which the HRD parameters state, and rises above it: filler follows it.
    @Test(arguments: VideoCodec.allCases, [RateControlOwner.driver, .vaenc])
    func constantRateFollowsEachChange(_ codec: VideoCodec, _ controller: RateControlOwner) throws {
        let run = try Run(isSmall: true) {
            ($0.codec, $0.rate.rateControl, $0.rate.rateController, $0.structure.bFrames) = (codec, .cbr, controller, 0)
            $0.rate.bitrate = BitsPerSecond(200_000)
        }
        // In the first second, the buffer gives the key frame more than its share.
        try run.encode(30)
        let rates = [200_000, 60_000, 300_000, 100_000]
        for rate in rates {
            try run.change { $0.bitrate = BitsPerSecond(rate) }
            try run.encode(75)
        }
        let packets = try run.finish()
        #expect(ForeignDecoder.libavcodec.decode(packets.stream, codec: codec == .h264 ? .h264 : .hevc).frames.count == 330)
        for (index, expected) in rates.enumerated() {
            let used = rate(packets, (75 * index + 60)..<(75 * index + 105))
            let ratio = used / Double(expected)
            #expect((0.85...1.15).contains(ratio), "\(codec) \(controller): \(Int(used)) of \(expected)")
        }
    }

    /// A change is refused if the same value is refused in the configuration.
    @Test func changesOutOfRangeAreRefused() throws {
        let run = try Run {
            $0.rate.rateControl = .cbr
            $0.rate.rateController = .vaenc
            $0.rate.bitrate = BitsPerSecond(500_000)
        }
        try run.encode(2)
        let wrong: [(inout RunningChange) -> Void] = [
            { $0.bitrate = BitsPerSecond(.max) }, { $0.bitrate = BitsPerSecond(63) }, { $0.maxBitrate = BitsPerSecond(.max) },
            { $0.minQP = 52 }, { $0.maxQP = -1 }, { $0.maxQP = .min }, { $0.frameRate = Rational(1, .max) },
            { $0.frameRate = Rational(0) }, { $0.dataRateLimits = [DataRateLimit(bytes: .max, duration: .seconds(1))] },
            { $0.dataRateLimits = [DataRateLimit(bytes: 100, duration: Duration(attoseconds: .min))] },
            { $0.dataRateLimits = [DataRateLimit(bytes: 0, duration: .seconds(1))] },
            { $0.dataRateLimits = [DataRateLimit(bytes: 100_000, duration: Duration(attoseconds: .max))] },
        ]
        for change in wrong { #expect(throws: VaencError.self) { try run.change(change) } }
        try run.encode(2)
        #expect(try run.finish().count == 4)
    }

    /// Without B frames, H.264 has a limit of 1.5 times the average rate in a second. It follows the average, also if
    /// the maximum rate is higher.
    @Test func derivedLimitsFollowTheRate() throws {
        let run = try Run {
            $0.codec = .h264
            ($0.rate.rateControl, $0.rate.rateController, $0.structure.bFrames) = (.vbr, .vaenc, 0)
            ($0.rate.bitrate, $0.rate.maxBitrate) = (BitsPerSecond(512_000), BitsPerSecond(6_400_000))
        }
        func limit() throws -> String? { try run.encoder.encoderDescription.effective.first { $0.option == "dataRateLimits" }?.used }
        try run.encode(2)
        #expect(try limit() == "96000 bytes in 1.0 s")
        try run.change { $0.bitrate = BitsPerSecond(2_048_000) }
        #expect(try limit() == "384000 bytes in 1.0 s")
        try run.change { $0.maxBitrate = BitsPerSecond(2_560_000) }
        #expect(try limit() == "320000 bytes in 1.0 s")
        try run.encode(2)
        #expect(try run.finish().count == 4)
    }

    @Test func constantQPsOutOfRangeAreRefused() throws {
        let run = try Run {
            $0.rate.qp = 30; $0.rate.rateControl = .cqp; $0.strict = true
        }
        try run.encode(2)
        for qp in [.min, -1, 52, .max] {
            let error = #expect(throws: VaencError.self) { try run.change { $0.qp = qp } }
            #expect(error?.category == .usage)
        }
        try run.change { $0.qp = 51 }
        try run.encode(2)
        #expect(try run.finish().count == 4)
    }

    /// In CBR, a maximum rate in a change is compared with the new bit rate.
    @Test(arguments: [RateControlOwner.driver, .vaenc]) func constantRateChangesWithItsMaximum(_ controller: RateControlOwner) throws {
        let run = try Run {
            ($0.rate.rateControl, $0.rate.rateController, $0.rate.bitrate) = (.cbr, controller, BitsPerSecond(400_000))
            $0.headers.hrdParameters = false
        }
        try run.encode(2)
        try run.change { ($0.bitrate, $0.maxBitrate) = (BitsPerSecond(800_000), BitsPerSecond(800_000)) }
        try run.change { ($0.bitrate, $0.maxBitrate) = (BitsPerSecond(500_000), BitsPerSecond(700_000)) }
        for change: (inout RunningChange) -> Void in [
            { $0.maxBitrate = BitsPerSecond(50_000) }, { ($0.bitrate, $0.maxBitrate) = (BitsPerSecond(800_000), BitsPerSecond(700_000)) },
        ] {
            let error = #expect(throws: VaencError.self) { try run.change(change) }
            #expect(error?.category == .usage, "\(error as Any)")
        }
        try run.encode(2)
        #expect(try run.finish().count == 4)
    }

    /// Limits that change while running apply to constant QP, in both directions.
    @Test func limitsChangeConstantQP() throws {
        let run = try Run { ($0.rate.qp, $0.structure.bFrames) = (24, 0) }
        try run.encode(3)
        try run.change { $0.minQP = 40 }
        let qp = try run.encoder.encoderDescription.effective.first { $0.option == "qp" }
        #expect(qp?.asked == "24" && qp?.used == "40", "\(qp as Any)")
        try run.encode(3)
        try run.change { ($0.minQP, $0.maxQP) = (0, 12) }
        try run.encode(3)
        try run.change { $0.maxQP = 51 }
        try run.encode(3)
        let packets = try run.finish()
        let expected = [24, 24, 40, 40, 40, 12, 12, 12, 24, 24, 24]
        #expect(packets.dropFirst().map(\.qp) == expected)
        #expect(Streams.inspect(packets.stream).frames.dropFirst().map(\.qp) == expected)
        let strict = try Run { ($0.rate.qp, $0.strict) = (24, true) }
        try strict.encode(2)
        let error = #expect(throws: VaencError.self) { try strict.change { $0.minQP = 40 } }
        #expect(error?.category == .unavailable, "\(error as Any)")
        #expect(try strict.finish().count == 2)
    }

    /// A change that makes the settings contradictory is refused with the same error as the same configuration, and
    /// changes nothing.
    @Test(arguments: [RateControlOwner.driver, .vaenc]) func contradictoryChangesAreRefused(_ controller: RateControlOwner) throws {
        func ask(_ configuration: inout EncoderConfiguration) {
            configuration.rate.rateControl = .vbr
            configuration.rate.rateController = controller
            configuration.rate.bitrate = BitsPerSecond(512_000)
            configuration.rate.maxBitrate = BitsPerSecond(800_000)
            configuration.rate.vbvSize = 40_000
            configuration.structure.bFrames = 0
            if controller == .vaenc { configuration.rate.maxFrameBytes = 4000 }
            (configuration.rate.minQP, configuration.rate.maxQP) = (10, 40)
        }
        let run = try Run(ask)
        try run.encode(2)
        // Each pair makes the same change, in the configuration and as a running change.
        let wrong: [((inout EncoderConfiguration) -> Void, (inout RunningChange) -> Void)] = [
            ({ $0.rate.maxBitrate = BitsPerSecond(400_000) }, { $0.maxBitrate = BitsPerSecond(400_000) }),
            ({ $0.rate.minQP = 41 }, { $0.minQP = 41 }), ({ $0.rate.maxQP = 9 }, { $0.maxQP = 9 }),
            ({ ($0.rate.minQP, $0.rate.maxQP) = (30, 20) }, { ($0.minQP, $0.maxQP) = (30, 20) }),
            // At 5 frames/s, a buffer of 40000 bits is 200 kbit/s, and pictures of 4000 bytes are 160 kbit/s.
            ({ $0.frameRate = Rational(5) }, { $0.frameRate = Rational(5) }),
            (
                { ($0.rate.bitrate, $0.rate.maxBitrate) = (BitsPerSecond(1_280_000), BitsPerSecond(2_000_000)) },
                {
                    ($0.bitrate, $0.maxBitrate) = (BitsPerSecond(1_280_000), BitsPerSecond(2_000_000))
                }
            ),
            ({ $0.rate.bitrate = BitsPerSecond(999) }, { $0.bitrate = BitsPerSecond(999) }),
        ]
        for (configure, change) in wrong {
            let first = #expect(throws: VaencError.self) {
                _ = try Run {
                    ask(&$0); configure(&$0)
                }
            }
            let second = #expect(throws: VaencError.self) { try run.change(change) }
            #expect(first?.category == .usage && first?.remedy != nil, "\(first as Any)")
            #expect(first?.message == second?.message && first?.remedy == second?.remedy, "\(second as Any)")
        }
        if controller == .vaenc {
            let error = #expect(throws: VaencError.self) {
                try run.change { $0.dataRateLimits = [DataRateLimit(bytes: 60_000, duration: .seconds(1))] }
            }
            #expect(error?.category == .usage, "\(error as Any)")
            try run.change { $0.dataRateLimits = [DataRateLimit(bytes: 80_000, duration: .seconds(1))] }
            // These limits stay, and a rate above them is refused.
            #expect(throws: VaencError.self) { try run.change { $0.bitrate = BitsPerSecond(700_000) } }
        }
        // A change is accepted if the resulting settings agree.
        try run.change { ($0.minQP, $0.maxQP) = (41, 45) }
        try run.encode(4)
        let packets = try run.finish()
        #expect(packets.count == 6)
        #expect(Streams.inspect(packets.stream).frames.suffix(4).allSatisfy { (41...45).contains($0.qp) })
    }

    /// If the rate exceeds every level, the change is refused.
    @Test func ratesAboveEveryLevelAreRefused() throws {
        let run = try Run { $0.rate.bitrate = BitsPerSecond(900_000_000) }
        let error = #expect(throws: VaencError.self) { try run.change { $0.bitrate = BitsPerSecond(1_300_000_000) } }
        #expect(error?.category == .unavailable)
        try run.change { $0.bitrate = BitsPerSecond(1_200_000_000) }
        run.encoder.invalidate()
    }

    /// Only vaenc's own controller keeps data rate limits. If the driver's controller runs, a change to other limits is
    /// refused, whether limits were requested at the start (which the effective configuration then reports) or not.
    @Test(arguments: ["radeonsi-navi21", "radeonsi-raven", "iHD-9A49"], [false, true])
    func dataRateLimitsNeedVaencsController(personality: String, hasLimits: Bool) throws {
        var configuration = EncoderConfiguration(size: Self.size)
        configuration.rate.bitrate = BitsPerSecond(500_000)
        configuration.rate.rateController = .driver
        if hasLimits { configuration.rate.dataRateLimits = [DataRateLimit(bytes: 100_000, duration: .seconds(1))] }
        let received = Received()
        let encoder = try HardwareEncoder(
            display: ReferenceDisplay.open(["VAENC_REFERENCE_PERSONALITY": personality]), configuration: configuration,
            onPacket: received.handler)
        defer { encoder.invalidate() }
        let entry = try encoder.encoderDescription.effective.first { $0.option == "dataRateLimits" && $0.asked != nil }
        #expect(entry?.differs == (hasLimits ? true : nil))
        var change = RunningChange()
        change.dataRateLimits = [DataRateLimit(bytes: 90_000, duration: .seconds(1))]
        let error = #expect(throws: VaencError.self) { try encoder.change(change) }
        #expect(error?.category == .unavailable && error?.remedy != nil)
        change.dataRateLimits = []
        try encoder.change(change)
    }

    @Test func configurationsOutOfRangeAreRefused() {
        let wrong: [(inout EncoderConfiguration) -> Void] = [
            { $0.rate.maxFrameBytes = .max }, { $0.rate.dataRateLimits = [DataRateLimit(bytes: .max, duration: .seconds(1))] },
            { $0.frameRate = Rational(1, .max) }, { $0.frameRate = Rational(.max, .max) },
        ]
        for change in wrong {
            #expect(throws: VaencError.self) {
                _ = try Run {
                    $0.rate.rateControl = .cbr
                    $0.rate.bitrate = BitsPerSecond(500_000)
                    change(&$0)
                }
            }
        }
    }

    @Test func refusedChangeHasNoEffect() throws {
        let run = try Run {
            $0.rate.qp = 40
            $0.structure.bFrames = 0
        }
        try run.encode(2)
        #expect(throws: VaencError.self) {
            try run.change {
                $0.qp = 20
                $0.frameRate = Rational(0)
            }
        }
        try run.encode(2)
        #expect(Set(try run.finish().dropFirst().map(\.qp)).count == 1)
    }

    /// The rate changes from 250 kbit/s to 1 Mbit/s and back.
    @Test(arguments: cases) func rateFollowsWithinASecond(_ each: Case) throws {
        let run = try Run(isSmall: true) {
            $0.rate.rateControl = each.mode
            $0.rate.rateController = each.controller
            $0.structure.bFrames = each.bFrames
            $0.rate.bitrate = BitsPerSecond(250_000)
        }
        try run.encode(90)
        // Nothing is drained: pictures are in flight before and after, and the pattern of types continues.
        let before = run.encoder.pendingFrameCount
        try run.change { $0.bitrate = BitsPerSecond(1_000_000) }
        let after = run.encoder.pendingFrameCount
        if each.bFrames > 0 { #expect(before > 0 && after > 0) }
        try run.encode(90)
        try run.change { $0.bitrate = BitsPerSecond(250_000) }
        try run.encode(90)
        let packets = try run.finish()
        checkWhole(packets, frames: 270)
        // B pictures that waited at the change use the new rate.
        let late = each.bFrames + 1
        #expect(abs(rate(packets, 30..<90 - late) / 250_000 - 1) < 0.15, "\(rate(packets, 30..<90 - late))")
        let first = rate(packets, 90..<120)
        let second = rate(packets, 120..<150)
        #expect(first > 750_000 && first < 1_500_000, "in the second after it: \(first)")
        #expect(abs(second / 1_000_000 - 1) < 0.12, "in the second after that: \(second)")
        let down = rate(packets, 210..<240)
        #expect(rate(packets, 180..<210) < 400_000, "\(rate(packets, 180..<210))")
        #expect(abs(down / 250_000 - 1) < 0.2, "\(down)")
        let types = packets.dropFirst().map(\.type)
        if each.bFrames > 0 {
            let pattern = types[1..<1 + 3 * 60]
            #expect(pattern.enumerated().allSatisfy { $0.element == pattern[1 + $0.offset % 3] })
        }
    }

    /// At half the frame rate, each frame gets twice the bits.
    @Test(arguments: [RateControlOwner.driver, .vaenc]) func frameRateChangeKeepsTheBitRate(_ controller: RateControlOwner) throws {
        let run = try Run {
            $0.rate.rateControl = .cbr
            $0.rate.rateController = controller
            $0.structure.bFrames = 0
            $0.rate.bitrate = BitsPerSecond(1_000_000)
        }
        try run.encode(60)
        try run.change { $0.frameRate = Rational(15) }
        try run.encode(60)
        let packets = try run.finish()
        checkWhole(packets, frames: 120)
        #expect(abs(rate(packets, 30..<60) / 1_000_000 - 1) < 0.15)
        let slower = rate(packets, 75..<120, framesPerSecond: 15)
        #expect(abs(slower / 1_000_000 - 1) < 0.15, "\(slower)")
    }

    /// The quality needs more than the maximum rate, so the maximum limits the rate before and after the change.
    @Test(arguments: [RateControlOwner.driver, .vaenc]) func maximumRateFollowsTheChange(_ controller: RateControlOwner) throws {
        let run = try Run {
            $0.rate.rateControl = .vbr
            $0.rate.rateController = controller
            $0.structure.bFrames = 0
            $0.structure.gopFrames = 15
            $0.rate.bitrate = BitsPerSecond(1_000_000)
            $0.rate.maxBitrate = BitsPerSecond(3_000_000)
        }
        try run.encode(60)
        try run.change { $0.maxBitrate = BitsPerSecond(1_100_000) }
        try run.encode(90)
        let error = #expect(throws: VaencError.self) { try run.change { $0.maxBitrate = BitsPerSecond(900_000) } }
        #expect(error?.category == .usage)
        let packets = try run.finish()
        for start in 90...120 {
            let fullest = rate(packets, start..<start + 30)
            #expect(fullest <= 1_100_000, "\(fullest)")
        }
        #expect(packets.filter(\.isKey).map(\.displayIndex) == Array(stride(from: 0, to: 150, by: 15)))
    }

    @Test(arguments: [RateControlOwner.driver, .vaenc]) func qpLimitsFollowTheChange(_ controller: RateControlOwner) throws {
        let run = try Run {
            $0.rate.rateControl = .vbr
            $0.rate.rateController = controller
            $0.structure.bFrames = 0
            $0.rate.bitrate = BitsPerSecond(1_000_000)
        }
        try run.encode(20)
        try run.change {
            $0.minQP = 34
            $0.maxQP = 36
        }
        try run.encode(20)
        try run.change {
            $0.minQP = 1
            $0.maxQP = 12
        }
        try run.encode(20)
        let packets = try run.finish()
        checkWhole(packets, frames: 60)
        let qps = Streams.inspect(packets.stream).frames.map(\.qp)
        // Neither pair of limits applies before it is set.
        #expect(qps[..<20].contains { $0 < 34 } && qps[..<20].contains { $0 > 12 })
        #expect(qps[20..<40].allSatisfy { (34...36).contains($0) })
        #expect(qps[40...].allSatisfy { $0 <= 12 })
    }

    @Test func changesKeepTheStreamsHRDParameters() throws {
        let run = try Run {
            $0.rate.bitrate = BitsPerSecond(1_000_000)
            $0.rate.maxBitrate = BitsPerSecond(2_000_000)
            $0.headers.hrdParameters = true
            $0.structure.bFrames = 0
        }
        try run.encode(30)
        #expect(throws: VaencError.self) { try run.change { $0.maxBitrate = BitsPerSecond(3_000_000) } }
        #expect(throws: VaencError.self) { try run.change { $0.frameRate = Rational(15) } }
        try run.change {
            $0.bitrate = BitsPerSecond(500_000)
            $0.maxBitrate = BitsPerSecond(1_000_000)
        }
        try run.encode(60)
        let packets = try run.finish()
        checkWhole(packets, frames: 90)
        let report = try #require(Streams.inspect(packets.stream).hrd())
        #expect(report.violations.map(\.description) == [])
        #expect(abs(rate(packets, 60..<90) / 500_000 - 1) < 0.2, "\(rate(packets, 60..<90))")
    }
}
