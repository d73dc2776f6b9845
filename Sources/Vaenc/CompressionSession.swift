import EncodeSession
import Synchronization
import Threads
public import VAAPI
public import VideoBase

/// An encoding session: it accepts frames and returns access units. The counterpart of VTCompressionSession.
///
/// ```swift
/// import Vaenc
///
/// func encodeFrames() async throws {
///     let session = try CompressionSession(configuration: EncoderConfiguration(size: VideoSize(width: 640, height: 360)))
///     let reader = Task { for try await packet in session.packets { print(packet.type, packet.bytes.count) } }
///     for index in 0..<100 {
///         let buffer = try await session.makePixelBuffer()  // Draw into it: `withUnsafePlanes`.
///         try await session.encode(buffer, presentation: MediaTime(value: Int64(index), timescale: 30))
///     }
///     try await session.completeFrames()  // All packets are delivered.
///     session.invalidate()  // The sequence of packets ends.
///     try await reader.value  // All packets are read.
/// }
///
/// try await encodeFrames()
/// ```
///
/// Each operation that may wait has two forms. The blocking form is for a thread of your own; the `async` form suspends
/// the task. The work itself always runs on the session's threads. The compiler rejects the blocking form in
/// asynchronous code. This includes the top level of a main.swift that uses `await`, where Swift selects the blocking
/// form: write an `async` function, as in the example.
///
/// Packets are delivered in decoding order, either through `packets` or through the handler that was passed to the
/// initializer. Several threads may use the session. Frames are encoded in the order in which `encode` was called.
///
/// Back-pressure: `makePixelBuffer` waits while all buffers are in use. `encode` waits while the pipeline is full or
/// `packetCapacity` packets are unread. No other call waits for a reader. `completeFrames`, `flush` and `swap` continue
/// while an `encode` call waits for a reader; they cover only the frames accepted before.
///
/// Deadlock: a blocking `encode` call throws instead of waiting forever if the reader of the packets runs on the actor,
/// or on the main thread, that the call blocks. If a task makes the call through a function that is on no actor, the
/// session does not know which actor the call blocks. `encode` then throws after nothing has run on the reader's actor
/// for 30 seconds.
///
/// Cancellation: if the task of a call is cancelled, the call throws a `CancellationError`. `encode` has then not
/// accepted the frame. If `encode` has already accepted the frame, it returns as usual. A cancelled `completeFrames` or
/// `flush` only stops waiting.
public final class CompressionSession: Sendable {
    let core: SessionCore
    /// Runs the `encode` calls in order. It is separate from `caller`, because only `encode` may have to wait for a
    /// reader.
    let frames = SerialThread("vaenc-frames")
    let caller = SerialThread("vaenc-calls")
    /// Makes the buffers of callers. It is separate from `caller`, because a buffer may become free only after another
    /// task passes in a frame.
    let bufferMaker = SerialThread("vaenc-buffers")
    let channel: PacketChannel?

    /// Creates a session whose packets are read from `packets`.
    ///
    /// - Parameters:
    ///   - configuration: The requested stream.
    ///   - device: The device that encodes. `auto` uses the first GPU that supports the request, else the software
    ///     encoder.
    ///   - requireHardware: Whether encoding in software is an error.
    ///   - packetCapacity: The number of unread packets at which `encode` waits for the reader. If no task reads until
    ///     encoding is complete, the capacity must be at least the number of packets of the whole stream.
    ///   - other: A session whose connection to the driver is used, if both sessions encode on the same device; nil opens
    ///     a connection. A `SessionGroup` of sessions with one connection writes each picture once.
    /// - Throws: A `DescribedError`: `unavailable` if the device does not exist or does not support the size or an
    ///   option; `noPermission` if it may not be opened; `deviceFailed` if it fails; `usage` for an invalid
    ///   configuration or a capacity below 1.
    public convenience init(
        configuration: EncoderConfiguration, device: DeviceSelector = .auto, requireHardware: Bool = false,
        packetCapacity: Int = 256, sharingDeviceOf other: CompressionSession? = nil
    ) throws {
        let channel = try PacketChannel(requested: packetCapacity, as: "packetCapacity")
        try self.init(configuration, device: device, requireHardware: requireHardware, sharing: other, channel: channel) { channel.add($0) }
    }

