public import MediaFiles
import Threads
import VideoBase

/// Writes a container while its samples arrive: start, append, then stop or cancel.
///
/// A muxer may be used from any thread. Its own thread writes in the order of the calls, so no call waits for a disk or
/// a network, except the blocking `stop`. Pictures are appended as an encoder returns them. Sound and other tracks are
/// appended as packets with times on the same clock. Time zero is the first picture. If sound was appended before it
/// and begins earlier, time zero is the start of that sound. `SinkOptions.timeOrigin` sets another time zero.
public final class MediaMuxer: Sendable {
    /// The output and options of a muxer.
    public struct Configuration: Sendable {
        /// The path of a file, or a URL that begins with `rtmp://` or `srt://`.
        public var output: String
        /// The kinds of tracks that will be described. Writing begins when each kind is described. Video is always
        /// required.
        public var kinds: Set<MediaTrack.Kind> = [.video]
        /// The options of the output. By default, the extension determines the format.
        public var options = SinkOptions()
        /// The maximum number of samples that wait to be written. The limit bounds the memory if a disk or network
        /// stalls, or if a track is never described. If more samples arrive, writing ends with `inputOutput`, or with
        /// `usage` if a description is missing.
        public var queueLimit = 1000

        /// Creates a configuration for an output, with default options.
        public init(output: String) { self.output = output }
    }

    private struct State {
        var sink: (any PacketSink)?
        var description: EncoderDescription?
        var tracks: [MediaTrack] = []
        /// The sink's track numbers, in the order of `tracks`.
        var numbers: [Int] = []
        var isWriting = false
        /// Whether a sample was passed to the sink.
        var hasWritten = false
        /// Samples that arrived before every kind was described.
        var early: [Sample] = []
        /// The number of samples that were appended and not passed to the sink, including `early`.
        var waiting = 0
        /// Whether a sample exceeded the limit. No more samples are accepted then.
        var hasOverflowed = false
        var isStarted = false
        var isCancelled = false
        var hasEnded = false
        /// Whether a call after `stop` was reported.
        var hasReportedLateCall = false
        var failure: (any Error)?
    }

    private enum Sample: Sendable {
        case picture(EncodedPacket)
        case packet(TrackPacket, MediaTrack)
    }

    /// The outputs whose muxers are being cancelled. Another muxer may write such an output when that has ended.
    private static let cancelling = Monitor<[String: Int]>([:])

    private let configuration: Configuration
    private let onError: (@Sendable (any Error) -> Void)?
    private let thread = SerialThread("vaenc-mux")
    private let state = Monitor(State())

    /// Creates a muxer.
    ///
    /// - Parameters:
    ///   - configuration: The output and its options.
    ///   - onError: Called on the muxer's thread: once with the error that ends the muxer early, or once with `usage`
    ///     if `start`, `describe` or `append` is called after `stop`. It may call the muxer, except the blocking
    ///     `stop`, which throws there.
    public init(_ configuration: Configuration, onError: (@Sendable (any Error) -> Void)? = nil) {
        self.configuration = configuration
        self.onError = onError
    }

    /// Opens the output on the muxer's thread. A failure is reported to `onError` and `stop`.
    public func start() {
        perform { [configuration] muxer in
            if muxer.state.withLock({ state in
                defer { state.isStarted = true }
                return state.isStarted
            }) {
                throw VaencError(.usage, "the muxer was started already", remedy: "use a new one for another output")
            }
            guard configuration.queueLimit > 0 else {
                throw VaencError(.usage, "queueLimit \(configuration.queueLimit) is out of range", remedy: "use 1 or more")
            }
            // `cancel` of this muxer ends the wait, too.
            Self.cancelling.wait { outputs -> Void? in
                outputs[configuration.output] == nil || muxer.state.withLock { $0.hasEnded } ? () : nil
            }
            if muxer.state.withLock({ $0.hasEnded }) { return }
            let sink = try MediaOutput.open(configuration.output, options: configuration.options) { [weak muxer] in
                muxer?.state.withLock { $0.isCancelled } ?? true
            }
            // `cancel` was called in the meantime.
            if muxer.state.withLock({
                if !$0.hasEnded { $0.sink = sink }; return $0.hasEnded
            }) {
                return sink.cancel()
            }
            try muxer.begin()
        }
    }

    /// Sets the description of the video track: once, before its packets.
    public func describe(_ description: EncoderDescription) {
        perform { muxer in
            try muxer.checkIsDescribing()
            muxer.state.withLock { $0.description = description }
            try muxer.begin()
        }
    }

