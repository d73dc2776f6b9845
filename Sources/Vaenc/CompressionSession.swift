public import VAAPI
public import VideoBase

/// An encoding session: frames in, access units out. What VTCompressionSession is to Apple's systems.
///
/// ```swift
/// let session = try CompressionSession(configuration: configuration, device: .auto)
/// let reader = Task { for try await packet in session.packets { file.append(packet.bytes) } }
/// for time in times {
///     let buffer = try await session.makePixelBuffer()
///     try unsafe buffer.withUnsafePlanes { planes in draw(into: planes) }
///     try await session.encode(buffer, presentation: time)
/// }
/// try await session.completeFrames()
/// session.invalidate()
/// ```
///
/// Every operation that may wait exists twice: as a call that blocks, for a thread of your own, and as an
/// `async` one that suspends; the work itself always runs on the session's threads. Packets come in decoding
/// order, either through `packets` or through the handler given at creation. The session may be used from
/// several threads; the order of frames is the order in which `encode` was entered.
public final class CompressionSession: Sendable {
    private let encoder: any VideoEncoder
    private let caller: SerialThread
    private let stream: AsyncThrowingStream<EncodedPacket, any Error>?
    private let continuation: AsyncThrowingStream<EncodedPacket, any Error>.Continuation?

    /// Why this device and codec were taken, one line for a person.
    public let choice: EncoderChoice

    /// Creates a session whose packets are read from `packets`.
    ///
    /// - Throws: a `DescribedError`: no such device, no permission, a size or option that no device can do.
    public convenience init(
        configuration: EncoderConfiguration, device: DeviceSelector = .auto, requireHardware: Bool = false
    ) throws {
        let (stream, continuation) = AsyncThrowingStream<EncodedPacket, any Error>.makeStream()
        try self.init(
            configuration: configuration, device: device, requireHardware: requireHardware, stream: stream,
            continuation: continuation
        ) { result in
            switch result {
            case .success(let packet): continuation.yield(packet)
            case .failure(let error): continuation.finish(throwing: error)
            }
        }
    }

    /// Creates a session that calls `handler` for each access unit, in decoding order, on a thread of the
    /// session's; a failure comes once and is the last call. The handler must not call back into the session.
    public convenience init(
        configuration: EncoderConfiguration, device: DeviceSelector = .auto, requireHardware: Bool = false,
        handler: @escaping PacketHandler
    ) throws {
        try self.init(
            configuration: configuration, device: device, requireHardware: requireHardware, stream: nil,
            continuation: nil, handler: handler)
    }

    private init(
        configuration: EncoderConfiguration, device: DeviceSelector, requireHardware: Bool,
        stream: AsyncThrowingStream<EncodedPacket, any Error>?,
        continuation: AsyncThrowingStream<EncodedPacket, any Error>.Continuation?,
        handler: @escaping PacketHandler
    ) throws {
        let made = try EncoderChoice.makeEncoder(
            configuration: configuration, device: device, requireHardware: requireHardware, handler: handler)
        encoder = made.encoder
        choice = made.choice
        caller = SerialThread()
        self.stream = stream
        self.continuation = continuation
    }

    deinit { encoder.invalidate() }

    /// The packets, for one reader. Ends after `invalidate`, or with the error that ended the session.
    /// Packets not yet read are kept, without a limit: the pipeline itself holds only a few frames.
    public var packets: AsyncThrowingStream<EncodedPacket, any Error> {
        stream ?? AsyncThrowingStream { $0.finish() }
    }

    /// What the session turned out to be, with the effective configuration; prepares it if that was not done.
    public var encoderDescription: EncoderDescription {
        get throws {
            try encoder.prepare()
            return try encoder.encoderDescription
        }
    }

    /// Frames taken, delivered and dropped, and what the session survived.
    public var statistics: EncoderStatistics { encoder.statistics }

    /// Frames taken and not yet delivered.
    public var pendingFrameCount: Int { encoder.pendingFrameCount }

    /// Allocates what encoding needs, so that the first frame does not pay for it. Blocks.
    public func prepare() throws { try encoder.prepare() }

    /// A buffer in the device's own memory to draw into; dropping it gives it back. Blocks while all are in use.
    public func makePixelBuffer() throws -> any PixelBuffer { try encoder.makePixelBuffer() }

    /// Takes a frame; blocks while the pipeline is full. Presentation times must increase.
    public func encode(
        _ buffer: any PixelBuffer, presentation: MediaTime, duration: MediaTime? = nil, options: FrameOptions = FrameOptions()
    ) throws {
        try encoder.encode(buffer, timing: FrameTiming(presentation: presentation, duration: duration), options: options)
    }

    /// Blocks until the packets of all frames up to `time` (nil: of all) were delivered.
    public func completeFrames(until time: MediaTime? = nil) throws { try encoder.completeFrames(until: time) }

    /// Ends the session and frees the device's objects; frames that were not completed are dropped. Idempotent.
    public func invalidate() {
        encoder.invalidate()
        continuation?.finish()
    }

    // MARK: The same for tasks

    public func prepare() async throws { try await caller.run { [encoder] in try encoder.prepare() } }

    public func makePixelBuffer() async throws -> any PixelBuffer {
        try await caller.run { [encoder] in try encoder.makePixelBuffer() }
    }

    public func encode(
        _ buffer: any PixelBuffer, presentation: MediaTime, duration: MediaTime? = nil, options: FrameOptions = FrameOptions()
    ) async throws {
        try await caller.run { [encoder] in
            try encoder.encode(
                buffer, timing: FrameTiming(presentation: presentation, duration: duration), options: options)
        }
    }

    public func completeFrames(until time: MediaTime? = nil) async throws {
        try await caller.run { [encoder] in try encoder.completeFrames(until: time) }
    }
}
