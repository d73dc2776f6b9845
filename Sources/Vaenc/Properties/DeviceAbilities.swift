import EncodeSession
import SoftwareEncode
import VAAPI
import VideoBase

/// What properties depend on: a device's answers for the profile that a session takes.
struct DeviceAbilities: Sendable, Hashable {
    var kind: DeviceKind
    var codec: VideoCodec
    /// nil for software.
    var capability: Capability?
    /// What sessions make of the answers; nil for software.
    var engine: EncodeAbilities?
    var profiles: [CodecProfile]
    /// Both entry points are there.
    var hasLowPower = false

    var isSoftware: Bool { kind == .software }

    /// Of the session's profile and entry point where it says them and the device has them, else of the best: High before
    /// Main before Constrained Baseline, EncSlice before EncSliceLP. nil for a codec that the device does not encode.
    init?(_ report: DeviceReport, _ configuration: EncoderConfiguration) {
        kind = report.kind
        codec = configuration.codec
        let all = CodecProfile.allCases.filter { $0.codec == configuration.codec }
        if report.kind == .software {
            profiles = all
            return
        }
        let own = report.capabilities.filter { $0.encodes && $0.codec == configuration.codec.rawValue }
        profiles = all.filter { profile in own.contains { $0.profile == profile.shortName } }
        hasLowPower = own.contains { $0.entrypoint == "EncSliceLP" }
        let order = ["High", "Main", "Constrained Baseline", "Main 10"]
        func rank(_ capability: Capability) -> Int {
            let isAsked = configuration.profile.map { $0.shortName == capability.profile } ?? true
            let entryPoint = configuration.lowPower == true ? "EncSliceLP" : "EncSlice"
            return (isAsked ? 0 : 100) + (order.firstIndex(of: capability.profile) ?? order.count) * 2
                + (capability.entrypoint == entryPoint ? 0 : 1)
        }
        guard let best = own.min(by: { rank($0) < rank($1) }) else { return nil }
        capability = best
        engine = EncodeAbilities(best, driver: report.driver ?? "")
    }

    var modes: [RateControlMode] {
        guard let capability else { return RateControlMode.allCases }
        // vaenc's own controller runs these over the QP of each picture.
        let own: [RateControlMode] = controlsRate ? [.cbr, .vbr, .qvbr] : []
        return RateControlMode.allCases.filter { capability.rateControl.contains($0) || own.contains($0) }
    }

    /// vaenc's own controller is there.
    var controlsRate: Bool { engine?.controlsRate ?? false }
    /// Pictures of one kind may have another QP than those of another.
    var choosesQP: Bool { engine?.choosesQP ?? true }
    var hasPresets: Bool { engine?.hasQualityLevels ?? true }
    var bFrames: Bool { engine?.bFrames ?? true }
    var bPyramid: Bool { engine?.bPyramid ?? true }
    var references: Int { engine?.references ?? 16 }
    var longTermReferences: Int { engine?.longTermReferences ?? 0 }
    var temporalLayers: Int { engine?.temporalLayers ?? 1 }
    var slices: Int { isSoftware ? 16 : max(1, capability?.maxSlices ?? 1) }
    var regions: Int { isSoftware ? 1 : capability?.roi ?? 0 }

    /// Of what can change while some encoder runs.
    func changes(_ property: String) -> Bool {
        if !isSoftware { return true }
        return codec == .h264 && ["AverageBitRate", "VBVMaxBitRate", "DataRateLimits"].contains(property)
    }
}
