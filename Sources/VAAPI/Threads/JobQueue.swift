/// Closed once made; lets everybody through once opened.
final class Gate: Sendable {
    private let isOpen = Monitor(false)

    func open() {
        isOpen.locked { $0 = true }
    }

    func wait() {
        isOpen.locked(when: { $0 }) { _ in }
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
        state.locked { $0.jobs.append(job) }
    }

    /// Lets the thread end after the jobs that are waiting; false where there never was a thread.
    func close() -> Bool {
        state.locked {
            $0.isClosed = true
            return $0.hasThread
        }
    }

    /// No thread could be started.
    func abandon() {
        state.locked { $0.hasThread = false }
    }

    /// The thread's body.
    func runUntilClosed() {
        while true {
            let batch = state.locked(when: { !$0.jobs.isEmpty || $0.isClosed }) { state in
                defer { state.jobs = [] }
                return state.jobs
            }
            if batch.isEmpty { return }
            for job in batch { job() }
        }
    }
}