    /// Creates a session that calls `handler` for each access unit, in decoding order, on one of the session's threads.
    /// A failure is reported once, and is the last call. A slow handler slows the encoder down.
    ///
    /// The handler must not wait for packets. These calls throw `usage` in the handler, because they would wait for it:
    /// `prepare`, `makePixelBuffer`, `encode`, `completeFrames`, `flush`, `refresh`, `swap`, `invalidateReferences`,
    /// `encoderDescription`, and properties that are read from the description. During a swap, `change` and `set` throw
    /// too. All other calls are allowed: the counts, `choice`, `configuration`, `acknowledge`, `flush(completion:)`,
    /// `invalidate`. If the handler waits for another thread or task that makes one of the forbidden calls, it waits
    /// forever.
    ///
    /// - Throws: The errors of the initializer without a handler, except the one for the capacity.
    public convenience init(
        configuration: EncoderConfiguration, device: DeviceSelector = .auto, requireHardware: Bool = false,
        sharingDeviceOf other: CompressionSession? = nil, handler: @escaping PacketHandler
    ) throws {
        try self.init(configuration, device: device, requireHardware: requireHardware, sharing: other, channel: nil, outlet: handler)
    }

    /// Creates a session that calls `handler` for each NAL unit, and separately for the parameter sets. The rules for a
    /// handler of packets apply.
    ///
    /// - Throws: The errors of the initializer with a handler of packets.
    public convenience init(
        unitsOf configuration: EncoderConfiguration, device: DeviceSelector = .auto, requireHardware: Bool = false,
        sharingDeviceOf other: CompressionSession? = nil, handler: @escaping UnitHandler
    ) throws {
        let splitter = UnitSplitter(handler)
        try self.init(configuration, device: device, requireHardware: requireHardware, sharing: other, channel: nil) { splitter.add($0) }
    }

    /// Creates a session on a display that is already open, and calls `handler` for each access unit.
    ///
    /// - Parameter device: A selector that finds the display's device.
    package init(
        configuration: EncoderConfiguration, device: DeviceSelector, on display: Display, handler: @escaping PacketHandler
    ) throws {
        core = try SessionCore(configuration, device: device, requireHardware: false, relay: PacketRelay(handler)) { display }
        channel = nil
    }

    private init(
        _ configuration: EncoderConfiguration, device: DeviceSelector, requireHardware: Bool, sharing other: CompressionSession?,
        channel: PacketChannel?, outlet: @escaping PacketHandler
    ) throws {
        core = try SessionCore(configuration, device: device, requireHardware: requireHardware, relay: PacketRelay(outlet)) {
            [weak core = other?.core] in core?.inputSurfaces?.display
        }
        self.channel = channel
    }

    /// Releases the device on one of the session's threads. The current thread may be an encoder thread that runs the
    /// handler.
    deinit {
        if core.isInvalidated { return }
        caller.add { [core, channel] in
            core.invalidate()
            channel?.finish(.success(()))
        }
    }

    /// The session's packets, for one reader at a time. The sequence is empty if the session has a handler.
    public var packets: PacketSequence {
        PacketSequence(
            channel: channel
                ?? {
                    let none = PacketChannel(capacity: 1); none.finish(.success(())); return none
                }())
    }

    /// The number of packets that were delivered and not read yet.
    public var unreadPacketCount: Int { channel?.unreadCount ?? 0 }

    /// The device and codec that the session uses, with the reasons.
    public var choice: EncoderChoice {
        core.state.withLock { state in
            var choice = state.stage.choice
            // A property that was set since the session chose its codec can determine another codec.
            if let bound = CodecChoice.codec(determinedBy: state.configuration), bound.codec != choice.codec {
                (choice.codec, choice.codecReason) = bound
            }
            return choice
        }
    }

    /// The requested configuration; `encoderDescription` has the effective one. If no codec was requested, `codec` is
    /// nil, `choice` has the session's codec, and another session or a swap with this configuration chooses again.
    public var configuration: EncoderConfiguration { core.state.withLock { $0.configuration } }

    /// The stream that the encoder produces, with the effective configuration. Prepares the encoder if necessary.
    /// Blocks while the device is reinitialized.
    ///
    /// - Throws: The errors of `prepare`; `usage` in the session's handler.
    public var encoderDescription: EncoderDescription {
        get throws {
            try core.with { stage in
                try stage.encoder.prepare()
                let configuration = configuration
                var description = try stage.choice.completed(stage.encoder.encoderDescription, configuration)
                if let entry = core.scaling.withLock({ $0.entry(configuration.size) }) { description.effective.append(entry) }
                return description
            }
        }
    }

