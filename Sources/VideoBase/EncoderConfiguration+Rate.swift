extension EncoderConfiguration {
    /// The rate control mode that is requested, by name or by the other settings.
    ///
    /// A bit rate selects VBR. Without a bit rate, `qp` selects constant QP. `qpI` and `qpB` select it too, unless
    /// there is a quality. Otherwise the target is a quality.
    package var wantedRateControl: RateControlMode {
        if let mode = rate.rateControl { return mode }
        if rate.bitrate != nil { return .vbr }
        if rate.qp != nil { return .cqp }
        return rate.quality == nil && (rate.qpI ?? rate.qpB) != nil ? .cqp : .icq
    }

    /// The requested QPs, by the name of their setting.
    package var requestedQPs: [(option: String, value: Int)] {
        var result: [(option: String, value: Int)] = []
        for (option, value) in [("qp", rate.qp), ("qpI", rate.qpI), ("qpB", rate.qpB)] {
            if let value { result.append((option: option, value: value)) }
        }
        return result
    }
}
