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
    typealias Job = () -> Void

    private struct State {
        var jobs: [Job] = []
        var isClosed = false
        var hasThread = true
    }

    private let state = Monitor(State())

    /// Where there is no thread, the job is run at once.
    func add(_ job: sending @escaping Job) {
        // SAFETY: the job goes to the one thread that takes it out, or stays here.
        nonisolated(unsafe) let job = job
        let hasThread = state.withLock { state in
            if state.hasThread { unsafe state.jobs.append(job) }
            return state.hasThread
        }
        if !hasThread { unsafe job() }
    }

    /// Lets the thread end after the jobs that are waiting; false where there is none.
    func close() -> Bool {
        state.withLock {
            $0.isClosed = true
            return $0.hasThread
        }
    }

    /// No thread could be started: what waits is run here.
    func abandon() {
        state.withLock { $0.hasThread = false }
        while let job = state.withLock({ $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }) { job() }
    }

    /// The thread's body. It ends where the queue is closed, or where the thread was left behind in a job.
    func run(while isNeeded: () -> Bool) {
        while isNeeded() {
            let job = state.wait { state -> Job?? in
                if !state.jobs.isEmpty { return .some(state.jobs.removeFirst()) }
                return state.isClosed ? .some(nil) : nil
            }
            guard let job else { return }
            job()
        }
    }
}
