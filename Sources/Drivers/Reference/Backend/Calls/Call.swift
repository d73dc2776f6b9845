internal import CVA

// What the vtable's functions share: they turn C pointers into values, call the driver, and turn refusals into
// statuses.
//
// SAFETY: libva hands every function the context that __vaDriverInit_1_0 filled in, and clients vouch for their
// pointers and counts as va.h says; null pointers and negative counts are refused here.

/// Runs `body` with the display's driver.
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

/// The client's list; a null pointer counts as no list only where the count is 0.
func list<Element>(_ start: UnsafeMutablePointer<Element>?, _ count: some BinaryInteger) throws -> [Element] {
    guard count >= 0, count <= 1 << 20 else { throw Refusal.invalidParameter("the list has \(count) entries") }
    guard count > 0 else { return [] }
    guard let start = unsafe start else { throw Refusal.invalidParameter("the pointer for \(count) entries is null") }
    return unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
}

/// A place for an answer.
func place<Value>(_ pointer: UnsafeMutablePointer<Value>?) throws -> UnsafeMutablePointer<Value> {
    guard let pointer = unsafe pointer else { throw Refusal.invalidParameter("the pointer for a result is null") }
    return unsafe pointer
}

/// Writes an answer's entries into the room that libva promises for them.
func store<Element>(_ entries: [Element], _ start: UnsafeMutablePointer<Element>?) throws {
    let start = try unsafe place(start)
    for (index, entry) in entries.enumerated() { unsafe start[index] = entry }
}
