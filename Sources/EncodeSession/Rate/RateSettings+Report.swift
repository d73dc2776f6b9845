import VideoBase

/// The report of the rate after changes while running.
extension RateSettings {
    func report(_ before: [EffectiveEntry], with changes: RunningChange, _ qps: RateSession.QPs) -> [EffectiveEntry] {
        var report = before
        func entry(_ option: String) -> EffectiveEntry? { before.first { $0.option == option } }
        if let bitrate = changes.bitrate { report.change("bitrate", asked: "\(bitrate)", used: "\(bitrate)") }
        if changes.bitrate != nil || changes.maxBitrate != nil {
            reportMaximum(entry("maxBitrate"), changes, in: &report)
            if !hasFixedBuffer, let old = entry("vbvSize"), old.used != "\(vbvSize)" {
                report.change("vbvSize", asked: nil, used: "\(vbvSize)", why: old.why)
            }
        }
        if let windows = changes.dataRateLimits {
            let text = windows.map { "\($0.bytes) bytes in \($0.duration.seconds) s" }.joined(separator: ", ")
            if windows.isEmpty {
                report.change("dataRateLimits", asked: nil, used: "none")
            } else {
                report.change("dataRateLimits", asked: text, used: text)
            }
        } else if let old = entry("dataRateLimits"), old.asked == nil {
            // The limit is derived from the rate.
            let bytes = (limits.first ?? derivedLimit).bytes
            report.change("dataRateLimits", asked: nil, used: "\(bytes) bytes in 1.0 s", why: old.why)
        }
        for (option, qp) in [("minQP", changes.minQP), ("maxQP", changes.maxQP)] {
            if let qp { report.change(option, asked: "\(qp)", used: "\(qp)") }
        }
        if mode == .cqp, changes.qp != nil || changes.minQP != nil || changes.maxQP != nil {
            let old = entry("qp")
            let asked = changes.qp.map { "\($0)" } ?? old?.asked
            if changes.qp != nil || old?.used != "\(qps.p)" {
                report.change(
                    "qp", asked: asked, used: "\(qps.p)",
                    why: asked == nil || asked == "\(qps.p)" ? "changed while running" : "kept within `minQP` and `maxQP`")
            }
            for (option, used) in [("qpI", qps.i), ("qpB", qps.b)] {
                guard let old = entry(option), Int(old.used) != nil else { continue }
                if changes.qp != nil {
                    report.change(option, asked: old.asked.map { _ in "\(used)" }, used: "\(used)", why: "changed with `qp`")
                } else if old.used != "\(used)" {
                    report.change(option, asked: old.asked, used: "\(used)", why: "kept within `minQP` and `maxQP`")
                }
            }
        }
        if let rate = changes.frameRate { report.change("frameRate", asked: "\(rate)", used: "\(rate)") }
        return report
    }

    private func reportMaximum(_ old: EffectiveEntry?, _ changes: RunningChange, in report: inout [EffectiveEntry]) {
        if mode == .avbr { return }
        let asked = changes.maxBitrate.map { "\($0)" }
        if mode == .cbr {
            guard let asked = asked ?? old?.asked else { return }
            report.change(
                "maxBitrate", asked: asked, used: "\(BitsPerSecond(bitrate))",
                why: "in CBR, the maximum is the bit rate")
        } else if let asked {
            report.change("maxBitrate", asked: asked, used: asked)
        } else {
            let used = "\(BitsPerSecond(maxBitrate))"
            if old?.used != used { report.change("maxBitrate", asked: old?.asked, used: used, why: "changed with the bit rate") }
        }
    }
}

extension RunningChange {
    /// Adds a later change.
    mutating func merge(_ later: RunningChange) {
        // A later average rate above an earlier maximum rate replaces it.
        if let rate = later.bitrate, let most = maxBitrate, most < rate { maxBitrate = nil }
        bitrate = later.bitrate ?? bitrate
        maxBitrate = later.maxBitrate ?? maxBitrate
        frameRate = later.frameRate ?? frameRate
        minQP = later.minQP ?? minQP
        maxQP = later.maxQP ?? maxQP
        qp = later.qp ?? qp
        dataRateLimits = later.dataRateLimits ?? dataRateLimits
    }
}
