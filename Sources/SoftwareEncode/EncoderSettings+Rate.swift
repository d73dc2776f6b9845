import VideoBase

extension EncoderSettings {
    var mode: RateControlMode { configuration.wantedRateControl }

    private static let highestRate = SoftwareEncoder.highestRate
    /// The size of the largest buffer in bits. libavcodec stores the size in an int.
    private static let largestBuffer = Int(Int32.max)

    mutating func mapRate() {
        let c = configuration
        let bitrate = c.rate.bitrate?.value ?? 0
        mapUnusedTargets()
        switch mode {
        case .cqp: mapConstantQP()
        case .icq, .qvbr:
            let quality = c.rate.quality ?? EncoderConfiguration.standardQuality
            set("crf", quality)
            let used = max(min(quality, c.rate.maxQP ?? quality), c.rate.minQP ?? 0)
            let why: SettingReason =
                used == quality ? "\(Self.why(c.rate.quality)), as the library's constant rate factor" : "kept within `minQP` and `maxQP`"
            report("quality", asked: c.rate.quality, used: "\(used)", why: why)
            if mode == .qvbr, let limit = c.rate.maxBitrate ?? c.rate.bitrate.map({ Self.usualMaximum($0.value) }) { mapLimit(limit) }
        case .vbr:
            mapAverage(bitrate)
            mapLimit(c.rate.maxBitrate ?? Self.usualMaximum(bitrate))
        case .avbr:
            mapAverage(bitrate)
            if let most = c.rate.maxBitrate { report("maxBitrate", asked: most.value, used: "none", why: "avbr controls only the average rate") }
        case .cbr:
            mapAverage(bitrate)
            mapLimit(BitsPerSecond(bitrate))
            switch library {
            case .x264: if c.headers.hrdParameters != false { set("nal-hrd", "cbr") } else { set("filler", 1) }
            case .x265: set("strict-cbr", 1)
            }
        }
        mapBuffer()
        mapRateReport()
        switch library {
        case .x264:
            // With these parameters, the library counts the parameter sets of each key frame and four bytes before each
            // NAL unit, as in the stream.
            set("repeat-headers", 1)
            set("annexb", 0)
        case .x265: break
        }
    }

    /// Reports the rates, the quality and the QPs that the mode does not use.
    private mutating func mapUnusedTargets() {
        let c = configuration
        switch mode {
        case .cqp, .icq:
            let why: SettingReason = "not used: \(mode.rawValue) has no bit rate"
            if let rate = c.rate.bitrate { report("bitrate", asked: rate.value, used: "none", why: why) }
            if let most = c.rate.maxBitrate { report("maxBitrate", asked: most.value, used: "none", why: why) }
        case .qvbr:
            if let rate = c.rate.bitrate {
                let isUsed = c.rate.maxBitrate == nil
                report(
                    "bitrate", asked: rate.value, used: isUsed ? "\(rate.value)" : "none",
                    why: isUsed ? "only sets the maximum rate" : "`maxBitrate` limits the rate")
            }
        case .vbr, .avbr, .cbr:
            if let quality = c.rate.quality { report("quality", asked: quality, used: "none", why: "the bit rate has priority") }
        }
        if mode == .cqp { return }
        let why: SettingReason = mode == .icq || mode == .qvbr ? "the mode has a quality as its target" : "the bit rate has priority"
        for (option, qp) in c.requestedQPs { report(option, asked: qp, used: "none", why: why) }
    }

    /// The maximum rate if none is requested: 1.5 times the average.
    private static func usualMaximum(_ bitrate: Int) -> BitsPerSecond {
        BitsPerSecond(max(min(bitrate + bitrate / 2, highestRate), bitrate))
    }

    private mutating func mapRateReport() {
        let c = configuration
        let mode = mode
        let label = mode == .icq || mode == .qvbr ? "quality-targeted (\(encoderName) CRF)" : "\(encoderName) \(mode.rawValue)"
        let asked =
            switch mode {
            case .cqp: "a QP"
            case .icq: c.rate.quality == nil ? "nothing" : "a quality"
            default: "a bit rate"
            }
        report(
            "rateControl", asked: c.rate.rateControl?.rawValue, used: mode.rawValue,
            why: c.rate.rateControl != nil ? .explained(label) : "\(label): \(asked) was requested")
        if let controller = c.rate.rateController {
            let controls = mode != .cqp && mode != .icq
            report(
                "rateController", asked: controller.rawValue, used: controls ? "driver" : "none",
                why: controls ? "the library has its own rate control" : "\(mode.rawValue) has no bit rate to control")
        }
        for (option, name, limit) in [("minQP", "qpmin", c.rate.minQP), ("maxQP", "qpmax", c.rate.maxQP)] {
            guard let limit else { continue }
            if mode == .cqp {
                report(option, asked: limit, used: "\(limit)", why: "only limits the constant QP")
            } else {
                set(name, limit)
                report(option, asked: limit, used: "\(limit)", why: .requested)
            }
        }
    }