    /// Adds another track, before its packets. MP4 and MOV cannot hold a track without samples: such a track is left
    /// out.
    public func describe(_ track: MediaTrack) {
        perform { muxer in
            try muxer.checkIsDescribing()
            muxer.state.withLock { $0.tracks.append(track) }
            try muxer.begin()
        }
    }

    /// Appends an access unit of the encoder. Does not wait; a failure is reported to `onError` and `stop`.
    public func append(_ packet: EncodedPacket) { append(.picture(packet)) }
    /// Appends a packet of a track that was described. Does not wait; a failure is reported to `onError` and `stop`.
    public func append(_ packet: TrackPacket, of track: MediaTrack) { append(.packet(packet, track)) }

    private func checkIsDescribing() throws {
        if !state.withLock({ $0.isWriting }) { return }
        throw VaencError(
            .usage, "a track of \(configuration.output) was described after writing began",
            remedy: "list its kind in the configuration's kinds; describe the video track once, after all others")
    }

    /// Completes the file after all samples that were appended, and renames it to its final name. The file is complete
    /// after the first call; a second call fails. If nothing was appended, the call fails with `usage` and no file
    /// remains. Does not wait.
    ///
    /// - Parameter completion: Called once, on the muxer's thread. It may call the muxer, except the blocking `stop`,
    ///   which throws there.
    public func stop(_ completion: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        thread.add { [self] in
            if let failure = state.withLock({ $0.failure }) { return completion(.failure(failure)) }
            guard
                let sink = state.withLock({ state in
                    defer { state.hasEnded = true }
                    return state.hasEnded ? nil : state.sink
                })
            else { return completion(.failure(notWriting)) }
            let (isWriting, hasWritten) = state.withLock { ($0.isWriting, $0.hasWritten) }
            var result = Result {
                if !isWriting { throw lacksDescription("nothing is written to \(configuration.output)") }
                if !hasWritten {
                    throw VaencError(
                        .usage, "no packet was appended for \(configuration.output): nothing is written",
                        remedy: "append packets before stop, or call cancel")
                }
                try sink.finish()
            }
            if case .failure(let error) = result {
                let reportedError = KeptRecording.error(error, parts: [sink.abandon(after: error)].compactMap { $0 })
                state.withLock { ($0.failure, $0.early) = (reportedError, []) }
                result = .failure(reportedError)
            }
            completion(result)
        }
    }

    /// The error of a `stop` call that finds nothing to stop.
    private var notWriting: VaencError {
        let (isStarted, isCancelled) = state.withLock { ($0.isStarted, $0.isCancelled) }
        let output = configuration.output
        if isCancelled { return VaencError(.usage, "writing \(output) was cancelled", remedy: "call cancel or stop, not both") }
        return isStarted
            ? VaencError(.usage, "writing \(output) was stopped already", remedy: "call stop once")
            : VaencError(.usage, "writing \(output) was not started", remedy: "call `start` first")
    }

    /// Returns the error for samples that cannot be written because a kind of track is not described.
    private func lacksDescription(_ consequence: String) -> VaencError {
        let (tracks, isVideoDescribed) = state.withLock { ($0.tracks, $0.description != nil) }
        // The video track is always required.
        let kinds = configuration.kinds.subtracting(tracks.map(\.kind)).subtracting([.video]).map(\.rawValue).sorted()
        let missing = (isVideoDescribed ? [] : ["video"]) + kinds
        return VaencError(
            .usage, "\(consequence): no track of \(missing.joined(separator: ", ")) was described",
            remedy: kinds.isEmpty
                ? "call describe with the encoder's description before its packets"
                : "call describe for each of the configuration's kinds before its packets, or remove the unused kinds")
    }

    /// The error for more samples than the limit allows. Runs on the muxer's thread, after all earlier calls.
    private var overflow: VaencError {
        let (output, limit) = (configuration.output, configuration.queueLimit)
        let (isStarted, isWriting) = state.withLock { ($0.isStarted, $0.isWriting) }
        if isWriting {
            return VaencError(
                .inputOutput, "writing \(output) is too slow, and its queue of \(limit) samples is full",
                remedy: "raise queueLimit, or use a faster disk or connection")
        }
        let held = "more than \(limit) samples (queueLimit) wait for \(output)"
        return isStarted
            ? lacksDescription(held)
            : VaencError(.usage, "\(held): its muxer was not started", remedy: "call `start` first")
    }

