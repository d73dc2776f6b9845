import VideoBase

extension SettingsResolver {
    /// Values that no device could take.
    func checkRanges() throws {
        try check("qp", asked.qp, 0...51)
        try check("qp-i", asked.qpI, 0...51)
        try check("qp-b", asked.qpB, 0...51)
        try check("min-qp", asked.minQP, 0...51)
        try check("max-qp", asked.maxQP, 0...51)
        try check("quality", asked.quality, 1...51)
        try check("preset", asked.preset, 1...7)
        try check("gop", asked.gopFrames, 1...Int(Int32.max))
        try check("bframes", asked.bFrames, 0...7)
        try check("refs", asked.references, 1...16)
        try check("slices", asked.slices, 1...8192)
        try check("async-depth", asked.asyncDepth, 1...64)
        try check("idr-interval", asked.idrInterval, 1...Int(Int32.max))
        try check("temporal-layers", asked.temporalLayers, 1...4)
        try check("ltr", asked.longTermReferences, 0...15)
        try check("max-slice-bytes", asked.maxSliceBytes, 64...(1 << 28))
        try check("max-delay", asked.maxFrameDelay, 0...64)
        for time in asked.forcedKeyTimes where !(time >= 0 && time.isFinite) {
            throw VaencError(.usage, "a key frame cannot be forced at \(time) s")
        }
        if let filter = asked.deblocking {
            try check("deblocking alpha", filter.alphaOffset, -6...6)
            try check("deblocking beta", filter.betaOffset, -6...6)
        }
        for region in asked.regionsOfInterest { try Self.check(region, in: asked.size) }
        if let seconds = asked.gopSeconds, !(seconds > 0 && seconds <= 86400) {
            throw VaencError(.usage, "gop-seconds is \(seconds)", remedy: "give a time above 0 and up to 86400 seconds")
        }
        if let low = asked.minQP, let high = asked.maxQP, low > high {
            throw VaencError(.usage, "min-qp \(low) is above max-qp \(high)")
        }
        guard asked.size.width > 0, asked.size.height > 0 else {
            throw VaencError(.usage, "a picture of \(asked.size) has no samples")
        }
        try Self.check(frameRate: asked.frameRate)
        if let aspect = asked.sampleAspectRatio, aspect.value <= 0 {
            throw VaencError(.usage, "the sample aspect ratio \(aspect) is not positive")
        }
    }

    /// A region must hold something of the picture, and its difference be one that QP can have.
    static func check(_ region: RegionOfInterest, in size: VideoSize) throws {
        guard (1...65535).contains(region.width), (1...65535).contains(region.height),
            (0...65535).contains(region.x), (0...65535).contains(region.y), (-51...51).contains(region.qpDelta)
        else {
            throw VaencError(
                .usage,
                "the region of interest \(region.width)×\(region.height) at \(region.x),\(region.y) with \(region.qpDelta) is not one",
                remedy: "give a size above 0, a place from 0 and a QP difference from -51 to 51")
        }
        guard region.x < size.width, region.y < size.height else {
            throw VaencError(
                .usage, "the region of interest at \(region.x),\(region.y) is outside of the \(size) picture",
                remedy: "give a place within the picture")
        }
    }

    /// Of a configuration, or of a change.
    static func check(frameRate rate: Rational) throws {
        let terms = 1...Int64(Int32.max)
        guard terms.contains(Int64(rate.numerator)), terms.contains(Int64(rate.denominator)), (0.001...1000).contains(rate.value)
        else {
            throw VaencError(.usage, "the frame rate \(rate) is not between 0 and 1000 frames per second")
        }
    }

    /// Of a configuration, or of a change.
    static func check(_ limit: DataRateLimit) throws {
        guard (1...(1 << 40)).contains(limit.bytes), limit.seconds > 0, limit.seconds <= 3600 else {
            throw VaencError(.usage, "a data-rate limit of \(limit.bytes) bytes in \(limit.seconds) s cannot be kept")
        }
    }

    /// Bits per second, as many as VA-API's fields hold. Of a configuration, or of a change.
    static let bitrates = 1000...4_000_000_000

    private func check(_ option: String, _ value: Int?, _ range: ClosedRange<Int>) throws {
        try Self.check(option, value, range)
    }

    static func check(_ option: String, _ value: Int?, _ range: ClosedRange<Int>) throws {
        guard let value, !range.contains(value) else { return }
        throw VaencError(
            .usage, "\(option) is \(value)", remedy: "give a number from \(range.lowerBound) to \(range.upperBound)")
    }

    /// Features that are named in the interface but not built.
    func checkUnbuilt() throws {
        if asked.codec == .hevc { throw notBuilt("HEVC encoding on a VA-API device", remedy: "use --codec h264") }
        if let profile = asked.profile, profile.codec != asked.codec {
            throw VaencError(.usage, "\(profile.rawValue) is not a profile of H.264")
        }
        switch asked.inputFormat {
        case .p010, .i420p10: throw notBuilt("10-bit encoding", remedy: "convert the input to 8 bits")
        default: break
        }
    }

    private func notBuilt(_ feature: String, remedy: String) -> VaencError {
        VaencError(.unavailable, "\(feature) is not built yet", remedy: remedy)
    }

    /// The device's size limits.
    func checkSize(_ limits: DeviceLimits) throws {
        let size = asked.size
        let low = limits.minSize
        let high = limits.maxSize
        let fits =
            size.width >= low.width && size.height >= low.height && size.width <= high?.width ?? .max
            && size.height <= high?.height ?? .max
        guard !fits else { return }
        let range = high.map { "from \(low) up to \($0)" } ?? "from \(low) up"
        throw VaencError(
            .unavailable, "a picture of \(size) is outside what the device encodes",
            remedy: "\(device.driver) encodes H.264 \(limits.profile.shortName) \(range); scale with --size")
    }
}
