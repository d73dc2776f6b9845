import Threads
import VideoBase

/// Reads a source's pictures ahead on its own thread. One other thread takes them.
final class FramePrefetcher: Sendable {
    private struct State {
        /// Pictures that are ready, in presentation order.
        var ready: [SystemPixelBuffer] = []
        /// Memory for more pictures.
        var free: [SystemPixelBuffer]
        /// Whether no picture follows those in `ready`.
        var hasEnded = false
        /// The error if the pictures end before the source; nil otherwise.
        var failure: (any Error)?
        var isStopped = false
    }

    private let source: any FrameSource
    private let state: Monitor<State>

    /// Allocates the memory and starts the thread.
    /// - Parameter depth: The number of pictures in memory.
    /// - Throws: `unavailable` if the system has no thread; an error if there is no memory.
    init(_ source: any FrameSource, format: PixelFormat, depth: Int = 3) throws {
        self.source = source
        let size = source.info.size
        state = try Monitor(State(free: (0..<depth).map { _ in try SystemPixelBuffer(format: format, size: size) }))
        guard DedicatedThread.start("vaenc-read", { [self] in run() }) else { throw VaencError.noThread("to read ahead") }
    }

    /// Returns the next picture in presentation order; nil at the end. Blocks. Return the picture with `recycle`.
    /// - Throws: The source's error, after all pictures before it.
    func next() throws -> SystemPixelBuffer? {
        try state.wait { state -> SystemPixelBuffer?? in
            if !state.ready.isEmpty { return .some(state.ready.removeFirst()) }
            guard state.hasEnded else { return nil }
            if let failure = state.failure { throw failure }
            return .some(nil)
        }
    }

    func recycle(_ buffer: SystemPixelBuffer) { state.withLock { $0.free.append(buffer) } }

    /// Stops the thread, and waits until it no longer uses the source.
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
                // SAFETY: the source writes inside the planes while they are mapped. No other thread has the buffer.
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
