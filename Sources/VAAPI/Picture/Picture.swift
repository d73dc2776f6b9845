internal import CVA

/// A picture on its way to the device: begin → render → end → sync.
///
/// `render` makes the buffers in the driver; `end` then issues vaBeginPicture, one vaRenderPicture with all of them in
/// the order given, and vaEndPicture. So whatever fails before the driver has begun leaves it untouched, and a render
/// that fails is still ended, as VA-API wants. The buffers are destroyed on every path.
///
/// One thread at a time makes pictures of a context.
package struct Picture: ~Copyable {
    private let context: Context
    private let surface: Surface
    private let frame: Int?
    private var buffers: [VABufferID] = []
    private var kept: [AnyObject] = []

    /// Starts a picture.
    ///
    /// - Parameters:
    ///   - surface: the input of an encoder.
    ///   - frame: for messages: the frame's number in input order.
    package init(begin context: Context, on surface: Surface, frame: Int? = nil) {
        self.context = context
        self.surface = surface
        self.frame = frame
        buffers.reserveCapacity(16)
    }

    deinit {
        for buffer in buffers { BufferCalls.destroy(context.display, buffer) }
    }

    /// Adds a buffer (vaCreateBuffer). On failure the picture can go on without it, or be dropped.
    package mutating func render(_ parameters: some PictureParameters) throws(VAError) {
        var failure: VAError?
        unsafe parameters.withBuffers { type, bytes in
            guard failure == nil else { return }
            var id = VABufferID(VA_INVALID_ID)
            // SAFETY: vaCreateBuffer copies the bytes before it returns.
            let status = unsafe BufferCalls.create(
                context, VABufferType(type.rawValue), size: CUnsignedInt(bytes.count), data: bytes.baseAddress, &id)
            if status == 0 {
                buffers.append(id)
            } else {
                do throws(VAError) {
                    try context.display.check(status, "vaCreateBuffer", "\(type) buffer", frame: frame)
                } catch {
                    failure = error
                }
            }
        }
        if let failure { throw failure }
        if let memory = parameters.kept { kept.append(memory) }
    }

    /// Hands the picture to the device, which then works on its own.
    ///
    /// - Parameter output: the buffer that the picture's parameters name for the access unit.
    /// - Throws: when the driver refuses; the surface and the buffer are then free again.
    package consuming func end(into output: CodedBuffer) throws(VAError) -> SubmittedPicture {
        let (surface, frame) = (surface, frame)
        try end()
        return SubmittedPicture(surface: surface, output: output, frame: frame)
    }

    /// The same for a picture that ends in its surface.
    package consuming func end() throws(VAError) {
        let display = context.display
        try display.check(
            unsafe vaBeginPicture(display.handle, context.id, surface.id), "vaBeginPicture",
            "\(context.size) picture", frame: frame)
        let rendered = unsafe vaRenderPicture(display.handle, context.id, &buffers, CInt(buffers.count))
        let renderWords = rendered == 0 ? nil : display.messages.take()
        let ended = unsafe vaEndPicture(display.handle, context.id)
        if rendered != 0 {
            // The driver may have started all the same: what it writes must be over before the buffer is used again.
            if ended == 0 { _ = try? surface.sync(timeoutNanoseconds: 1_000_000_000) }
            _ = display.messages.take()
            throw VAError(
                call: "vaRenderPicture", status: StatusCode(rawValue: rendered), object: "\(context.size) picture",
                frame: frame, driverMessage: renderWords)
        }
        try display.check(ended, "vaEndPicture", "\(context.size) picture", frame: frame)
    }
}

/// A picture that the device is working on, or has finished. It keeps its surface and buffer alive.
package struct SubmittedPicture: Sendable {
    package let surface: Surface
    package let output: CodedBuffer
    package let frame: Int?

    /// Blocks until the access unit is there. May be called again.
    ///
    /// - Throws: `VAError` of status `.timedOut` when the time is up; the picture may still finish.
    package func sync(timeoutNanoseconds: UInt64) throws(VAError) {
        try output.sync(input: surface, timeoutNanoseconds: timeoutNanoseconds, frame: frame)
    }

    /// Copies the access unit out: `CodedBuffer.read`.
    package func read(appendingTo bytes: inout [UInt8]) throws(VAError) -> [CodedSegment] {
        try output.read(appendingTo: &bytes, frame: frame)
    }
}