    private mutating func mapAverage(_ bitrate: Int) {
        limits.bitrate = max(1, bitrate / 1000)
        report("bitrate", asked: configuration.rate.bitrate?.value, used: "\(bitrate)", why: .requested)
    }

    /// Rejects a constant rate at which pictures are larger than the buffer: each picture would be filled up to the
    /// rate.
    ///
    /// - Throws: `usage`.
    func checkPicturesFit() throws(VaencError) {
        let perFrame = Double(limits.bitrate) / configuration.frameRate.value
        guard mode == .cbr, perFrame > Double(limits.bufferSize) + 1 else { return }
        throw VaencError(
            .usage,
            "\(limits.bitrate) kbit/s at \(configuration.frameRate.words) frames per second needs pictures of "
                + "\(Int(clamping: perFrame)) kbit at a constant rate, but the decoder's buffer holds "
                + "\(limits.bufferSize) kbit",
            remedy: "lower `bitrate`, raise `frameRate`, or use `rateControl` vbr")
    }

    /// Sets the maximum rate and a default buffer: one second, or one frame period if that is longer.
    private mutating func mapLimit(_ limit: BitsPerSecond) {
        limits.maxRate = max(1, limit.value / 1000)
        let perFrame = Int(clamping: (Double(limits.maxRate) / configuration.frameRate.value).rounded(.up))
        limits.bufferSize = max(limits.maxRate, min(perFrame, Self.highestRate / 1000))
        report(
            "maxBitrate", asked: configuration.rate.maxBitrate?.value, used: "\(limit.value)",
            why: configuration.rate.maxBitrate == nil
                ? "default"
                : configuration.rate.maxBitrate == limit ? .requested : "in CBR, the maximum is the bit rate")
    }

    /// Maps the decoder's buffer and the data rate limits, which the library implements as that buffer.
    private mutating func mapBuffer() {
        let c = configuration
        limits.base = RateLimits.Base(
            bitrate: limits.bitrate, maxRate: limits.maxRate, bufferSize: limits.bufferSize, asksMaximum: configuration.rate.maxBitrate != nil)
        let asked = c.rate.vbvSize.map { min($0, Self.largestBuffer) }
        if let asked, limits.maxRate > 0 { limits.base.bufferSize = max(1, asked / 1000) }
        let limited = c.rate.dataRateLimits.min { $0.bytesPerSecond < $1.bytesPerSecond }
        if let limited {
            let used = mode != .cqp
            if used {
                apply(limited)
                limits.windows = c.rate.dataRateLimits
            }
            for limit in c.rate.dataRateLimits {
                let text = "\(limit.bytes)/\(limit.duration.seconds)"
                report(
                    "dataRateLimits", asked: text, used: used && limit == limited ? text : "none",
                    why: !used
                        ? "the QP is constant"
                        : limit == limited
                            ? "used as the decoder's buffer" : "only the limit with the lowest rate is used")
            }
        }
        let has = limits.maxRate > 0
        if let asked {
            if has { limits.bufferSize = max(1, asked / 1000) }
            report(
                "vbvSize", asked: c.rate.vbvSize, used: has ? "\(asked)" : "none",
                why: !has ? "\(mode.rawValue) has no buffer" : asked == c.rate.vbvSize ? .requested : "libavcodec's limit")
        } else if has {
            report(
                "vbvSize", asked: Int?.none, used: "\(limits.bufferSize * 1000)",
                why: limited == nil ? "one second" : "from the data-rate limit")
        }
        if let percent = c.rate.vbvInitialPercent {
            if has {
                limits.initialPercent = percent
                switch library {
                // libx264 takes libavcodec's rc_initial_buffer_occupancy.
                case .x264: break
                case .x265: set("vbv-init", Double(percent) / 100)
                }
            }
            report(
                "vbvInitial", asked: percent, used: has ? "\(percent)" : "none",
                why: has ? .requested : "\(mode.rawValue) has no buffer")
        }
        mapHRD(has)
    }

