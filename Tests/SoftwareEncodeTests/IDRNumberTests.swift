import BitstreamInspection
import TestOracles
import Testing
import VideoBase

@testable import SoftwareEncode

/// Consecutive IDR pictures have different idr_pic_id (H.264 7.4.3), also across the streams that libx264 starts after
/// a rate change or a drain, and they decode to the coded pictures.
@Suite struct IDRNumberTests {
    @Test(arguments: EntropyCoder.allCases, [1, 3]) func consecutiveIDRPicturesHaveDifferentIDs(_ entropy: EntropyCoder, slices: Int) throws {
        for (gop, isBaseline) in [(50, false), (1, false), (50, true)] where !isBaseline || entropy == .cavlc {
            var configuration = EncoderConfiguration(size: VideoSize(width: 96, height: 80))
            configuration.frameRate = Rational(25)
            configuration.rate.rateControl = .vbr
            configuration.rate.bitrate = BitsPerSecond(400_000)
            configuration.structure.bFrames = 0
            configuration.structure.gopFrames = gop
            configuration.coding.entropy = entropy
            configuration.coding.slices = slices
            if isBaseline { configuration.profile = .h264ConstrainedBaseline }
            let collector = Collector()
            let encoder = try SoftwareEncoder(configuration: configuration) { collector.take($0) }
            defer { encoder.invalidate() }
            // One or two pictures with each rate, then some after drains.
            var count = 0
            for (step, part) in [1, 1, 2, 1, 1].enumerated() {
                var change = RunningChange()
                change.bitrate = BitsPerSecond(step % 2 == 0 ? 400_000 : 200_000)
                try encoder.change(change)
                try SoftwareRun.feed(encoder, count..<count + part, size: configuration.size)
                count += part
            }
            for part in [1, 1, 3] {
                try encoder.completeFrames(until: nil)
                try SoftwareRun.feed(encoder, count..<count + part, size: configuration.size)
                count += part
            }
            try encoder.completeFrames(until: nil)
            #expect(collector.packets.count == count && collector.errors == [])
            let bytes = collector.packets.flatMap(\.bytes)
            let stream = H264Stream(annexB: bytes)
            #expect(stream.violations.map(\.description) == [], "GOP \(gop)")
            #expect(stream.frames.count { $0.isIDR } == (gop == 1 ? count : 8))
            #expect(stream.frames.contains { $0.slices.allSatisfy { $0.header.idr_pic_id == 2 } && $0.slices.count == slices })
            let decoded = ForeignDecoder.libavcodec.decode(bytes, codec: .h264)
            #expect(decoded.messages.isEmpty && decoded.frames.count == count, "GOP \(gop): \(decoded.messages)")
        }
    }
}
