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
    private let missing = Atomic<UInt8>(0)

    func has(_ call: OptionalCall) -> Bool { missing.load(ordering: .relaxed) & call.rawValue == 0 }

    func lacks(_ call: OptionalCall) { missing.bitwiseOr(call.rawValue, ordering: .relaxed) }
}
