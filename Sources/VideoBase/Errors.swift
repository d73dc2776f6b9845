/// What kind of thing went wrong; the command line turns it into its exit status (sysexits).
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

/// An error that a person can act on: one line, with a remedy where there is one.
public protocol DescribedError: Error, CustomStringConvertible, Sendable {
    var category: ErrorCategory { get }
    /// What went wrong, in one line without a full stop.
    var message: String { get }
    /// What to do about it, in one line; nil where nothing can be said.
    var remedy: String? { get }
}

extension DescribedError {
    public var description: String {
        if let remedy { "\(message): \(remedy)" } else { message }
    }
}

/// The general error of vaenc's modules; the VA-API layer has its own, with the call and status.
public struct VaencError: DescribedError, Hashable {
    public var category: ErrorCategory
    public var message: String
    public var remedy: String?

    public init(_ category: ErrorCategory, _ message: String, remedy: String? = nil) {
        self.category = category
        self.message = message
        self.remedy = remedy
    }
}
