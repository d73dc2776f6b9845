import VAAPI
import VideoBase

extension MiscParameters {
    /// Returns the parameters of a driver that controls the rate: rate, buffer and maximum picture size.
    ///
    /// - Parameter startsOver: Whether the driver discards the history of coded pictures.
    static func rate(_ rate: RateSettings, startsOver: Bool = false) -> [MiscParameters] {
        guard rate.driverChoosesQP else { return [] }
        var control = RateControl()
        control.reset = startsOver
        control.min_qp = UInt32(rate.minQP ?? 0)
        control.max_qp = UInt32(rate.maxQP ?? 0)
        control.disable_bit_stuffing = rate.mode != .cbr
        control.mb_rate_control = rate.macroblockRateControl.map { $0 ? 1 : 2 } ?? 0
        switch rate.mode {
        case .icq: control.ICQ_quality_factor = UInt32(rate.quality)
        case .cbr, .avbr: control.bits_per_second = UInt32(clamping: rate.bitrate)
        default:
            control.bits_per_second = UInt32(clamping: rate.driverMaxBitrate)
            control.target_percentage = UInt32(rate.driverPercentage)
        }
        if rate.mode == .qvbr { control.quality_factor = UInt32(rate.quality) }
        var list = [MiscParameters.rateControl(control)]
        if rate.vbvSize > 0 {
            list.append(
                .hrd(bufferSize: UInt32(clamping: rate.vbvSize), initialFullness: UInt32(clamping: rate.vbvInitial)))
        }
        if let bytes = rate.maxFrameBytes { list.append(.maxFrameSize(UInt32(clamping: bytes * 8))) }
        return list
    }
}

extension RateSettings {
    /// The driver's target as a whole percentage of the maximum rate. The average stays exact; the maximum is rounded
    /// down.
    fileprivate var driverPercentage: Int {
        let most = max(maxBitrate, bitrate, 1)
        return min(max((bitrate * 100 + most - 1) / most, 1), 100)
    }

    /// bits_per_second of VAEncMiscParameterRateControl; 0 if the mode has a quality target only.
    var driverMaxBitrate: Int {
        switch mode {
        case .cqp, .icq: 0
        case .cbr, .avbr: bitrate
        case .vbr, .qvbr: bitrate * 100 / driverPercentage
        }
    }
}
