import VAAPI
package import VideoBase

/// How long a device may take, and how often it may fail, before a session gives up.
package struct SurvivalLimits: Sendable, Hashable {
    /// How long the device may work on one picture, or on a call, before it counts as hung.
    package var pictureNanoseconds: UInt64 = 10_000_000_000
    /// Times that making the device's objects is tried.
    package var setUpTries = 5
    /// The pause before the second try; each further one is twice as long.
    package var pauseNanoseconds: UInt64 = 5_000_000
    /// Failures in a row, with no packet between them, that end the session.
    package var failuresInARow = 20

    package init() {}

    /// With `DriverCallWatchdog.usualLimit` for a picture.
    package static func of(_ kind: DeviceKind) -> SurvivalLimits {
        var limits = SurvivalLimits()
        limits.pictureNanoseconds = DriverCallWatchdog.usualLimit(of: kind)
        return limits
    }
}

extension Error {
    /// A fault of the device, which may be over when the device's side is made anew; everything else is the request's
    /// or the caller's.
    var isDeviceFault: Bool {
        if self is VAError || self is OutputOverflow { return true }
        return (self as? any DescribedError)?.category == .deviceFailed
    }

    /// As it is told once no try is left: a device that does not know the object that it gave has failed.
    var afterTries: any Error {
        guard let error = self as? VAError else { return self }
        if error.isNoMemory { return error.lackingMemory() }
        return switch error.category {
        case .internalFault, .deviceFailed: error.endingSession(remedy: "see `dmesg`, or use `DeviceSelector.software`")
        default: self
        }
    }

    /// The device said that it cannot do this at all.
    var isRefusal: Bool { (self as? VAError)?.status.category == .unavailable }
}

/// The driver marked its output as larger than the coded buffer, or than a limit that was asked for.
package struct OutputOverflow: DescribedError, Hashable {
    var frame: Int
    var flags: CodedStatus
    /// Options that it may be marked for.
    var limits: [String] = []

    /// Tries with larger buffers in a row.
    static let tries = 4

    package var category: ErrorCategory { limits.isEmpty ? .deviceFailed : .unavailable }
    package var message: String { "frame \(frame): the driver marked its output \(flags.names.joined(separator: ", "))" }
    package var remedy: String? {
        limits.isEmpty
            ? "raise the QP or lower the rate: the picture does not fit the coded buffer"
            : "raise \(limits.joined(separator: " and "))"
    }
}
