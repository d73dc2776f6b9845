/// The category of an error. The raw value is the exit status of the command line (sysexits).
public enum ErrorCategory: Int, Sendable {
    case usage = 64
    case badInput = 65
    case noInput = 66
    case unavailable = 69
    case internalFault = 70
    case cannotCreate = 73
    case inputOutput = 74
    case deviceFailed = 75
    case noPermission = 77
    case interrupted = 130
}

/// An error with a message for people, in one line, and a remedy if there is one.
public protocol DescribedError: Error, CustomStringConvertible, Sendable {
    /// The category of the error.
    var category: ErrorCategory { get }
    /// A description of the failure, in one line without a full stop.
    var message: String { get }
    /// A remedy in one line, or nil if there is none.
    var remedy: String? { get }
}

extension DescribedError {
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

    /// Creates an error.
    public init(_ category: ErrorCategory, _ message: String, remedy: String? = nil) {
        self.category = category
        self.message = message
        self.remedy = remedy
    }
}
