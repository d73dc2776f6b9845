internal import CVA
internal import Glibc

// What the wrapping functions share.
//
// SAFETY: libva hands every function the context that vaDriverInit filled in; clients vouch for their pointers as va.h
// says, and what is written through them here is what the wrapped driver would have written.

/// Makes a call on the wrapped driver, unless it is to go wrong.
///
/// - Parameters:
///   - limit: the call's own time limit in nanoseconds: a longer delay is a timeout after that time.
///   - corrupt: spoils the answers of a call that succeeded; without it the call is reported as failed.
func pass(
    _ client: VADriverContextP?, _ name: String, waitingAtMost limit: UInt64 = .max,
    _ call: (WrappedDriver) -> VAStatus, corrupt: (() -> Void)? = nil
) -> VAStatus {
    guard let driver = unsafe WrappedDriver.of(client) else { return VA_STATUS_ERROR_INVALID_DISPLAY }
    let fault = driver.fault(CallNames.counted(name) ?? name)
    switch fault {
    case nil: return call(driver)
    case .status(let status): return status
    case .abort: endProcess(in: name)
    case .lost(let status):
        // What a client lets go of is let go of all the same.
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

/// Ends the process as a failed assertion does.
func endProcess(in call: String) -> Never {
    let bytes = Array("vaenc fault driver: abort in \(call)\n".utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    abort()
}

/// An image that names nothing.
func spoil(_ image: UnsafeMutablePointer<VAImage>?) {
    unsafe image?.pointee.image_id = VA_INVALID_ID
    unsafe image?.pointee.buf = VA_INVALID_ID
}
