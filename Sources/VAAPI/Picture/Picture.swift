internal import CVA

/// A picture that is being submitted to the device: begin → render → end → sync.
///
/// `render` creates the buffers in the driver. `end` then calls vaBeginPicture, one vaRenderPicture with all buffers in
/// order, and vaEndPicture. A failure before `end` therefore leaves the driver's context untouched, and a picture is
/// ended even if vaRenderPicture fails, as VA-API requires. The buffers are destroyed in every case.
///
/// One thread at a time may build pictures of a context.
package struct Picture: ~Copyable {
    private let context: Context
    private let surface: Surface
    private let frame: Int?
    private var buffers: [VABufferID] = []
    private var retained: [AnyObject] = []

    /// Starts a picture, without a call of the driver.
    ///
    /// - Parameters:
    ///   - surface: The input surface of an encoder, or the target of a processor.
    ///   - frame: The number of the frame in input order, for error messages.
    package init(begin context: Context, on surface: Surface, frame: Int? = nil) {
        self.context = context
        self.surface = surface
        self.frame = frame
        buffers.reserveCapacity(16)
    }

    deinit {
        for buffer in buffers { BufferCalls.destroy(context.display, buffer) }
    }

    /// Adds a buffer (vaCreateBuffer). After a failure, the picture can be continued without the buffer, or dropped.
    package mutating func render(_ parameters: some ParameterBuffer) throws(VAError) {
        var failure: VAError?
        unsafe parameters.withBuffers { type, bytes in
            guard failure == nil else { return }
            var id = VABufferID(VA_INVALID_ID)
            // SAFETY: vaCreateBuffer copies the bytes before it returns.
            let status = unsafe BufferCalls.create(
                context, type: VABufferType(type.rawValue), size: CUnsignedInt(bytes.count), data: bytes.baseAddress,
                id: &id)
            if status == 0 {
                buffers.append(id)
            } else {
                do throws(VAError) {
                    try context.display.check(status, call: "vaCreateBuffer", object: "\(type) buffer", frame: frame)
                } catch {
                    failure = error
                }
            }
        }
        if let failure { throw failure }
        if let memory = parameters.retained { retained.append(memory) }
    }

    /// Submits the picture to the device, which then works asynchronously.
    ///
    /// - Parameter output: The coded buffer that the picture's parameters refer to.
    /// - Throws: A `VAError` if the driver rejects the picture. The surface and the buffer can then be reused.
    package consuming func end(into output: CodedBuffer) throws(VAError) -> SubmittedPicture {
        let (surface, frame) = (surface, frame)
        try end()
        return SubmittedPicture(surface: surface, output: output, frame: frame)
    }

    /// Submits a picture whose output is its surface.
    package consuming func end() throws(VAError) {
        let display = context.display
        try display.check(
            unsafe vaBeginPicture(display.handle, context.id, surface.id), call: "vaBeginPicture",
            object: "\(context.size) picture", frame: frame)
        let rendered = unsafe vaRenderPicture(display.handle, context.id, &buffers, CInt(buffers.count))
        let renderWords = rendered == 0 ? nil : display.messages.take()
        let ended = unsafe vaEndPicture(display.handle, context.id)
        if rendered != 0 {
            // The driver may have started nevertheless. Its work must finish before the buffer is reused.
            if ended == 0 { _ = try? surface.sync(timeoutNanoseconds: 1_000_000_000) }
            _ = display.messages.take()
            throw VAError(
                call: "vaRenderPicture", status: VAStatusCode(rawValue: rendered), object: "\(context.size) picture",
                frame: frame, driverMessage: renderWords)
        }
        try display.check(ended, call: "vaEndPicture", object: "\(context.size) picture", frame: frame)
    }
}

/// A picture that the device is working on or has finished. It keeps its surface and its coded buffer alive.
package struct SubmittedPicture: Sendable {
    package let surface: Surface
    package let output: CodedBuffer
    package let frame: Int?

    /// Blocks until the access unit is complete. May be called again.
    ///
    /// - Throws: A `VAError` of status `.timedOut` if the timeout expires. The picture may still finish later.
    package func sync(timeoutNanoseconds: UInt64) throws(VAError) {
        try output.sync(input: surface, timeoutNanoseconds: timeoutNanoseconds, frame: frame)
    }

    /// Copies the access unit out, as `CodedBuffer.read` does.
    package func read(appendingTo bytes: inout [UInt8]) throws(VAError) -> [CodedSegment] {
        try output.read(appendingTo: &bytes, frame: frame)
    }
}