    /// Completes the file, as `stop(_:)` does, and blocks until it is complete.
    ///
    /// - Throws: The error that ended the muxer, or that completing the file causes; `usage` in `onError` and in a
    ///   completion handler, which this call would wait for.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func stop() throws {
        if thread.isCurrent {
            throw VaencError(
                .usage, "stop was called on the muxer's own thread, which it would block",
                remedy: "call stop with a completion handler there")
        }
        let ended = Monitor<Result<Void, any Error>?>(nil)
        stop { result in ended.withLock { $0 = result } }
        try ended.wait { $0 }.get()
    }

    /// Completes the file, as `stop(_:)` does, and suspends until it is complete.
    public func stop() async throws {
        try await withCheckedThrowingContinuation { continuation in stop { continuation.resume(with: $0) } }
    }

    /// Ends writing and removes the incomplete output: no file remains under the output's name. Does not wait: another
    /// muxer of the same output waits until it has ended. Idempotent; has no effect after `stop`.
    public func cancel() {
        let (isFirst, sink) = state.withLock { state in
            if !state.hasEnded { state.isCancelled = true }
            defer { state.hasEnded = true }
            state.early = []
            return (!state.hasEnded, state.hasEnded ? nil : state.sink)
        }
        guard isFirst else { return }
        sink?.abortBlockingIO()
        let output = configuration.output
        Self.cancelling.withLock { $0[output, default: 0] += 1 }
        // A call of `start` that is opening the output comes before this.
        thread.add {
            sink?.cancel()
            Self.cancelling.withLock { outputs in
                let left = outputs[output, default: 1] - 1
                outputs[output] = left > 0 ? left : nil
            }
        }
    }

    private func append(_ sample: Sample) {
        let (fits, isFirst) = state.withLock { state in
            if state.waiting < configuration.queueLimit, !state.hasOverflowed {
                state.waiting += 1
                return (true, false)
            }
            defer { state.hasOverflowed = true }
            return (false, !state.hasOverflowed)
        }
        if isFirst { perform { throw $0.overflow } }
        guard fits else { return }
        perform { muxer in
            let waits = muxer.state.withLock { state in
                if !state.isWriting { state.early.append(sample) }
                return !state.isWriting
            }
            if !waits { try muxer.write(sample) }
        }
    }

    /// Runs `body` on the muxer's thread if the muxer has not ended. If `body` throws, the muxer ends.
    private func perform(_ body: @escaping @Sendable (MediaMuxer) throws -> Void) {
        thread.add { [self] in
            if state.withLock({ $0.hasEnded }) { return reportLateCall() }
            do { try body(self) } catch {
                let sink = state.withLock { state in
                    state.hasEnded = true
                    state.early = []
                    return state.sink
                }
                let reportedError = KeptRecording.error(error, parts: [sink?.abandon(after: error)].compactMap { $0 })
                state.withLock { $0.failure = reportedError }
                onError?(reportedError)
            }
        }
    }

    /// Reports the first call after a `stop` that completed the file. Its sample is not in the file.
    private func reportLateCall() {
        let reports = state.withLock { state in
            defer { state.hasReportedLateCall = true }
            return !state.isCancelled && state.failure == nil && !state.hasReportedLateCall
        }
        guard reports else { return }
        onError?(
            VaencError(
                .usage, "writing \(configuration.output) was stopped already: later packets are not in it",
                remedy: "call stop after the last packet"))
    }

    /// If every kind is described, describes the tracks to the sink and writes the samples that arrived before.
    private func begin() throws {
        let (sink, description, tracks) = state.withLock { ($0.sink, $0.description, $0.tracks) }
        let kinds = Set(tracks.map(\.kind)).union(description == nil ? [] : [.video])
        guard let sink, let description, kinds.isSuperset(of: configuration.kinds) else { return }
        let numbers = try tracks.map { try sink.add($0) }
        try sink.start(description)
        let early = state.withLock { state in
            defer { state.early = [] }
            state.numbers = numbers
            state.isWriting = true
            return state.early
        }
        for sample in early { try write(sample) }
    }

    private func write(_ sample: Sample) throws {
        let (sink, tracks, numbers) = state.withLock { state in
            state.waiting -= 1
            return (state.sink, state.tracks, state.numbers)
        }
        switch sample {
        case .picture(let packet): try sink?.write(packet)
        case .packet(let packet, let track):
            guard let index = tracks.firstIndex(where: { $0 === track }) else {
                throw VaencError(
                    .usage, "a packet was appended to a track that was not described",
                    remedy: "call describe with the track before its packets")
            }
            try sink?.write(packet, track: numbers[index])
        }
        state.withLock { $0.hasWritten = true }
    }
}
