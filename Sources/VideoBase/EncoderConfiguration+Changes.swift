extension EncoderConfiguration {
    /// Takes in what was changed while an encoder ran, so that another one made of the configuration does the same: what
    /// was asked for in proportion to what changes goes with it, as in the encoder.
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
            let step = kept(new) - before.kept(before.qp ?? before.quality ?? Self.standardQuality)
            qpI = qpI.map { kept(before.kept($0) + step) }
            qpB = qpB.map { kept(before.kept($0) + step) }
            qp = new
        }
    }

    /// Of the quality modes, where none is asked for.
    package static let standardQuality = 24

    /// Within `minQP` and `maxQP`.
    private func kept(_ qp: Int) -> Int { min(max(qp, minQP ?? 0), max(maxQP ?? 51, minQP ?? 0)) }
}

extension [EffectiveEntry] {
    /// Writes anew what is said of an option, or adds it.
    package mutating func change(_ option: String, asked: String?, used: String, why: String = "changed while running") {
        let entry = EffectiveEntry(option: option, asked: asked, used: used, why: why)
        if let index = firstIndex(where: { $0.option == option }) { self[index] = entry } else { append(entry) }
    }
}
