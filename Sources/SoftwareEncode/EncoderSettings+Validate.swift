import VideoBase

extension EncoderSettings {
    /// Refuses what no encoder can do: values out of range and wishes that contradict each other.
    static func validate(_ c: EncoderConfiguration) throws(VaencError) {
        func check(_ value: Int?, _ range: ClosedRange<Int>, _ option: String) throws(VaencError) {
            if let value, !range.contains(value) {
                throw VaencError(.usage, "--\(option) \(value) is outside \(range.lowerBound) to \(range.upperBound)")
            }
        }
        for (value, option) in [
            (c.qp, "qp"), (c.qpI, "qp-i"), (c.qpB, "qp-b"), (c.minQP, "min-qp"), (c.maxQP, "max-qp"),
        ] {
            try check(value, 0...51, option)
        }
        try check(c.quality, 1...51, "quality")
        try check(c.preset, 1...7, "preset")
        try check(c.gopFrames, 1...1_000_000, "gop")
        try check(c.bFrames, 0...7, "bframes")
        try check(c.references, 1...16, "refs")
        try check(c.slices, 1...65535, "slices")
        try check(c.asyncDepth, 1...256, "async-depth")
        if let seconds = c.gopSeconds, !(seconds > 0 && seconds < 100_000) {
            throw VaencError(.usage, "--gop-seconds must be positive")
        }
        if let low = c.minQP, let high = c.maxQP, low > high {
            throw VaencError(.usage, "--min-qp \(low) is above --max-qp \(high)")
        }
        if let profile = c.profile, profile.codec != c.codec {
            throw VaencError(.usage, "the profile \(profile.rawValue) is not one of \(c.codec.rawValue)")
        }
        if let mode = c.rateControl, [.cbr, .vbr, .avbr].contains(mode), c.bitrate == nil {
            throw VaencError(
                .usage, "--rate-control \(mode.rawValue) needs a rate", remedy: "add --bitrate, as --bitrate 6M")
        }
        if let rate = c.bitrate, let limit = c.maxBitrate, limit < rate {
            throw VaencError(.usage, "--max-bitrate \(limit) is below --bitrate \(rate)")
        }
        guard c.frameRate.numerator > 0, c.frameRate.denominator > 0 else {
            throw VaencError(.usage, "the frame rate \(c.frameRate) is not positive")
        }
        guard (16...16384).contains(c.size.width), (16...16384).contains(c.size.height) else {
            throw VaencError(.unavailable, "the software encoder takes 16×16 to 16384×16384, not \(c.size)")
        }
    }
}
