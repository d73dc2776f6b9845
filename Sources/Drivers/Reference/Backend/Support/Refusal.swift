internal import CVA

/// The reason why a call is rejected: the status that the client gets, and a line for VAENC_REFERENCE_LOG.
struct Refusal: Error {
    let status: VAStatus
    let reason: String

    init(_ status: Int32, _ reason: String) {
        self.status = status
        self.reason = reason
    }

    static func invalidParameter(_ reason: String) -> Refusal { Refusal(VA_STATUS_ERROR_INVALID_PARAMETER, reason) }
    static func invalidValue(_ reason: String) -> Refusal { Refusal(VA_STATUS_ERROR_INVALID_VALUE, reason) }
    static func operationFailed(_ reason: String) -> Refusal { Refusal(VA_STATUS_ERROR_OPERATION_FAILED, reason) }
    static func attribute(_ reason: String) -> Refusal { Refusal(VA_STATUS_ERROR_ATTR_NOT_SUPPORTED, reason) }
    static func unimplemented(_ reason: String) -> Refusal { Refusal(VA_STATUS_ERROR_UNIMPLEMENTED, reason) }
    static func resolution(_ reason: String) -> Refusal { Refusal(VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED, reason) }
    static func busy(_ reason: String) -> Refusal { Refusal(VA_STATUS_ERROR_SURFACE_BUSY, reason) }
    static func timedOut(_ reason: String) -> Refusal { Refusal(VA_STATUS_ERROR_TIMEDOUT, reason) }
    static func allocation(_ reason: String) -> Refusal { Refusal(VA_STATUS_ERROR_ALLOCATION_FAILED, reason) }
}

/// Throws an INVALID_PARAMETER error with `reason` if the condition does not hold.
func require(_ condition: Bool, _ reason: @autoclosure () -> String) throws {
    guard condition else { throw Refusal.invalidParameter(reason()) }
}
