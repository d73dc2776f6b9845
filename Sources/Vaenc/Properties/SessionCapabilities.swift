import EncodeSession
import SoftwareEncode
import VAAPI
import VideoBase

/// The values that a session's settings can have: the capabilities of its device, or of the software encoder, for the
/// profile that the session uses.
struct SessionCapabilities: Sendable, Hashable {
    var kind: DeviceKind
    var codec: VideoCodec
    /// The requested profile.
    private let profile: CodecProfile?
    private let level: CodecLevel?
    private let tier: Tier?
    private let frameRate: Rational
    /// The size of the session's pictures; nil if it is not known.
    private let size: VideoSize?
    /// The largest number of slices in software.
    private let maxSlices: Int
    private let changesRate: Bool
    /// The driver's capabilities; nil in software.
    var device: EncodeCapabilities?
    var profiles: [CodecProfile]
    /// Whether the profile has EncSliceLP (low power) and EncSlice (full power).
    var hasLowPower = false
    private(set) var hasFullPower = false

    var isSoftware: Bool { kind == .software }

    /// Uses the requested profile and entry point if the device supports them, else the best ones: High before Main
    /// before Constrained Baseline, Main 10 for 10-bit samples, EncSlice before EncSliceLP. Returns nil if the device
    /// does not encode the codec.
    init?(_ report: DeviceReport, _ configuration: EncoderConfiguration) {
        kind = report.kind
        codec = configuration.encodedCodec
        profile = configuration.profile
        level = configuration.level
        tier = configuration.tier
        frameRate = configuration.frameRate
        size = configuration.size.width > 0 && configuration.size.height > 0 ? configuration.size : nil
        maxSlices = report.kind == .software ? SoftwareEncoder.maxSlices(configuration) : 1
        changesRate = SoftwareEncoder.changesRate(configuration)
        let all = CodecProfile.allCases.filter { $0.codec == configuration.encodedCodec }
        if report.kind == .software {
            profiles = all
            return
        }
        let matching = report.capabilities.filter {
            $0.encodes && $0.profile.codecProfile?.codec == configuration.encodedCodec
        }
        profiles = all.filter { profile in matching.contains { $0.profile == Profile(profile) } }
        let order = configuration.preferredProfiles
        func rank(_ capability: Capability) -> Int {
            let isAsked = configuration.profile.map { Profile($0) == capability.profile } ?? true
            let entryPoint = configuration.lowPower == true ? EntryPoint.encodeSliceLowPower : .encodeSlice
            return (isAsked ? 0 : 100) + (capability.profile.codecProfile.flatMap(order.firstIndex) ?? order.count) * 2
                + (capability.entryPoint == entryPoint ? 0 : 1)
        }
        guard let best = matching.min(by: { rank($0) < rank($1) }) else { return nil }
        hasLowPower = matching.contains { $0.profile == best.profile && $0.entryPoint == .encodeSliceLowPower }
        hasFullPower = matching.contains { $0.profile == best.profile && $0.entryPoint == .encodeSlice }
        device = EncodeCapabilities(best, driver: report.driver ?? "")?
            .holding(size, frameRate, level: level, tier: tier)
    }

    var modes: [RateControlMode] {
        guard let device else { return RateControlMode.allCases }
        // vaenc's own rate controller implements these modes by setting the QP of each picture.
        let controllerModes: [RateControlMode] = controlsRate ? [.cbr, .vbr, .qvbr] : []
        return RateControlMode.allCases.filter { device.rateControl.contains($0) || controllerModes.contains($0) }
    }

