import VAAPI
package import VideoBase

/// How long a device may take, and how often it may fail, before a session gives up.
package struct SurvivalLimits: Sendable, Hashable {
    /// How long the device may work on one picture before it counts as hung.
    package var pictureNanoseconds: UInt64 = 10_000_000_000
    /// Times that making the device's objects is tried.
    package var setUpTries = 5
    /// The pause before the second try; each further one is twice as long.
    package var pauseNanoseconds: UInt64 = 5_000_000
    /// Failures in a row, with no packet between them, that end the session.
    package var failuresInARow = 20

    package init() {}

    /// VAENC_DEVICE_TIMEOUT_MS, where set, replaces the time for a picture. Otherwise the reference driver gets more:
    /// it encodes in software, on a machine that may be busy.
    package static func of(_ kind: DeviceKind) -> SurvivalLimits {
        var limits = SurvivalLimits()
        if kind == .reference { limits.pictureNanoseconds = 120_000_000_000 }
        if let text = Environment.value("VAENC_DEVICE_TIMEOUT_MS"), let milliseconds = UInt64(text), milliseconds > 0 {
            limits.pictureNanoseconds = min(milliseconds, 86_400_000) * 1_000_000
        }
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

    /// The device said that it cannot do this at all.
    var isRefusal: Bool { (self as? VAError)?.status.category == .unavailable }
}

/// The driver marked its output as larger than the coded buffer.
struct OutputOverflow: DescribedError, Hashable {
    var frame: Int
    var flags: CodedStatus

    var category: ErrorCategory { .deviceFailed }
    var message: String { "frame \(frame): the driver marked its output \(flags.names.joined(separator: ", "))" }
    var remedy: String? { "raise --qp: the picture does not fit the coded buffer" }
}
