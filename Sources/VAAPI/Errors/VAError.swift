public import VideoBase

/// The error of a failed libva call: the call, its object, the cause, and the remedy.
///
/// The error prints as one line: `vaCreateContext failed (resolution not supported) for 8192×4320 H.264 context: this
/// driver encodes H.264 up to 4096×4096`.
public struct VAError: DescribedError, Hashable {
    /// The name of the C function: `vaCreateContext`.
    public var call: String
    /// The status that the call returned.
    public var status: VAStatusCode
    /// The object of the call, without an article: `8192×4320 H.264 context`. Empty if the call's name is enough.
    public var object: String
    /// The frame being encoded, counted from 0 in input order, or nil if the call belongs to no frame.
    public var frame: Int?
    /// The message of the driver or of libva, taken from the message callbacks, or nil if there was none.
    public var driverMessage: String?
    /// A remedy for the user, or nil if there is none.
    public var remedy: String?
    private var statedCategory: ErrorCategory?

    /// Creates an error.
    ///
    /// - Parameter category: The error's category, or nil to derive it from the status.
    public init(
        call: String, status: VAStatusCode, object: String, frame: Int? = nil, driverMessage: String? = nil,
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

    /// The category that was given, or else the category of the status.
    public var category: ErrorCategory { statedCategory ?? status.category }

    /// The error in one line, without the remedy.
    public var message: String {
        var line = "\(call) failed (\(status))"
        if !object.isEmpty { line += " for \(object)" }
        if let frame { line += ", frame \(frame)" }
        if let driverMessage { line += " [\(driverMessage)]" }
        return line
    }

    /// Returns the same error with category `.deviceFailed`, for an error that ends a running session. The category of
    /// the status does not matter then.
    ///
    /// - Parameter remedy: The remedy to use if the error has none.
    package func endingSession(remedy: String? = nil) -> VAError {
        var copy = self
        copy.statedCategory = .deviceFailed
        copy.remedy = self.remedy ?? remedy
        return copy
    }

    /// Whether the driver ran out of memory, either of the device or of this process.
    package var isNoMemory: Bool { status == .allocationFailed }

    /// Returns the same error with category `.unavailable` and the remedy for a lack of memory. It is used if a driver
    /// runs out of memory while a device is being set up.
    package func lackingMemory() -> VAError {
        var copy = self
        copy.statedCategory = .unavailable
        copy.remedy = VaencError.memoryRemedy
        return copy
    }

    /// Whether the failure may be transient. A missing driver (for which libva returns `unknown`) and a hang are not.
    var isPassing: Bool { status.category == .deviceFailed && status != .unknown && status != .timedOut }

    /// Returns the same error with the number of the frame that was being encoded.
    public func at(frame: Int) -> VAError {
        var copy = self
        copy.frame = frame
        return copy
    }
}

extension VAStatusCode {
    /// The category of a failure with this status, if nothing else is known about it: `unavailable` for a feature that
    /// the device lacks, `deviceFailed` for a failure of the device, or `internalFault` for an invalid call, which is a
    /// bug of vaenc.
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
