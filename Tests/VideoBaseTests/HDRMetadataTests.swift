import Testing
import VideoBase

@Suite struct HDRMetadataTests {
    /// The display of HDR10's usual example: P3 primaries, D65, 1000 and 0.0001 cd/m².
    private let words = "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1)"

    @Test func masteringDisplayIsParsedAndPrinted() throws {
        let display = try #require(MasteringDisplay(words))
        #expect(display.green == .init(x: 13250, y: 34500) && display.blue == .init(x: 7500, y: 3000))
        #expect(display.red == .init(x: 34000, y: 16000) && display.white == .init(x: 15635, y: 16450))
        #expect(display.maxLuminance == 10_000_000 && display.minLuminance == 1)
        #expect(display.description == words)
        let shuffled = "L(10000000,1) WP(15635,16450) R(34000,16000) B(7500,3000) G(13250,34500)"
        #expect(MasteringDisplay(shuffled) == display)
    }

    @Test(arguments: [
        "", "G(1,2)", "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)",
        "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(1,10000000)",
        "G(13250,34500)B(7500,3000)R(34000,50001)WP(15635,16450)L(10000000,1)",
        "G(13250,34500)G(13250,34500)R(34000,16000)WP(15635,16450)L(10000000,1)",
        "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1)X(1,2)",
        "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1",
        "G(13250,34500,1)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1)",
        "G(-1,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1)",
        "G)1,2(", "L(99999999999,1)",
    ])
    func malformedMasteringDisplayIsRefused(_ text: String) {
        #expect(MasteringDisplay(text) == nil)
    }

    @Test func masteringDisplayOutOfRangeIsRefused() throws {
        let display = try #require(MasteringDisplay(words))
        try Validation.validate(masteringDisplay: display)
        try Validation.validate(masteringDisplay: nil)
        let changes: [(inout MasteringDisplay) -> Void] = [
            { $0.red.x = 50001 }, { $0.white.y = 65535 }, { $0.minLuminance = $0.maxLuminance }, { $0.maxLuminance = 0 },
        ]
        for change in changes {
            var wrong = display
            change(&wrong)
            let error = #expect(throws: VaencError.self) { try Validation.validate(masteringDisplay: wrong) }
            #expect(error?.category == .usage && error?.remedy?.contains("50000") == true, "\(error as Any)")
        }
    }

    @Test func contentLightIsParsed() {
        #expect(ContentLight("1000,400") == ContentLight(maxContentLight: 1000, maxFrameAverageLight: 400))
        #expect(ContentLight("1000,400")?.description == "1000,400")
        for wrong in ["", "1000", "1000,400,1", "1000,-1", "70000,1", "a,b", "1000,"] {
            #expect(ContentLight(wrong) == nil)
        }
    }

    @Test func codedDepthFollowsProfileThenRequestThenInput() {
        var configuration = EncoderConfiguration(size: VideoSize(width: 64, height: 64))
        #expect(configuration.codedBitDepth == 8)
        configuration.inputFormat = .p010
        #expect(configuration.codedBitDepth == 8, "H.264 has 8 bits")
        configuration.codec = .hevc
        #expect(configuration.codedBitDepth == 10)
        configuration.bitDepth = 8
        #expect(configuration.codedBitDepth == 8)
        configuration.bitDepth = nil
        configuration.profile = .hevcMain
        #expect(configuration.codedBitDepth == 8)
        configuration.profile = .hevcMain10
        configuration.inputFormat = .nv12
        #expect(configuration.codedBitDepth == 10)
        #expect(PixelFormat.allCases.filter { $0.bitDepth == 10 } == [.p010, .i420p10])
    }
}
