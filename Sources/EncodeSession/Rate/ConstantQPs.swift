import VideoBase

/// The requested QPs of constant QP, before they are limited to `minQP` and `maxQP`.
struct ConstantQPs: Sendable, Hashable {
    /// The QP of P pictures.
    var p: Int
    /// The QP of I pictures; nil: relative to that of P pictures.
    var i: Int?
    /// The QP of B pictures; nil: relative to that of P pictures.
    var b: Int?
    /// Whether the driver uses one QP for all pictures.
    var isOne = false

    /// Returns the QPs within a range.
    func limited(to range: ClosedRange<Int>) -> RateSession.QPs {
        let p = p.clamped(to: range)
        if isOne { return RateSession.QPs(i: p, p: p, b: p) }
        return RateSession.QPs(
            i: (i ?? p + SettingsResolver.intraOffset).clamped(to: range), p: p,
            b: (b ?? p + SettingsResolver.bidirectionalOffset).clamped(to: range))
    }

    /// Returns the requested QPs after the QP of P pictures was changed. The others are shifted with it, as
    /// `EncoderConfiguration.apply` does.
    func changed(to qp: Int, from old: ClosedRange<Int>, in range: ClosedRange<Int>) -> ConstantQPs {
        let step = qp.clamped(to: range) - p.clamped(to: old)
        func shifted(_ qp: Int) -> Int { (qp.clamped(to: old) + step).clamped(to: range) }
        return ConstantQPs(p: qp, i: i.map(shifted), b: b.map(shifted), isOne: isOne)
    }
}

extension RateSettings {
    /// The QPs that `minQP` and `maxQP` allow.
    var qpRange: ClosedRange<Int> { (minQP ?? 0)...max(maxQP ?? 51, minQP ?? 0) }
}
