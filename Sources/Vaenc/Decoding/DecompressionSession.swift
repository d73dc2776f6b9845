import DecodeSession
public import VAAPI
public import VideoBase

/// A decoding session: NAL units in, pictures in presentation order out. What VTDecompressionSession is to Apple's systems.
///
/// docs/LIBRARY.md has a program.
///
/// Parameter sets are learned from the stream, or given in `DecompressionConfiguration.record`. Every picture that is taken is
/// delivered or skipped for a reason: what refers to pictures that were lost is not made up. Bytes that are not framed as was
/// said are an error of the call (`badInput`), and nothing of them is taken; the session goes on. An error of category
/// `usage` means a session that was invalidated, any other one that has ended.
///
/// Cancellation: a call whose task is cancelled throws a `CancellationError`, and nothing of its bytes is taken. Once they are
/// taken, it returns as if nothing had happened, and the work goes on without it. `finish` only stops waiting.
///
/// Where a device decodes, pictures stay on it, and their buffers are surfaces; where it does not take the stream, or fails
/// twice, libavcodec goes on in software: `place` says so. Every operation exists as a call that blocks and as an `async` one; the compiler
/// refuses the blocking one in asynchronous code, as in `CompressionSession`.
public final class DecompressionSession: Sendable {
    public typealias Handler = @Sendable (Result<DecodedOutput, any Error>) -> Void

    private let core: DecompressionCore
    private let channel: DeliveryChannel<DecodedOutput>?
    private let thread = SerialThread()

    /// Creates a session whose pictures are read from `outputs`.
    ///
    /// - Parameter capacity: unread results at which `decode` waits for the reader. On a device, pictures that nobody reads keep
    ///   its surfaces.
    /// - Throws: `usage` for a configuration that makes no sense, `badInput` for a broken record, `unavailable` for a device that
    ///   is not there, or does not decode where hardware is required.
    public convenience init(
        configuration: DecompressionConfiguration, device: DeviceSelector = .auto, requireHardware: Bool = false,
        capacity: Int = 16
    ) throws {
        let channel = try DeliveryChannel<DecodedOutput>(asked: capacity, as: "capacity", of: "pictures")
        try self.init(configuration, device, requireHardware, channel) { channel.add($0) }
    }

    /// Creates a session that calls `handler` for each picture, on the thread of the call that made it ready. A failure that ends the
    /// session is the last call.
    ///
    /// `decode` and `finish` throw `usage` in the handler, whose own call they would wait for. `statistics`, `place` and `invalidate` may be
    /// called. A handler that waits for another thread or a task which calls `decode` or `finish` waits for ever.
    public convenience init(
        configuration: DecompressionConfiguration, device: DeviceSelector = .auto, requireHardware: Bool = false,
        handler: @escaping Handler
    ) throws {
        try self.init(configuration, device, requireHardware, nil, handler)
    }

    private init(
        _ configuration: DecompressionConfiguration, _ device: DeviceSelector, _ requireHardware: Bool,
        _ channel: DeliveryChannel<DecodedOutput>?, _ outlet: @escaping Handler
    ) throws {
        self.channel = channel
        let (device, place) = try DecodeBackend.choose(device, configuration.codec, requireHardware: requireHardware)
        core = try DecompressionCore(configuration, on: device, place, outlet)
    }

    deinit { channel?.finish(.success(())) }

    /// What became of the pictures, for one reader at a time; empty for a session with a handler.
    public var outputs: DecodedSequence {
        if let channel { return DecodedSequence(channel: channel) }
        let none = DeliveryChannel<DecodedOutput>(capacity: 1, of: "pictures")
        none.finish(.success(()))
        return DecodedSequence(channel: none)
    }

    /// Pictures taken, delivered and skipped.
    public var statistics: DecoderStatistics { core.statistics }

    /// Where pictures are decoded, as far as it is known yet.
    public var place: DecodeBackend { core.place }

    // MARK: Calls that block

    /// Takes the NAL units of a picture. Several pictures' units may be given at once: they have one time.
    ///
    /// - Parameter isolation: the caller's actor.
    /// - Throws: `badInput` for bytes that are not framed as was said; `usage` after `invalidate`; what ended the session;
    ///   `usage` if the pictures are full and their reader cannot run, as in `CompressionSession.encode`; `usage` if all of a
    ///   device's surfaces are held by pictures that were given, and none comes back in the time that the device is allowed:
    ///   nothing is lost, and the next call goes on.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func decode(
        _ bytes: [UInt8], presentation: MediaTime, duration: MediaTime? = nil, isolation: isolated (any Actor)? = #isolation
    ) throws {
        let timing = FrameTiming(presentation: presentation, duration: duration)
        try decode(bytes, timing, endsPicture: true, from: BlockingCall(on: isolation))
    }

    /// Takes a NAL unit, or several, of a picture that may go on: it is complete when the next one begins, or with `finish`.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func decode(
        unit bytes: [UInt8], presentation: MediaTime, duration: MediaTime? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        let timing = FrameTiming(presentation: presentation, duration: duration)
        try decode(bytes, timing, endsPicture: false, from: BlockingCall(on: isolation))
    }

    /// Has all pictures come out. The stream may go on, with a key picture.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func finish() throws { try core.with { try $0.finish() } }

    /// Ends the session: pictures that did not come out stay pending. What came out can still be read. Idempotent.
    public func invalidate() {
        core.invalidate()
        channel?.finish(.success(()))
    }

    private func decode(
        _ bytes: [UInt8], _ timing: FrameTiming, endsPicture: Bool, from caller: BlockingCall?,
        request: SerialThread.Request? = nil
    ) throws {
        try timing.check()
        try channel?.waitForRoom(caller) { request?.isCancelled ?? false }
        try core.with {
            try request?.take()
            try $0.decode(bytes, timing, endsPicture: endsPicture)
        }
    }

    // MARK: The same for tasks

    public func decode(_ bytes: [UInt8], presentation: MediaTime, duration: MediaTime? = nil) async throws {
        try await run(bytes, FrameTiming(presentation: presentation, duration: duration), endsPicture: true)
    }

    public func decode(unit bytes: [UInt8], presentation: MediaTime, duration: MediaTime? = nil) async throws {
        try await run(bytes, FrameTiming(presentation: presentation, duration: duration), endsPicture: false)
    }

    public func finish() async throws {
        try await thread.run(.abandons) { [core] _ in try core.with { try $0.finish() } }
    }

    private func run(_ bytes: [UInt8], _ timing: FrameTiming, endsPicture: Bool) async throws {
        try await thread.run { [self] request in
            request.whenCancelled { [channel] in channel?.wake() }
            try decode(bytes, timing, endsPicture: endsPicture, from: nil, request: request)
        }
    }
}
