import VideoBase

/// Reads a source's pictures ahead on a thread of its own. One other thread takes them.
final class FramePrefetcher: Sendable {
    private struct State {
        /// Pictures that are ready, in order, and memory for more.
        var ready: [SystemPixelBuffer] = []
        var free: [SystemPixelBuffer]
        /// Nothing comes after what is ready; why, where that is not the end.
        var hasEnded = false
        var failure: (any Error)?
        var isStopped = false
    }

    private let source: any FrameSource
    private let state: Monitor<State>

    /// - Parameter depth: pictures in memory.
    /// - Throws: `unavailable` where the system has no thread.
    init(_ source: any FrameSource, format: PixelFormat, depth: Int = 3) throws {
        self.source = source
        let size = source.info.size
        state = try Monitor(State(free: (0..<depth).map { _ in try SystemPixelBuffer(format: format, size: size) }))
        guard OwnThread.start({ [self] in run() }) else { throw VaencError.noThread("to read ahead") }
    }

    /// The next picture, in presentation order; nil at the end. Blocks. Give it back with `recycle`.
    /// - Throws: what reading throws, after the pictures before it.
    func next() throws -> SystemPixelBuffer? {
        try state.wait { state -> SystemPixelBuffer?? in
            if !state.ready.isEmpty { return .some(state.ready.removeFirst()) }
            guard state.hasEnded else { return nil }
            if let failure = state.failure { throw failure }
            return .some(nil)
        }
    }

    func recycle(_ buffer: SystemPixelBuffer) { state.withLock { $0.free.append(buffer) } }

    /// Ends the thread, and waits until it has left the source alone.
    func stop() {
        state.withLock { $0.isStopped = true }
        source.cancel()
        state.wait { $0.hasEnded ? () : nil }
    }

    private func run() {
        do {
            while let buffer = state.wait({ state -> SystemPixelBuffer?? in
                if state.isStopped { return .some(nil) }
                return state.free.popLast().map { .some($0) }
            }) {
                // SAFETY: the source writes inside the planes, while they are mapped; nobody else has the buffer.
                guard try unsafe buffer.withUnsafePlanes({ unsafe try source.readFrame(into: $0) }) != nil else { break }
                state.withLock { $0.ready.append(buffer) }
            }
            state.withLock { $0.hasEnded = true }
        } catch {
            state.withLock {
                $0.failure = error
                $0.hasEnded = true
            }
        }
    }
}
