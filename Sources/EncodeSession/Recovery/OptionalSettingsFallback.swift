import VAAPI
import VideoBase

/// Detects a driver that rejects pictures because of optional settings that it advertised: quality level and trellis.
/// An example is `DriverQuirk.refusesQualityLevels`.
struct OptionalSettingsFallback: Sendable {
    /// The number of consecutive pipelines that ended at the first key frame, after which it counts as no accident.
    private static let limit = 3

    private var packets = 0
    private var refusals = 0

    /// Records that the pipeline delivered a packet.
    mutating func delivered() {
        packets += 1
        if packets > 1 { refusals = 0 }
    }

    /// Records that the pipeline failed.
    ///
    /// - Returns: Whether the optional settings are the cause.
    mutating func failed(_ error: any Error) -> Bool {
        let isRefusal = (error as? VAError)?.status == .encodingError && packets <= 1
        refusals = isRefusal ? refusals + 1 : 0
        packets = 0
        return refusals == Self.limit
    }

    static func strictError(_ error: any Error) -> VaencError {
        VaencError(
            .deviceFailed, "the driver rejects pictures with this `preset` or `trellis` (\(error))",
            remedy: "use other values, or leave out `strict`")
    }
}

extension EncodeSettings {
    var hasOptionalSettings: Bool { qualityLevel != nil || trellis == true }

    /// The settings without the optional ones, for a driver that rejected pictures.
    var withoutOptionalSettings: EncodeSettings {
        var new = self
        new.qualityLevel = nil
        new.trellis = trellis.map { _ in false }
        var replaced: [String: String] = [:]
        if qualityLevel != nil { replaced["preset"] = "driver's" }
        if trellis == true { replaced["trellis"] = "off" }
        for (index, entry) in effective.enumerated() where entry.asked != nil {
            guard let used = replaced[entry.option] else { continue }
            new.effective[index].used = used
            new.effective[index].why = "the driver rejected pictures with the requested value"
        }
        return new
    }
}
