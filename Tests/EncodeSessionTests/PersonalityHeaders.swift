import TestOracles
import Testing
import VideoBase

@testable import EncodeSession

/// The requests that must lead to the same headers on every driver.
enum PersonalityHeaders {
    static let frames = 6
    static let clip = Swift.Result { try Fixture.carphone.frames(frames, width: 270, height: 130) }

    static func everything(_ configuration: inout EncoderConfiguration) {
        configuration.rate.qpI = 28
        configuration.structure.bFrames = 0
        configuration.structure.gopFrames = 4
        configuration.headers.accessUnitDelimiters = true
        configuration.display.color = ColorDescription(primaries: 1, transfer: 13, matrix: 6, fullRange: true)
        configuration.display.sampleAspectRatio = Rational(8, 9)
        configuration.frameRate = Rational(30000, 1001)
    }

    static func buffered(_ configuration: inout EncoderConfiguration) {
        everything(&configuration)
        configuration.rate.qp = nil
        configuration.rate.qpI = nil
        configuration.rate.rateControl = .cbr
        configuration.rate.bitrate = BitsPerSecond(500_000)
        configuration.rate.vbvSize = 400_000
    }

    /// Encodes with captions on every picture and user data on one. The stream must decode without messages to the
    /// driver's pictures.
    static func encode(
        _ personality: String?, _ codec: StreamCodec, _ change: (inout EncoderConfiguration) -> Void
    ) throws -> [UInt8] {
        let result = try ClipSession.run(
            of: clip.get(), personality: personality,
            {
                change(&$0)
                if codec == .hevc { ($0.codec, $0.structure.references) = (.hevc, 1) }
            }
        ) { session in
            for index in 0..<frames {
                var options = FrameOptions()
                options.captions = [0xFC, UInt8(0x80 + index), 0x20]
                if index == 2 { options.userData = [Array(repeating: 0xA5, count: 16) + [1, 2, 0, 0, 3]] }
                try session.encode(index, options)
            }
        }
        let bytes = result.packets.stream
        let decoded = ForeignDecoder.libavcodec.decode(bytes, codec: codec)
        #expect(decoded.messages == [] && decoded.frames == result.pictures)
        return bytes
    }
}
