import VideoBase

extension SettingsResolver {
    /// Checks for values that no device accepts.
    ///
    /// - Throws: `usage` or `unavailable` for the first value out of range.
    func checkRanges() throws {
        try check("qp", asked.rate.qp, 0...51)
        try check("qpI", asked.rate.qpI, 0...51)
        try check("qpB", asked.rate.qpB, 0...51)
        try check("minQP", asked.rate.minQP, 0...51)
        try check("maxQP", asked.rate.maxQP, 0...51)
        try Validation.validate(bitDepth: asked.bitDepth, profile: asked.profile, codec: asked.codec)
        try Validation.validate(tier: asked.tier, level: asked.level, codec: asked.codec)
        try check("quality", asked.rate.quality, 1...51)
        try check("preset", asked.coding.preset, 1...7)
        try check("gopFrames", asked.structure.gopFrames, 1...Int(Int32.max))
        try check("bFrames", asked.structure.bFrames, 0...7)
        try check("references", asked.structure.references, 1...16)
        try check("slices", asked.coding.slices, 1...8192)
        try check("asyncDepth", asked.pipeline.asyncDepth, 1...64)
        try check("idrInterval", asked.structure.idrInterval, 1...Int(Int32.max))
        try check("temporalLayers", asked.structure.temporalLayers, 1...4)
        try check("longTermReferences", asked.structure.longTermReferences, 0...15)
        try check("maxSliceBytes", asked.rate.maxSliceBytes, Validation.sliceBytes)
        try check("maxFrameDelay", asked.pipeline.maxFrameDelay, 0...64)
        try Validation.validate(forcedKeyFrames: asked.structure.forcedKeyFrames)
        try Validation.validate(forcedKeyTimes: asked.structure.forcedKeyTimes)
        if let filter = asked.coding.deblocking {
            try check("deblocking.alphaOffset", filter.alphaOffset, -6...6)
            try check("deblocking.betaOffset", filter.betaOffset, -6...6)
        }
        for region in asked.coding.regionsOfInterest { try Validation.validate(region, in: asked.size) }
        if let seconds = asked.structure.gopSeconds, !(seconds > 0 && seconds <= 86400) {
            throw VaencError(
                .usage, "`gopSeconds` \(seconds) is out of range",
                remedy: "use a time above 0 and up to 86400 seconds")
        }
        try Validation.validate(size: asked.size)
        // HEVC's parameter buffers hold 16 bits a side, and no level allows more.
        guard asked.size.width <= 65535, asked.size.height <= 65535 else {
            throw VaencError(
                .unavailable, "a picture of \(asked.size) is larger than any level allows",
                remedy: "use pictures of at most 65535x65535 (`SourceOptions.outputSize` scales those of a source)")
        }
        try Validation.validate(frameRate: asked.frameRate)
        try Validation.validate(color: asked.display.color)
        try Validation.validate(masteringDisplay: asked.display.masteringDisplay)
        if let ratio = asked.display.sampleAspectRatio { try Validation.validate(sampleAspectRatio: ratio) }
    }

    private func check(_ option: String, _ value: Int?, _ range: ClosedRange<Int>) throws {
        try Self.check(option, value, range)
    }

    static func check(_ option: String, _ value: Int?, _ range: ClosedRange<Int>) throws {
        guard let value, !range.contains(value) else { return }
        throw VaencError(
            .usage, "`\(option)` \(value) is out of range",
            remedy: "use \(range.lowerBound) to \(range.upperBound)")
    }

    /// Checks that the profile is one of the codec's.
    func checkProfile() throws {
        if let profile = asked.profile, profile.codec != asked.codec {
            throw VaencError(
                .usage, "\(profile.rawValue) is not a profile of \(asked.codec.standardName)",
                remedy: "leave out `profile`, or choose another `codec`")
        }
    }

    /// Checks the picture size against the device's limits.
    func checkSize(_ limits: EncodeCapabilities) throws {
        let size = asked.size
        let low = limits.minSize
        let high = limits.maxSize
        let fits =
            size.width >= low.width && size.height >= low.height && size.width <= high?.width ?? .max
            && size.height <= high?.height ?? .max
        guard !fits else { return }
        let range = high.map { "from \(low) up to \($0)" } ?? "from \(low) up"
        throw VaencError(
            .unavailable, "the device does not encode pictures of \(size)",
            remedy:
                "\(device.driver) encodes \(limits.profile.codec.standardName) \(limits.profile.shortName) \(range); "
                + "use a size in this range (`SourceOptions.outputSize` scales the pictures of a source)")
    }
}