    /// The numbers of frames accepted, delivered and dropped, and of faults that were recovered, over all formats of
    /// the session.
    public var statistics: EncoderStatistics { core.statistics }

    /// The number of frames that the current encoder has accepted and not delivered yet.
    public var pendingFrameCount: Int { core.state.withLock { $0.stage }.encoder.pendingFrameCount }

    // MARK: Calls that block

    /// Allocates everything that encoding needs, so that the first frame is not delayed. Blocks.
    ///
    /// - Throws: `unavailable` or `usage` if the device rejects the configuration, an error of the device, or `usage`
    ///   in the session's handler.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func prepare() throws { try core.with { try $0.encoder.prepare() } }

    /// Returns a buffer to draw a frame into, in the device's memory if a device encodes. Releasing the buffer returns
    /// it to the session. Blocks while all buffers are in use.
    ///
    /// - Throws: `usage` in the session's handler and after `invalidate`, or the error that ended the session.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func makePixelBuffer() throws -> any PixelBuffer {
        while true {
            // The call must not count as inside: other calls must be able to continue and to return buffers.
            let stage = try core.present()
            do {
                return try stage.encoder.makePixelBuffer()
            } catch {
                if !core.hasReplaced(stage) { throw error }
            }
        }
    }

    /// Accepts a frame. Blocks while the pipeline is full, and while `packetCapacity` packets are unread.
    ///
    /// - Parameters:
    ///   - buffer: The picture. A buffer that is not from `makePixelBuffer` is copied, and converted if necessary.
    ///   - presentation: The presentation time. Times must increase, also across swaps. A time must be within 2^40
    ///     seconds of zero and have fewer than 2^62 ticks.
    ///   - duration: The time for which the frame is shown, 0 or more; nil if it is not known.
    ///   - options: Requests for this frame only.
    ///   - isolation: The caller's actor.
    /// - Throws: `usage` for an invalid frame, time or option, and in the session's handler. `usage` if the packets are
    ///   full and their reader runs on the actor or main thread that this call blocks. In a task or on the main thread,
    ///   also `usage` if no reader has begun within 5 seconds, or if nothing has run on the reader's actor for 30
    ///   seconds. The error that ended the session.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func encode(
        _ buffer: any PixelBuffer, presentation: MediaTime, duration: MediaTime? = nil,
        options: FrameOptions = FrameOptions(), isolation: isolated (any Actor)? = #isolation
    ) throws {
        let timing = FrameTiming(presentation: presentation, duration: duration)
        try encode(buffer, timing: timing, options: options, from: BlockingCall(on: isolation), isCancelled: { false })
    }

    /// - Parameter caller: The call that blocks; nil on a thread of the session.
    func encode(
        _ buffer: any PixelBuffer, timing: FrameTiming, options: FrameOptions, from caller: BlockingCall?,
        isCancelled: () -> Bool
    ) throws {
        try timing.check()
        try channel?.waitForRoom(caller, isCancelled)
        try core.encode(at: timing.presentation) { stage in
            var options = options
            let acknowledged = core.state.withLockWithoutNotifying { state in
                defer { state.acknowledged = [] }
                return state.acknowledged
            }
            // Most frames have no tokens, and then need no array.
            if !options.acknowledgedTokens.isEmpty || !acknowledged.isEmpty {
                options.acknowledgedTokens = (options.acknowledgedTokens + acknowledged).compactMap {
                    PacketRelay.Token.encoder($0, format: stage.format)
                }
            }
            do { try stage.encoder.encode(buffer, timing: timing, options: options) } catch {
                // The tokens are passed on with the next frame that is taken.
                core.state.withLock { $0.acknowledged = acknowledged + $0.acknowledged }
                throw error
            }
        }
    }

    /// Blocks until the packets of all frames with a presentation time up to `time` are delivered. nil means all
    /// frames.
    ///
    /// - Throws: `usage` if the timescale of `time` is not positive, and in the session's handler; the error that ended
    ///   the session.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func completeFrames(until time: MediaTime? = nil) throws { try core.completeFrames(until: time) }

    /// Blocks until the packets of all frames accepted so far are delivered.
    ///
    /// - Throws: The errors of `completeFrames`.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func flush() throws { try completeFrames() }

    /// Delivers the frames accepted so far, then reinitializes the device's encoder. The next frame is a key frame.
    /// Blocks.
    ///
    /// - Throws: `usage` in the session's handler; the error that ended the session.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func refresh() throws { try core.with { try $0.encoder.refresh() } }

    /// Ends the session and frees the device's objects. Frames that are not complete are dropped and counted as
    /// dropped. Packets that were delivered can still be read. Waits for a handler call that is running, except if the
    /// handler itself calls this method; the handler may then be called once more, for a packet that was complete.
    /// Idempotent.
    public func invalidate() {
        core.invalidate()
        channel?.finish(.success(()))
    }

    // MARK: Calls that do not wait

    /// Delivers the packets of all frames accepted before this call, then calls `completion` once on one of the
    /// session's threads.
    ///
    /// `completion` may make blocking calls. It must not wait for a task that uses the `async` calls of the session:
    /// they run on the same thread.
    public func flush(completion: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        caller.add { [core] in
            completion(Result { try core.with { try $0.encoder.completeFrames(until: nil) } })
        }
    }

    /// Changes the rate, frame rate or QP for the frames that are encoded after the call, without an IDR picture and
    /// without draining the pipeline.
    ///
    /// `configuration` returns the new values, as after `set`. Related requested values change too: the QP of I and B
    /// pictures with the QP of P pictures, and the highest rate with the average. A requested highest rate stays if the
    /// new average does not exceed it, except in CBR.
    ///
    /// - Throws: `unavailable` for a value that the encoder cannot change while it runs; nothing has changed in that
    ///   case.
    public func change(_ change: RunningChange) throws { try core.change(change) }

    /// Checks changes that will be made one after the other, without making them.
    func check(_ changes: [RunningChange]) throws { try core.with(waits: false) { try $0.encoder.check(changes) } }

    /// Reports to the encoder that a receiver lost frames. Later pictures do not predict from these frames, or from
    /// pictures that depend on them. If no other reference remains, the next frame is a key frame.
    ///
    /// - Parameter displayIndices: The display indices of the lost frames. Frames of an earlier format are ignored.
    /// - Throws: `unavailable` if the encoder does not choose its references; `usage` in the session's handler.
    public func invalidateReferences(displayIndices: [Int]) throws {
        try core.with { stage in
            // No picture predicts across formats.
            let encoderIndices = displayIndices.filter { $0 >= stage.frames }.map { $0 - stage.frames }
            if !encoderIndices.isEmpty { try stage.encoder.invalidateReferences(displayIndices: encoderIndices) }
        }
    }

    /// Marks packets as received. From the next frame on, `FrameOptions.refreshFromLongTerm` may predict from them. The
    /// effect is the same as with `FrameOptions.acknowledgedTokens`, for callers that receive the acknowledgements
    /// separately.
    ///
    /// - Parameter tokens: The `acknowledgementToken` values of the packets.
    public func acknowledge(_ tokens: [Int]) { core.state.withLock { $0.acknowledged += tokens } }

    // MARK: Asynchronous calls

    /// Allocates everything that encoding needs, so that the first frame is not delayed.
    public func prepare() async throws {
        try await caller.run { [core] _ in try core.with { try $0.encoder.prepare() } }
    }

    /// Returns a buffer to draw a frame into, as the blocking form does. Suspends while all buffers are in use.
    public func makePixelBuffer() async throws -> any PixelBuffer {
        try await bufferMaker.run(.abandons) { [self] _ in try makePixelBuffer() }
    }

    /// Accepts a frame, as the blocking form does. Suspends while the pipeline is full, and while `packetCapacity`
    /// packets are unread. A call that throws a `CancellationError` has not accepted the frame.
    public func encode(
        _ buffer: any PixelBuffer, presentation: MediaTime, duration: MediaTime? = nil,
        options: FrameOptions = FrameOptions()
    ) async throws {
        let timing = FrameTiming(presentation: presentation, duration: duration)
        try await frames.run { [self] request in
            request.whenCancelled { [channel] in channel?.wake() }
            try encode(buffer, timing: timing, options: options, from: nil, isCancelled: { request.isCancelled })
        }
    }

    /// Suspends until the packets of all frames with a presentation time up to `time` are delivered. nil means all
    /// frames. A cancelled call only stops waiting.
    public func completeFrames(until time: MediaTime? = nil) async throws {
        try await caller.run(.abandons) { [core] _ in try core.completeFrames(until: time) }
    }

    /// Suspends until the packets of all frames accepted so far are delivered. A cancelled call only stops waiting.
    public func flush() async throws { try await completeFrames() }

    /// Delivers the frames accepted so far, then reinitializes the device's encoder. The next frame is a key frame.
    public func refresh() async throws {
        try await caller.run { [core] _ in try core.with { try $0.encoder.refresh() } }
    }
}
