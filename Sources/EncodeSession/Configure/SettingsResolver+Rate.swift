import VAAPI
import VideoBase

/// Chooses the rate controller and its mode.
extension SettingsResolver {
    /// Chooses the rate control mode and the controller, with the rates, the buffer and the limits.
    ///
    /// The mode is `wantedRateControl`, or the nearest that the device supports. The driver runs the mode if it can.
    /// vaenc runs CBR, VBR and QVBR over the QP of each picture in three cases: it is requested, the driver lacks the
    /// mode, or the driver cannot keep a requested limit.
    mutating func chooseRateControl(_ limits: EncodeCapabilities) throws -> RateSettings {
        let wanted = asked.wantedRateControl
        try asked.checkHasRate(wanted)
        try asked.checkContradictions(wanted)
        var rate = RateSettings()
        rate.minQP = asked.rate.minQP
        rate.maxQP = asked.rate.maxQP
        rate.quality = (asked.rate.quality ?? EncoderConfiguration.standardQuality).clamped(
            to: max(asked.rate.minQP ?? 1, 1)...max(asked.rate.maxQP ?? 51, 1))
        (rate.mode, rate.controller) = try chooseMode(wanted, limits)
        if rate.mode == .cqp || rate.mode == .icq {
            reportUnused(rate.mode)
            if rate.mode == .icq { reportQuality(rate) }
        } else {
            chooseRates(&rate, limits.profile)
            chooseBuffer(&rate)
            chooseLimits(&rate, limits)
            if rate.mode == .qvbr { reportQuality(rate) }
            if rate.mode != .qvbr, let quality = asked.rate.quality {
                report.add("quality", asked: "\(quality)", used: "none", why: "the bit rate has priority")
            }
            reportUnusedQPs("the bit rate has priority")
        }
        if rate.driverChoosesQP || rate.usesVaencRateControl { reportQPLimits() }
        chooseMacroblockRateControl(limits, &rate)
        return rate
    }

    // MARK: Mode

    private mutating func chooseMode(
        _ wanted: RateControlMode, _ limits: EncodeCapabilities
    ) throws -> (RateControlMode, RateControlOwner) {
        let offered = limits.rateControl
        let canOwn = offered.contains(.cqp) && !limits.hasOneQP
        let prefersOwn = asked.rate.rateController == .vaenc
        var used = wanted
        var controller = RateControlOwner.driver
        var why: SettingReason = asked.rate.rateControl == nil ? .explained(meaning(wanted)) : .requested
        switch wanted {
        case .cqp:
            guard offered.contains(.cqp) else {
                throw VaencError(
                    .unavailable, "\(device.driver) does not support constant QP with \(limits.entryPoint.shortName)",
                    remedy: "use `bitrate`")
            }
        case .icq:
            if !offered.contains(.icq) {
                guard offered.contains(.cqp) else {
                    throw VaencError(
                        .unavailable, "\(device.driver) supports bit-rate modes only, no constant quality",
                        remedy: "set `bitrate`, for example to 6M")
                }
                used = .cqp
                why = "the device does not support ICQ: constant QP sets the quality"
            }
        case .cbr, .vbr, .qvbr:
            if canOwn, prefersOwn || !offered.contains(wanted) || missing(limits) != nil { controller = .vaenc }
            if controller == .driver, !offered.contains(wanted) {
                used = try nearest(to: wanted, limits)
                why = "nearest mode of the driver; it uses one QP for all pictures, so vaenc cannot control the rate"
            }
        case .avbr:
            if !offered.contains(.avbr) || (prefersOwn && canOwn) {
                used = .vbr
                why =
                    offered.contains(.avbr)
                    ? "vaenc's own controller does not support AVBR" : "the device does not support AVBR"
                if prefersOwn || !offered.contains(.vbr) { controller = canOwn ? .vaenc : .driver }
                if controller == .driver { used = try nearest(to: .vbr, limits) }
            }
        }
        report.add("rateControl", asked: asked.rate.rateControl?.rawValue, used: used.rawValue, why: why)
        reportController(used, controller: controller, limits: limits)
        return (used, controller)
    }

    /// Returns why the driver's controller cannot keep the requested limits on picture sizes. Returns nil if it can, or
    /// if it was requested explicitly.
    private func missing(_ limits: EncodeCapabilities) -> String? {
        if asked.rate.rateController == .driver { return nil }
        if asked.rate.maxFrameBytes != nil, !limits.limitsFrameBytes {
            return "the driver cannot limit the size of pictures"
        }
        return asked.rate.dataRateLimits.isEmpty ? nil : "drivers do not support data-rate limits"
    }

