import RateControl
import VAAPI
import VideoBase

/// The resolved rate control. Rates are in bits per second, the buffer is in bits.
struct RateSettings: Sendable, Hashable {
    /// The mode in use. `cqp` also replaces a quality mode that the device does not support.
    var mode = RateControlMode.cqp
    /// The component that controls the rate; the driver in modes without a bit rate.
    var controller = RateControlOwner.driver
    var bitrate = 0
    var maxBitrate = 0
    /// The size of the coded picture buffer in bits; 0 if the mode has no buffer.
    var vbvSize = 0
    var vbvInitial = 0
    /// Whether the buffer's size was requested, so that it does not follow the rate.
    var hasFixedBuffer = false
    /// The target of the quality modes.
    var quality = 24
    var minQP: Int?
    var maxQP: Int?
    var maxFrameBytes: Int?
    /// The requested or default limits over windows. Only vaenc's own controller keeps them.
    var limits: [DataRateLimit] = []
    /// Whether `limits` was requested.
    var hasRequestedDataRateLimits = false
    /// Whether the maximum rate was requested.
    var asksMaximum = false
    var macroblockRateControl: Bool?
    /// Whether the stream signals HRD parameters.
    var hasHRD = false
    /// Whether HRD parameters were requested.
    var requiresHRDConformance = false

    /// Whether vaenc chooses each picture's QP from its rate.
    var usesVaencRateControl: Bool { controller == .vaenc }
    /// Whether the driver chooses the QP.
    var driverChoosesQP: Bool { mode != .cqp && !usesVaencRateControl }
    /// The rate control mode of the device.
    var deviceMode: RateControlMode { usesVaencRateControl ? .cqp : mode }

    /// The value of VAConfigAttribRateControl.
    var attribute: UInt32 { RateControlModes(deviceMode).rawValue }

    /// Returns the targets of vaenc's own controller.
    ///
    /// - Parameter areas: The number of 16×16 areas in a picture, scaled by the codec's bits relative to H.264.
    func targets(frameRate: Rational, areas: Int, reorderDepth: Int, offsets: QPOffsets) -> RateTargets {
        let aim: RateTargets.Aim =
            switch mode {
            case .cbr: .constant
            case .qvbr: .quality(qp: quality)
            default: .variable
            }
        var targets = RateTargets(
            aim: aim, bitrate: bitrate, maxBitrate: maxBitrate, bufferSize: vbvSize, initialFullness: vbvInitial,
            frameRate: frameRate, macroblocks: areas)
        let low = minQP ?? 0
        targets.qpRange = low...max(maxQP ?? 51, low)
        targets.maxPictureBits = maxFrameBytes.map { $0 * 8 }
        targets.windows = limits.map { WindowLimit(bits: $0.bytes * 8, seconds: $0.duration.seconds) }
        if mode != .cbr {
            // Below one frame per second, a second would contain less than one picture.
            let seconds = max(1, 1 / frameRate.value)
            targets.windows.append(
                WindowLimit(bits: Int(clamping: Double(maxBitrate) * seconds), seconds: seconds, isOfDisplay: false))
        }
        targets.reorderDepth = reorderDepth
        targets.offsets = offsets
        return targets
    }

    /// The limit of a stream without B frames if none is requested: 1.5 times the average rate over a second, as
    /// VideoToolbox's clients set it, and at most the maximum rate.
    var derivedLimit: DataRateLimit {
        DataRateLimit(bytes: min(bitrate + bitrate / 2, maxBitrate) / 8, duration: .seconds(1))
    }

    /// Returns the settings after a change while running. Nil fields of `change` keep their values.
    ///
    /// - Parameters:
    ///   - frameRate: The new frame rate.
    ///   - highest: The highest level of the profile.
    /// - Throws: `unavailable` for options that the mode does not have or that no controller keeps. `usage` for values
    ///   that a configuration may not have.
    func changed(by change: RunningChange, frameRate: Rational, highest: StreamLevel) throws -> RateSettings {
        try check(change)
        var new = self
        if let rate = change.bitrate {
            let ratio = Double(maxBitrate) / Double(max(bitrate, 1))
            new.bitrate = rate.value & ~63
            // A requested maximum stays if the new average does not exceed it.
            let keepsMaximum = asksMaximum && mode != .cbr && new.bitrate <= maxBitrate
            if mode == .cbr || change.maxBitrate == nil && !keepsMaximum {
                let wanted = mode == .cbr ? new.bitrate : Int(Double(new.bitrate) * ratio) & ~63
                new.maxBitrate = max(min(wanted, highest.maxBitrate), new.bitrate)
            }
        }
        if let most = change.maxBitrate, mode != .cbr { (new.maxBitrate, new.asksMaximum) = (most.value & ~63, true) }
        // A limit that was derived from the rates changes with them.
        if !hasRequestedDataRateLimits, !limits.isEmpty { new.limits = [new.derivedLimit] }
        guard new.maxBitrate <= highest.maxBitrate else {
            throw VaencError(
                .unavailable, "\(BitsPerSecond(new.maxBitrate)) exceeds \(highest.described)",
                remedy: "lower the bit rate")
        }
        if let low = change.minQP { new.minQP = low }
        if let high = change.maxQP { new.maxQP = high }
        if let limits = change.dataRateLimits {
            new.limits = limits
            new.hasRequestedDataRateLimits = true
        }
        var requested = new.asConfiguration(frameRate)
        // The rates as requested, without rounding. In CBR, a maximum rate is not used, but must not contradict the bit
        // rate.
        if let most = change.maxBitrate {
            requested.rate.maxBitrate = most
            if let average = change.bitrate { requested.rate.bitrate = average }
        }
        try requested.checkContradictions(mode)
        if requiresHRDConformance, new.maxBitrate > maxBitrate || (mode == .cbr && new.bitrate != bitrate) {
            throw VaencError(
                .unavailable, "the bit rate cannot change: the stream's HRD parameters state \(maxBitrate) bit/s",
                remedy: mode == .cbr
                    ? "create the session without `hrdParameters`, or keep the rate"
                    : "create the session without `hrdParameters`, or with the larger `maxBitrate` from the start")
        }
        // If the stream does not signal its buffer size, a default buffer follows the rate.
        if !hasFixedBuffer, !hasHRD, vbvSize > 0, maxBitrate > 0, new.maxBitrate != maxBitrate {
            let share = Double(vbvInitial) / Double(max(vbvSize, 1))
            new.vbvSize = Self.usualBuffer(new.maxBitrate, frameRate)
            new.vbvInitial = Int(clamping: Double(new.vbvSize) * share)
        }
        try new.checkPicturesFit(frameRate)
        return new
    }

