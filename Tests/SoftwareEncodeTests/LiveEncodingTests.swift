import Testing
import VideoBase

@testable import SoftwareEncode

/// The number of pictures that the libraries hold back before the first packet.
@Suite struct LiveEncodingTests {
    private func heldBack(_ change: (inout EncoderConfiguration) -> Void) throws -> (pictures: Int, hasB: Bool) {
        var configuration = EncoderConfiguration(size: VideoSize(width: 64, height: 64))
        configuration.frameRate = Rational(30)
        change(&configuration)
        let settings = try EncoderSettings(configuration)
        let context = try CodecContext(settings)
        let pool = FramePool(format: settings.bufferFormat, size: settings.codedSize, limit: 200)
        var first: Int?
        for index in 0..<150 where first == nil {
            let buffer = try #require(try pool.take())
            try context.send(buffer, index: Int64(index), forceKey: index == 0)
            if try context.receive() != nil { first = index }
        }
        try context.sendEnd()
        var hasB = false
        while let output = try context.receive() { hasB = hasB || output.type == .b }
        return (try #require(first), hasB)
    }

    /// At 30 frames a second the delay is less than half a second, with B pictures; at 60 it lasts no longer. Without
    /// `isLive` it is more.
    @Test(arguments: [VideoCodec.h264, .hevc], [1, 4, 6, 7]) func liveEncodingHasLittleDelay(_ codec: VideoCodec, _ preset: Int) throws {
        for (rate, bFrames) in [(30, nil), (30, 0), (30, 7), (60, nil), (5, nil)] as [(Int, Int?)] {
            let live = try heldBack {
                $0.codec = codec; $0.coding.preset = preset; $0.isLive = true; $0.structure.bFrames = bFrames; $0.frameRate = Rational(rate)
            }
            let most = rate == 5 ? 9 : rate * 9 / 20 + max(0, (bFrames ?? 2) - 2)
            #expect(live.pictures <= most && live.hasB == (bFrames != 0), "\(rate) \(bFrames ?? -1): \(live)")
        }
        guard preset < 6 else { return }
        let other = try heldBack {
            $0.codec = codec; $0.coding.preset = preset
        }
        #expect(other.pictures > 20)
    }

    /// The requested delay takes precedence.
    @Test func requestedFrameDelayIsKept() throws {
        for codec in [VideoCodec.h264, .hevc] {
            for most in 0...12 {
                for preset in [1, 4, 7] {
                    let delay = try heldBack {
                        $0.codec = codec; $0.coding.preset = preset; $0.isLive = true; $0.pipeline.maxFrameDelay = most
                    }
                    #expect(delay.pictures <= most, "\(codec) \(most) \(preset): \(delay)")
                }
            }
            for most in [nil, 0, 1, 8] {
                let none = try heldBack {
                    $0.codec = codec; $0.isLive = true; $0.pipeline.lowLatency = true; $0.pipeline.maxFrameDelay = most
                    $0.rate.bitrate = BitsPerSecond(1_000_000)
                }
                #expect(none.pictures == 0)
            }
        }
    }
}
