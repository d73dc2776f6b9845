public import MediaFiles
import VideoBase

/// A container that is written while its samples come: start, append, stop or cancel.
///
/// It may be used from any thread; a thread of its own writes, in the order of the calls, so that none of them waits for a disk or
/// a network. Pictures come as an encoder gives them; sound, and other tracks, as packets with their times on the same
/// clock. The first sample of either kind is time zero.
public final class MediaMuxer: Sendable {
    public struct Configuration: Sendable {
        /// A file, or `rtmp://…`, `srt://…`.
        public var output: String
        /// What is to come: nothing is written before each is described. Pictures always.
        public var kinds: Set<MediaTrack.Kind> = [.video]
        /// The format by the extension, and whether an existing file is replaced.
        public var options = SinkOptions()
        /// Samples that wait to be written at most, so that a disk or network that stands still does not fill the memory.
        public var queueLimit = 1000

        public init(output: String) { self.output = output }
    }

    private struct State {
        var sink: (any PacketSink)?
        var description: EncoderDescription?
        var tracks: [MediaTrack] = []
        /// The sink's numbers of the tracks.
        var numbers: [Int] = []
        var isWriting = false
        /// A sample was given to the sink.
        var hasWritten = false
        /// Samples that came before everything was described.
        var early: [Sample] = []
        var waiting = 0
        var isStarted = false
        var isCancelled = false
        var hasEnded = false
        var failure: (any Error)?
    }

    private enum Sample: Sendable {
        case picture(EncodedPacket)
        case packet(TrackPacket, MediaTrack)
    }

    private let configuration: Configuration
    private let onError: (@Sendable (any Error) -> Void)?
    private let thread = SerialThread()
    private let state = Monitor(State())

    /// - Parameter onError: is called once, on a thread of the muxer's, with what ends it before its end. It may call the muxer, but
    ///   for the `stop` that blocks: that throws there.
    public init(_ configuration: Configuration, onError: (@Sendable (any Error) -> Void)? = nil) {
        self.configuration = configuration
        self.onError = onError
    }

    /// Opens the output. What fails is told by `onError` and `stop`.
    public func start() {
        perform { [configuration] muxer in
            if muxer.state.withLock({ state in
                defer { state.isStarted = true }
                return state.isStarted
            }) { throw VaencError(.usage, "the muxer was started already", remedy: "make another one for another output") }
            guard configuration.queueLimit > 0 else {
                throw VaencError(.usage, "queueLimit \(configuration.queueLimit) is out of range", remedy: "give 1 or more")
            }
            let sink = try MediaOutput.open(configuration.output, options: configuration.options)
            // Cancelled meanwhile.
            if muxer.state.withLock({ if !$0.hasEnded { $0.sink = sink }; return $0.hasEnded }) { return sink.cancel() }
            try muxer.begin()
        }
    }

    /// Says what the encoder makes: once, before its packets.
    public func describe(_ description: EncoderDescription) {
        perform { muxer in
            try muxer.checkIsDescribing()
            muxer.state.withLock { $0.description = description }
            try muxer.begin()
        }
    }

    /// Says what another track is, before its packets.
    public func describe(_ track: MediaTrack) {
        perform { muxer in
            try muxer.checkIsDescribing()
            muxer.state.withLock { $0.tracks.append(track) }
            try muxer.begin()
        }
    }

    public func append(_ packet: EncodedPacket) { append(.picture(packet)) }
    public func append(_ packet: TrackPacket, of track: MediaTrack) { append(.packet(packet, track)) }

    private func checkIsDescribing() throws {
        if !state.withLock({ $0.isWriting }) { return }
        throw VaencError(
            .usage, "a track of \(configuration.output) was described after writing began",
            remedy: "name its kind in kinds, and describe the encoder's pictures once, as the last")
    }

