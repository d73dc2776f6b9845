internal import VideoBase

/// Closed once made; lets everybody through once opened.
final class Gate: Sendable {
    private let isOpen = Monitor(false)

    func open() {
        isOpen.withLock { $0 = true }
    }

    func wait() {
        isOpen.wait { $0 ? () : nil }
    }
}

/// Jobs waiting for the thread that runs them.
final class JobQueue: Sendable {
    private struct State {
        var jobs: [() -> Void] = []
        var isClosed = false
        var hasThread = true
    }

    private let state = Monitor(State())

    func add(_ job: sending @escaping () -> Void) {
        state.withLock { $0.jobs.append(job) }
    }

    /// Lets the thread end after the jobs that are waiting; false where there never was a thread.
    func close() -> Bool {
        state.withLock {
            $0.isClosed = true
            return $0.hasThread
        }
    }

    /// No thread could be started.
    func abandon() {
        state.withLock { $0.hasThread = false }
    }

    /// The thread's body.
    func runUntilClosed() {
        while true {
            let batch = state.wait { state -> [() -> Void]? in
                if state.jobs.isEmpty, !state.isClosed { return nil }
                defer { state.jobs = [] }
                return state.jobs
            }
            if batch.isEmpty { return }
            for job in batch { job() }
        }
    }
}
