public import VideoBase

/// A mode that a device advertises and `Devices.verify` tries.
public enum TrialMode: Sendable, Hashable {
    /// A rate control mode.
    case rateControl(RateControlMode)
    /// B frames.
    case bFrames
    /// More than one reference picture.
    case maxReferences
    /// More than one slice for each picture.
    case maxSlices
    /// The best, the middle and the fastest preset.
    case qualityLevels
    /// Regions of interest with QP differences.
    case regionsOfInterest
    /// Rolling intra refresh.
    case intraRefresh
}

extension TrialMode: CustomStringConvertible {
    /// The name of the rate control mode (`vbr`), or of the capability in `DeviceReport` (`bFrames`, `roi`).
    public var description: String {
        switch self {
        case .rateControl(let mode): mode.rawValue
        case .bFrames: "bFrames"
        case .maxReferences: "maxReferences"
        case .maxSlices: "maxSlices"
        case .qualityLevels: "qualityLevels"
        case .regionsOfInterest: "roi"
        case .intraRefresh: "intraRefresh"
        }
    }
}
