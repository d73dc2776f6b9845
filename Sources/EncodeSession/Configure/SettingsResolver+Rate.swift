import VideoBase

extension SettingsResolver {
    /// What I pictures are coded finer than P pictures by: everything up to the next key frame predicts from them. On
    /// the reference driver it saves 1.5 to 2.6 % at equal PSNR over the same QP for both (three clips, QP 22 to 38).
    static let intraOffset = -3

    mutating func chooseRateControl(_ limits: DeviceLimits) throws {
        guard limits.rateControl.contains(.cqp) else {
            throw VaencError(
                .unavailable, "\(device.driver) has no constant QP for \(limits.entryPoint.rawValue)",
                remedy: "the other modes are not built yet")
        }
        let aimsAtQuality = asked.qp == nil && asked.rateControl == nil
        report.add(
            "rateControl", asked: asked.rateControl?.rawValue, used: RateControlMode.cqp.rawValue,
            why: aimsAtQuality
                ? "aims at a quality; constant QP stands for it until the quality modes are built" : Reason.asked)
    }

    mutating func chooseQP(_ limits: DeviceLimits) -> (i: Int, p: Int) {
        let range = (asked.minQP ?? 0)...(asked.maxQP ?? 51)
        let quality = asked.quality ?? 24
        let wantedP = asked.qp ?? quality
        let p = wantedP.clamped(to: range)
        let i = limits.hasOneQP ? p : (asked.qpI ?? p + Self.intraOffset).clamped(to: range)
        if let asked = asked.quality {
            report.add(
                "quality", asked: asked, used: self.asked.qp == nil ? p : asked,
                why:
                    self.asked.qp == nil
                    ? (p == asked ? "as QP" : "kept within min-qp and max-qp") : "qp is given: not used")
        }
        let limited = "kept within min-qp and max-qp"
        report.add(
            "qp", asked: asked.qp, used: p,
            why: p != wantedP
                ? limited : asked.qp != nil ? Reason.asked : asked.quality != nil ? "the quality" : Reason.standard)
        report.add(
            "qpI", asked: asked.qpI, used: i,
            why: limits.hasOneQP && i != asked.qpI
                ? "the driver keeps one QP for all pictures"
                : asked.qpI == nil ? "\(Self.intraOffset) from qp" : i != asked.qpI ? limited : Reason.asked)
        if let low = asked.minQP { report.add("minQP", asked: low, used: low, why: Reason.asked) }
        if let high = asked.maxQP { report.add("maxQP", asked: high, used: high, why: Reason.asked) }
        return (i, p)
    }

    /// The driver's quality level for a preset of 1 (best) to 7 (fastest); nil leaves the driver's own.
    mutating func choosePreset(_ limits: DeviceLimits) -> UInt32? {
        guard let preset = asked.preset else {
            report.add("preset", asked: nil, used: "driver's", why: Reason.standard)
            return nil
        }
        switch limits.quality {
        case .none:
            report.add("preset", asked: String(preset), used: "driver's", why: "the driver has no quality levels")
            return nil
        case .levels(let count):
            let level = count == 7 ? preset : 1 + (preset - 1) * (count - 1) / 6
            report.add("preset", asked: preset, used: preset, why: "quality level \(level) of \(count)")
            return UInt32(level)
        case .radeonBits:
            let (mode, name): (UInt32, String) =
                preset <= 2 ? (2, "quality") : preset <= 5 ? (1, "balance") : (0, "speed")
            report.add("preset", asked: preset, used: preset, why: "the driver's \(name) mode")
            return mode << 1 | 1
        }
    }
}

extension Int {
    func clamped(to range: ClosedRange<Int>) -> Int { Swift.min(Swift.max(self, range.lowerBound), range.upperBound) }
}
