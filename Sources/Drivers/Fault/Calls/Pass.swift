internal import CVA
internal import Glibc

// Functions that all wrapped calls use.
//
// SAFETY: libva passes to every function the context that vaDriverInit filled in. The client's pointers are valid as
// va.h requires. The functions here write only where the wrapped driver would have written.

/// Counts a call, applies its fault if it has one, and otherwise makes the call on the wrapped driver.
///
/// - Parameters:
///   - limit: The timeout of the call itself, in nanoseconds. If the delay is longer, the call times out after `limit`.
///   - corrupt: Makes the returned data of a successful call invalid. If it is nil, a corrupt call is reported as
///     failed.
func pass(
    _ client: VADriverContextP?, _ name: String, waitingAtMost limit: UInt64 = .max,
    _ call: (WrappedDriver) -> VAStatus, corrupt: (() -> Void)? = nil
) -> VAStatus {
    guard let driver = unsafe WrappedDriver.of(client) else { return VA_STATUS_ERROR_INVALID_DISPLAY }
    let fault = driver.fault(CallNames.countedName(of: name) ?? name)
    switch fault {
    case nil: return call(driver)
    case .status(let status): return status
    case .abort: endProcess(in: name)
    case .lost(let status):
        // The wrapped driver must release the resource even if the device is lost.
        if CallNames.frees(name) { _ = call(driver) }
        return status
    case .delay(let milliseconds):
        let allowed = Int(min(limit / 1_000_000, UInt64(Int32.max)))
        sleep(milliseconds: min(milliseconds, allowed))
        return milliseconds > allowed ? VAStatus(VA_STATUS_ERROR_TIMEDOUT) : call(driver)
    case .corrupt:
        let status = call(driver)
        guard status == VA_STATUS_SUCCESS else { return status }
        guard let corrupt else { return VA_STATUS_ERROR_OPERATION_FAILED }
        corrupt()
        return status
    }
}

/// Ends the process with a message on stderr and SIGABRT, like a failed assertion.
func endProcess(in call: String) -> Never {
    let bytes = Array("vaenc fault driver: abort in \(call)\n".utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    abort()
}

/// Makes the ids in an image invalid.
func invalidateIDs(of image: UnsafeMutablePointer<VAImage>?) {
    unsafe image?.pointee.image_id = VA_INVALID_ID
    unsafe image?.pointee.buf = VA_INVALID_ID
}
