import BitstreamInspection
import NALUnits
import Testing
import VideoBase

@testable import SoftwareEncode

/// HRD parameters of the libraries' streams: the delays follow from the sent bits (H.264 and H.265 annex C), according
/// to the independent parser.
@Suite struct DecoderDelayTests {
    private static let size = VideoSize(width: 176, height: 144)

    private func violations(_ packets: [EncodedPacket], _ codec: VideoCodec) throws -> [String] {
        let bytes = packets.flatMap(\.bytes)
        let report = codec == .h264 ? H264Stream(annexB: bytes).hrd() : HEVCStream(annexB: bytes).hrd()
        return try #require(report).violations.map(\.description)
    }

    /// Several buffering periods, with constant and variable rates, also with the average at the maximum, for which
    /// libx265 sets cbr_flag without filler.
    @Test(arguments: [RateControlMode.cbr, .vbr], [60_000, 300_000]) func delaysFollowFromTheBits(
        _ mode: RateControlMode, _ bitrate: Int
    ) throws {
        for (bFrames, ratio) in [(2, 3), (0, 2), (2, 2)] {
            let (packets, description) = try SoftwareRun.encode(45, size: Self.size) {
                $0.codec = .hevc
                $0.coding.preset = 7
                $0.rate.rateControl = mode
                $0.rate.bitrate = BitsPerSecond(bitrate)
                if mode == .vbr { $0.rate.maxBitrate = BitsPerSecond(bitrate * ratio / 2) }
                $0.rate.vbvSize = bitrate
                $0.headers.hrdParameters = true
                $0.structure.gopFrames = 10
                $0.structure.bFrames = bFrames
                $0.structure.bPyramid = bFrames == 0 ? nil : ratio == 3
                $0.headers.accessUnitDelimiters = bFrames == 0
            }
            #expect(description.effective.first { $0.option == "hrdParameters" }?.used == "on")
            #expect(try violations(packets, .hevc) == [])
            let stream = HEVCStream(annexB: packets.flatMap(\.bytes))
            #expect(stream.violations.map(\.description) == [])
            let schedule = try #require(stream.hrd()?.schedules.first)
            #expect(schedule.isConstant == (mode == .cbr))
            // The requested rate, in steps of 64 bits.
            let requested = mode == .cbr ? bitrate : bitrate * ratio / 2
            #expect(requested - schedule.bitrate >= 0 && requested - schedule.bitrate < 64)
            #expect(stream.frames.count { $0.bufferingPeriod != nil } == 5)
            // The parameter sets for containers are those of the stream.
            let sets = stream.nalUnits.prefix { $0.type >= 32 }.filter { (32...34).contains($0.type) }
            #expect(description.parameterSets.count == 3 && sets.count == 3)
            for set in description.parameterSets {
                #expect(AnnexB.split(packets[0].bytes).contains(set))
            }
        }
    }

    /// If every picture is a key frame, libx265 can be configured to write another profile and its own parameter sets,
    /// with other HRD parameters.
    @Test(arguments: [VideoCodec.h264, .hevc], [RateControlMode.cbr, .vbr]) func intraOnlyStreamConforms(
        _ codec: VideoCodec, _ mode: RateControlMode
    ) throws {
        for (preset, bitrate) in [(4, 400_000), (7, 50_000_000)] {
            let (packets, description) = try SoftwareRun.encode(20, size: Self.size) {
                $0.codec = codec
                $0.coding.preset = preset
                $0.rate.rateControl = mode
                $0.rate.bitrate = BitsPerSecond(bitrate)
                $0.headers.hrdParameters = true
                $0.structure.gopFrames = 1
                $0.profile = codec == .hevc ? .hevcMain : .h264High
                $0.coding.transform8x8 = codec == .h264 ? true : nil
                $0.strict = true
            }
            #expect(packets.count == 20 && packets.allSatisfy { $0.isKey && $0.type == .idr })
            #expect(try violations(packets, codec) == [])
            let bytes = packets.flatMap(\.bytes)
            if codec == .h264 {
                let stream = H264Stream(annexB: bytes)
                #expect(stream.violations.map(\.description) == [])
                #expect(stream.nalUnits.count { (7...8).contains($0.type) } == 40)
                continue
            }
            let stream = HEVCStream(annexB: bytes)
            #expect(stream.violations.map(\.description) == [])
            #expect(stream.sequenceSets.map(\.profileTierLevel.general.profile_idc) == [1] && description.profile == .hevcMain)
            // Each picture has one of each set, and only the first has user data.
            let types = stream.nalUnits.map(\.type)
            #expect(types.count { (32...34).contains($0) } == 60 && types.count { $0 == 39 } < 2 * 20 + 3)
        }
    }

    /// The library starts a new stream after each drain. For the decoder it is one stream.
    @Test(arguments: [VideoCodec.h264, .hevc], [RateControlMode.cbr, .vbr]) func delaysConformOverDrains(
        _ codec: VideoCodec, _ mode: RateControlMode
    ) throws {
        var configuration = EncoderConfiguration(size: Self.size)
        configuration.codec = codec
        configuration.frameRate = Rational(25)
        configuration.coding.preset = 6
        configuration.rate.rateControl = mode
        configuration.rate.bitrate = BitsPerSecond(300_000)
        // The buffer has three seconds: each stream of the library assumes the initial fullness.
        configuration.rate.vbvSize = 900_000
        configuration.headers.hrdParameters = true
        configuration.structure.gopFrames = 10
        let collector = Collector()
        let encoder = try SoftwareEncoder(configuration: configuration) { collector.take($0) }
        defer { encoder.invalidate() }
        var count = 0
        for part in [13, 2, 14] {
            try SoftwareRun.feed(encoder, count..<count + part, size: Self.size)
            count += part
            try encoder.completeFrames(until: nil)
        }
        #expect(collector.packets.count == count)
        #expect(try violations(collector.packets, codec) == [])
    }

    /// A schedule that is written into an SPS is read back, and the rest of the SPS does not change.
    @Test func rewrittenScheduleIsReadBack() throws {
        var configuration = EncoderConfiguration(size: Self.size)
        configuration.codec = .hevc
        configuration.rate.rateControl = .vbr
        configuration.rate.bitrate = BitsPerSecond(300_000)
        configuration.headers.hrdParameters = true
        let context = try CodecContext(try EncoderSettings(configuration))
        let sps = try #require(AnnexB.split(context.headers).first { $0[0] >> 1 == 33 })
        let own = try #require(StreamHRD(sps: sps, codec: .hevc))
        #expect(own.frameRate.value == configuration.frameRate.value)
        func schedule(_ rate: Int, _ size: Int, _ isConstant: Bool) -> DeliverySchedule {
            DeliverySchedule(bitrate: BitsPerSecond(rate), cpbSize: size, isConstant: isConstant)
        }
        #expect(own.rewritten(sps, schedule(own.bitrate, own.cpbSize, own.isConstant)) == sps)
        for (rate, size) in [(64, 16), (1_000_000, 123_456), (2_000_000_000, 2_000_000_000)] {
            let expected = schedule(rate, size, true)
            let other = own.rewritten(sps, expected)
            let read = try #require(StreamHRD(sps: other, codec: .hevc))
            #expect(read.bitrate == expected.bitrate.value && read.cpbSize == expected.cpbSize && read.isConstant)
            #expect(read.rewritten(other, schedule(own.bitrate, own.cpbSize, own.isConstant)) == sps)
        }
        for count in 0..<30 { #expect(StreamHRD(sps: Array(sps.prefix(count)), codec: .hevc) == nil) }
    }
}
