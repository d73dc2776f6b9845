import Testing
import VAAPI
import Vaenc

/// Properties that are set and read as dictionaries.
extension PropertyTests {
    /// A dictionary is set as a whole: if one value is refused, the others do not change, before the first frame and
    /// after it.
    @Test(arguments: [DeviceSelector.reference, .software]) func dictionaryIsSetCompletelyOrNotAtAll(_ device: DeviceSelector) throws {
        var configuration = Pictures.immediate()
        configuration.rate.bitrate = BitsPerSecond(300_000)
        let session = try CompressionSession(configuration: configuration, device: device)
        let wrong: [[String: PropertyValue]] = [
            // In the order of names, the refused value is the last one.
            ["AverageBitRate": 400_000, "ZZZ": 1], ["AverageBitRate": 400_000, "Width": 1],
            ["AverageBitRate": 400_000, "MaxAllowedFrameQP": 52], ["AverageBitRate": 400_000, "Profile": "none"],
            ["AverageBitRate": 400_000, "PixelAspectRatio": 0], ["AverageBitRate": 400_000, "Slices": "two"],
            ["AverageBitRate": 400_000, "VBVMaxBitRate": 300_000], ["MaxAllowedFrameQP": 20, "MinAllowedFrameQP": 30],
            ["AverageBitRate": 400_000, "DataRateLimits": [10_000, 1.0]],
            ["AllowFrameReordering": true, "BFrameCount": 0], ["AllowTemporalCompression": false, "MaxKeyFrameInterval": 30],
            ["AverageBitRate": 400_000, "ExpectedFrameRate": .number(.nan)],
        ]
        for isRunning in [false, true] {
            if isRunning { try Pictures.encode(0..<2, on: session) }
            let fixed: [[String: PropertyValue]] = [["AverageBitRate": 400_000, "Slices": 2]]
            for values in wrong + (isRunning ? fixed : []) {
                let before = session.configuration
                #expect(category { try session.set(values) } != nil, "\(values)")
                #expect(session.configuration == before, "\(values)")
            }
        }
        try session.set(["AverageBitRate": 400_000, "VBVMaxBitRate": 500_000])
        #expect(session.value(.averageBitRate)?.value == 400_000 && session.value(.maxBitRate)?.value == 500_000)
        session.invalidate()
    }

    /// The effect of one property on another does not depend on their order.
    @Test func dictionaryOrderDoesNotMatter() throws {
        let session = try session()
        #expect(category { try session.set(["Transform8x8": true, "Profile": .string(CodecProfile.h264Main.rawValue)]) } == .unavailable)
        #expect(category { try session.set(["AverageBitRate": 30_000_000, "Level": 30]) } == .unavailable)
        #expect(session.serializableProperties == ["ExpectedFrameRate": "25/1"])
        try session.set(["H264EntropyMode": "cavlc", "Profile": .string(CodecProfile.h264ConstrainedBaseline.rawValue)])
        #expect(category { try session.set(.h264EntropyMode, to: .cabac) } == .unavailable)
        try session.set(["H264EntropyMode": "cabac", "Profile": .string(CodecProfile.h264High.rawValue)])
        session.invalidate()
    }

    @Test func storedPropertiesRestoreTheConfiguration() throws {
        let first = try session()
        try first.set(.averageBitRate, to: BitsPerSecond(900_000))
        try first.set(
            .dataRateLimits, to: [DataRateLimit(bytes: 200_000, duration: .seconds(1)), DataRateLimit(bytes: 1_000_000, duration: .seconds(6))])
        try first.set(.regionsOfInterest, to: [RegionOfInterest(x: 1, y: 2, width: 3, height: 4, qpDelta: -5)])
        try first.set(.expectedFrameRate, to: Rational(30000, 1001))
        try first.set(.allowFrameReordering, to: false)
        let stored = first.serializableProperties
        #expect(stored["DataRateLimits"] == [200_000, 1.0, 1_000_000, 6.0])
        #expect(stored["ExpectedFrameRate"] == "30000/1001")
        let second = try session()
        try second.set(stored)
        #expect(second.configuration == first.configuration)
        first.invalidate()
        second.invalidate()
    }
}
