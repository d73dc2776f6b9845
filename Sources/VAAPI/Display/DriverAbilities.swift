internal import Synchronization

/// A libva call that a driver may not implement.
enum OptionalCall: UInt8 {
    case syncBuffer = 1
    case syncSurface2 = 2
    /// vaDeriveImage with an image in the surface's own pixel format.
    case deriveImage = 4
}

/// The calls that a driver does not implement. A missing call is detected at its first use and is not tried again.
final class DriverAbilities: Sendable {
    private let missing: Atomic<UInt8>

    /// - Parameter vendor: The driver's name for itself (vaQueryVendorString).
    init(vendor: String = "") {
        missing = Atomic(Self.mapsWholeSurfaces(vendor) ? 0 : OptionalCall.deriveImage.rawValue)
    }

    func has(_ call: OptionalCall) -> Bool { missing.load(ordering: .relaxed) & call.rawValue == 0 }

    func lacks(_ call: OptionalCall) { missing.bitwiseOr(call.rawValue, ordering: .relaxed) }

    /// Whether vaDeriveImage can be trusted to map whole surfaces.
    ///
    /// Mesa 22 maps no NV12 surface. If the GPU has its own memory (seen on Navi 10), Mesa 22 maps a P010 surface as a
    /// copy of the luma plane only, and writes to the chroma plane corrupt the memory behind it. Mesa 25 maps both
    /// formats whole.
    private static func mapsWholeSurfaces(_ vendor: String) -> Bool {
        let name = "Mesa Gallium driver "
        guard vendor.hasPrefix(name), let major = Int(vendor.dropFirst(name.count).prefix { $0.isNumber }) else {
            return true
        }
        return major >= 25
    }
}