    private func nearest(to wanted: RateControlMode, _ limits: EncodeCapabilities) throws -> RateControlMode {
        let order: [RateControlMode] = wanted == .cbr ? [.cbr, .vbr, .avbr, .qvbr] : [.vbr, .avbr, .qvbr, .cbr]
        if let mode = order.first(where: limits.rateControl.contains) { return mode }
        throw VaencError(
            .unavailable, "\(device.driver) has no rate control, and uses one QP for all pictures",
            remedy: "use `qp`" + VaencError.orSoftware)
    }

    private func meaning(_ mode: RateControlMode) -> String {
        switch mode {
        case .vbr: "a bit rate is requested"
        case .cqp: "a QP is requested"
        default: "no bit rate is requested: constant quality"
        }
    }

    private mutating func reportController(
        _ mode: RateControlMode, controller: RateControlOwner, limits: EncodeCapabilities
    ) {
        guard mode != .cqp, mode != .icq else {
            if let wanted = asked.rate.rateController {
                report.add(
                    "rateController", asked: wanted.rawValue, used: "none", why: "\(mode.rawValue) has no bit rate to control")
            }
            return
        }
        let why: SettingReason
        if controller == asked.rate.rateController {
            why = .requested
        } else if controller == .driver {
            why = asked.rate.rateController == nil ? .standard : "the driver does not accept a QP for each picture"
        } else if limits.rateControl.contains(mode), let missing = missing(limits) {
            why = .explained(missing)
        } else if limits.entryPoint == .encodeSliceLowPower, limits.rateControl == [.cqp] {
            // DriverQuirk.lowPowerNeedsFirmware.
            why = "the driver supports constant QP only: Intel's low power needs the HuC firmware for rate control"
        } else {
            why = "the driver does not support \(mode.rawValue.uppercased()); vaenc sets the QP of each picture"
        }
        report.add("rateController", asked: asked.rate.rateController?.rawValue, used: controller.rawValue, why: why)
    }

    // MARK: Rates, buffer, limits

    /// Chooses the rates in steps of 64 bit/s, which HRD parameters can express.
    private mutating func chooseRates(_ rate: inout RateSettings, _ profile: CodecProfile) {
        let average = (asked.rate.bitrate ?? asked.rate.maxBitrate)?.value ?? 0
        rate.bitrate = average & ~63
        if let bitrate = asked.rate.bitrate {
            report.add("bitrate", asked: "\(bitrate)", used: "\(bitrate)", why: .requested)
        } else {
            report.add("bitrate", asked: nil, used: "\(BitsPerSecond(average))", why: "same as `maxBitrate`")
        }
        switch rate.mode {
        case .cbr:
            rate.maxBitrate = rate.bitrate
            if let most = asked.rate.maxBitrate {
                report.add(
                    "maxBitrate", asked: "\(most)", used: "\(BitsPerSecond(average))",
                    why: "in CBR, the maximum is the bit rate")
            }
        default:
            let wanted = average + average / 2
            // A default maximum rate must not raise a requested level or tier.
            let named = asked.level.map { StreamLevel.named($0, profile: profile, tier: asked.tier) } ?? []
            let level = named.first { $0.maxBitrate >= average } ?? .highest(profile, asked.tier)
            let standard = max(min(wanted, level.maxBitrate), average)
            let requested = rate.mode == .avbr ? nil : asked.rate.maxBitrate
            let most = requested?.value ?? standard
            rate.maxBitrate = max(most & ~63, rate.bitrate)
            if rate.mode == .avbr {
                if let limit = asked.rate.maxBitrate {
                    report.add("maxBitrate", asked: "\(limit)", used: "none", why: "avbr controls only the average rate")
                }
                return
            }
            report.add(
                "maxBitrate", asked: requested.map { "\($0)" }, used: "\(BitsPerSecond(most))",
                why: requested != nil
                    ? .requested
                    : standard == wanted
                        ? "1.5 times the average, over one second" : "limit of level \(level.name)")
        }
    }

