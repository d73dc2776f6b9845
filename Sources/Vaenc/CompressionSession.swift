public import VAAPI
public import VideoBase

/// An encoding session: frames in, access units out. What VTCompressionSession is to Apple's systems.
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
///     try await session.completeFrames()  // Every packet is out,
///     session.invalidate()  // the packets end,
///     try await reader.value  // and every packet is read.
/// }
///
/// try await encodeFrames()
/// ```
///
/// Every operation that may wait exists twice: as a call that blocks, for a thread of your own, and as an
/// `async` one that suspends; the work itself always runs on the session's threads. The compiler refuses the blocking one
/// in asynchronous code. That includes the top level of a main.swift that uses `await`, where Swift chooses the blocking
/// one: write a function there, as above. Packets come in decoding order, either through `packets` or through the handler
/// given at creation. The session may be used from several threads; the order of frames is the order in which `encode`
/// was entered.
///
/// Back-pressure: `makePixelBuffer` waits while all buffers are in use, and `encode` while the pipeline is full or
/// `packetCapacity` packets are unread. Nothing else waits for a reader: completing, flushing and swapping go on beside an
/// `encode` that does, and mean the frames taken before.
/// A blocking `encode` does not wait for a reader that runs on the actor, or on the main thread, that it blocks: it throws. Where
/// a task calls it through a function that is on no actor, the actor is not known: it throws if nothing ran where the reader
/// runs for 30 seconds.
///
/// Cancellation: a call whose task is cancelled throws a `CancellationError`. `encode` then has not taken the frame; once
/// a frame is taken, it returns as if nothing had happened. `completeFrames` and `flush` only stop waiting.
public final class CompressionSession: Sendable {
    let core: SessionCore
    /// Orders frames. Apart from `caller`: a frame may have to wait for a reader, which nothing else does.
    let frames = SerialThread()
    let caller = SerialThread()
    /// Apart from `caller`: a buffer may come free by a frame that another task hands in.
    let bufferMaker = SerialThread()
    let channel: PacketChannel?

    /// Creates a session whose packets are read from `packets`.
    ///
    /// - Parameter packetCapacity: unread packets at which `encode` waits for the reader. Where nobody reads before all
    ///   is encoded, it must hold the whole stream.
    /// - Throws: a `DescribedError`: no such device, no permission, a size or option that no device can do; `usage` for a capacity below 1.
    public convenience init(
        configuration: EncoderConfiguration, device: DeviceSelector = .auto, requireHardware: Bool = false,
        packetCapacity: Int = 256
    ) throws {
        let channel = try PacketChannel(asked: packetCapacity, as: "packetCapacity")
        try self.init(configuration, device, requireHardware, channel: channel) { channel.add($0) }
    }

    /// Creates a session that calls `handler` for each access unit, in decoding order, on a thread of the
    /// session's; a failure comes once and is the last call. A handler that is slow slows the encoder down.
    ///
    /// Calls that may wait for packets throw `usage` in the handler, which they would wait for: `prepare`, `makePixelBuffer`, `encode`,
    /// `completeFrames`, `flush`, `refresh`, `swap`, `invalidateReferences`, `encoderDescription` and the properties that are read from
    /// it. During a swap `change` and `set` do too. All others may be called: the counts, `choice`, `configuration`, `acknowledge`,
    /// `flush(completion:)`, `invalidate`. A handler that waits for another thread or a task which makes such a call waits for ever.
    public convenience init(
        configuration: EncoderConfiguration, device: DeviceSelector = .auto, requireHardware: Bool = false,
        handler: @escaping PacketHandler
    ) throws {
        try self.init(configuration, device, requireHardware, channel: nil, handler)
    }

    /// Creates a session that calls `handler` for each NAL unit, with parameter sets apart; otherwise as with a handler
    /// of packets.
    public convenience init(
        unitsOf configuration: EncoderConfiguration, device: DeviceSelector = .auto, requireHardware: Bool = false,
        handler: @escaping UnitHandler
    ) throws {
        let splitter = UnitSplitter(handler)
        try self.init(configuration, device, requireHardware, channel: nil) { splitter.add($0) }
    }

