import DecodeSession
import Threads
public import VAAPI
public import VideoBase

/// A decoding session: it accepts NAL units and returns pictures in presentation order. The counterpart of
/// VTDecompressionSession.
///
/// docs/LIBRARY.md has an example.
///
/// Parameter sets come from the stream or from `DecompressionConfiguration.record`. Each picture is either delivered or
/// skipped with a reason; references that were lost are not concealed. If the bytes do not have the declared framing,
/// the call throws `badInput`, accepts none of the bytes, and the session continues. `usage` does not end a session
/// either; after `invalidate`, all calls throw it. An error of any other category means that the session has ended.
///
/// Cancellation: if the task of a call is cancelled, the call throws a `CancellationError` and accepts none of its
/// bytes. If the bytes are already accepted, the call returns as usual and decoding continues. A cancelled `finish`
/// only stops waiting.
///
/// If a device decodes, the pictures stay on it, and their buffers are surfaces. If the device rejects the stream or
/// fails twice, decoding falls back to libavcodec, and `backend` reports it. Each operation has a blocking and an
/// `async` form. The compiler rejects the blocking form in asynchronous code, as in `CompressionSession`.
public final class DecompressionSession: Sendable {
    /// Receives pictures, or the error that ends the session.
    public typealias Handler = @Sendable (Result<DecodedOutput, any Error>) -> Void

    private let core: DecompressionCore
    private let channel: DeliveryChannel<DecodedOutput>?
    private let thread = SerialThread("vaenc-decode")

    /// Creates a session whose pictures are read from `outputs`.
    ///
    /// - Parameters:
    ///   - configuration: The stream and the requested pictures.
    ///   - device: The device that decodes. `auto` uses the first GPU that decodes the codec, else libavcodec.
    ///   - requireHardware: Whether decoding in software is an error.
    ///   - capacity: The number of unread results at which `decode` waits for the reader. Unread pictures on a device
    ///     keep its surfaces in use.
    /// - Throws: `usage` for an invalid configuration, `badInput` for a malformed record, `unavailable` if the device
    ///   does not exist, or if hardware is required and the device does not decode the codec.
    public convenience init(
        configuration: DecompressionConfiguration, device: DeviceSelector = .auto, requireHardware: Bool = false,
        capacity: Int = 16
    ) throws {
        let channel = try DeliveryChannel<DecodedOutput>(requested: capacity, as: "capacity", of: "pictures")
        try self.init(configuration, device: device, requireHardware: requireHardware, channel: channel) { channel.add($0) }
    }

    /// Creates a session that calls `handler` for each result, on a thread that is inside `decode` or `finish`. A
    /// failure that ends the session is the last call.
    ///
    /// In the handler, `decode` and `finish` throw `usage`, because they would wait for the handler. `statistics`,
    /// `backend` and `invalidate` are allowed. If the handler waits for another thread or task that calls `decode` or
    /// `finish`, it waits forever.
    ///
    /// - Throws: The errors of the initializer without a handler, except the one for the capacity.
    public convenience init(
        configuration: DecompressionConfiguration, device: DeviceSelector = .auto, requireHardware: Bool = false,
        handler: @escaping Handler
    ) throws {
        try self.init(configuration, device: device, requireHardware: requireHardware, channel: nil, outlet: handler)
    }

    private init(
        _ configuration: DecompressionConfiguration, device: DeviceSelector, requireHardware: Bool,
        channel: DeliveryChannel<DecodedOutput>?, outlet: @escaping Handler
    ) throws {
        self.channel = channel
        let (device, backend) = try DecodeBackend.choose(device, configuration.codec, requireHardware: requireHardware)
        core = try DecompressionCore(configuration, on: device, backend: backend, outlet: outlet)
    }

    deinit { channel?.finish(.success(())) }

    /// The results for the pictures, for one reader at a time. The sequence is empty if the session has a handler.
    public var outputs: DecodedSequence {
        if let channel { return DecodedSequence(channel: channel) }
        let none = DeliveryChannel<DecodedOutput>(capacity: 1, of: "pictures")
        none.finish(.success(()))
        return DecodedSequence(channel: none)
    }

    /// The numbers of pictures that were accepted, delivered and skipped.
    public var statistics: DecoderStatistics { core.statistics }

    /// The device or library that decodes. It can change: a device may reject the stream when the first picture is
    /// decoded.
    public var backend: DecodeBackend { core.backend }

    // MARK: Calls that block

    /// Accepts the NAL units of one picture. If the units of several pictures are passed, all these pictures get the
    /// same time. Blocks while the pictures are decoded, and while `capacity` results are unread.
    ///
    /// - Parameters:
    ///   - bytes: The NAL units, in the framing of the configuration.
    ///   - presentation: The presentation time.
    ///   - duration: The time for which the picture is shown; nil if it is not known.
    ///   - isolation: The caller's actor.
    /// - Throws: `badInput` if the bytes do not have the declared framing; `usage` after `invalidate`; the error that
    ///   ended the session. `usage` if `capacity` results are unread and their reader cannot run, as in
    ///   `CompressionSession.encode`. `usage` if delivered pictures hold all surfaces of the device, and none is
    ///   released within the device's time limit. In this one case, the bytes were accepted: release pictures, and
    ///   continue with the next access unit.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func decode(
        _ bytes: [UInt8], presentation: MediaTime, duration: MediaTime? = nil, isolation: isolated (any Actor)? = #isolation
    ) throws {
        let timing = FrameTiming(presentation: presentation, duration: duration)
        try decode(bytes, timing, endsPicture: true, from: BlockingCall(on: isolation))
    }

    /// Accepts one or more NAL units of a picture that may be incomplete. The picture is complete when the next one
    /// begins, or after `finish`. Parameters, blocking and errors are those of the form for whole pictures.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func decode(
        unit bytes: [UInt8], presentation: MediaTime, duration: MediaTime? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        let timing = FrameTiming(presentation: presentation, duration: duration)
        try decode(bytes, timing, endsPicture: false, from: BlockingCall(on: isolation))
    }

    /// Delivers all pictures that were accepted. Blocks. More pictures may follow, beginning with a key picture.
    ///
    /// - Throws: `usage` after `invalidate` and in the session's handler; the error that ended the session.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func finish() throws { try core.with { try $0.finish() } }

    /// Ends the session. Pictures that were not delivered stay pending. Delivered pictures can still be read.
    /// Idempotent.
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
            try request?.commit()
            try $0.decode(bytes, timing, endsPicture: endsPicture)
        }
    }

    // MARK: Asynchronous calls

    /// Accepts the NAL units of one picture, as the blocking form does. A call that throws a `CancellationError` has
    /// accepted none of the bytes.
    public func decode(_ bytes: [UInt8], presentation: MediaTime, duration: MediaTime? = nil) async throws {
        try await run(bytes, FrameTiming(presentation: presentation, duration: duration), endsPicture: true)
    }

    /// Accepts one or more NAL units of a picture that may be incomplete, as the blocking form does. A call that throws
    /// a `CancellationError` has accepted none of the bytes.
    public func decode(unit bytes: [UInt8], presentation: MediaTime, duration: MediaTime? = nil) async throws {
        try await run(bytes, FrameTiming(presentation: presentation, duration: duration), endsPicture: false)
    }

    /// Delivers all pictures that were accepted. A cancelled call only stops waiting. More pictures may follow,
    /// beginning with a key picture.
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
