import EncodePlanning
import H264Syntax
import VideoBase

/// Settles a configuration on a device: each step decides one option, from what was asked and what the device can do,
/// and writes down why.
struct SettingsResolver {
    let asked: EncoderConfiguration
    let device: DeviceProfile
    var report = EffectiveReport()

    /// - Throws: `usage` for values outside their range or that contradict each other; `unavailable` for what the
    ///   device cannot do and nothing can stand in for, and under `strict` for any difference.
    static func resolve(_ asked: EncoderConfiguration, on device: DeviceProfile) throws -> EncodeSettings {
        var resolver = SettingsResolver(asked: asked, device: device)
        let settings = try resolver.resolve()
        if asked.strict, let error = resolver.report.strictError { throw error }
        return settings
    }

    private mutating func resolve() throws -> EncodeSettings {
        try checkRanges()
        try checkUnbuilt()
        report.add(
            "codec", asked: asked.codec.rawValue, used: VideoCodec.h264.rawValue, why: Reason.asked)
        let limits = try chooseProfile()
        try checkSize(limits)
        let size = chooseSize()
        let coded = size.aligned(to: 16)
        report.add("frameRate", asked: "\(asked.frameRate)", used: "\(asked.frameRate)", why: Reason.asked)
        let entropy = chooseEntropy(limits.profile)
        let transform8x8 = chooseTransform(limits)
        report.add("deblocking", asked: nil, used: "on", why: Reason.standard)
        try chooseRateControl(limits)
        let qp = chooseQP(limits)
        let qualityLevel = choosePreset(limits)
        let keyInterval = chooseGOP(limits)
        let (references, level) = try chooseReferencesAndLevel(limits, coded: coded, keyInterval: keyInterval)
        report.add("bFrames", asked: asked.bFrames, used: 0, why: asked.bFrames == nil ? "not built yet" : Reason.asked)
        let sliceRows = chooseSlices(limits, rows: coded.height / 16)
        report.add(
            "accessUnitDelimiters", asked: asked.accessUnitDelimiters ? "on" : nil,
            used: asked.accessUnitDelimiters ? "on" : "off",
            why: asked.accessUnitDelimiters ? Reason.asked : Reason.standard)
        let asyncDepth = chooseAsyncDepth()
        return EncodeSettings(
            profile: limits.profile, limits: limits, level: level, size: size, inputSize: asked.size,
            codedSize: coded, frameRate: asked.frameRate, color: asked.color,
            sampleAspectRatio: asked.sampleAspectRatio, entropy: entropy, transform8x8: transform8x8, qpI: qp.i,
            qpP: qp.p, qualityLevel: qualityLevel,
            structure: GOPStructure(keyInterval: keyInterval, references: references), sliceRows: sliceRows,
            accessUnitDelimiters: asked.accessUnitDelimiters, asyncDepth: asyncDepth,
            lowLatency: asked.lowLatency, forcedKeyFrames: asked.forcedKeyFrames, effective: report.entries)
    }
}
