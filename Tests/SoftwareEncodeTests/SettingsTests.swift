import Testing
import VideoBase

@testable import SoftwareEncode

@Suite struct SettingsTests {
    private func parameters(_ change: (inout EncoderConfiguration) -> Void) throws -> [String: String] {
        var configuration = EncoderConfiguration(size: VideoSize(width: 640, height: 360))
        change(&configuration)
        let settings = try EncoderSettings(configuration)
        return Dictionary(settings.parameters.map { ($0.name, $0.value) }) { $1 }
    }

    @Test func ratesMapToTheLibrarysWords() throws {
        let constant = try parameters { $0.qp = 30 }
        #expect(constant["qp"] == "30")
        let quality = try parameters { $0.quality = 30 }
        #expect(quality["crf"] == "30")
        let nothing = try parameters { _ in }
        #expect(nothing["crf"] == "24")
        let vbr = try parameters { $0.bitrate = BitsPerSecond(2_000_000) }
        #expect(vbr["bitrate"] == "2000")
        #expect(vbr["vbv-maxrate"] == "3000")
        let cbr = try parameters { $0.bitrate = BitsPerSecond(2_000_000); $0.rateControl = .cbr }
        #expect(cbr["vbv-maxrate"] == "2000")
        #expect(cbr["nal-hrd"] == "cbr")
    }
}
