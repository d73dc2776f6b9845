extension EncoderConfiguration {
    /// Applies a change that was made while an encoder ran, so that a new encoder with this configuration behaves the
    /// same.
    ///
    /// Dependent values change, too, as they do in the encoder: `maxBitrate` is scaled with `bitrate` in CBR, and in
    /// other modes if `bitrate` exceeds it. `qpI` and `qpB` are shifted with `qp`.
    package mutating func apply(_ change: RunningChange) {
        let before = self
        if let new = change.bitrate {
            let old = rate.bitrate ?? rate.maxBitrate
            if let most = rate.maxBitrate, let old, old.value > 0, rate.rateControl == .cbr || new > most {
                let scaled = Double(most.value) / Double(old.value) * Double(new.value)
                rate.maxBitrate = BitsPerSecond(max(Int(exactly: scaled.rounded()) ?? most.value, new.value))
            }
            rate.bitrate = new
        }
        if let new = change.maxBitrate { rate.maxBitrate = new }
        if let new = change.frameRate { frameRate = new }
        if let new = change.minQP { rate.minQP = new }
        if let new = change.maxQP { rate.maxQP = new }
        if let new = change.dataRateLimits { rate.dataRateLimits = new }
        if let new = change.qp {
            let step = clampedQP(new) - before.clampedQP(before.rate.qp ?? before.rate.quality ?? Self.standardQuality)
            rate.qpI = rate.qpI.map { clampedQP(before.clampedQP($0) + step) }
            rate.qpB = rate.qpB.map { clampedQP(before.clampedQP($0) + step) }
            rate.qp = new
        }
    }

    /// The default quality of the quality modes.
    package static let standardQuality = 24

    /// Returns a QP limited to `minQP` and `maxQP`.
    private func clampedQP(_ qp: Int) -> Int { min(max(qp, rate.minQP ?? 0), max(rate.maxQP ?? 51, rate.minQP ?? 0)) }
}

extension [EffectiveEntry] {
    /// Replaces the entry of an option, or adds it.
    package mutating func change(_ option: String, asked: String?, used: String, why: SettingReason = "changed while running") {
        let entry = EffectiveEntry(option: option, asked: asked, used: used, why: why)
        if let index = firstIndex(where: { $0.option == option }) { self[index] = entry } else { append(entry) }
    }
}