    private mutating func apply(_ limit: DataRateLimit) {
        let rate = max(1, min(Int(clamping: limit.bytesPerSecond * 8 / 1000), Self.highestRate / 1000))
        limits.maxRate = limits.maxRate == 0 ? rate : min(limits.maxRate, rate)
        limits.bufferSize = max(1, limit.bytes * 8 / 1000)
        if limits.bitrate > limits.maxRate { limits.bitrate = limits.maxRate }
    }

    /// Returns the limits after a change.
    ///
    /// - Throws: `unavailable` if the library cannot make the change while it runs; `usage` for invalid values.
    func changed(_ limits: RateLimits, by change: RunningChange) throws(VaencError) -> RateLimits {
        func unsupported(_ what: String, _ remedy: String = "create a new session") -> VaencError {
            VaencError(.unavailable, "\(encoderName) cannot change \(what) while it runs", remedy: remedy)
        }
        // Check for values that no encoder accepts before checking for changes that this encoder does not support.
        try Self.checkValues(of: change)
        if change.qp != nil { throw unsupported("its QP") }
        if change.minQP != nil || change.maxQP != nil { throw unsupported("its QP limits") }
        if change.frameRate != nil { throw unsupported("the frame rate") }
        guard change.bitrate != nil || change.maxBitrate != nil || change.dataRateLimits != nil else { return limits }
        if !library.changesRate { throw unsupported("its rate", "use `codec` h264, or create a new session") }
        if limits.bitrate == 0 || limits.maxRate == 0 {
            throw unsupported("the rate of \(mode.rawValue)", "use `rateControl` vbr or cbr with a `bitrate`")
        }
        if parameters.contains(where: { $0.name == "nal-hrd" }) {
            throw unsupported("its rate in a stream with HRD parameters", "use `hrdParameters` off")
        }
        var next = self
        next.limits = limits
        if let windows = change.dataRateLimits { next.limits.windows = windows }
        // Windows reduce the requested limits, and are applied to them again here. If the windows were the only limit,
        // the library's maximum applies without them.
        var base = limits.base
        if base.maxRate == 0 { (base.maxRate, base.bufferSize) = (Self.highestRate / 1000, Self.highestRate / 1000) }
        let seconds = Double(base.bufferSize) / Double(base.maxRate)
        let ratio = Double(base.maxRate) / Double(max(base.bitrate, 1))
        if let rate = change.bitrate { base.bitrate = max(1, rate.value / 1000) }
        if let most = change.maxBitrate {
            (base.maxRate, base.asksMaximum) = (max(1, most.value / 1000), true)
        } else if change.bitrate != nil, !(base.asksMaximum && mode != .cbr && base.bitrate <= base.maxRate) {
            base.maxRate = max(min(Int(clamping: Double(base.bitrate) * ratio), Self.highestRate / 1000), base.bitrate)
        }
        base.bufferSize = max(1, Int(clamping: min(Double(base.maxRate) * seconds, Double(Self.highestRate / 1000))))
        next.limits.base = base
        (next.limits.bitrate, next.limits.maxRate, next.limits.bufferSize) = (base.bitrate, base.maxRate, base.bufferSize)
        try check(next.limits, change)
        if let limit = next.limits.windows.min(by: { $0.bytesPerSecond < $1.bytesPerSecond }) { next.apply(limit) }
        return next.limits
    }

    /// Returns the report of the configuration, updated by a change.
    func report(_ before: [EffectiveEntry], with change: RunningChange, _ limits: RateLimits) -> [EffectiveEntry] {
        var report = before
        if let rate = change.bitrate { report.change("bitrate", asked: "\(rate.value)", used: "\(rate.value)") }
        if let rate = change.maxBitrate {
            // The library counts in thousands of bits.
            let used = limits.maxRate == rate.value / 1000 ? rate.value : limits.maxRate * 1000
            report.change("maxBitrate", asked: "\(rate.value)", used: "\(used)")
        } else if change.bitrate != nil, let old = before.first(where: { $0.option == "maxBitrate" }) {
            let used = "\(limits.maxRate * 1000)"
            if old.used != used { report.change("maxBitrate", asked: old.asked, used: used, why: "changed with the bit rate") }
        }
        if let windows = change.dataRateLimits {
            report.removeAll { $0.option == "dataRateLimits" }
            let kept = windows.min { $0.bytesPerSecond < $1.bytesPerSecond }
            for limit in windows {
                let text = "\(limit.bytes)/\(limit.duration.seconds)"
                report.append(
                    EffectiveEntry(
                        option: "dataRateLimits", asked: text, used: limit == kept ? text : "none",
                        why: limit == kept
                            ? "used as the decoder's buffer" : "only the limit with the lowest rate is used"))
            }
        }
        if let old = before.first(where: { $0.option == "vbvSize" }), old.used != "\(limits.bufferSize * 1000)" {
            report.change(
                "vbvSize", asked: old.asked, used: "\(limits.bufferSize * 1000)",
                why: change.dataRateLimits.map { $0.isEmpty ? "changed while running" : "from the data-rate limit" }
                    ?? "changed with the bit rate")
        }
        return report
    }

