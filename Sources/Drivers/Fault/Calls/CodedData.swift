internal import CVA

// vaCreateBuffer records which buffers hold coded data. vaMapBuffer can corrupt that data.

func createBuffer(
    _ client: VADriverContextP?, _ context: VAContextID, _ type: VABufferType, _ size: CUnsignedInt,
    _ count: CUnsignedInt, _ data: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<VABufferID>?
) -> VAStatus {
    let status = unsafe pass(client, "vaCreateBuffer") {
        let status = unsafe $0.calls.pointee.vaCreateBuffer($0.context, context, type, size, count, data, buffer)
        if status == VA_STATUS_SUCCESS, let buffer = unsafe buffer {
            unsafe $0.buffers.register(buffer.pointee, isCoded: type == VAEncCodedBufferType)
        }
        return status
    } corrupt: {
        unsafe buffer?.pointee = VA_INVALID_ID
    }
    return status
}

func mapBuffer(
    _ client: VADriverContextP?, _ buffer: VABufferID, _ address: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> VAStatus {
    guard let driver = unsafe WrappedDriver.of(client) else { return VA_STATUS_ERROR_INVALID_DISPLAY }
    let fault = driver.fault("vaMapBuffer")
    switch fault {
    case .status(let status), .lost(let status): return status
    case .delay(let milliseconds): sleep(milliseconds: milliseconds)
    case .abort: endProcess(in: "vaMapBuffer")
    case .corrupt, nil: break
    }
    let status = unsafe driver.calls.pointee.vaMapBuffer(driver.context, buffer, address)
    guard case .corrupt(let corruption) = fault, status == VA_STATUS_SUCCESS else { return status }
    guard driver.buffers.isCoded(buffer) else {
        // The client would not notice changed bytes in other buffers. Instead, the call returns success and a null
        // address.
        if corruption == .marked {
            _ = unsafe driver.calls.pointee.vaUnmapBuffer(driver.context, buffer)
            unsafe address?.pointee = nil
        }
        return status
    }
    unsafe corruptSegments(address?.pointee?.assumingMemoryBound(to: VACodedBufferSegment.self), corruption)
    return status
}

/// Corrupts a chain of coded segments in the wrapped driver's memory.
private func corruptSegments(
    _ first: UnsafeMutablePointer<VACodedBufferSegment>?, _ corruption: FaultPlan.Corruption
) {
    guard let first = unsafe first else { return }
    switch corruption {
    case .flags(let flags): unsafe first.pointee.status |= flags
    case .marked:
        unsafe first.pointee.status |= UInt32(VA_CODED_BUF_STATUS_BAD_BITSTREAM)
        unsafe flip(first)
    case .silent: unsafe flip(first)
    }
}

/// Inverts every 16th byte in the last third of each segment.
private func flip(_ first: UnsafeMutablePointer<VACodedBufferSegment>) {
    var next: UnsafeMutablePointer<VACodedBufferSegment>? = unsafe first
    while let segment = unsafe next {
        if let bytes = unsafe segment.pointee.buf?.assumingMemoryBound(to: UInt8.self) {
            let size = unsafe Int(segment.pointee.size)
            for index in stride(from: size * 2 / 3, to: size, by: 16) { unsafe bytes[index] ^= 0xff }
        }
        unsafe next = segment.pointee.next?.assumingMemoryBound(to: VACodedBufferSegment.self)
    }
}

/// The set of buffers that hold coded data.
struct CodedBuffers: Sendable {
    private var coded: Set<VABufferID> = []

    /// Records a new buffer. The driver may use the id of a destroyed buffer again.
    mutating func register(_ buffer: VABufferID, isCoded: Bool) {
        if isCoded { coded.insert(buffer) } else { coded.remove(buffer) }
    }

    func isCoded(_ buffer: VABufferID) -> Bool { coded.contains(buffer) }
}
