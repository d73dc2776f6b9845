import TestOracles
import Testing
import VAAPI
import Vaenc

/// Makes small configurations and pictures for tests.
enum Pictures {
    static let size = VideoSize(width: 96, height: 80)

    /// - Parameter codec: The codec, or nil to let the session choose.
    static func configuration(_ size: VideoSize = size, codec: VideoCodec? = nil) -> EncoderConfiguration {
        var configuration = EncoderConfiguration(size: size)
        configuration.codec = codec
        configuration.frameRate = Rational(25)
        configuration.rate.qp = 30
        configuration.rate.qpI = 30
        configuration.rate.qpB = 30
        configuration.structure.gopFrames = 1000
        configuration.structure.bFrames = 0
        return configuration
    }

    /// Returns a configuration with which each packet is delivered before `encode` returns.
    static func immediate(codec: VideoCodec? = nil) -> EncoderConfiguration {
        var configuration = configuration(codec: codec)
        configuration.pipeline.lowLatency = true
        return configuration
    }

    static func time(_ index: Int) -> MediaTime { MediaTime(value: Int64(index), timescale: 25) }

    /// Draws a moving gradient, the same for the same index.
    static func draw(_ index: Int, into buffer: any PixelBuffer) throws {
        try buffer.withUnsafePlanes { planes in
            for y in 0..<planes.size.height {
                for x in 0..<planes.size.width {
                    let value = UInt8(truncatingIfNeeded: 3 * x + 2 * y + 5 * index)
                    planes.base(0).storeBytes(of: value, toByteOffset: y * planes.pitch(0) + x, as: UInt8.self)
                }
            }
            for plane in 1..<planes.format.planeCount {
                let width = planes.format.planeCount == 2 ? planes.size.width : planes.size.width / 2
                for y in 0..<planes.size.height / 2 {
                    for x in 0..<width {
                        let value = UInt8(truncatingIfNeeded: 100 + x / 2 + y + index)
                        planes.base(plane).storeBytes(of: value, toByteOffset: y * planes.pitch(plane) + x, as: UInt8.self)
                    }
                }
            }
        }
    }

    static func encode(
        _ range: Range<Int>, on session: CompressionSession, options: FrameOptions = FrameOptions()
    ) throws {
        for index in range {
            let buffer = try session.makePixelBuffer()
            try draw(index, into: buffer)
            try session.encode(buffer, presentation: time(index), options: options)
        }
    }

    /// Returns the codec of packets of one format that start with the parameter sets: only HEVC has a video parameter
    /// set.
    static func codec(_ packets: some Sequence<EncodedPacket>) -> StreamCodec {
        let hasVideoParameterSet = packets.first { _ in true }?.units.contains { $0.first == 0x40 } ?? false
        return hasVideoParameterSet ? .hevc : .h264
    }

    /// Returns the type of a NAL unit: H.264 7.3.1, H.265 7.3.1.2.
    static func type(_ unit: [UInt8], _ codec: VideoCodec) -> UInt8 {
        codec == .h264 ? unit[0] & 31 : unit[0] >> 1 & 63
    }

    /// Decodes packets of one format with libavcodec.
    static func decode(_ packets: [EncodedPacket], _ sourceLocation: SourceLocation = #_sourceLocation) -> [PlanarFrame] {
        let video = ForeignDecoder.libavcodec.decode(packets.flatMap(\.bytes), codec: codec(packets))
        #expect(video.messages.isEmpty, "\(video.messages)", sourceLocation: sourceLocation)
        #expect(video.frames.count == packets.count, sourceLocation: sourceLocation)
        return video.frames
    }
}

/// Reads `count` packets.
func read(_ count: Int, of session: CompressionSession) async throws -> [EncodedPacket] {
    var packets: [EncodedPacket] = []
    if count == 0 { return packets }
    for try await packet in session.packets {
        packets.append(packet)
        if packets.count == count { break }
    }
    return packets
}

/// Yields until the condition is true. Otherwise the test's time limit ends it.
func until(_ isSo: () -> Bool) async { while !isSo() { await Task.yield() } }

/// Returns the category of the error that `body` throws, or nil.
func category(_ body: () throws -> Void) -> ErrorCategory? {
    do {
        try body()
        return nil
    } catch {
        return (error as? any DescribedError)?.category
    }
}
