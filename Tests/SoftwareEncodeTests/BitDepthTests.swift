import MediaFiles
import PacketDecoding
import Synchronization
import Testing
import TestOracles
import VideoBase

@testable import SoftwareEncode

/// HEVC of ten bits through libx265, and conversion of pictures of another depth.
@Suite struct BitDepthTests {
    private static let size = VideoSize(width: 96, height: 64)

    /// Encodes five pictures of the pattern at QP 0.
    private static func encode(
        pattern: PixelFormat, _ change: (inout EncoderConfiguration) -> Void
    ) throws -> (packets: [EncodedPacket], description: EncoderDescription) {
        var configuration = EncoderConfiguration(size: size)
        configuration.codec = .hevc
        configuration.frameRate = Rational(25)
        configuration.coding.preset = 7
        configuration.rate.qp = 0
        change(&configuration)
        let packets = Mutex<[EncodedPacket]>([])
        let encoder = try SoftwareEncoder(configuration: configuration) { result in
            if let packet = try? result.get() { packets.withLock { $0.append(packet) } }
        }
        defer { encoder.invalidate() }
        try encoder.prepare()
        var options = SourceOptions()
        options.inputFormat = pattern
        let source = try MediaInput.open("testsrc:96x64@25:5", options: options)
        while true {
            let buffer = try encoder.makePixelBuffer()
            let timing = try unsafe buffer.withUnsafePlanes { unsafe try source.readFrame(into: $0) }
            guard let timing else { break }
            try encoder.encode(buffer, timing: timing, options: FrameOptions())
        }
        try encoder.completeFrames(until: nil)
        return (packets.withLock { $0 }, try encoder.encoderDescription)
    }

    private static func entry(_ option: String, _ description: EncoderDescription) -> EffectiveEntry? {
        description.effective.first { $0.option == option }
    }

    /// The depth follows the input, a request, or the profile. Ten bits are kept.
    @Test func tenBitsAreKept() throws {
        let automatic = try Self.encode(pattern: .p010) { $0.inputFormat = .p010 }
        #expect(automatic.description.profile == .hevcMain10)
        #expect(Self.entry("pixelFormat", automatic.description) == nil)
        let requested = try Self.encode(pattern: .p010) {
            $0.inputFormat = .p010; $0.bitDepth = 10
        }
        #expect(requested.description.profile == .hevcMain10)
        var options = SourceOptions()
        options.inputFormat = .p010
        let source = try MediaInput.open("testsrc:96x64@25:5", options: options)
        let decoder = try PacketDecoder(codec: .hevc)
        let original = try SystemPixelBuffer(format: .p010, size: Self.size)
        var error = PictureError(), count = 0
        func compare(_ decoded: PixelPlanes, _ time: MediaTime) throws {
            #expect(unsafe decoded.format == .i420p10)
            try unsafe original.withUnsafePlanes { planes in
                _ = unsafe try source.readFrame(into: planes)
                unsafe error += try PictureError(planes, decoded)
            }
            count += 1
        }
        for packet in automatic.packets { unsafe try decoder.decode(packet, onFrame: compare) }
        try unsafe decoder.finish(onFrame: compare)
        #expect(count == 5)
        // With only eight bits of the pattern, the PSNR would be 48 dB.
        #expect(error.psnr(plane: 0) > 55, "\(error.psnr(plane: 0))")
    }

    @Test func depthConversionIsReported() throws {
        let widened = try Self.encode(pattern: .nv12) { $0.profile = .hevcMain10 }
        #expect(widened.description.profile == .hevcMain10)
        let wide = try #require(Self.entry("pixelFormat", widened.description))
        #expect(wide.asked == "nv12" && wide.used == "i420p10" && wide.why.description.contains("10 bits"))
        let narrowed = try Self.encode(pattern: .p010) {
            $0.inputFormat = .p010; $0.profile = .hevcMain
        }
        #expect(narrowed.description.profile == .hevcMain)
        let narrow = try #require(Self.entry("pixelFormat", narrowed.description))
        #expect(narrow.asked == "p010" && narrow.used == "i420" && narrow.differs)
        let old = try Self.encode(pattern: .p010) {
            $0.inputFormat = .p010; $0.codec = .h264
        }
        #expect(Self.entry("pixelFormat", old.description)?.why.description.contains("H.264") == true)
    }

    @Test func wrongDepthsAreRefused() throws {
        func category(_ change: (inout EncoderConfiguration) -> Void) -> ErrorCategory? {
            do {
                _ = try Self.encode(pattern: .nv12, change)
                return nil
            } catch { return (error as? any DescribedError)?.category }
        }
        #expect(category { $0.bitDepth = 12 } == .usage)
        #expect(
            category {
                $0.bitDepth = 10; $0.codec = .h264
            } == .usage)
        #expect(
            category {
                $0.bitDepth = 10; $0.profile = .hevcMain
            } == .usage)
        #expect(
            category {
                $0.bitDepth = 8; $0.profile = .hevcMain10
            } == .usage)
        #expect(
            category {
                $0.inputFormat = .p010; $0.profile = .hevcMain; $0.strict = true
            } == .unavailable)
        #expect(category { $0.bitDepth = 10 } == nil)
    }
}
