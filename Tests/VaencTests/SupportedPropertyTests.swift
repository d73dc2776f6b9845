import ExtremeValues
import ReferenceDisplay
import TestOracles
import Testing
import VAAPI
import VideoBase

@testable import EncodeSession
@testable import Vaenc

/// The listed properties of a device compared with what its sessions accept, on every personality, with the quirks of
/// its driver.
@Suite struct SupportedPropertyTests {
    private typealias Change = @Sendable (inout EncoderConfiguration) -> Void

    /// A property, values to try beside the listed ones, and the changes that may accompany it: a value is accepted if
    /// a strict session accepts it with any of them.
    private struct Trial {
        var name: String
        var values: [PropertyValue]
        var contexts: [Change]

        init(_ name: String, _ values: [PropertyValue], _ contexts: [Change] = [{ _ in }]) {
            (self.name, self.values, self.contexts) = (name, values, contexts)
        }
    }

    private static let rates: [Change] = [RateControlMode.vbr, .cbr, .qvbr, .avbr].map { mode in
        { configuration in
            configuration.rate.bitrate = BitsPerSecond(10_000)
            configuration.rate.rateControl = mode
        }
    }
    private static let depths: [Change] = [{ $0.inputFormat = .nv12 }, { $0.inputFormat = .p010 }]
    private static let lowest: Change = { $0.rate.bitrate = BitsPerSecond(1000) }
    private static let regions: [PropertyValue] =
        (1...33).map { count in .list(Array(repeating: [1, 2, 16, 16, -3] as [PropertyValue], count: count).flatMap(\.self)) }
        + [[256, 0, 8, 8, 0], [0, 0, 0, 8, 0]]
    private static let numbers = (0...17).map { PropertyValue.integer($0) }

    /// The values exclude those that equal the default, because nothing shows whether they are accepted.
    private static let trials: [Trial] = [
        Trial("AverageBitRate", [999, 1000, 6_000_000, 960_000_000, 960_000_064, 1_200_000_000, 1_200_000_064, 4_000_000_000]),
        Trial(
            "VBVMaxBitRate", [999, 1000, 6_000_000, 960_000_000, 1_200_000_000, 1_200_000_064, 4_000_000_000], [lowest]),
        Trial("DataRateLimits", [[200_000, 1.0], [200_000, 1.0, 300_000, 2.0], [0, 1.0], [100, 0.0]], rates),
        Trial("RateControl", ["cqp", "icq", "cbr", "vbr", "qvbr", "avbr"], [{ _ in }, { $0.rate.bitrate = BitsPerSecond(1_000_000) }]),
        Trial("RateControlOwner", ["driver", "vaenc"], rates),
        Trial(
            "VBVBufferSize", [999, 1000, 2_000_000, 960_000_000, 1_200_000_000, 1_200_000_016, 4_000_000_000],
            [lowest, { $0.rate.bitrate = BitsPerSecond(1_000_000) }]),
        Trial(
            "VBVInitialDelayPercentage", [-1, 0, 100, 101],
            [
                {
                    lowest(&$0); $0.headers.hrdParameters = false
                }
            ]),
        Trial("Quality", [0, 1, 51, 52]),
        Trial("QP", [-1, 0, 51, 52]),
        Trial("QPOfIFrames", [-1, 20, 52], [{ $0.rate.qp = 30 }]),
        Trial("QPOfBFrames", [-1, 20, 52], [{ ($0.rate.qp, $0.structure.bFrames) = (30, 1) }]),
        Trial("MinAllowedFrameQP", [-1, 0, 51, 52]), Trial("MaxAllowedFrameQP", [-1, 0, 51, 52]),
        Trial("MaxFrameBytes", [99, 100, 268_435_456, 268_435_457], rates),
        Trial("MaxH264SliceBytes", [63, 64, 1500, 268_435_456, 268_435_457]),
        Trial("RegionsOfInterest", regions),
        Trial("MacroblockRateControl", [true], rates + [{ $0.rate.quality = 30 }]),
        Trial("Trellis", [true]),
        Trial("Preset", [0, 1, 7, 8]),
        Trial("HRDParameters", [true], rates),
        Trial("ExpectedFrameRate", [0, -1, "30000/1001", "1/1000", "1/1001", 1000, 1001]),
        Trial("MaxKeyFrameInterval", [0, 2, 250]), Trial("MaxKeyFrameIntervalDuration", [0, 2.5, 86401]),
        Trial("IDRInterval", [0, 3]),
        Trial("AllowOpenGOP", [true], [{ $0.structure.bFrames = 2 }]),
        Trial("AllowTemporalCompression", [true, false]), Trial("AllowFrameReordering", [true, false]),
        Trial("BFrameCount", numbers), Trial("BPyramid", [true], [{ $0.structure.bFrames = 3 }]),
        Trial("ReferenceBufferCount", numbers, [{ $0.structure.bFrames = 0 }]),
        Trial("EnableLTR", [true]), Trial("LongTermReferences", (1...17).map { .integer($0) }),
        Trial("TemporalLayers", [2, 3, 4, 5]),
        Trial("IntraRefresh", [true]), Trial("Slices", numbers),
        Trial("Transform8x8", [true]), Trial("H264EntropyMode", ["cavlc", "cabac"]),
        Trial("Profile", CodecProfile.allCases.map { .string($0.rawValue) }, depths),
        Trial("OutputBitDepth", [8, 9, 10, 12], depths),
        Trial("MasteringDisplayColorVolume", ["G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50)"]),
        Trial("ContentLightLevelInfo", ["1000,400", "0,65535"]),
        Trial("Level", (8...63).map { .integer($0) }), Trial("Tier", ["main", "high"], [{ _ in }, { $0.rate.bitrate = BitsPerSecond(20_000_000) }]),
        Trial("ColorPrimaries", [9]), Trial("TransferFunction", [9]), Trial("YCbCrMatrix", [9]),
        Trial("PixelAspectRatio", ["16/11", 0, -1, "65535/65534", "65536/65535", "-1/2"]),
        Trial("AccessUnitDelimiters", [true]), Trial("Identifier", [true, false]),
        Trial("MaxFrameDelayCount", [-1, 0, 64, 65]), Trial("AsyncDepth", [0, 1, 64, 65]),
        Trial("EnableLowLatencyRateControl", [true]), Trial("RealTime", [true]),
        Trial("MaximizePowerEfficiency", [true]), Trial("Strict", [true]),
    ]

