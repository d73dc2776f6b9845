/// The category of an error. A program can react to an error according to its category.
public enum ErrorCategory: String, Sendable, Hashable, CaseIterable {
    /// The caller made a mistake: a value out of range, settings that contradict each other, a call out of order.
    case usage
    /// The input is invalid: damaged, truncated, or of another format.
    case badInput
    /// The input does not exist.
    case noInput
    /// The request cannot be fulfilled on this machine: no device, a limit of the device, a missing library, no memory.
    case unavailable
    /// A fault of vaenc.
    case internalFault
    /// The output cannot be created, or exists.
    case cannotCreate
    /// Reading or writing failed: a full disk, a closed pipe.
    case inputOutput
    /// The device failed and did not recover.
    case deviceFailed
    /// The system denies the access.
    case noPermission
    /// The user interrupted the work.
    case interrupted
}

/// An error with a one-line human-readable message and, if there is one, a remedy.
public protocol DescribedError: Error, CustomStringConvertible, Sendable {
    /// The category of the error.
    var category: ErrorCategory { get }
    /// A description of the failure, in one line without a full stop.
    var message: String { get }
    /// A remedy in one line, or nil if there is none.
    var remedy: String? { get }
}

extension DescribedError {
    /// The message and, if there is one, the remedy after a colon.
    public var description: String {
        if let remedy { "\(message): \(remedy)" } else { message }
    }
}

/// The general error of vaenc's modules. The VA-API layer has its own, `VAError`, with the call and its status.
public struct VaencError: DescribedError, Hashable {
    /// The category of the error.
    public var category: ErrorCategory
    /// A description of the failure, in one line without a full stop.
    public var message: String
    /// A remedy in one line, or nil if there is none.
    public var remedy: String?
    /// The subject of the error, for code that adapts the remedy.
    package var subject: Subject?

    package enum Subject: Sendable, Hashable {
        /// The size or format of raw pictures.
        case pictureLayout
        /// The supply of memory, threads or file descriptors.
        case resources
    }

    /// Creates an error.
    public init(_ category: ErrorCategory, _ message: String, remedy: String? = nil) {
        self.category = category
        self.message = message
        self.remedy = remedy
    }

    /// Returns the error with a subject.
    package func about(_ subject: Subject) -> VaencError {
        var error = self
        error.subject = subject
        return error
    }

    /// The advice to use the software encoder. `HardwareRequirement` removes it if software is not allowed.
    package static let softwareAdvice = "use `device: .software`"
    /// The advice to use the software encoder, as the continuation of another advice.
    package static let orSoftware = ", or \(softwareAdvice)"
}