    /// Finishes the file, after what was appended, and gives it its name. Once: the file is complete then, and a second call fails. If
    /// nothing was appended, it fails with `usage`, and there is no file.
    /// - Parameter completion: is called once, on a thread of the muxer's. It may call the muxer, but for the `stop` that blocks: that
    ///   throws there.
    public func stop(_ completion: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        thread.add { [self] in
            if let failure = state.withLock({ $0.failure }) { return completion(.failure(failure)) }
            guard let sink = state.withLock({ state in
                defer { state.hasEnded = true }
                return state.hasEnded ? nil : state.sink
            }) else { return completion(.failure(notWriting)) }
            let (isWriting, hasWritten) = state.withLock { ($0.isWriting, $0.hasWritten) }
            var result = Result {
                if !isWriting { throw VaencError(.usage, "nothing was described, and nothing is written") }
                if !hasWritten {
                    throw VaencError(
                        .usage, "no packet came for \(configuration.output), and nothing is written", remedy: "append packets before stop, or call cancel")
                }
                try sink.finish()
            }
            if case .failure(let error) = result {
                let told = sink.abandon(after: error)
                state.withLock { $0.failure = told }
                result = .failure(told)
            }
            completion(result)
        }
    }

    /// Why there is nothing to stop.
    private var notWriting: VaencError {
        let (isStarted, isCancelled) = state.withLock { ($0.isStarted, $0.isCancelled) }
        let output = configuration.output
        if isCancelled { return VaencError(.usage, "writing \(output) was cancelled", remedy: "call cancel or stop, not both") }
        return isStarted
            ? VaencError(.usage, "writing \(output) was stopped already", remedy: "call stop once")
            : VaencError(.usage, "writing \(output) was not started", remedy: "call `start` first")
    }

    /// As above, for a thread of one's own: blocks.
    ///
    /// - Throws: what ended the muxer before; `usage` in `onError` and in a completion, which this call would wait for.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func stop() throws {
        if thread.isCurrent {
            throw VaencError(
                .usage, "stop was called on the muxer's own thread, which it would wait for", remedy: "call stop with a completion there")
        }
        let ended = Monitor<Result<Void, any Error>?>(nil)
        stop { result in ended.withLock { $0 = result } }
        try ended.wait { $0 }.get()
    }

    /// The same for tasks.
    public func stop() async throws {
        try await withCheckedThrowingContinuation { continuation in stop { continuation.resume(with: $0) } }
    }

    /// Ends writing; nothing stays under the output's name. Idempotent, and harmless after `stop`.
    public func cancel() {
        let sink = state.withLock { state in
            if !state.hasEnded { state.isCancelled = true }
            defer { state.hasEnded = true }
            state.early = []
            return state.hasEnded ? nil : state.sink
        }
        sink?.hurry()
        thread.add { sink?.cancel() }
    }

    private func append(_ sample: Sample) {
        let fits = state.withLock { state in
            state.waiting += 1
            return state.waiting <= configuration.queueLimit
        }
        guard fits else {
            return perform { _ in
                throw VaencError(.inputOutput, "writing \(self.configuration.output) is too slow: samples would be lost")
            }
        }
        perform { muxer in
            let waits = muxer.state.withLock { state in
                state.waiting -= 1
                if !state.isWriting { state.early.append(sample) }
                return !state.isWriting
            }
            if !waits { try muxer.write(sample) }
        }
    }

    /// Runs on the muxer's thread, unless that has ended; an error ends it.
    private func perform(_ body: @escaping @Sendable (MediaMuxer) throws -> Void) {
        thread.add { [self] in
            if state.withLock({ $0.hasEnded }) { return }
            do { try body(self) } catch {
                let sink = state.withLock { state in
                    state.hasEnded = true
                    return state.sink
                }
                let told = sink?.abandon(after: error) ?? error
                state.withLock { $0.failure = told }
                onError?(told)
            }
        }
    }

    /// Once everything is described, tells the sink, and writes what came before.
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
        let (sink, tracks, numbers) = state.withLock { ($0.sink, $0.tracks, $0.numbers) }
        switch sample {
        case .picture(let packet): try sink?.write(packet)
        case .packet(let packet, let track):
            guard let place = tracks.firstIndex(where: { $0 === track }) else {
                throw VaencError(.usage, "a packet came of a track that was not described")
            }
            try sink?.write(packet, track: numbers[place])
        }
        state.withLock { $0.hasWritten = true }
    }
}
