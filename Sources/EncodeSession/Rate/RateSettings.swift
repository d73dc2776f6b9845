import RateControl
import VAAPI
import VideoBase

/// How the rate is controlled, settled. Rates in bits per second, the buffer in bits.
struct RateSettings: Sendable, Hashable {
    /// What runs: `cqp` also stands for a quality that no mode of the device aims at.
    var mode = RateControlMode.cqp
    /// Who runs it; the driver also where it only takes the QP.
    var controller = RateController.driver
    var bitrate = 0
    var maxBitrate = 0
    /// 0 where the mode has no buffer.
    var vbvSize = 0
    var vbvInitial = 0
    /// The buffer's size was asked for, and does not follow the rate.
    var hasFixedBuffer = false
    /// Of the quality modes.
    var quality = 24
    var minQP: Int?
    var maxQP: Int?
    var maxFrameBytes: Int?
    /// Asked for and default limits over windows; kept by vaenc's own controller alone.
    var limits: [DataRateLimit] = []
    /// `limits`, and the highest rate, were asked for.
    var asksLimits = false
    var asksMaximum = false
    var macroblockRateControl: Bool?
    /// The stream says what a decoder's buffer needs.
    var hasHRD = false
    /// It was asked to.
    var promisesHRD = false

    /// vaenc chooses each picture's QP by its rate.
    var isOwn: Bool { controller == .vaenc }
    /// The driver chooses the QP.
    var driverChoosesQP: Bool { mode != .cqp && !isOwn }
    /// The mode that the device is put into.
    var deviceMode: RateControlMode { isOwn ? .cqp : mode }

    /// VAConfigAttribRateControl.
    var attribute: UInt32 { RateControlModes(deviceMode).rawValue }

    /// What vaenc's own controller follows.
    func targets(frameRate: Rational, macroblocks: Int, reorderDepth: Int, offsets: QPOffsets) -> RateTargets {
        let aim: RateTargets.Aim =
            switch mode {
            case .cbr: .constant
            case .qvbr: .quality(qp: quality)
            default: .variable
            }
        var targets = RateTargets(
            aim: aim, bitrate: bitrate, maxBitrate: maxBitrate, bufferSize: vbvSize, initialFullness: vbvInitial,
            frameRate: frameRate, macroblocks: macroblocks)
        let low = minQP ?? 0
        targets.qpRange = low...max(maxQP ?? 51, low)
        targets.maxPictureBits = maxFrameBytes.map { $0 * 8 }
        targets.windows = limits.map { WindowLimit(bits: $0.bytes * 8, seconds: $0.seconds) }
        if mode != .cbr {
            targets.windows.append(WindowLimit(bits: maxBitrate, seconds: 1, isOfDisplay: false))
        }
        targets.reorderDepth = reorderDepth
        targets.offsets = offsets
        return targets
    }

    /// With what changes while it runs; nil fields of `change` stay.
    ///
    /// - Throws: `unavailable` for what the mode does not have.
    func changed(by change: RunningChange) throws -> RateSettings {
        var new = self
        if change.bitrate != nil || change.maxBitrate != nil {
            guard maxBitrate > 0 else {
                throw VaencError(
                    .unavailable, "rate control \(mode.rawValue) has no bit rate to change",
                    remedy: "make the session with --rate-control vbr or cbr")
            }
        }
        try SettingsResolver.check("bitrate", change.bitrate?.value, SettingsResolver.bitrates)
        try SettingsResolver.check("max-bitrate", change.maxBitrate?.value, SettingsResolver.bitrates)
        try SettingsResolver.check("min-qp", change.minQP, 0...51)
        try SettingsResolver.check("max-qp", change.maxQP, 0...51)
        for limit in change.dataRateLimits ?? [] { try SettingsResolver.check(limit) }
        if let rate = change.bitrate {
            let ratio = Double(maxBitrate) / Double(max(bitrate, 1))
            new.bitrate = rate.value & ~63
            if change.maxBitrate == nil {
                new.maxBitrate = mode == .cbr ? new.bitrate : Int(Double(new.bitrate) * ratio) & ~63
            }
            new.limits = limits.map { limit in
                // A limit that was derived from the rate goes with it.
                limit.seconds == 1 && limit.bytes == maxBitrate / 8
                    ? DataRateLimit(bytes: new.maxBitrate / 8, seconds: 1) : limit
            }
        }
        if let most = change.maxBitrate, mode != .cbr { new.maxBitrate = most.value & ~63 }
        guard new.maxBitrate >= new.bitrate else {
            throw VaencError(.usage, "max-bitrate \(new.maxBitrate) is below the bit rate \(new.bitrate)")
        }
        if let low = change.minQP { new.minQP = low }
        if let high = change.maxQP { new.maxQP = high }
        if let low = new.minQP, let high = new.maxQP, low > high {
            throw VaencError(.usage, "min-qp \(low) is above max-qp \(high)")
        }
        if let limits = change.dataRateLimits {
            new.limits = limits
            new.asksLimits = true
        }
        if promisesHRD, new.maxBitrate > maxBitrate || (mode == .cbr && new.bitrate != bitrate) {
            throw VaencError(
                .unavailable, "the stream's HRD parameters promise \(maxBitrate) bit/s",
                remedy: "make the session without --hrd, or with the larger --max-bitrate from the start")
        }
        // The stream says its buffer's size; without, a buffer of a second follows the rate.
        if !hasFixedBuffer, !hasHRD, maxBitrate > 0, new.maxBitrate != maxBitrate {
            let share = Double(vbvInitial) / Double(max(vbvSize, 1))
            new.vbvSize = new.maxBitrate & ~15
            new.vbvInitial = Int(Double(new.vbvSize) * share)
        }
        return new
    }
}
