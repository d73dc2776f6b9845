import Threads
import VideoBase

/// The threads that are running a session's handler. Calls on these threads must not wait for the handler.
final class HandlerThreads: Sendable {
    private let threads = Monitor<[ThreadIdentity]>([])

    /// Runs `body`, which calls the handler.
    func running(_ body: () -> Void) {
        let thread = ThreadIdentity.current
        threads.withLockWithoutNotifying { $0.append(thread) }
        body()
        threads.withLockWithoutNotifying { threads in
            if let index = threads.lastIndex(of: thread) { threads.remove(at: index) }
        }
    }

    /// Whether the calling thread is running the handler.
    var isInHandler: Bool { threads.withLockWithoutNotifying { $0.contains(.current) } }

    /// - Throws: `usage` if the calling thread is running the handler.
    func check() throws(VaencError) {
        guard isInHandler else { return }
        throw VaencError(
            .usage, "the session's handler made a call that may wait for that handler",
            remedy: "make the call on another thread or in a task, after the handler has returned")
    }
}
