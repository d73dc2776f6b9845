import VideoBase

/// Chooses the constant QP and the driver's quality level.
extension SettingsResolver {
    /// The QP offset of I pictures from P pictures, because all pictures up to the next key frame predict from them. On
    /// the reference driver it saves 1.5 to 2.6 % of the bits at equal PSNR, compared with equal QPs (three clips, QP
    /// 22 to 38).
    static let intraOffset = -3

    /// The QP offset of B pictures from P pictures, because few or no pictures predict from them.
    static let bidirectionalOffset = 2

    /// Returns the QPs of constant QP. In other modes, it returns the start value in parameter sets and slice headers.
    mutating func chooseQP(_ limits: EncodeCapabilities, _ rate: RateSettings) -> ConstantQPs {
        guard rate.mode == .cqp else { return ConstantQPs(p: 26.clamped(to: rate.qpRange), isOne: true) }
        let quality = asked.rate.quality ?? EncoderConfiguration.standardQuality
        let wantedP = asked.rate.qp ?? quality
        let requested = ConstantQPs(p: wantedP, i: asked.rate.qpI, b: asked.rate.qpB, isOne: limits.hasOneQP)
        let used = requested.limited(to: rate.qpRange)
        let (i, p, b) = (used.i, used.p, used.b)
        if let asked = asked.rate.quality {
            if self.asked.rate.qp == nil {
                report.add("quality", asked: asked, used: p, why: p == asked ? "used as the QP" : Self.limited)
            } else {
                report.add("quality", asked: "\(asked)", used: "none", why: "`qp` is set")
            }
        }
        let reason: SettingReason =
            if p != wantedP {
                Self.limited
            } else if asked.rate.qp != nil {
                .requested
            } else if asked.rate.quality != nil {
                "from the quality"
            } else {
                .standard
            }
        report.add("qp", asked: asked.rate.qp, used: p, why: reason)
        let intra = Self.reason(asked: asked.rate.qpI, used: i, offset: "\(Self.intraOffset)", limits)
        report.add("qpI", asked: asked.rate.qpI, used: i, why: intra)
        if asked.rate.qpB != nil || (asked.structure.bFrames ?? 0) > 0 {
            let bidirectional = Self.reason(asked: asked.rate.qpB, used: b, offset: "+\(Self.bidirectionalOffset)", limits)
            report.add("qpB", asked: asked.rate.qpB, used: b, why: bidirectional)
        }
        if let low = asked.rate.minQP { report.add("minQP", asked: low, used: low, why: .requested) }
        if let high = asked.rate.maxQP { report.add("maxQP", asked: high, used: high, why: .requested) }
        return requested
    }

    private static let limited: SettingReason = "kept within `minQP` and `maxQP`"

    /// Returns the reason for the QP of I or B pictures, which without a request is `qp` plus `offset`.
    private static func reason(asked: Int?, used: Int, offset: String, _ limits: EncodeCapabilities) -> SettingReason {
        guard used != asked else { return .requested }
        if limits.hasOneQP { return "the driver uses one QP for all pictures" }
        return asked == nil ? "\(offset) relative to `qp`" : limited
    }

    /// Returns the driver's quality level for a preset of 1 (best) to 7 (fastest); nil keeps the driver's default.
    mutating func choosePreset(_ limits: EncodeCapabilities) -> UInt32? {
        let isRealTime = asked.pipeline.realTime == true
        reportRealTime(limits)
        guard let preset = asked.coding.preset ?? (isRealTime ? Self.fastestPreset : nil) else {
            report.add("preset", asked: nil, used: "driver's", why: .standard)
            return nil
        }
        func add(_ why: SettingReason) {
            report.add("preset", asked: asked.coding.preset, used: preset, why: asked.coding.preset == nil ? "real time: \(why)" : why)
        }
        switch limits.quality {
        case .none:
            report.add(
                "preset", asked: asked.coding.preset.map(String.init), used: "driver's", why: Self.noQualityLevels)
            return nil
        case .levels(let count):
            let level = count == 7 ? preset : 1 + (preset - 1) * (count - 1) / 6
            add("quality level \(level) of \(count)")
            return UInt32(level)
        case .threeOfSeven:
            let level = preset <= 2 ? 1 : preset <= 5 ? 4 : 7
            add("quality level \(level) of 7")
            return UInt32(level)
        case .radeonBits:
            let (mode, name): (UInt32, String) =
                preset <= 2 ? (2, "quality") : preset <= 5 ? (1, "balance") : (0, "speed")
            add("the driver's \(name) mode")
            // DriverQuirk.qualityIsBitField. 0 is speed. 1, the speed mode with the bit set, is read as balance (Mesa 22
            // and 25).
            return mode == 0 ? 0 : mode << 1 | 1
        }
    }

    /// The preset of real time if no other preset is requested: the fast end of the scale.
    private static let fastestPreset = 7
    private static let noQualityLevels: SettingReason = "the driver has no quality levels"

    /// Reports the real-time option. Drivers have no setting for real time; the quality level changes the time that a
    /// picture takes.
    private mutating func reportRealTime(_ limits: EncodeCapabilities) {
        guard let realTime = asked.pipeline.realTime else { return }
        let name = realTime ? "on" : "off"
        if !realTime {
            report.add("realTime", asked: name, used: name, why: "the preset is not changed")
        } else if asked.coding.preset != nil {
            report.add("realTime", asked: name, used: name, why: "only a hint: the requested preset is used")
        } else if limits.quality == .none {
            report.add("realTime", asked: name, used: "driver's", why: Self.noQualityLevels)
        } else {
            report.add("realTime", asked: name, used: name, why: "the fastest preset")
        }
    }
}

extension Int {
    func clamped(to range: ClosedRange<Int>) -> Int { Swift.min(Swift.max(self, range.lowerBound), range.upperBound) }
}