    /// Rejects changes that would be rejected in the configuration.
    private func check(_ next: RateLimits, _ change: RunningChange) throws(VaencError) {
        var asked = configuration
        asked.rate.bitrate = BitsPerSecond(next.bitrate * 1000)
        asked.rate.maxBitrate = BitsPerSecond(next.maxRate * 1000)
        // The rates as requested, before the library's rounding.
        if let most = change.maxBitrate {
            asked.rate.maxBitrate = most
            if let average = change.bitrate { asked.rate.bitrate = average }
        }
        asked.rate.vbvSize = next.bufferSize * 1000
        asked.rate.dataRateLimits = next.windows
        try asked.checkContradictions(mode)
    }

    /// Returns whether a change of the average rate needs a new stream, which begins with a key frame. libx264 changes
    /// the average rate of a running stream only with a constant rate.
    func needsNewStream(_ old: RateLimits, _ new: RateLimits) -> Bool { mode != .cbr && new.bitrate != old.bitrate }

    func with(_ limits: RateLimits) -> EncoderSettings {
        var copy = self
        copy.limits = limits
        return copy
    }

    /// Maps the QPs. The libraries derive the QP of I and B pictures from the QP of P pictures by ratios of quantizer
    /// steps.
    private mutating func mapConstantQP() {
        let c = configuration
        let range = (c.rate.minQP ?? 0)...max(c.rate.maxQP ?? 51, c.rate.minQP ?? 0)
        let lowest = max(library.lowestQP, range.lowerBound)
        func clampedQP(_ qp: Int) -> Int { min(max(qp, lowest), max(lowest, range.upperBound)) }
        func reason(_ asked: Int?, used: Int, otherwise: SettingReason) -> SettingReason {
            guard let asked else { return otherwise }
            if asked == used { return .requested }
            return range.contains(asked)
                ? "in libx264, QP 0 is lossless coding, which needs another profile" : "kept within `minQP` and `maxQP`"
        }
        let qp = clampedQP(c.rate.qp ?? c.rate.quality ?? EncoderConfiguration.standardQuality)
        let qpI = clampedQP(c.rate.qpI ?? qp), qpB = clampedQP(c.rate.qpB ?? qp)
        set("qp", qp)
        report(
            "qp", asked: c.rate.qp, used: "\(qp)",
            why: reason(c.rate.qp, used: qp, otherwise: c.rate.quality == nil ? .standard : "from the quality"))
        if let quality = c.rate.quality {
            report(
                "quality", asked: quality, used: c.rate.qp == nil ? "\(qp)" : "none",
                why: c.rate.qp != nil
                    ? "`qp` is set" : qp == quality ? "used as the QP" : reason(quality, used: qp, otherwise: ""))
        }
        func ratio(_ difference: Int) -> String { "\(Self.power(Double(difference) / 6))" }
        set("ipratio", ratio(qp - qpI))
        set("pbratio", ratio(qpB - qp))
        report(
            "qpI", asked: c.rate.qpI, used: "\(qpI)",
            why: reason(c.rate.qpI, used: qpI, otherwise: "same as P pictures"))
        if c.rate.qpB != nil, reorderDepth == 0 {
            report("qpB", asked: c.rate.qpB, used: "none", why: "no B pictures")
        } else {
            let finer = reorderDepth > 1 && qpB > qp ? "; B pictures that others refer to are finer" : ""
            report(
                "qpB", asked: c.rate.qpB, used: "\(qpB)",
                why: "\(reason(c.rate.qpB, used: qpB, otherwise: "same as P pictures"))\(finer)")
        }
    }

    /// Returns 2 to the power of `exponent`, to at least four decimal places. This file does not use the C library.
    private static func power(_ exponent: Double) -> Double {
        var rest = exponent
        var result = 1.0
        while rest >= 1 { result *= 2; rest -= 1 }
        while rest < 0 { result /= 2; rest += 1 }
        // The series of e^(rest · ln 2), with rest in 0..<1.
        var term = 1.0, sum = 1.0
        for n in 1...20 {
            term *= rest * 0.693147180559945 / Double(n)
            sum += term
        }
        return result * sum
    }
}

extension DataRateLimit {
    var bytesPerSecond: Double { Double(bytes) / duration.seconds }
}