    private init(
        _ configuration: EncoderConfiguration, _ device: DeviceSelector, _ requireHardware: Bool,
        channel: PacketChannel?, _ outlet: @escaping PacketHandler
    ) throws {
        core = try SessionCore(
            configuration, device: device, requireHardware: requireHardware, relay: PacketRelay(outlet))
        self.channel = channel
    }

    /// The device is let go on a thread of the session's: this may be one of the encoder's, in a handler.
    deinit {
        if core.isInvalidated { return }
        caller.add { [core, channel] in
            core.invalidate()
            channel?.finish(.success(()))
        }
    }

    /// The packets, for one reader at a time; empty for a session with a handler.
    public var packets: PacketSequence {
        PacketSequence(channel: channel ?? { let none = PacketChannel(capacity: 1); none.finish(.success(())); return none }())
    }

    /// Packets that nobody has read yet.
    public var unreadPacketCount: Int { channel?.unreadCount ?? 0 }

    /// Why this device and codec were taken, one line for a person.
    public var choice: EncoderChoice { core.state.withLock { $0.stage.choice } }

    /// What was asked of the session; `encoderDescription` has what it uses. `codec` is the session's codec also if none was
    /// asked for; then `wantedCodec` is nil, and another session or a swap with this configuration chooses again.
    public var configuration: EncoderConfiguration {
        core.state.withLock { state in
            var configuration = state.configuration
            // A property that was set since may have decided otherwise.
            if configuration.wantedCodec == nil {
                configuration.chosenCodec = CodecChoice.bound(by: configuration)?.codec ?? state.stage.choice.codec
            }
            return configuration
        }
    }

    /// What the session turned out to be, with the effective configuration; prepares it if that was not done. Blocks while the device is
    /// reinitialized. Throws `usage` in the session's handler.
    public var encoderDescription: EncoderDescription {
        get throws {
            try core.with { stage in
                try stage.encoder.prepare()
                return try stage.choice.completed(stage.encoder.encoderDescription, configuration)
            }
        }
    }

    /// Frames taken, delivered and dropped, and what the session survived, over all its formats.
    public var statistics: EncoderStatistics { core.statistics }

    /// Frames taken and not yet delivered.
    public var pendingFrameCount: Int { core.state.withLock { $0.stage }.encoder.pendingFrameCount }

    // MARK: Calls that block

    /// Allocates what encoding needs, so that the first frame does not pay for it. Blocks.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func prepare() throws { try core.with { try $0.encoder.prepare() } }

