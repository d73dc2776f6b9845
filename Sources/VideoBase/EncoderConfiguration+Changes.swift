extension EncoderConfiguration {
    /// Applies a change that was made while an encoder ran, so that a new encoder with this configuration behaves the
    /// same.
    ///
    /// Dependent values change, too, as they do in the encoder: `maxBitrate` is scaled with `bitrate`, and `qpI` and
    /// `qpB` are shifted with `qp`.
    package mutating func apply(_ change: RunningChange) {
        let before = self
        if let new = change.bitrate {
            let old = bitrate ?? maxBitrate
            if let most = maxBitrate, let old, old.value > 0 {
                let scaled = Double(most.value) / Double(old.value) * Double(new.value)
                maxBitrate = BitsPerSecond(max(Int(exactly: scaled.rounded()) ?? most.value, new.value))
            }
            bitrate = new
        }
        if let new = change.maxBitrate { maxBitrate = new }
        if let new = change.frameRate { frameRate = new }
        if let new = change.minQP { minQP = new }
        if let new = change.maxQP { maxQP = new }
        if let new = change.dataRateLimits { dataRateLimits = new }
        if let new = change.qp {
            let step = clampedQP(new) - before.clampedQP(before.qp ?? before.quality ?? Self.standardQuality)
            qpI = qpI.map { clampedQP(before.clampedQP($0) + step) }
            qpB = qpB.map { clampedQP(before.clampedQP($0) + step) }
            qp = new
        }
    }

    /// The default quality of the quality modes.
    package static let standardQuality = 24

    /// Returns a QP limited to `minQP` and `maxQP`.
    private func clampedQP(_ qp: Int) -> Int { min(max(qp, minQP ?? 0), max(maxQP ?? 51, minQP ?? 0)) }
}

extension [EffectiveEntry] {
    /// Replaces the entry of an option, or adds it.
    package mutating func change(_ option: String, asked: String?, used: String, why: String = "changed while running") {
        let entry = EffectiveEntry(option: option, asked: asked, used: used, why: why)
        if let index = firstIndex(where: { $0.option == option }) { self[index] = entry } else { append(entry) }
    }
}
