import DecodeSession
import Threads
import VideoBase

/// The pipeline of a session, for one caller at a time.
final class DecompressionCore: Sendable {
    @safe private struct State {
        // SAFETY: only the one caller that has set `isBusy` uses the pipeline.
        nonisolated(unsafe) var pipeline: DecodePipeline?
        var isBusy = false
        var isInvalidated = false
        /// The error that ended the session.
        var failure: (any Error)?
        var statistics = DecoderStatistics()
        var backend: DecodeBackend
    }

    private let state: Monitor<State>
    /// The backend that was chosen first; a device may reject the stream later.
    private let chosen: DecodeBackend
    private let outlet: @Sendable (Result<DecodedOutput, any Error>) -> Void
    /// The threads that are passing a picture to the outlet.
    private let handlers = HandlerThreads()

    static let invalidated = VaencError(.usage, "the session was invalidated", remedy: "create a new session")

    init(
        _ configuration: DecompressionConfiguration, on device: DecodeDevice?, backend: DecodeBackend,
        outlet: @escaping @Sendable (Result<DecodedOutput, any Error>) -> Void
    ) throws {
        self.outlet = outlet
        chosen = backend
        state = Monitor(State(pipeline: nil, backend: backend))
        let (state, handlers) = (state, handlers)
        let pipeline = try DecodePipeline(
            configuration, on: device, why: backend.why,
            end: { state.withLock { $0.isInvalidated ? Self.invalidated : nil } },
            handler: { output, statistics in
                state.withLock { $0.statistics = statistics }
                handlers.running { outlet(.success(output)) }
            })
        Self.install(pipeline, in: state)
    }

    private static func install(_ pipeline: DecodePipeline, in state: Monitor<State>) {
        nonisolated(unsafe) let pipeline = pipeline
        state.withLock { unsafe $0.pipeline = unsafe pipeline }
    }

    var statistics: DecoderStatistics { state.withLock { $0.statistics } }
    var backend: DecodeBackend { state.withLock { $0.backend } }

    /// Runs `body` with the pipeline, after earlier calls have finished.
    ///
    /// - Throws: `usage` after `invalidate`, and in the session's handler, which this call would wait for; the error
    ///   that ended the session; the error of `body`, which ends the session unless its category is `badInput` or
    ///   `usage`.
    func with(_ body: (DecodePipeline) throws -> Void) throws {
        try handlers.check()
        nonisolated(unsafe) let pipeline = try state.wait { state -> DecodePipeline? in
            if state.isInvalidated { throw Self.invalidated }
            if let failure = state.failure { throw failure }
            if state.isBusy { return nil }
            state.isBusy = true
            return unsafe state.pipeline
        }
        let result = Result { unsafe try body(pipeline) }
        let error: (any Error)? = if case .failure(let error) = result { error } else { nil }
        let isFatal = error.map { ($0 as? any DescribedError).map { ![.badInput, .usage].contains($0.category) } ?? true } ?? false
        state.withLock { state in
            state.isBusy = false
            unsafe state.statistics = pipeline.statistics
            if case .software(let why) = unsafe pipeline.backend { state.backend = .software(why) }
            if isFatal { state.failure = error }
            if state.isInvalidated || isFatal { unsafe state.pipeline = nil }
        }
        if isFatal, let error { outlet(.failure(error)) }
        try result.get()
    }

    /// Ends the session. Idempotent. The last user of the pipeline releases it.
    func invalidate() {
        nonisolated(unsafe) let last = state.withLock { state -> DecodePipeline? in
            state.isInvalidated = true
            if state.isBusy { return nil }
            defer { unsafe state.pipeline = nil }
            return unsafe state.pipeline
        }
        _ = unsafe last
    }
}
