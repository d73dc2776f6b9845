/// The values that settings may have. The help, the properties and both encoders use the same ranges.
package enum SettingRange {
    package static let qp = 0...51
    package static let quality = 1...51
    package static let percent = 0...100
    /// The valid limits for the size of a coded picture, in bytes.
    package static let frameBytes = 100...(1 << 28)
    /// The valid limits for the size of a slice, in bytes.
    package static let sliceBytes = 64...(1 << 28)
    package static let preset = 1...7
    package static let gopFrames = 1...Int(Int32.max)
    package static let idrInterval = 1...Int(Int32.max)
    package static let bFrames = 0...7
    package static let references = 1...16
    package static let slices = 1...4096
    package static let temporalLayers = 1...4
    package static let longTermReferences = 0...15
    package static let asyncDepth = 1...64
    package static let maxFrameDelay = 0...64
    package static let deblockingOffset = -6...6
    package static let qpDelta = -51...51
}

extension Validation {
    /// Rejects an integer outside its range.
    ///
    /// - Parameter option: The name of the setting.
    package static func validate(_ value: Int?, _ option: String, in range: ClosedRange<Int>) throws(VaencError) {
        guard let value, !range.contains(value) else { return }
        throw VaencError(
            .usage, "`\(option)` \(value) is out of range", remedy: "use \(range.lowerBound) to \(range.upperBound)")
    }
}

extension EncoderConfiguration {
    /// Rejects values that no encoder supports, each by itself.
    ///
    /// - Throws: A `VaencError` of category `.usage`.
    package func checkValues() throws(VaencError) {
        for (value, option, range) in [
            (rate.qp, "qp", SettingRange.qp), (rate.qpI, "qpI", SettingRange.qp), (rate.qpB, "qpB", SettingRange.qp),
            (rate.minQP, "minQP", SettingRange.qp), (rate.maxQP, "maxQP", SettingRange.qp),
            (rate.quality, "quality", SettingRange.quality), (coding.preset, "preset", SettingRange.preset),
            (structure.gopFrames, "gopFrames", SettingRange.gopFrames), (structure.bFrames, "bFrames", SettingRange.bFrames),
            (structure.references, "references", SettingRange.references), (coding.slices, "slices", SettingRange.slices),
            (pipeline.asyncDepth, "asyncDepth", SettingRange.asyncDepth),
            (structure.idrInterval, "idrInterval", SettingRange.idrInterval),
            (structure.temporalLayers, "temporalLayers", SettingRange.temporalLayers),
            (structure.longTermReferences, "longTermReferences", SettingRange.longTermReferences),
            (rate.vbvInitialPercent, "vbvInitialPercent", SettingRange.percent),
            (pipeline.maxFrameDelay, "maxFrameDelay", SettingRange.maxFrameDelay),
            (rate.maxSliceBytes, "maxSliceBytes", SettingRange.sliceBytes),
            (rate.maxFrameBytes, "maxFrameBytes", SettingRange.frameBytes),
            (coding.deblocking?.alphaOffset, "deblocking.alphaOffset", SettingRange.deblockingOffset),
            (coding.deblocking?.betaOffset, "deblocking.betaOffset", SettingRange.deblockingOffset),
        ] { try Validation.validate(value, option, in: range) }
        try Validation.validate(bitrate: rate.bitrate, "bitrate")
        try Validation.validate(bitrate: rate.maxBitrate, "maxBitrate")
        try Validation.validate(vbvSize: rate.vbvSize)
        for limit in rate.dataRateLimits { try Validation.validate(limit) }
        try Validation.validate(forcedKeyFrames: structure.forcedKeyFrames)
        try Validation.validate(forcedKeyTimes: structure.forcedKeyTimes)
        for region in coding.regionsOfInterest { try Validation.validate(region, in: size) }
        try Validation.validate(frameRate: frameRate)
        try Validation.validate(color: display.color)
        try Validation.validate(masteringDisplay: display.masteringDisplay)
        if let ratio = display.sampleAspectRatio { try Validation.validate(sampleAspectRatio: ratio) }
        if let time = structure.gopDuration, time <= .zero || time > .seconds(86400) {
            throw VaencError(
                .usage, "`gopDuration` \(time.seconds) is out of range", remedy: "use a time above 0 and up to 86400 seconds")
        }
        try Validation.validate(size: size)
    }

    /// Rejects a profile, bit depth or tier that the codec does not have.
    ///
    /// - Throws: A `VaencError` of category `.usage`.
    package func checkCodec() throws(VaencError) {
        if let profile, profile.codec != encodedCodec {
            throw VaencError(
                .usage, "\(profile.rawValue) is not a profile of \(encodedCodec.standardName)",
                remedy: "leave out `profile`, or choose another `codec`")
        }
        try Validation.validate(bitDepth: bitDepth, profile: profile, codec: encodedCodec)
        try Validation.validate(tier: tier, level: level, codec: encodedCodec)
    }

    /// Rejects a rate control mode without the rate that it needs. Properties may set the mode before the rate, so this
    /// is checked only when an encoder is created.
    ///
    /// - Throws: A `VaencError` of category `.usage`.
    package func checkHasRate(_ mode: RateControlMode) throws(VaencError) {
        if [.cbr, .vbr, .avbr].contains(mode), rate.bitrate == nil {
            throw VaencError(
                .usage, "`rateControl` \(mode.rawValue) needs a rate", remedy: "set `bitrate`, for example to 6M")
        }
        if mode == .qvbr, rate.bitrate == nil, rate.maxBitrate == nil {
            throw VaencError(
                .usage, "`rateControl` qvbr needs a rate", remedy: "set `maxBitrate` or `bitrate`, for example to 6M")
        }
    }
}
