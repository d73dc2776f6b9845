import ExtremeValues
import BitstreamInspection
import TestOracles
import Testing
import VideoBase

@testable import SoftwareEncode

/// Limits of streams that the libraries encode: levels, counts, and windows that are removed.
@Suite struct SoftwareLimitTests {
    /// A level that is too low for the pictures is raised, as in hardware. libx265 would refuse it, and libx264 would
    /// write it.
    @Test(arguments: [VideoCodec.h264, .hevc]) func lowLevelIsRaisedForTheSize(_ codec: VideoCodec) throws {
        for (size, requested, used) in [
            (VideoSize(width: 1280, height: 720), 20, "3.1"), (VideoSize(width: 640, height: 360), 10, codec == .h264 ? "3.0" : "2.1"),
            (VideoSize(width: 176, height: 144), 31, "3.1"),
        ] {
            let (packets, description) = try SoftwareRun.encode(2, size: size) {
                $0.codec = codec
                $0.level = CodecLevel(tenths: requested)
            }
            #expect(packets.count == 2 && description.level.description == used, "\(size): \(description.level)")
            let entry = description.effective.first { $0.option == "level" }
            #expect(entry?.used == used && entry?.differs == (requested != 31), "\(entry as Any)")
            #expect(requested == 31 || entry?.why.description.contains("\(size)") == true)
        }
        let error = #expect(throws: VaencError.self) {
            try SoftwareRun.encode(1) {
                $0.codec = codec
                $0.level = 77
            }
        }
        #expect(error?.category == .usage && error?.remedy?.contains("5.1") == true)
    }

    /// The level's limits of rate and buffer depend on the written profile: with its fastest preset, libx264 writes
    /// Main, and uses the 8×8 transform only on request.
    @Test func levelLimitsFollowTheWrittenProfile() throws {
        typealias Change = (inout EncoderConfiguration) -> Void
        let rate: Change = { ($0.level, $0.rate.bitrate, $0.rate.rateControl) = (31, BitsPerSecond(18_000_000), .cbr) }
        let buffer: Change = { ($0.level, $0.rate.bitrate, $0.rate.vbvSize) = (31, BitsPerSecond(2_000_000), 25_000_000) }
        let cases: [(preset: Int, change: Change, profile: CodecProfile, used: String)] = [
            (6, { rate(&$0) }, .h264High, "3.1"),
            (7, { rate(&$0) }, .h264Main, "3.2"),
            (
                7,
                {
                    rate(&$0); $0.coding.transform8x8 = true
                }, .h264High, "3.1"
            ),
            (
                6,
                {
                    rate(&$0); $0.coding.transform8x8 = false
                }, .h264Main, "3.2"
            ),
            (
                6,
                {
                    rate(&$0); $0.profile = .h264Main
                }, .h264Main, "3.2"
            ),
            (
                6,
                {
                    rate(&$0); ($0.profile, $0.structure.bFrames) = (.h264ConstrainedBaseline, 0)
                }, .h264ConstrainedBaseline, "3.2"
            ),
            // Level 3.2 has buffers of 30 Mbit in High, of 24 Mbit in Main.
            (6, { buffer(&$0) }, .h264High, "3.2"),
            (7, { buffer(&$0) }, .h264Main, "4.0"),
            (
                7,
                {
                    buffer(&$0); $0.codec = .hevc
                }, .hevcMain, "4.0"
            ),
        ]
        for (preset, change, profile, used) in cases {
            let (packets, description) = try SoftwareRun.encode(2) {
                $0.coding.preset = preset
                change(&$0)
            }
            #expect(packets.count == 2 && description.profile == profile && description.level.description.hasPrefix(used), "\(description.level)")
            let entry = try #require(description.effective.first { $0.option == "level" })
            #expect(entry.used == used && entry.differs == (used != "3.1"), "\(entry)")
        }
    }

    /// Above all levels, libx265 writes level 8.5, which has no limits. The report says so.
    @Test func level85IsReportedAsUnlimited() throws {
        var configuration = EncoderConfiguration(size: VideoSize(width: 64, height: 64))
        configuration.codec = .hevc
        configuration.rate.rateControl = .cbr
        configuration.rate.bitrate = BitsPerSecond(4_000_000_000)
        let encoder = try SoftwareEncoder(configuration: configuration) { _ in }
        try encoder.prepare()
        let entry = try encoder.encoderDescription.effective.first { $0.option == "level" }
        #expect(entry?.used == "8.5" && entry?.why.description.contains("no limits") == true, "\(entry as Any)")
        encoder.invalidate()
    }

    /// libx265 supports levels from 5 on only for pictures of 32 or more on each side. It refuses others without a
    /// reason, and crashes if such a level is requested.
    @Test func highLevelsNeedSidesOf32() throws {
        func refusal(_ width: Int, _ height: Int, _ change: (inout EncoderConfiguration) -> Void = { _ in }) -> VaencError? {
            var configuration = EncoderConfiguration(size: VideoSize(width: width, height: height))
            configuration.codec = .hevc
            change(&configuration)
            do { _ = try EncoderSettings(configuration) } catch { return error }
            return nil
        }
        for (width, height) in [(5000, 16), (16, 5000), (4217, 30), (16384, 18)] {
            let error = refusal(width, height)
            #expect(error?.category == .unavailable && error?.message.contains("a side above 4216 needs level 5") == true, "\(error as Any)")
            #expect(error?.remedy?.contains("use another size (`SourceOptions.outputSize` scales") == true)
            #expect(refusal(width, height) { $0.codec = .h264 } == nil)
        }
        #expect(refusal(4216, 30) { $0.frameRate = Rational(1000) }?.message.contains("frames per second need level 5") == true)
        #expect(refusal(64, 16) { $0.level = 50 }?.message.contains("`level` is 5.0,") == true)
        #expect(refusal(64, 16) { ($0.level, $0.frameRate) = (41, Rational(1000)) }?.message.contains("(4.1 is raised to it") == true)
        #expect(refusal(64, 16) { $0.rate.bitrate = BitsPerSecond(34_000_000) }?.message.contains("51000 kbit/s need level 5") == true)
        #expect(refusal(64, 16) { ($0.rate.bitrate, $0.tier) = (BitsPerSecond(14_000_000), .main) }?.message.contains("21000 kbit/s") == true)
        #expect(refusal(64, 16) { $0.rate.bitrate = BitsPerSecond(33_000_000) } == nil)
        #expect(refusal(64, 16) { $0.level = 41 } == nil && refusal(64, 32) { $0.level = 50 } == nil && refusal(16384, 32) == nil)
        // The longest sides that libx265 supports.
        for size in [VideoSize(width: 4216, height: 16), VideoSize(width: 4224, height: 32)] {
            let (packets, _) = try SoftwareRun.encode(2, size: size) { $0.codec = .hevc }
            #expect(packets.count == 2)
        }
    }

    /// If the windows are removed, the rates that they lowered are restored.
    @Test func removedWindowsRestoreTheRate() throws {
        for size in [nil, 900_000] {
            var configuration = EncoderConfiguration(size: VideoSize(width: 64, height: 64))
            configuration.rate.rateControl = .vbr
            configuration.rate.bitrate = BitsPerSecond(500_000)
            configuration.rate.maxBitrate = BitsPerSecond(800_000)
            configuration.rate.vbvSize = size
            let plain = try EncoderSettings(configuration).limits
            configuration.rate.dataRateLimits = [DataRateLimit(bytes: 70_000, duration: .seconds(1))]
            let settings = try EncoderSettings(configuration)
            #expect(settings.limits.maxRate == 560)
            var back = RunningChange()
            back.dataRateLimits = []
            let free = try settings.changed(settings.limits, by: back)
            #expect((free.bitrate, free.maxRate, free.bufferSize) == (plain.bitrate, plain.maxRate, plain.bufferSize))
            // Windows are set and removed during encoding.
            var narrow = RunningChange()
            narrow.dataRateLimits = [DataRateLimit(bytes: 80_000, duration: .seconds(1))]
            let narrowed = try settings.changed(free, by: narrow)
            #expect(narrowed.maxRate == 640)
            #expect(try settings.changed(narrowed, by: back) == free)
            // The rate changes while windows apply.
            var rate = RunningChange()
            rate.bitrate = BitsPerSecond(400_000)
            let slower = try settings.changed(narrowed, by: rate)
            #expect(slower.bitrate == 400 && slower.maxRate == 640)
            // The requested maximum holds the new average.
            #expect(try settings.changed(slower, by: back).maxRate == 800)
        }
    }

    /// The test counts the pictures over the limit from the packet sizes.
    @Test(arguments: [VideoCodec.h264, .hevc]) func picturesOverALimitAreCounted(_ codec: VideoCodec) throws {
        let size = VideoSize(width: 96, height: 96)
        var configuration = EncoderConfiguration(size: size)
        configuration.codec = codec
        configuration.frameRate = Rational(25)
        configuration.rate.rateControl = .vbr
        configuration.rate.bitrate = BitsPerSecond(20_000)
        configuration.rate.maxBitrate = BitsPerSecond(21_000)
        configuration.rate.vbvSize = 100_000
        configuration.structure.gopFrames = 10
        configuration.rate.maxQP = 30
        let collector = Collector()
        let encoder = try SoftwareEncoder(configuration: configuration) { collector.take($0) }
        try SoftwareRun.feed(encoder, 0..<50, size: size)
        try encoder.completeFrames(until: nil)
        let bits = collector.packets.map { $0.bytes.count * 8 }
        let over = bits.indices.count { bits[max(0, $0 - 24)...$0].reduce(0, +) > 21_000 }
        #expect(encoder.statistics.broken.overMaxBitrate == over)
        #expect(over > 0, "\(bits)")
        encoder.invalidate()
    }

    /// HRD parameters of libx264 apply to the actual stream, with parameter sets before each key picture, with small
    /// and usual buffers. libx264's user data occurs once.
    @Test(arguments: [RateControlMode.cbr, .vbr], [60_000, 300_000]) func delaysIncludeParameterSets(
        _ mode: RateControlMode, _ bitrate: Int
    ) throws {
        for (buffer, bFrames) in [(nil, 2), (bitrate / 3, 0)] as [(Int?, Int)] {
            let (packets, _) = try SoftwareRun.encode(75) {
                $0.rate.rateControl = mode
                $0.rate.bitrate = BitsPerSecond(bitrate)
                $0.rate.vbvSize = buffer
                $0.headers.hrdParameters = true
                $0.structure.gopFrames = 10
                $0.structure.bFrames = bFrames
                $0.headers.accessUnitDelimiters = bFrames == 0
            }
            let stream = H264Stream(annexB: packets.flatMap(\.bytes))
            #expect(try #require(stream.hrd()).violations.map(\.description) == [])
            #expect(stream.violations.map(\.description) == [])
            #expect(stream.nalUnits.count { $0.type == 7 } == 8)
            let greetings = stream.frames.flatMap(\.nalUnits).filter { stream.nalUnits[$0].type == 6 && stream.nalUnits[$0].byteCount > 300 }
            #expect(greetings.count == 1)
        }
    }

    /// The packets and headers that FFmpeg 5 and 7 return from libx264 for length-prefixed NAL units.
    @Test func everyHeaderFormBecomesAnnexB() {
        let (sps, pps): ([UInt8], [UInt8]) = ([0x67, 0x64, 0, 11, 0xac], [0x68, 0xeb, 0xec])
        let stream = [0, 0, 0, 1] + sps + [0, 0, 0, 1] + pps
        let record = [1, 0x64, 0, 11, 0xff, 0xe1, 0, 5] + sps + [1, 0, 3] + pps + [0xfd, 0xf8, 0xf8, 0]
        for bytes in [[0, 0, 0, 5] + sps + [0, 0, 0, 3] + pps, record] {
            #expect(StreamHeaders.annexB(headers: bytes, .h264) == stream)
        }
        #expect(StreamHeaders.annexB(headers: stream, .hevc) == stream)
        for bytes in [[], [1, 2, 3], [1, 2, 3, 4, 5, 6]] as [[UInt8]] {
            #expect(StreamHeaders.annexB(headers: bytes, .h264).isEmpty || bytes.isEmpty)
        }
        // The length looks like a start code.
        let unit = [0x41] + [UInt8](repeating: 0xff, count: 299)
        #expect(StreamHeaders.annexB(packet: [0, 0, 1, 44] + unit, .h264) == [0, 0, 0, 1] + unit)
    }

    /// As in hardware, the first picture over a requested limit ends the session.
    @Test(arguments: [VideoCodec.h264, .hevc]) func strictSessionEndsAtAMissedLimit(_ codec: VideoCodec) throws {
        let size = VideoSize(width: 96, height: 96)
        for isRequested in [true, false] {
            var configuration = EncoderConfiguration(size: size)
            configuration.codec = codec
            configuration.frameRate = Rational(25)
            configuration.rate.rateControl = .vbr
            configuration.rate.bitrate = BitsPerSecond(20_000)
            if isRequested { configuration.rate.maxBitrate = BitsPerSecond(21_000) }
            configuration.rate.vbvSize = 100_000
            configuration.structure.gopFrames = 10
            configuration.rate.maxQP = 30
            configuration.strict = true
            let collector = Collector()
            let encoder = try SoftwareEncoder(configuration: configuration) { collector.take($0) }
            let error = try? #require(
                throws: VaencError.self,
                performing: {
                    try SoftwareRun.feed(encoder, 0..<50, size: size)
                    try encoder.completeFrames(until: nil)
                    if !isRequested { throw VaencError(.usage, "nothing") }
                })
            // The encoder's thread has ended after this call.
            encoder.invalidate()
            #expect(encoder.statistics.broken.overMaxBitrate > 0)
            if isRequested {
                #expect(
                    error?.category == .unavailable && error?.message.contains("exceeds `maxBitrate` within one second") == true, "\(error as Any)")
                #expect(collector.errors.count == 1)
                #expect(encoder.statistics.delivered == collector.packets.count && collector.packets.count < 50)
                #expect(encoder.statistics.pending == 0)
            } else {
                #expect(error?.category == .usage && collector.packets.count == 50)
            }
        }
    }

    /// A session is drained after one or two pictures, and continues: decoding times increase, and none is after the
    /// presentation time.
    @Test(arguments: [VideoCodec.h264, .hevc], [0, 1, 2, 3]) func decodingTimesIncreaseOverEarlyDrains(_ codec: VideoCodec, _ bFrames: Int) throws {
        for parts in [[1, 5], [2, 5], [1, 1, 1, 4], [2, 1, 6], [3, 2, 2]] {
            let size = VideoSize(width: 64, height: 64)
            var configuration = EncoderConfiguration(size: size)
            configuration.codec = codec
            configuration.structure.bFrames = bFrames
            configuration.frameRate = Rational(25)
            configuration.coding.preset = 7
            let collector = Collector()
            let encoder = try SoftwareEncoder(configuration: configuration) { collector.take($0) }
            var count = 0
            for part in parts {
                try SoftwareRun.feed(encoder, count..<count + part, size: size)
                count += part
                try encoder.completeFrames(until: nil)
            }
            let packets = collector.packets
            #expect(packets.count == count)
            for (packet, next) in zip(packets, packets.dropFirst()) {
                #expect(packet.decode < next.decode, "\(parts): \(packets.map(\.decode.seconds))")
            }
            for packet in packets { #expect(packet.decode <= packet.presentation, "\(parts)") }
            encoder.invalidate()
        }
    }
}
