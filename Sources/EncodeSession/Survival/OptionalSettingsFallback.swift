import VAAPI
import VideoBase

/// Watches for a driver that refuses pictures because of what it said it can do and encoding does not need: its quality
/// level, trellis. iHD 23.1 on Ice Lake refuses every P picture at quality levels 1 and 2.
struct OptionalSettingsFallback: Sendable {
    /// So many pipelines one after the other that got no further than a key frame are no accident.
    private static let limit = 3

    private var packets = 0
    private var refusals = 0

    /// A packet came out of the pipeline.
    mutating func delivered() {
        packets += 1
        if packets > 1 { refusals = 0 }
    }

    /// The pipeline failed.
    ///
    /// - Returns: whether the hints are to blame.
    mutating func failed(_ error: any Error) -> Bool {
        let isRefusal = (error as? VAError)?.status == .encodingError && packets <= 1
        refusals = isRefusal ? refusals + 1 : 0
        packets = 0
        return refusals == Self.limit
    }

    static func strictError(_ error: any Error) -> VaencError {
        VaencError(
            .deviceFailed, "the driver refuses pictures with this `preset` or `trellis` (\(error))",
            remedy: "ask for another, or leave out `strict`")
    }
}

extension EncodeSettings {
    var hasHints: Bool { qualityLevel != nil || trellis == true }

    /// What the driver may take where it refused pictures.
    var withoutHints: EncodeSettings {
        var new = self
        new.qualityLevel = nil
        new.trellis = trellis.map { _ in false }
        for index in effective.indices {
            let entry = effective[index]
            guard entry.asked != nil, entry.option == "preset" || entry.option == "trellis" else { continue }
            if entry.used == "driver's" || entry.used == "off" { continue }
            new.effective[index].used = entry.option == "preset" ? "driver's" : "off"
            new.effective[index].why = "the driver refused pictures otherwise"
        }
        return new
    }
}
