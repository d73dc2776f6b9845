import VideoBase

extension EncoderSettings {
    /// Rejects values of a change that are also rejected in a configuration, each by itself.
    static func checkValues(of change: RunningChange) throws(VaencError) {
        try Validation.validate(change.qp, "qp", in: SettingRange.qp)
        try Validation.validate(change.minQP, "minQP", in: SettingRange.qp)
        try Validation.validate(change.maxQP, "maxQP", in: SettingRange.qp)
        if let rate = change.frameRate { try Validation.validate(frameRate: rate) }
        try Validation.validate(bitrate: change.bitrate, "bitrate")
        try Validation.validate(bitrate: change.maxBitrate, "maxBitrate")
        for limit in change.dataRateLimits ?? [] { try Validation.validate(limit) }
    }

    /// Rejects requests that no encoder supports: values out of range and contradictions.
    static func validate(_ c: EncoderConfiguration) throws(VaencError) {
        try c.checkValues()
        try c.checkCodec()
        if let level = c.level?.tenths, !SoftwareLevel.numbers(c.encodedCodec).contains(level) {
            throw VaencError(
                .usage, "\(c.encodedCodec.standardName) has no level \(SoftwareLevel.name(level))",
                remedy: "the levels are \(SoftwareLevel.numbers(c.encodedCodec).map(SoftwareLevel.name).joined(separator: " "))")
        }
        try c.checkHasRate(c.wantedRateControl)
        try c.checkContradictions(c.wantedRateControl)
        guard (16...16384).contains(c.size.width), (16...16384).contains(c.size.height) else {
            throw VaencError(
                .unavailable, "the software encoder does not encode pictures of \(c.size)",
                remedy:
                    "use pictures from 16x16 up to 16384x16384 (`SourceOptions.outputSize` scales those of a source)")
        }
    }
}
