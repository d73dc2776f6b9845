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
        /// The maximum number of samples that wait to be written, so that neither a disk or network that stands still nor a track that is
        /// never described fills the memory. If more come, writing ends: with `inputOutput`, or with `usage` where a description is missing.
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
        /// The number of samples that were appended and not given to the sink, `early` included.
        var waiting = 0
        /// A sample came that was one too many: none is taken any more.
        var hasOverflowed = false
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
            let sink = try MediaOutput.open(configuration.output, options: configuration.options) { [weak muxer] in
                muxer?.state.withLock { $0.isCancelled } ?? true
            }
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

    /// Says what another track is, before its packets. MP4 and MOV hold no track without any: it is left out if none comes.
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
                if !isWriting { throw lacksDescription("nothing is written to \(configuration.output)") }
                if !hasWritten {
                    throw VaencError(
                        .usage, "no packet came for \(configuration.output), and nothing is written", remedy: "append packets before stop, or call cancel")
                }
                try sink.finish()
            }
            if case .failure(let error) = result {
                let told = sink.abandon(after: error)
                state.withLock { ($0.failure, $0.early) = (told, []) }
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

    /// The error of samples that cannot be written before the kinds that are missing are described.
    private func lacksDescription(_ consequence: String) -> VaencError {
        let (tracks, isVideoDescribed) = state.withLock { ($0.tracks, $0.description != nil) }
        // The encoder's pictures are always there.
        let kinds = configuration.kinds.subtracting(tracks.map(\.kind)).subtracting([.video]).map(\.rawValue).sorted()
        let missing = (isVideoDescribed ? [] : ["video"]) + kinds
        return VaencError(
            .usage, "\(consequence): no track of \(missing.joined(separator: ", ")) was described",
            remedy: kinds.isEmpty
                ? "call describe with the encoder's description before its packets"
                : "call describe for each of the configuration's kinds before its packets, or leave out of them what does not come")
    }

    /// The error of more samples than may wait. On the muxer's thread, after all calls before.
    private var overflow: VaencError {
        let (output, limit) = (configuration.output, configuration.queueLimit)
        let (isStarted, isWriting) = state.withLock { ($0.isStarted, $0.isWriting) }
        if isWriting { return VaencError(.inputOutput, "writing \(output) is too slow: samples would be lost") }
        let held = "more than \(limit) samples (the queue's limit) wait for \(output)"
        return isStarted ? lacksDescription(held) : VaencError(.usage, "\(held), which was not started", remedy: "call `start` first")
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
        sink?.abortBlockingIO()
        thread.add { sink?.cancel() }
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

    /// Runs on the muxer's thread, unless that has ended; an error ends it.
    private func perform(_ body: @escaping @Sendable (MediaMuxer) throws -> Void) {
        thread.add { [self] in
            if state.withLock({ $0.hasEnded }) { return }
            do { try body(self) } catch {
                let sink = state.withLock { state in
                    state.hasEnded = true
                    state.early = []
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
        let (sink, tracks, numbers) = state.withLock { state in
            state.waiting -= 1
            return (state.sink, state.tracks, state.numbers)
        }
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