    @Test func eachPropertyIsTried() {
        #expect(Set(Self.trials.map(\.name)) == Set(AnyProperty.all.map(\.name)))
    }

    /// With each profile and each entry point, a strict session accepts the listed values, which can be set. It refuses
    /// the others, and setting them throws.
    @Test(arguments: Personality.all) func listedPropertiesMatchTheSessions(personality: String?) throws {
        let display = try ReferenceDisplay.open(personality.map { ["VAENC_REFERENCE_PERSONALITY": $0] } ?? [:])
        let report = DeviceReport(display)
        let device = try DeviceCapabilities(display, .h264)
        var listed: Set<String> = []
        let bases: [(VideoCodec, CodecProfile?)] = [
            (.h264, nil), (.h264, .h264Main), (.h264, .h264ConstrainedBaseline), (.hevc, nil), (.hevc, .hevcMain10),
        ]
        for (codec, profile) in bases {
            for lowPower in [nil, true] as [Bool?] {
                var base = EncoderConfiguration(size: VideoSize(width: 256, height: 256))
                base.codec = codec
                base.profile = profile
                if profile?.bitDepth == 10 { base.inputFormat = .p010 }
                base.lowPower = lowPower
                base.strict = true
                guard (try? SettingsResolver.resolve(base, on: device)) != nil else { continue }
                for trial in Self.trials {
                    let property = try #require(AnyProperty.all.first { $0.name == trial.name })
                    // The entry point was requested already.
                    if trial.name == "MaximizePowerEfficiency", lowPower != nil { continue }
                    let capabilities = try #require(SessionCapabilities(report, base))
                    let supported = property.supported(capabilities)
                    if supported != nil { listed.insert(trial.name) }
                    for value in trial.values + Self.bounds(supported) {
                        judge(trial, property, value, base, report, device)
                    }
                }
            }
        }
        // Every device lists these properties.
        #expect(listed.isSuperset(of: ["AverageBitRate", "QP", "Level", "Slices", "Profile", "ExpectedFrameRate"]))
    }

