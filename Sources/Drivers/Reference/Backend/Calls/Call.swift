internal import CVA

// Helpers of the vtable's functions, which convert C pointers to values, call the driver, and return an error's status.
//
// SAFETY: libva passes the context that __vaDriverInit_1_0 filled in to every function. By va.h, clients must pass
// pointers and counts that match. Null pointers and negative counts are rejected here.

/// Calls `body` with the driver of the display, and returns the status of the call.
func call(_ context: VADriverContextP?, _ body: (Driver) throws -> Void) -> VAStatus {
    guard let context = unsafe context, let data = unsafe context.pointee.pDriverData else {
        return VA_STATUS_ERROR_INVALID_DISPLAY
    }
    let driver = unsafe Unmanaged<Driver>.fromOpaque(data).takeUnretainedValue()
    do {
        try body(driver)
        return VA_STATUS_SUCCESS
    } catch let refusal as Refusal {
        driver.log(refusal)
        return refusal.status
    } catch {
        return VAStatus(bitPattern: UInt32(VA_STATUS_ERROR_UNKNOWN))
    }
}

/// Returns the client's list. Throws if the pointer is null and the count is not 0.
func list<Element>(_ start: UnsafeMutablePointer<Element>?, _ count: some BinaryInteger) throws -> [Element] {
    guard count >= 0, count <= 1 << 20 else { throw Refusal.invalidParameter("the list has \(count) entries") }
    guard count > 0 else { return [] }
    guard let start = unsafe start else { throw Refusal.invalidParameter("the pointer for \(count) entries is null") }
    return unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
}

/// Returns the pointer for a result. Throws if it is null.
func resultPointer<Value>(_ pointer: UnsafeMutablePointer<Value>?) throws -> UnsafeMutablePointer<Value> {
    guard let pointer = unsafe pointer else { throw Refusal.invalidParameter("the pointer for a result is null") }
    return unsafe pointer
}

/// Writes the entries of a result to the client's array, which by va.h must have space for them.
func store<Element>(_ entries: [Element], _ start: UnsafeMutablePointer<Element>?) throws {
    let start = try unsafe resultPointer(start)
    for (index, entry) in entries.enumerated() { unsafe start[index] = entry }
}