    /// A buffer in the device's own memory to draw into; dropping it gives it back. Blocks while all are in use.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func makePixelBuffer() throws -> any PixelBuffer {
        while true {
            // Not inside: others must be able to go on, and to give buffers back.
            let stage = try core.present()
            do {
                return try stage.encoder.makePixelBuffer()
            } catch {
                if !core.hasReplaced(stage) { throw error }
            }
        }
    }

    /// Takes a frame; blocks while the pipeline or the packets are full. Presentation times must increase, over swaps
    /// too, and lie within 2^40 seconds of zero, in fewer than 2^62 ticks; `duration` may be 0, and nothing less.
    ///
    /// - Parameter isolation: the caller's actor.
    /// - Throws: `usage` if the packets are full and their reader runs on the actor, or the main thread, that this call
    ///   blocks; in a task or on the main thread also if no reader has begun within five seconds, or nothing ran where the reader
    ///   runs for 30 seconds.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func encode(
        _ buffer: any PixelBuffer, presentation: MediaTime, duration: MediaTime? = nil,
        options: FrameOptions = FrameOptions(), isolation: isolated (any Actor)? = #isolation
    ) throws {
        let timing = FrameTiming(presentation: presentation, duration: duration)
        try encode(buffer, timing, options, from: BlockingCall(on: isolation), isCancelled: { false })
    }

    /// - Parameter caller: nil on a thread of the session's.
    func encode(
        _ buffer: any PixelBuffer, _ timing: FrameTiming, _ options: FrameOptions, from caller: BlockingCall?,
        isCancelled: () -> Bool
    ) throws {
        try timing.check()
        try channel?.waitForRoom(caller, isCancelled)
        try core.encode(at: timing.presentation) { stage in
            var options = options
            let acknowledged = core.state.withLock { state in
                defer { state.acknowledged = [] }
                return state.acknowledged
            }
            options.acknowledgedTokens = (options.acknowledgedTokens + acknowledged).compactMap {
                PacketRelay.Token.encoder($0, format: stage.format)
            }
            do { try stage.encoder.encode(buffer, timing: timing, options: options) } catch {
                // They go with the next frame that is taken.
                core.state.withLock { $0.acknowledged = acknowledged + $0.acknowledged }
                throw error
            }
        }
    }

    /// Blocks until the packets of all frames up to `time` (nil: of all) were delivered.
    ///
    /// - Throws: `usage` also for a time without a positive timescale.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func completeFrames(until time: MediaTime? = nil) throws { try core.completeFrames(until: time) }

    /// Blocks until the packets of all frames taken were delivered.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func flush() throws { try completeFrames() }

    /// Delivers the frames taken, then has the device's side made anew: the next frame is a key frame. Blocks.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func refresh() throws { try core.with { try $0.encoder.refresh() } }

    /// Ends the session and frees the device's objects; frames that were not completed are dropped, and counted so.
    /// Packets that came out can still be read. Waits for a handler that is running, but not in that handler. Idempotent.
    public func invalidate() {
        core.invalidate()
        channel?.finish(.success(()))
    }

    // MARK: What does not wait

    /// Has the packets of all frames taken before this call delivered; `completion` is called once, on a thread of the
    /// session's. It may make every call that blocks; it must not wait for a task that uses the session's asynchronous forms, which run on
    /// that thread.
    public func flush(completion: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        caller.add { [core] in
            completion(Result { try core.with { try $0.encoder.completeFrames(until: nil) } })
        }
    }

    /// Applies to the frames encoded after the call, with no IDR picture and no drain. `configuration` has it from then
    /// on, as after `set`, and so what was asked for that goes with it: the highest rate with the average, the QP of I and
    /// B pictures with that of P pictures.
    ///
    /// - Throws: `unavailable` for what the encoder cannot change while it runs; then nothing changed.
    public func change(_ change: RunningChange) throws { try core.change(change) }

    /// A receiver lost these frames (by display index): nothing coded afterwards predicts from them or from pictures
    /// that do. Where nothing else is left, the next frame is a key frame. Throws `usage` in the session's handler.
    public func invalidateReferences(displayIndices: [Int]) throws {
        try core.with { stage in
            // Nothing predicts across formats.
            let own = displayIndices.filter { $0 >= stage.frames }.map { $0 - stage.frames }
            if !own.isEmpty { try stage.encoder.invalidateReferences(displayIndices: own) }
        }
    }

    /// The receiver has the packets with these tokens: `FrameOptions.refreshFromLongTerm` may predict from them, from
    /// the next frame on. The same as `FrameOptions.acknowledgedTokens`, for callers that hear of them apart.
    public func acknowledge(_ tokens: [Int]) { core.state.withLock { $0.acknowledged += tokens } }

    // MARK: The same for tasks

    public func prepare() async throws {
        try await caller.run { [core] _ in try core.with { try $0.encoder.prepare() } }
    }

    public func makePixelBuffer() async throws -> any PixelBuffer {
        try await bufferMaker.run(.abandons) { [self] _ in try makePixelBuffer() }
    }

    public func encode(
        _ buffer: any PixelBuffer, presentation: MediaTime, duration: MediaTime? = nil,
        options: FrameOptions = FrameOptions()
    ) async throws {
        let timing = FrameTiming(presentation: presentation, duration: duration)
        try await frames.run { [self] request in
            request.whenCancelled { [channel] in channel?.wake() }
            try encode(buffer, timing, options, from: nil, isCancelled: { request.isCancelled })
        }
    }

    public func completeFrames(until time: MediaTime? = nil) async throws {
        try await caller.run(.abandons) { [core] _ in try core.completeFrames(until: time) }
    }

    public func flush() async throws { try await completeFrames() }

    public func refresh() async throws {
        try await caller.run { [core] _ in try core.with { try $0.encoder.refresh() } }
    }
}
