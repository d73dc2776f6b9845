import Testing
import VideoBase

@testable import SoftwareEncode

/// Every configuration that is no usage error opens in the libraries.
@Suite struct OpeningTests {
    private static func settings(
        _ codec: VideoCodec, _ change: (inout EncoderConfiguration) -> Void
    ) throws -> EncoderSettings {
        var configuration = EncoderConfiguration(size: VideoSize(width: 64, height: 64))
        configuration.codec = codec
        change(&configuration)
        return try EncoderSettings(configuration)
    }

    @Test(arguments: [VideoCodec.h264, .hevc], 1...7) func everyNumberOfBFramesOpens(_ codec: VideoCodec, _ preset: Int) throws {
        for bFrames in 0...16 {
            for lowLatency in [false, true] {
                let what = "\(bFrames) B frames, low latency \(lowLatency)"
                func open() throws {
                    let settings = try Self.settings(codec) {
                        $0.coding.preset = preset
                        $0.structure.bFrames = bFrames
                        $0.pipeline.lowLatency = lowLatency
                    }
                    _ = try CodecContext(settings)
                }
                do {
                    try open()
                    #expect(bFrames <= 7, "\(what)")
                } catch let error as VaencError {
                    // The value is out of range, or a contradiction.
                    #expect(error.category == .usage && (bFrames > 7 || lowLatency && bFrames > 0), "\(what): \(error)")
                }
            }
        }
    }

    /// Up to the listed maximum, references are used as requested if nothing is reordered, and open. More are not used.
    @Test(arguments: [VideoCodec.h264, .hevc]) func referencesUpToTheMaximumAreUsed(_ codec: VideoCodec) throws {
        let most = SoftwareEncoder.maxReferences(codec)
        for references in 1...16 {
            for bFrames in [0, 1, 7] {
                let settings = try Self.settings(codec) {
                    $0.coding.preset = 7
                    $0.structure.references = references
                    $0.structure.bFrames = bFrames
                }
                _ = try CodecContext(settings)
                let entry = try #require(settings.effective.first { $0.option == "references" })
                if bFrames == 0 { #expect(entry.differs == (references > most), "\(references)") }
            }
        }
    }
}
