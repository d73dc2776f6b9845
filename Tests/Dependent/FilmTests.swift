import Foundation
import Testing
import Vaenc

/// Shows what a package that depends on vaenc can do in its tests, with the reference driver in its build folder.
@Suite struct FilmTests {
    private func configuration(_ codec: VideoCodec? = nil) -> EncoderConfiguration {
        var configuration = EncoderConfiguration(size: VideoSize(width: 192, height: 128))
        configuration.codec = codec
        configuration.rate.qp = 30
        return configuration
    }

    private func draw(_ buffer: any PixelBuffer) throws {
        try unsafe buffer.withUnsafePlanes { planes in
            for plane in 0..<2 {
                for row in 0..<(128 >> plane) {
                    let start = unsafe planes.base(plane) + row * planes.pitch(plane)
                    unsafe start.initializeMemory(as: UInt8.self, repeating: UInt8(row), count: 192)
                }
            }
        }
    }

    /// A reader decodes the packets of more frames than the session keeps packets for.
    @Test(arguments: [VideoCodec.h264, .hevc]) func encodedFramesAreDecoded(_ codec: VideoCodec) async throws {
        let session = try CompressionSession(configuration: configuration(codec), device: .reference, packetCapacity: 4)
        let decoder = try DecompressionSession(configuration: DecompressionConfiguration(codec: codec), device: .reference)
        let reader = Task {
            for try await packet in session.packets {
                #expect(packet.codec == codec && !packet.units.isEmpty)
                try await decoder.decode(packet.bytes, presentation: packet.presentation)
            }
            try await decoder.finish()
            decoder.invalidate()
        }
        let viewer = Task { try await decoder.outputs.reduce(into: 0) { count, _ in count += 1 } }
        for index in 0..<12 {
            let buffer = try await session.makePixelBuffer()
            try draw(buffer)
            try await session.encode(buffer, presentation: MediaTime(value: Int64(index), timescale: 30))
        }
        try await session.completeFrames()
        session.invalidate()
        try await reader.value
        #expect(try await viewer.value == 12)
    }

    /// The session's configuration and its packets name the chosen codec.
    @Test func chosenCodecIsReported() async throws {
        let session = try CompressionSession(configuration: configuration(), device: .reference)
        #expect(session.choice.codec == .hevc && session.configuration.codec == nil)
        try await session.encode(try await session.makePixelBuffer(), presentation: .zero)
        try await session.completeFrames()
        session.invalidate()
        for try await packet in session.packets { #expect(packet.codec == .hevc) }
    }

    /// Error descriptions are complete for an alert, and name the library's settings.
    @Test func errorsAreReadable() throws {
        var wrong = configuration()
        wrong.rate.rateControl = .cbr
        let error = #expect(throws: VaencError.self) { try CompressionSession(configuration: wrong, device: .reference).prepare() }
        let text = (error as (any Error)?)?.localizedDescription ?? ""
        #expect(text.contains("needs a rate") && text.contains("bitrate") && !text.contains("--"), "\(text)")
    }
}