    /// Whether vaenc's own rate controller is available.
    var controlsRate: Bool { device?.controlsRate ?? false }
    var controllers: [RateControlOwner] {
        RateControlOwner.allCases.filter { $0 == .vaenc ? controlsRate : device?.drivesRate ?? true }
    }
    var hasRate: Bool { device?.hasRate ?? true }
    var hasConstantQP: Bool { device?.hasConstantQP ?? true }
    var aimsAtQuality: Bool { device?.aimsAtQuality ?? true }
    var qps: ClosedRange<Int> { (isSoftware ? codec.softwareLibrary.lowestQP : 0)...51 }
    /// Pictures of one kind may have another QP than those of another.
    var choosesQP: Bool { hasConstantQP && device?.choosesQP ?? true }
    var rates: ClosedRange<Int>? {
        hasRate ? 1000...(device?.highestRate(level: level, tier: tier) ?? SoftwareEncoder.highestRate) : nil
    }
    var maxRates: ClosedRange<Int>? { device?.hasMaxRate ?? true ? rates : nil }
    var buffers: ClosedRange<Int>? {
        hasRate ? 1000...(device?.largestBuffer(level: level, tier: tier) ?? SoftwareEncoder.highestRate) : nil
    }
    /// The software encoders limit the size of slices only.
    var limitsFrameBytes: Bool { device?.supportsMaxFrameBytes ?? false }
    var sliceBytes: ClosedRange<Int>? {
        device?.limitsSliceBytes ?? codec.softwareLibrary.limitsSliceBytes ? SettingRange.sliceBytes : nil
    }
    var macroblockRateControl: Bool { device?.supportsMacroblockRateControl ?? true }
    var trellis: Bool { device?.trellis ?? true }
    var hasPresets: Bool { device?.hasQualityLevels ?? true }
    private var allowsBPictures: Bool { profile?.allowsBPictures ?? true }
    var bFrames: Bool { device?.supportsBFrames ?? allowsBPictures }
    var bPyramid: Bool { device?.supportsBPyramid ?? allowsBPictures }
    var keyIntervals: ClosedRange<Int> { device?.isIntraOnly == true ? 1...1 : SettingRange.gopFrames }
    /// The software encoders make each key frame of a closed GOP an IDR picture.
    var idrIntervals: ClosedRange<Int>? { isSoftware ? nil : SettingRange.idrInterval }
    var references: Int { device?.maxReferences ?? SoftwareEncoder.maxReferences(codec) }
    var longTermReferences: Int { device?.maxLongTermReferences ?? 0 }
    var temporalLayers: Int { device?.maxTemporalLayers ?? 1 }
    var intraRefresh: Bool { device?.supportsIntraRefresh ?? true }
    var slices: [Int] { device?.slices(size) ?? Array(1...max(maxSlices, 1)) }
    /// The maximum number of list elements; nil for no limit.
    var regions: Int? { device?.maxRegions }
    var dataRateLimits: Int? { isSoftware ? 1 : nil }
    var transform8x8: Bool {
        if let device { return device.supportsTransform8x8 }
        return switch codec {
        case .h264: (profile ?? .h264High).hasHighElements
        // HEVC has no 4×4-only mode.
        case .hevc: false
        }
    }
    var entropyCoders: [EntropyCoder] { device?.entropyCoders ?? profile?.entropyCoders ?? codec.entropyCoders }
    /// The bit depths of the requested profile, else of all available profiles.
    var bitDepths: [Int] { profile.map { [$0.bitDepth] } ?? Set(profiles.map(\.bitDepth)).sorted() }
    /// The supported levels, level_idc in tenths.
    var levels: [Int] {
        if let device { return device.levels(size, frameRate: frameRate, tier: tier) }
        // H.265 Table A.9: the High tier begins at level 4.
        return SoftwareEncoder.levels(codec).filter { tier != .high || $0 >= 40 }
    }
    /// The tiers that the requested level has, else all tiers; empty for H.264. libx265 selects the High tier only if
    /// it is needed.
    var tiers: [Tier] {
        codec.tiers.filter { $0 == .main || (!isSoftware && level?.tenths ?? 40 >= 40) }
    }
    var highestFrameRate: Double { min(device?.highestFrameRate(size) ?? 1000, 1000) }
    /// The software encoders always write an identifier.
    var canBeAnonymous: Bool { !isSoftware }

    /// Returns the code points of ITU-T H.273 that a stream may contain. Sessions on a device write any value.
    ///
    /// - Parameter highest: The highest code point that the software encoders write.
    func colorCodes(upTo highest: Int) -> [Int] {
        isSoftware ? SoftwareColor.codes(codec, upTo: highest) : Array(0...255)
    }

    /// The properties that software encoders can change.
    private static let rates: Set<String> = [
        SessionProperty<BitsPerSecond>.averageBitRate.name, SessionProperty<BitsPerSecond>.maxBitRate.name,
        SessionProperty<[DataRateLimit]>.dataRateLimits.name,
    ]

    /// Returns whether a property that some encoder can change while it runs can be changed here.
    func changes(_ property: String) -> Bool {
        if !isSoftware { return true }
        return changesRate && Self.rates.contains(property)
    }
}