    /// Chooses the buffer, in steps of 16 bits. The default is one second at the maximum rate, or one frame interval if
    /// that is longer, three quarters full at the start.
    private mutating func chooseBuffer(_ rate: inout RateSettings) {
        guard rate.mode != .avbr else { return reportNoBuffer("avbr controls only the average rate, not a buffer") }
        rate.vbvSize = max((asked.rate.vbvSize ?? RateSettings.usualBuffer(rate.maxBitrate, asked.frameRate)) & ~15, 16)
        rate.hasFixedBuffer = asked.rate.vbvSize != nil
        report.add(
            "vbvSize", asked: asked.rate.vbvSize.map(String.init), used: "\(asked.rate.vbvSize ?? rate.vbvSize)",
            why: asked.rate.vbvSize != nil
                ? .requested : rate.vbvSize > rate.maxBitrate ? "one frame interval" : "one second")
        let percent = asked.rate.vbvInitialPercent ?? 75
        rate.vbvInitial = rate.vbvSize / 100 * percent
        report.add(
            "vbvInitial", asked: asked.rate.vbvInitialPercent, used: percent,
            why: asked.rate.vbvInitialPercent == nil ? .standard : .requested)
        rate.hasHRD = asked.headers.hrdParameters ?? true
        rate.requiresHRDConformance = asked.headers.hrdParameters == true
        report.add(
            "hrdParameters", asked: asked.headers.hrdParameters.map { $0 ? "on" : "off" }, used: rate.hasHRD ? "on" : "off",
            why: asked.headers.hrdParameters == nil ? "the rate control maintains a buffer" : .requested)
    }

    /// Reports the buffer options of a mode whose pictures are late with any buffer. The stream has no HRD parameters,
    /// because they would promise a buffer.
    private mutating func reportNoBuffer(_ why: SettingReason) {
        if let size = asked.rate.vbvSize { report.add("vbvSize", asked: "\(size)", used: "none", why: why) }
        if let part = asked.rate.vbvInitialPercent { report.add("vbvInitial", asked: "\(part)", used: "none", why: why) }
        let hrd = asked.headers.hrdParameters
        report.add(
            "hrdParameters", asked: hrd.map { $0 ? "on" : "off" }, used: "off", why: hrd == false ? .requested : why)
    }

    /// Limits the buffer to the level's maximum, once the level is known.
    ///
    /// - Returns: The buffer that the HRD parameters describe; nil if there are none.
    /// - Throws: `usage` if a constant rate needs larger pictures than the buffer holds, because each picture would be
    ///   filled up to that size.
    mutating func settleBuffer(_ rate: inout RateSettings, level: StreamLevel) throws -> BufferModel? {
        guard rate.vbvSize > 0 else { return nil }
        limitBuffer(&rate, to: level.maxCPBSize, why: "limit of level \(level.name)")
        try rate.checkPicturesFit(asked.frameRate)
        if let least = rate.minBuffer(asked.frameRate), rate.vbvSize < least {
            let share = Double(rate.vbvInitial) / Double(rate.vbvSize)
            rate.vbvSize = least
            rate.vbvInitial = Int(Double(least) * share)
            report.replace("vbvSize", used: "\(least)", why: "one picture at a constant rate, and the minimum filler")
        }
        guard rate.hasHRD else { return nil }
        limitBuffer(
            &rate, to: BufferModel.largestSize(bitrate: rate.maxBitrate),
            why: "HRD parameters can describe only a buffer that fills within 13 hours at the maximum rate")
        return BufferModel(bitrate: rate.maxBitrate, size: rate.vbvSize, isConstant: rate.mode == .cbr)
    }

    /// Reduces the buffer. The initial fullness keeps its share of the buffer.
    private mutating func limitBuffer(_ rate: inout RateSettings, to most: Int, why: SettingReason) {
        guard rate.vbvSize > most else { return }
        let share = Double(rate.vbvInitial) / Double(rate.vbvSize)
        rate.vbvSize = max(most & ~15, 16)
        rate.vbvInitial = Int(Double(rate.vbvSize) * share)
        report.replace("vbvSize", used: "\(rate.vbvSize)", why: why)
    }

    private var limitWords: String { asked.rate.dataRateLimits.map { "\($0.bytes) bytes in \($0.duration.seconds) s" }.joined(separator: ", ") }