    private func judge(
        _ trial: Trial, _ property: AnyProperty, _ value: PropertyValue, _ base: EncoderConfiguration,
        _ report: DeviceReport, _ device: DeviceCapabilities
    ) {
        let label = "\(trial.name) \(value), \(base.encodedCodec) \(base.profile?.rawValue ?? "any profile"), low power \(base.lowPower as Any)"
        var isTaken = false
        var refusal = ""
        for context in trial.contexts where !isTaken {
            var configuration = base
            context(&configuration)
            var plain = configuration
            _ = property.write(&plain, value)
            guard let capabilities = SessionCapabilities(report, plain), property.write(value, to: &configuration, on: capabilities) else {
                Issue.record("\(label): type")
                return
            }
            do {
                _ = try SettingsResolver.resolve(configuration, on: device)
                isTaken = true
            } catch { refusal = "\(error)" }
        }
        do {
            _ = try CompressionSession.draft([(property, value)], of: base, chosen: base.encodedCodec, on: report)
            #expect(isTaken, "\(label) may be set, and is not taken: \(refusal)")
        } catch {
            let category = (error as? any DescribedError)?.category
            #expect(!isTaken && (category == .unavailable || category == .usage), "\(label): \(error)")
            #expect((error as? any DescribedError)?.remedy != nil, "\(error)")
            let isListed = SessionCapabilities(report, base).flatMap(property.supported) != nil
            if !isListed { #expect(category == .unavailable, "\(error)") }
        }
    }

    /// Returns the limits of the property's range, or all of its values.
    private static func bounds(_ property: SupportedProperty?) -> [PropertyValue] {
        guard let property else { return [] }
        switch property.type {
        case .integer, .bitsPerSecond:
            if let choices = property.choices { return choices.compactMap { Int($0).map { .integer($0) } } }
            return [property.minimum, property.maximum].compactMap { $0.map { .integer(Int($0)) } }
        case .number, .ratio:
            return [property.minimum, property.maximum].compactMap { $0.map { .number($0) } }
        case .boolean: return [true, false]
        default: return (property.choices ?? []).map { .string($0) }
        }
    }

    /// A large picture permits a lower frame rate, fewer levels, and more slices.
    @Test func boundsFollowTheSize() throws {
        let display = try ReferenceDisplay.open()
        let report = DeviceReport(display)
        let device = try DeviceCapabilities(display, .h264)
        var base = EncoderConfiguration(size: VideoSize(width: 4096, height: 2304))
        base.strict = true
        let capabilities = try #require(SessionCapabilities(report, base))
        for name in ["ExpectedFrameRate", "Level", "Slices"] {
            let trial = try #require(Self.trials.first { $0.name == name })
            let property = try #require(AnyProperty.all.first { $0.name == name })
            for value in trial.values + Self.bounds(property.supported(capabilities)) {
                judge(trial, property, value, base, report, device)
            }
        }
        #expect(capabilities.highestFrameRate == 453.333)
        #expect(capabilities.levels == [52, 60, 61, 62])
    }

    /// The level limits the number of stored pictures.
    @Test(arguments: [VideoCodec.h264, .hevc]) func referencesFollowTheLevel(_ codec: VideoCodec) throws {
        let display = try ReferenceDisplay.open()
        let report = DeviceReport(display)
        let device = try DeviceCapabilities(display, codec)
        for (size, level) in [(VideoSize(width: 96, height: 80), nil), (VideoSize(width: 352, height: 288), 20)] as [(VideoSize, Int?)] {
            var base = EncoderConfiguration(size: size)
            (base.codec, base.level, base.structure.bFrames, base.strict) = (codec, level.map { CodecLevel(tenths: $0) }, 0, true)
            let capabilities = try #require(SessionCapabilities(report, base))
            for name in ["LongTermReferences", "ReferenceBufferCount"] {
                let trial = try #require(Self.trials.first { $0.name == name })
                let property = try #require(AnyProperty.all.first { $0.name == name })
                for value in trial.values + Self.bounds(property.supported(capabilities)) {
                    judge(trial, property, value, base, report, device)
                }
            }
        }
    }

    /// The requested level limits the bit rate and the buffer.
    @Test func boundsFollowTheLevel() throws {
        let report = try #require(Devices.reports(.reference).first)
        var base = EncoderConfiguration(size: VideoSize(width: 640, height: 360))
        base.level = 31
        let capabilities = try #require(SessionCapabilities(report, base))
        #expect(capabilities.rates == 1000...21_000_000 && capabilities.maxRates == 1000...21_000_000)
        #expect(capabilities.buffers == 1000...21_000_000)
        base.profile = .h264Main
        #expect(try #require(SessionCapabilities(report, base)).rates == 1000...16_800_000)
        // The tier limits them too. Levels below 4 have one tier.
        base.profile = nil
        base.codec = .hevc
        #expect(try #require(SessionCapabilities(report, base)).tiers == [.main])
        base.level = 40
        #expect(try #require(SessionCapabilities(report, base)).rates == 1000...33_000_000)
        base.tier = .main
        #expect(try #require(SessionCapabilities(report, base)).rates == 1000...13_200_000)
        (base.tier, base.level) = (.high, nil)
        #expect(try #require(SessionCapabilities(report, base)).levels.first == 40)
    }

    /// A driver may report any number of slices, but a picture has at most one for each row of macroblocks.
    @Test func slicesAreLimitedToMacroblockRows() throws {
        var report = try #require(Devices.reports(.reference).first)
        for index in report.capabilities.indices { report.capabilities[index].attributes.values[.encMaxSlices] = .max }
        #expect(Devices.supportedProperties(report, codec: .h264).contains { $0.name == "Slices" })
        let capabilities = try #require(SessionCapabilities(report, EncoderConfiguration(size: VideoSize(width: 640, height: 360))))
        #expect(capabilities.slices == Array(1...23))
    }
}
