internal import Synchronization

/// A call that a driver may turn out not to implement.
enum OptionalCall: UInt8 {
    case syncBuffer = 1
    case syncSurface2 = 2
    /// vaDeriveImage in the surface's own pixel format.
    case deriveImage = 4
}

/// What a driver turned out not to implement: found once, then not tried again.
final class DriverAbilities: Sendable {
    private let missing: Atomic<UInt8>

    /// - Parameter vendor: what the driver calls itself.
    init(vendor: String = "") {
        missing = Atomic(Self.mapsWholeSurfaces(vendor) ? 0 : OptionalCall.deriveImage.rawValue)
    }

    func has(_ call: OptionalCall) -> Bool { missing.load(ordering: .relaxed) & call.rawValue == 0 }

    func lacks(_ call: OptionalCall) { missing.bitwiseOr(call.rawValue, ordering: .relaxed) }

    /// Mesa 22 maps no NV12 surface, and of a P010 surface, where the GPU has memory of its own (Navi 10 did), a copy of
    /// the luma plane alone: what is drawn into the other plane hits whatever lies behind. Mesa 25 maps both whole.
    private static func mapsWholeSurfaces(_ vendor: String) -> Bool {
        let name = "Mesa Gallium driver "
        guard vendor.hasPrefix(name), let major = Int(vendor.dropFirst(name.count).prefix { $0.isNumber }) else {
            return true
        }
        return major >= 25
    }
}
