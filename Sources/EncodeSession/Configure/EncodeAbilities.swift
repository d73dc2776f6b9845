package import VAAPI
import VideoBase

/// What sessions take on a device, with one profile at one entry point: the driver's answers, corrected by what is known
/// of the driver.
package struct EncodeAbilities: Sendable, Hashable {
    private let limits: DeviceLimits
    private let hasBFrames: Bool

    /// - Parameter driver: what the driver calls itself.
    package init(_ capability: Capability, driver: String) {
        let profile = CodecProfile.allCases.first {
            $0.codec.rawValue == capability.codec && $0.shortName == capability.profile
        }
        var limits = DeviceLimits(
            profile: profile ?? .h264High, entryPoint: capability.entrypoint == "EncSliceLP" ? .sliceLowPower : .slice)
        limits.rateControl = capability.rateControl.isEmpty ? [.cqp] : Set(capability.rateControl)
        limits.maxReferences0 = capability.maxReferences?.l0 ?? limits.maxReferences0
        limits.maxReferences1 = capability.maxReferences?.l1 ?? limits.maxReferences1
        limits.packedHeaders = DeviceLimits.PackedHeaders(capability.packedHeaders)
        limits.quality = DeviceLimits.quality(capability.qualityLevels ?? 0, driver: driver)
        DriverQuirks.apply(to: &limits, driver: driver)
        self.limits = limits
        hasBFrames = capability.bFrames && limits.maxReferences0 > 0 && limits.maxReferences1 > 0
    }

    /// Which picture is meant, and how long it is kept, is the session's to say.
    package var choosesReferences: Bool { limits.takesSliceHeaders && limits.maxReferences0 > 0 }
    /// Pictures that a P picture may predict from, at least 1.
    package var references: Int { max(min(limits.maxReferences0, limits.maxStored, 16), 1) }
    /// Pictures on both sides are stored at once.
    package var bFrames: Bool { hasBFrames && limits.maxStored >= 2 }
    package var bPyramid: Bool { bFrames && choosesReferences && limits.maxStored >= 3 }
    /// Besides them a short-term reference is stored.
    package var longTermReferences: Int {
        choosesReferences ? max(min(limits.maxReferences0, limits.maxStored - 1, 15), 0) : 0
    }
    /// The lowest layer's latest picture is stored while those above it come.
    package var temporalLayers: Int {
        guard choosesReferences else { return 1 }
        return limits.maxStored >= 4 ? 4 : limits.maxStored >= 2 ? 3 : 2
    }
    /// Pictures may have different QPs.
    package var choosesQP: Bool { !limits.hasOneQP }
    /// vaenc's own rate controller can run.
    package var controlsRate: Bool { choosesQP && limits.rateControl.contains(.cqp) }
    package var hasQualityLevels: Bool { limits.quality != .none }
}

extension DeviceLimits.PackedHeaders {
    /// From the names of `Capability.packedHeaders`.
    fileprivate init(_ names: [String]) {
        let all: [(String, Self)] = [
            ("sequence", .sequence), ("picture", .picture), ("slice", .slice), ("misc", .misc), ("raw", .rawData),
        ]
        self = Self(all.filter { names.contains($0.0) }.map(\.1))
    }
}
