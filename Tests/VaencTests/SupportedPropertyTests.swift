import ReferenceDisplay
import TestOracles
import Testing
import VAAPI
import VideoBase

@testable import EncodeSession
@testable import Vaenc

/// What supportedProperties says of a device, against what its sessions then take: on every personality, with the quirks
/// of its driver.
@Suite struct SupportedPropertyTests {
    /// A property, what goes with it, and the values that are tried: each is in the list or refused.
    private struct Trial {
        var name: String
        var values: [PropertyValue]
        var with: @Sendable (inout EncoderConfiguration) -> Void = { _ in }
    }

    private static let trials: [Trial] = [
        Trial(name: "ReferenceBufferCount", values: (1...16).map { .integer($0) }) { $0.bFrames = 0 },
        Trial(name: "LongTermReferences", values: (1...15).map { .integer($0) }),
        Trial(name: "EnableLTR", values: [true]),
        Trial(name: "TemporalLayers", values: [2, 3, 4]),
        Trial(name: "BFrameCount", values: (1...7).map { .integer($0) }),
        Trial(name: "BPyramid", values: [true]) { $0.bFrames = 3 },
        Trial(name: "AllowOpenGOP", values: [true]) { $0.bFrames = 2 },
        Trial(name: "QPOfIFrames", values: [20]) { $0.qp = 30 },
        Trial(name: "Preset", values: [1, 7]),
        Trial(name: "RateControl", values: ["cqp"]) { $0.qp = 30 },
        Trial(name: "RateControl", values: ["cbr", "vbr", "avbr"]) { $0.bitrate = BitsPerSecond(1_000_000) },
        Trial(name: "RateController", values: ["vaenc"]) { $0.bitrate = BitsPerSecond(1_000_000) },
        Trial(name: "DataRateLimits", values: [[200_000, 1.0]]) { $0.bitrate = BitsPerSecond(1_000_000) },
    ]

    @Test(arguments: Personality.all) func saysWhatSessionsTake(personality: String?) throws {
        let display = try ReferenceDisplay.open(personality.map { ["VAENC_REFERENCE_PERSONALITY": $0] } ?? [:])
        let report = DeviceReport(display)
        let profile = try DeviceProfile(display)
        for lowPower in [nil, true] as [Bool?] {
            var base = EncoderConfiguration(size: VideoSize(width: 256, height: 128))
            base.lowPower = lowPower
            let abilities = try #require(DeviceAbilities(report, base))
            if lowPower == true, !abilities.hasLowPower { continue }
            for trial in Self.trials {
                let property = try #require(AnyProperty.all.first { $0.name == trial.name })
                for value in trial.values {
                    var configuration = base
                    trial.with(&configuration)
                    let plain = configuration
                    #expect(property.write(value, to: &configuration, on: abilities))
                    let isListed = property.domain(abilities)?.contains(value) ?? false
                    // Other options may be changed for the sake of this one, and are named for it.
                    let isTaken = Self.differences(configuration, profile)?.subtracting(Self.differences(plain, profile) ?? []) == []
                    #expect(isListed == isTaken, "\(trial.name) \(value), low power \(lowPower as Any)")
                }
            }
        }
    }

    /// Options that differ from what was asked; nil: the configuration is refused.
    private static func differences(_ configuration: EncoderConfiguration, _ profile: DeviceProfile) -> Set<String>? {
        guard let settings = try? SettingsResolver.resolve(configuration, on: profile) else { return nil }
        return Set(settings.effective.filter(\.differs).map(\.option))
    }
}
