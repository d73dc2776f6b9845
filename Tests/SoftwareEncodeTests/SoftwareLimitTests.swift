import Testing
import VideoBase

@testable import SoftwareEncode

/// Limits of streams that the libraries encode: levels, accounts, and windows that are taken back.
@Suite struct SoftwareLimitTests {
    /// A level that the pictures do not fit is raised, as in hardware; libx265 refused it, and libx264 wrote it all the same.
    @Test(arguments: [VideoCodec.h264, .hevc]) func levelsFollowTheSize(_ codec: VideoCodec) throws {
        for (size, asked, used) in [
            (VideoSize(width: 1280, height: 720), 20, "3.1"), (VideoSize(width: 640, height: 360), 10, codec == .h264 ? "3.0" : "2.1"),
            (VideoSize(width: 176, height: 144), 31, "3.1"),
        ] {
            let (packets, description) = try SoftwareEncoderTests.encode(2, size: size) {
                $0.codec = codec
                $0.level = asked
            }
            #expect(packets.count == 2 && description.level == used, "\(size): \(description.level)")
            let entry = description.effective.first { $0.option == "level" }
            #expect(entry?.used == used && entry?.differs == (asked != 31), "\(entry as Any)")
            #expect(asked == 31 || entry?.why.contains("\(size)") == true)
        }
        let error = #expect(throws: VaencError.self) {
            try SoftwareEncoderTests.encode(1) {
                $0.codec = codec
                $0.level = 77
            }
        }
        #expect(error?.category == .usage && error?.remedy?.contains("5.1") == true)
    }

    /// What windows have lowered comes back with them.
    @Test func windowsTakenBack() throws {
        for size in [nil, 900_000] {
            var configuration = EncoderConfiguration(size: VideoSize(width: 64, height: 64))
            configuration.rateControl = .vbr
            configuration.bitrate = BitsPerSecond(500_000)
            configuration.maxBitrate = BitsPerSecond(800_000)
            configuration.vbvSize = size
            let plain = try EncoderSettings(configuration).limits
            configuration.dataRateLimits = [DataRateLimit(bytes: 70_000, seconds: 1)]
            let settings = try EncoderSettings(configuration)
            #expect(settings.limits.maxRate == 560)
            var back = RunningChange()
            back.dataRateLimits = []
            let free = try settings.changed(settings.limits, by: back)
            #expect((free.bitrate, free.maxRate, free.bufferSize) == (plain.bitrate, plain.maxRate, plain.bufferSize))
            // Set and taken back while running.
            var narrow = RunningChange()
            narrow.dataRateLimits = [DataRateLimit(bytes: 80_000, seconds: 1)]
            let narrowed = try settings.changed(free, by: narrow)
            #expect(narrowed.maxRate == 640)
            #expect(try settings.changed(narrowed, by: back) == free)
            // The rate changes beneath them.
            var rate = RunningChange()
            rate.bitrate = BitsPerSecond(400_000)
            let slower = try settings.changed(narrowed, by: rate)
            #expect(slower.bitrate == 400 && slower.maxRate == 640)
            #expect(try settings.changed(slower, by: back).maxRate == 640)
        }
    }

    /// Pictures over a limit are counted, by the limit: the same sizes counted here.
    @Test(arguments: [VideoCodec.h264, .hevc]) func accounts(_ codec: VideoCodec) throws {
        let size = VideoSize(width: 96, height: 96)
        var configuration = EncoderConfiguration(size: size)
        configuration.codec = codec
        configuration.frameRate = Rational(25)
        configuration.rateControl = .vbr
        configuration.bitrate = BitsPerSecond(20_000)
        configuration.maxBitrate = BitsPerSecond(21_000)
        configuration.vbvSize = 100_000
        configuration.gopFrames = 10
        let collector = Collector()
        let encoder = try SoftwareEncoder(configuration: configuration) { collector.take($0) }
        try SoftwareEncoderTests.feed(encoder, 0..<50, size: size)
        try encoder.completeFrames(until: nil)
        let bits = collector.packets.map { $0.bytes.count * 8 }
        let over = bits.indices.count { bits[max(0, $0 - 24)...$0].reduce(0, +) > 21_000 }
        #expect(encoder.statistics.broken.overMaxBitrate == over)
        #expect(over > 0, "\(bits)")
        encoder.invalidate()
    }

    /// A session that is drained after one picture or two, and goes on: times of decoding rise, and none is after its
    /// picture's presentation.
    @Test(arguments: [VideoCodec.h264, .hevc], [0, 1, 2, 3]) func drainedEarly(_ codec: VideoCodec, _ bFrames: Int) throws {
        for parts in [[1, 5], [2, 5], [1, 1, 1, 4], [2, 1, 6], [3, 2, 2]] {
            let size = VideoSize(width: 64, height: 64)
            var configuration = EncoderConfiguration(size: size)
            configuration.codec = codec
            configuration.bFrames = bFrames
            configuration.frameRate = Rational(25)
            configuration.preset = 7
            let collector = Collector()
            let encoder = try SoftwareEncoder(configuration: configuration) { collector.take($0) }
            var count = 0
            for part in parts {
                try SoftwareEncoderTests.feed(encoder, count..<count + part, size: size)
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
