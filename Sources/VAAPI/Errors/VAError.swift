public import VideoBase

/// A libva call that failed: which, on what, why, and what to do.
///
/// One line: `vaCreateContext failed (resolution not supported) for 8192×4320 H.264 context: this driver encodes
/// H.264 up to 4096×4096`.
public struct VAError: DescribedError, Hashable {
    /// The C function, `vaCreateContext`.
    public var call: String
    public var status: StatusCode
    /// What it was called on, without an article: `8192×4320 H.264 context`. Empty where the call says it all.
    public var object: String
    /// The frame being worked on, counted from 0 in input order.
    public var frame: Int?
    /// The driver's or libva's own words, caught from their message callbacks.
    public var driverMessage: String?
    public var remedy: String?
    private var statedCategory: ErrorCategory?

    /// - Parameter category: nil to let the status decide.
    public init(
        call: String, status: StatusCode, object: String, frame: Int? = nil, driverMessage: String? = nil,
        remedy: String? = nil, category: ErrorCategory? = nil
    ) {
        self.call = call
        self.status = status
        self.object = object
        self.frame = frame
        self.driverMessage = driverMessage
        self.remedy = remedy
        self.statedCategory = category
    }

    public var category: ErrorCategory { statedCategory ?? status.category }

    public var message: String {
        var line = "\(call) failed (\(status))"
        if !object.isEmpty { line += " for \(object)" }
        if let frame { line += ", frame \(frame)" }
        if let driverMessage { line += " [\(driverMessage)]" }
        return line
    }

    /// The same error where it ends a session that ran: the device failed, whatever the status alone would mean.
    ///
    /// - Parameter remedy: where the error has none.
    package func endingSession(remedy: String? = nil) -> VAError {
        var copy = self
        copy.statedCategory = .deviceFailed
        copy.remedy = self.remedy ?? remedy
        return copy
    }

    /// The driver had no memory, the device's or this process's.
    package var isNoMemory: Bool { status == .allocationFailed }

    /// The same error of a driver that has no memory where a device is set up: `unavailable`, as every lack of memory is.
    package func lackingMemory() -> VAError {
        var copy = self
        copy.statedCategory = .unavailable
        copy.remedy = VaencError.memoryRemedy
        return copy
    }

    /// What may be over soon: not a driver that is not there (libva says `unknown`), nor one that hangs.
    var isPassing: Bool { status.category == .deviceFailed && status != .unknown && status != .timedOut }

    /// The same error, telling the frame that was being worked on.
    public func at(frame: Int) -> VAError {
        var copy = self
        copy.frame = frame
        return copy
    }
}

extension StatusCode {
    /// What kind of failure the status means when nothing else is known: what the device cannot do, what went wrong
    /// in it, or a call that was wrong in itself and so is a fault of ours.
    public var category: ErrorCategory {
        switch self {
        case .attributeNotSupported, .unsupportedProfile, .unsupportedEntryPoint, .unsupportedRTFormat,
            .unsupportedBufferType, .flagNotSupported, .resolutionNotSupported, .unimplemented, .unsupportedFilter,
            .unsupportedMemoryType, .invalidImageFormat:
            .unavailable
        case .invalidDisplay, .invalidConfig, .invalidContext, .invalidSurface, .invalidBuffer, .invalidImage,
            .invalidSubpicture, .invalidParameter, .invalidValue, .invalidFilterChain, .maximumExceeded,
            .surfaceInDisplaying:
            .internalFault
        default: .deviceFailed
        }
    }
}