    private mutating func chooseLimits(_ rate: inout RateSettings, _ limits: EncodeCapabilities) {
        rate.maxFrameBytes = asked.rate.maxFrameBytes
        if let bytes = asked.rate.maxFrameBytes {
            let isKept = rate.usesVaencRateControl || limits.limitsFrameBytes
            if !isKept { rate.maxFrameBytes = nil }
            report.add(
                "maxFrameBytes", asked: "\(bytes)", used: isKept ? "\(bytes)" : "none",
                why: rate.usesVaencRateControl
                    ? .requested
                    : isKept ? "the driver enforces it" : "the driver cannot limit the size of pictures")
        }
        rate.limits = asked.rate.dataRateLimits
        rate.hasRequestedDataRateLimits = !rate.limits.isEmpty
        rate.asksMaximum = asked.rate.maxBitrate != nil && rate.mode != .avbr
        if !asked.rate.dataRateLimits.isEmpty {
            let text = limitWords
            report.add(
                "dataRateLimits", asked: text, used: rate.usesVaencRateControl ? text : "`maxBitrate` alone",
                why: rate.usesVaencRateControl
                    ? .requested : "drivers do not support data-rate limits\(windowsRemedy(limits))")
        } else if limits.profile.codec.hasDefaultRateWindow, (asked.structure.bFrames ?? 1) == 0 || limits.maxReferences1 == 0, rate.mode != .cbr {
            let limit = rate.derivedLimit
            let bytes = limit.bytes
            if rate.usesVaencRateControl { rate.limits = [limit] }
            report.add(
                "dataRateLimits", asked: nil, used: "\(bytes) bytes in 1.0 s",
                why: """
                    default for \(limits.profile.codec.standardName) without B frames\
                    \(rate.usesVaencRateControl ? "" : "; used as the driver's maximum rate")
                    """)
        }
    }

    /// Returns the end of the reason: why vaenc's own controller does not keep the windows, or how to request it.
    private func windowsRemedy(_ limits: EncodeCapabilities) -> String {
        if limits.hasOneQP { return ", and this one uses one QP for all pictures, so vaenc cannot enforce them either" }
        if !limits.rateControl.contains(.cqp) {
            return ", and this one accepts no QP, so vaenc cannot enforce them either"
        }
        return ": use `rateController` vaenc"
    }

    private mutating func chooseMacroblockRateControl(_ limits: EncodeCapabilities, _ rate: inout RateSettings) {
        guard let wanted = asked.rate.macroblockRateControl else { return }
        guard limits.macroblockRateControl else {
            return report.add(
                "macroblockRateControl", asked: wanted ? "on" : "off", used: "driver's",
                why: "the driver cannot turn it on or off")
        }
        if rate.driverChoosesQP { rate.macroblockRateControl = wanted }
        report.add(
            "macroblockRateControl", asked: wanted ? "on" : "off", used: rate.driverChoosesQP && wanted ? "on" : "off",
            why: rate.driverChoosesQP ? .requested : "used only if the driver controls the rate")
    }

    // MARK: Report

    private mutating func reportQuality(_ rate: RateSettings) {
        report.add(
            "quality", asked: asked.rate.quality, used: rate.quality,
            why: asked.rate.quality == nil
                ? .standard : asked.rate.quality == rate.quality ? .requested : "kept within `minQP` and `maxQP`")
        if rate.mode == .icq { reportUnusedQPs("the mode has a quality as its target") }
    }

    /// Reports the QPs of a mode that chooses its own.
    private mutating func reportUnusedQPs(_ why: SettingReason) {
        for (option, qp) in asked.requestedQPs { report.add(option, asked: "\(qp)", used: "none", why: why) }
    }

    private mutating func reportQPLimits() {
        if let low = asked.rate.minQP { report.add("minQP", asked: low, used: low, why: .requested) }
        if let high = asked.rate.maxQP { report.add("maxQP", asked: high, used: high, why: .requested) }
    }

    /// Reports the options that apply only to modes with a bit rate.
    private mutating func reportUnused(_ mode: RateControlMode) {
        let why: SettingReason = "not used: \(mode.rawValue) has no bit rate"
        if let rate = asked.rate.bitrate { report.add("bitrate", asked: "\(rate)", used: "none", why: why) }
        if let rate = asked.rate.maxBitrate { report.add("maxBitrate", asked: "\(rate)", used: "none", why: why) }
        if let size = asked.rate.vbvSize { report.add("vbvSize", asked: "\(size)", used: "none", why: why) }
        if let part = asked.rate.vbvInitialPercent { report.add("vbvInitial", asked: "\(part)", used: "none", why: why) }
        if let bytes = asked.rate.maxFrameBytes { report.add("maxFrameBytes", asked: "\(bytes)", used: "none", why: why) }
        if !asked.rate.dataRateLimits.isEmpty { report.add("dataRateLimits", asked: limitWords, used: "none", why: why) }
        if let hrd = asked.headers.hrdParameters {
            report.add("hrdParameters", asked: hrd ? "on" : "off", used: "off", why: hrd ? why : .requested)
        }
    }
}

extension VideoCodec {
    /// Whether a stream without B frames gets a limit of bytes in a second if none is asked for.
    fileprivate var hasDefaultRateWindow: Bool {
        switch self {
        case .h264: true
        case .hevc: false
        }
    }
}