    /// Checks that the pictures of a constant rate fit the buffer: each would be filled up to its share.
    ///
    /// - Throws: `usage`.
    func checkPicturesFit(_ frameRate: Rational) throws(VaencError) {
        let perFrame = Double(bitrate) / frameRate.value
        // Buffers are rounded down to 16 bits.
        guard mode == .cbr, vbvSize > 0, perFrame > Double(vbvSize) + 16 else { return }
        throw VaencError(
            .usage,
            "\(BitsPerSecond(bitrate)) at \(frameRate.words) frames per second needs pictures of "
                + "\(Int(clamping: perFrame)) bits at a constant rate, but the decoder's buffer holds "
                + "\(vbvSize) bits",
            remedy: "lower `bitrate`, raise `frameRate` or `level`, or use `rateControl` vbr")
    }

    /// Returns the smallest buffer, in bits, for a constant rate in whole bytes: a picture and minimum filler. Returns
    /// nil for other modes.
    func minBuffer(_ frameRate: Rational) -> Int? {
        guard mode == .cbr, vbvSize > 0 else { return nil }
        let perFrame = (Double(bitrate) / frameRate.value).rounded(.up)
        return (Int(clamping: min(perFrame, 1e15)) + 64 + 15) & ~15
    }

    /// Returns the default buffer, in bits: what arrives in a second, or in a frame interval if that is longer.
    static func usualBuffer(_ maxBitrate: Int, _ frameRate: Rational) -> Int {
        max(maxBitrate, Int(clamping: Double(maxBitrate) / frameRate.value)) & ~15
    }

    /// Checks each value of a change separately.
    private func check(_ change: RunningChange) throws {
        // Values that no device accepts come before changes that this session does not support.
        try Validation.validate(bitrate: change.bitrate, "bitrate")
        try Validation.validate(bitrate: change.maxBitrate, "maxBitrate")
        try Validation.validate(change.qp, "qp", in: SettingRange.qp)
        try Validation.validate(change.minQP, "minQP", in: SettingRange.qp)
        try Validation.validate(change.maxQP, "maxQP", in: SettingRange.qp)
        for limit in change.dataRateLimits ?? [] { try Validation.validate(limit) }
        let changesRate = change.bitrate != nil || change.maxBitrate != nil
        guard maxBitrate > 0 || !changesRate && change.dataRateLimits == nil else {
            throw VaencError(
                .unavailable, "rate control \(mode.rawValue) has no bit rate to change",
                remedy: "use `rateControl` vbr or cbr from the start")
        }
        if mode == .avbr, change.maxBitrate != nil {
            throw VaencError(
                .unavailable, "rate control avbr has no maximum bit rate to change",
                remedy: "use `rateControl` vbr from the start")
        }
        // Only vaenc's own controller keeps windows. If windows were requested before, the effective report says
        // whether they are kept.
        guard usesVaencRateControl || change.dataRateLimits?.isEmpty != false else {
            throw VaencError(
                .unavailable, "the driver controls the rate, and drivers do not support data-rate limits",
                remedy: "create the session with `rateController` vaenc if the device accepts a QP for each picture, "
                    + "or change `maxBitrate`")
        }
    }

    /// Returns the configuration that would request these settings.
    private func asConfiguration(_ frameRate: Rational) -> EncoderConfiguration {
        var asked = EncoderConfiguration(size: VideoSize(width: 16, height: 16))
        asked.frameRate = frameRate
        if maxBitrate > 0 { (asked.rate.bitrate, asked.rate.maxBitrate) = (BitsPerSecond(bitrate), BitsPerSecond(maxBitrate)) }
        if hasFixedBuffer { asked.rate.vbvSize = vbvSize }
        if hasRequestedDataRateLimits { asked.rate.dataRateLimits = limits }
        (asked.rate.minQP, asked.rate.maxQP, asked.rate.maxFrameBytes) = (minQP, maxQP, maxFrameBytes)
        return asked
    }
}
