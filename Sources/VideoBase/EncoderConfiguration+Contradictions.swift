extension EncoderConfiguration {
    /// Rejects limits that contradict each other, and limits that are too low for the requested bit rate. Only
    /// arithmetic is used, so the check can run before encoding and before a change while running.
    ///
    /// - Parameter mode: The rate control mode in use, which `rateControl` may leave open.
    /// - Throws: A `VaencError` of category `.usage`.
    package func checkContradictions(_ mode: RateControlMode) throws(VaencError) {
        if let low = rate.minQP, let high = rate.maxQP, low > high {
            throw VaencError(
                .usage, "`minQP` \(low) is above `maxQP` \(high)",
                remedy: "use a `minQP` that is not above `maxQP`")
        }
        if let average = rate.bitrate, let most = rate.maxBitrate, most < average {
            throw VaencError(
                .usage, "`maxBitrate` \(most) is below `bitrate` \(average)",
                remedy: "raise `maxBitrate`, or lower `bitrate`")
        }
        let fps = frameRate.value
        guard fps > 0, ![.cqp, .icq].contains(mode) else { return }
        if rate.vbvInitialPercent == 0, headers.hrdParameters != false {
            throw VaencError(
                .usage, "`vbvInitialPercent` 0 means that the decoder's buffer is empty at the first picture",
                remedy: "use `vbvInitialPercent` 1 to 100, or `hrdParameters` off")
        }
        // In QVBR, the bit rate is a maximum, not the rate that will be used.
        guard mode != .qvbr, let average = rate.bitrate else { return }
        func check(_ most: Double, option: String, what: String) throws(VaencError) {
            guard most < Double(average.value) else { return }
            throw VaencError(
                .usage,
                "\(what) at \(frameRate.words) frames per second allow at most \(Int(clamping: most)) bit/s, below "
                    + "the bit rate of \(average)",
                remedy: "raise `\(option)`, or lower `bitrate`")
        }
        if let bytes = rate.maxFrameBytes {
            try check(Double(bytes) * 8 * fps, option: "maxFrameBytes", what: "pictures of \(bytes) bytes")
        }
        if let bits = rate.vbvSize {
            try check(Double(bits) * fps, option: "vbvSize", what: "pictures that fit a buffer of \(bits) bits")
        }
        for limit in rate.dataRateLimits where limit.duration > .zero {
            // The largest number of pictures in a window of this duration, wherever the window begins.
            let count = max((limit.duration.seconds * fps - 1e-6).rounded(.up), 1)
            try check(
                Double(limit.bytes) * 8 * fps / count, option: "dataRateLimits",
                what: "\(limit.bytes) bytes in \(limit.duration.seconds) s")
        }
    }
}
