import EncodePlanning
import VAAPI
import VideoBase

/// Resolves a configuration on a device. Each step decides one option from the request and the device's limits, and
/// reports the reason.
struct SettingsResolver {
    let asked: EncoderConfiguration
    let device: DeviceCapabilities
    var report = EffectiveReport()

    /// Resolves a configuration.
    ///
    /// - Throws: `usage` for values out of range or contradictions. `unavailable` for a request that the device does
    ///   not support and that has no substitute, and under `strict` for any difference.
    static func resolve(_ asked: EncoderConfiguration, on device: DeviceCapabilities) throws -> EncodeSettings {
        var resolver = SettingsResolver(asked: asked, device: device)
        let settings = try resolver.resolve()
        if asked.strict, let error = resolver.report.entries.strictError { throw error }
        return settings
    }

    private mutating func resolve() throws -> EncodeSettings {
        try checkValues()
        report.add(
            "codec", asked: asked.encodedCodec.rawValue, used: asked.encodedCodec.rawValue, why: .requested)
        let limits = try chooseProfile()
        try checkSize(limits)
        let size = chooseSize()
        let grid = BlockGrid(limits, size)
        report.add(
            "frameRate", asked: "\(asked.frameRate)", used: "\(asked.frameRate)",
            why: asked.frameRateVaries ? "average, because the frame times vary" : .requested)
        let deblocking = chooseDeblocking(limits)
        var rate = try chooseRateControl(limits)
        let tools = chooseTools(limits, rate)
        let requestedQPs = chooseQP(limits, rate)
        let qp = requestedQPs.limited(to: rate.qpRange)
        let qualityLevel = choosePreset(limits)
        let trellis = chooseTrellis(limits)
        let regions = chooseRegions(limits)
        let (structure, level) = try chooseStructure(limits, grid, rate: rate, qp: qp.p)
        let buffer = try settleBuffer(&rate, level: level)
        let sliceRows = chooseSlices(limits, grid: grid, level: level)
        let maxSliceBytes = chooseSliceBytes(limits)
        let headers = chooseHeaders()
        let delays = chooseDelays()
        return EncodeSettings(
            profile: limits.profile, limits: limits, level: level, size: size, inputSize: asked.size,
            grid: grid, frameRate: asked.frameRate, color: asked.display.color,
            masteringDisplay: asked.display.masteringDisplay, contentLight: asked.display.contentLight,
            sampleAspectRatio: asked.display.sampleAspectRatio, tools: tools,
            deblocking: deblocking, requestedQPs: requestedQPs, qualityLevel: qualityLevel, trellis: trellis,
            regionsOfInterest: regions, structure: structure,
            refreshesColumns: limits.intraRefresh.contains(.rollingColumn), sliceRows: sliceRows,
            maxSliceBytes: maxSliceBytes, accessUnitDelimiters: headers.delimiters, rate: rate, buffer: buffer,
            identifier: headers.identifier,
            asyncDepth: delays.asyncDepth, encodesFile: asked.encodesFile, maxFrameDelay: delays.maxFrameDelay,
            forcedKeys: ForcedKeys(frames: asked.structure.forcedKeyFrames, times: asked.structure.forcedKeyTimes.map(\.seconds)),
            hasFixedFrameRate: !asked.frameRateVaries, asksLevel: asked.level != nil, isStrict: asked.strict, effective: report.entries)
    }
}
