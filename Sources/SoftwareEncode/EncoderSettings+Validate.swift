import VideoBase

extension EncoderSettings {
    private static func check(_ value: Int?, _ range: ClosedRange<Int>, _ option: String) throws(VaencError) {
        if let value, !range.contains(value) {
            throw VaencError(
                .usage, "`\(option)` \(value) is out of range",
                remedy: "use \(range.lowerBound) to \(range.upperBound)")
        }
    }

    /// Rejects values of a change that are also rejected in a configuration, each by itself.
    static func checkValues(of change: RunningChange) throws(VaencError) {
        try check(change.qp, 0...51, "qp")
        try check(change.minQP, 0...51, "minQP")
        try check(change.maxQP, 0...51, "maxQP")
        if let rate = change.frameRate { try Validation.validate(frameRate: rate) }
        try Validation.validate(bitrate: change.bitrate, "bitrate")
        try Validation.validate(bitrate: change.maxBitrate, "maxBitrate")
        for limit in change.dataRateLimits ?? [] { try Validation.validate(limit) }
    }

    /// Rejects requests that no encoder supports: values out of range and contradictions.
    static func validate(_ c: EncoderConfiguration) throws(VaencError) {
        for (value, option) in [
            (c.rate.qp, "qp"), (c.rate.qpI, "qpI"), (c.rate.qpB, "qpB"), (c.rate.minQP, "minQP"), (c.rate.maxQP, "maxQP"),
        ] {
            try check(value, 0...51, option)
        }
        try check(c.rate.quality, 1...51, "quality")
        try check(c.coding.preset, 1...7, "preset")
        try check(c.structure.gopFrames, 1...1_000_000, "gopFrames")
        try check(c.structure.bFrames, 0...7, "bFrames")
        try check(c.structure.references, 1...16, "references")
        try check(c.coding.slices, 1...65535, "slices")
        try check(c.pipeline.asyncDepth, 1...256, "asyncDepth")
        try check(c.structure.idrInterval, 1...10_000, "idrInterval")
        try check(c.structure.temporalLayers, 1...4, "temporalLayers")
        try check(c.structure.longTermReferences, 0...15, "longTermReferences")
        try check(c.rate.vbvInitialPercent, 0...100, "vbvInitialPercent")
        try check(c.pipeline.maxFrameDelay, 0...64, "maxFrameDelay")
        try check(c.rate.maxSliceBytes, Validation.sliceBytes, "maxSliceBytes")
        try check(c.rate.maxFrameBytes, Validation.frameBytes, "maxFrameBytes")
        try Validation.validate(bitrate: c.rate.bitrate, "bitrate")
        try Validation.validate(bitrate: c.rate.maxBitrate, "maxBitrate")
        try Validation.validate(vbvSize: c.rate.vbvSize)
        for limit in c.rate.dataRateLimits { try Validation.validate(limit) }
        if let filter = c.coding.deblocking {
            for (value, option) in [(filter.alphaOffset, "deblocking.alphaOffset"), (filter.betaOffset, "deblocking.betaOffset")]
            where !(-6...6).contains(value) {
                throw VaencError(.usage, "`\(option)` \(value) is out of range", remedy: "use -6 to 6")
            }
        }
        try Validation.validate(forcedKeyFrames: c.structure.forcedKeyFrames)
        try Validation.validate(forcedKeyTimes: c.structure.forcedKeyTimes)
        for region in c.coding.regionsOfInterest { try Validation.validate(region, in: c.size) }
        try Validation.validate(frameRate: c.frameRate)
        try Validation.validate(color: c.display.color)
        try Validation.validate(masteringDisplay: c.display.masteringDisplay)
        if let ratio = c.display.sampleAspectRatio { try Validation.validate(sampleAspectRatio: ratio) }
        if let seconds = c.structure.gopSeconds, !(seconds > 0 && seconds <= 86400) {
            throw VaencError(
                .usage, "`gopSeconds` \(seconds) is out of range",
                remedy: "use a time above 0 and up to 86400 seconds")
        }
        if let profile = c.profile, profile.codec != c.codec {
            throw VaencError(
                .usage, "\(profile.rawValue) is not a profile of \(c.codec.standardName)",
                remedy: "leave out `profile`, or choose another `codec`")
        }
        try Validation.validate(bitDepth: c.bitDepth, profile: c.profile, codec: c.codec)
        try Validation.validate(tier: c.tier, level: c.level, codec: c.codec)
        if let level = c.level?.tenths, !SoftwareLevel.numbers(c.codec).contains(level) {
            throw VaencError(
                .usage, "\(c.codec.standardName) has no level \(SoftwareLevel.name(level))",
                remedy: "the levels are \(SoftwareLevel.numbers(c.codec).map(SoftwareLevel.name).joined(separator: " "))")
        }
        if let mode = c.rate.rateControl, [.cbr, .vbr, .avbr].contains(mode), c.rate.bitrate == nil {
            throw VaencError(
                .usage, "`rateControl` \(mode.rawValue) needs a rate",
                remedy: "set `bitrate`, for example to 6M")
        }
        if c.rate.rateControl == .qvbr, c.rate.bitrate == nil, c.rate.maxBitrate == nil {
            throw VaencError(
                .usage, "`rateControl` qvbr needs a rate",
                remedy: "set `maxBitrate` or `bitrate`, for example to 6M")
        }
        try c.checkContradictions(c.wantedRateControl)
        try Validation.validate(size: c.size)
        guard (16...16384).contains(c.size.width), (16...16384).contains(c.size.height) else {
            throw VaencError(
                .unavailable, "the software encoder does not encode pictures of \(c.size)",
                remedy:
                    "use pictures from 16x16 up to 16384x16384 (`SourceOptions.outputSize` scales those of a source)")
        }
    }
}
