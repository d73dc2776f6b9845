import VAAPI
package import VideoBase

/// The limits on a device's delays and failures before a session gives up.
package struct RecoveryLimits: Sendable, Hashable {
    /// The time that the device may work on a picture or a call before it counts as hung.
    package var pictureNanoseconds: UInt64 = 10_000_000_000
    /// The number of attempts to create the device objects.
    package var setUpTries = 5
    /// The pause before the second attempt. Each further pause is twice as long.
    package var pauseNanoseconds: UInt64 = 5_000_000
    /// The number of consecutive failures, without a packet between them, that end the session.
    package var failuresInARow = 20

    package init() {}

    /// Returns the limits for a kind of device, with `DriverCallWatchdog.usualLimit` for a picture.
    package static func of(_ kind: DeviceKind) -> RecoveryLimits {
        var limits = RecoveryLimits()
        limits.pictureNanoseconds = DriverCallWatchdog.usualLimit(of: kind)
        return limits
    }
}

extension Error {
    /// Whether this is a device fault, which reinitializing the device may resolve. All other errors are caused by the
    /// request or the caller.
    var isDeviceFault: Bool {
        if self is VAError || self is OutputOverflow { return true }
        return (self as? any DescribedError)?.category == .deviceFailed
    }

    /// The error to report when no attempt is left. If the device reports its own object as unknown, the device has
    /// failed.
    var afterTries: any Error {
        guard let error = self as? VAError else { return self }
        if error.isNoMemory { return error.lackingMemory() }
        return switch error.category {
        case .internalFault, .deviceFailed: error.endingSession(remedy: "see `dmesg`" + VaencError.orSoftware)
        default: self
        }
    }

    /// Whether the device reported that it does not support the request.
    var isRefusal: Bool { (self as? VAError)?.status.category == .unavailable }
}

/// The error for output that the driver marked as larger than the coded buffer or than a requested limit.
package struct OutputOverflow: DescribedError, Hashable {
    var frame: Int
    var flags: CodedStatus
    /// The options for which the output may be marked.
    var limits: [String] = []

    /// The number of consecutive failures that end the session: the first attempt, and three attempts with larger
    /// buffers.
    static let tries = 4

    package var category: ErrorCategory { limits.isEmpty ? .deviceFailed : .unavailable }
    package var message: String { "frame \(frame): the driver marked its output \(flags.names.joined(separator: ", "))" }
    package var remedy: String? {
        limits.isEmpty
            ? "the picture does not fit the coded buffer; raise the QP or lower the rate"
            : "raise \(limits.joined(separator: " and "))"
    }
}
