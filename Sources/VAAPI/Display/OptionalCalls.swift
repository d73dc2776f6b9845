internal import Synchronization

/// A libva call that a driver may not implement.
enum OptionalCall: UInt8 {
    case syncBuffer = 1
    case syncSurface2 = 2
    /// vaDeriveImage with an image in the surface's own pixel format.
    case deriveImage = 4
}

/// The calls that a driver does not implement. A missing call is detected at its first use and is not tried again.
final class OptionalCalls: Sendable {
    private let missing: Atomic<UInt8>

    /// - Parameter vendor: The driver's name for itself (vaQueryVendorString).
    init(vendor: String = "") {
        // A driver with this quirk maps only a part of a surface, and reports no error.
        missing = Atomic(DriverQuirk.derivesPartOfSurfaces.affects(vendor) ? OptionalCall.deriveImage.rawValue : 0)
    }

    func has(_ call: OptionalCall) -> Bool { missing.load(ordering: .relaxed) & call.rawValue == 0 }

    func lacks(_ call: OptionalCall) { missing.bitwiseOr(call.rawValue, ordering: .relaxed) }
}
