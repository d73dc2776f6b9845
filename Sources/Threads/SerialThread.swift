internal import Glibc

/// A thread that runs blocking work in order, so that Swift's cooperative pool never blocks on a device. The thread
/// starts with the first job and ends when this object is released.
package final class SerialThread: Sendable {
    private struct Queue {
        var jobs: [@Sendable () -> Void] = []
        var hasStarted = false
        var hasEnded = false
        package var isWorking = false
        /// The running thread; nil until it has begun.
        var thread: ThreadIdentity?
    }

    /// The thread retains the queue, but not this object. When this object is released, the thread runs the remaining
    /// jobs and ends.
    private let queue = Monitor(Queue())
    private let name: String

    /// - Parameter name: The name of the thread, which `top -H` shows.
    package init(_ name: String) { self.name = name }

    deinit { queue.withLock { $0.hasEnded = true } }

    /// The effect of a task's cancellation on work that has begun.
    package enum Cancellation {
        /// The work continues, and decides how to end: its `Request` reports the cancellation.
        case cooperates
        /// The task continues immediately, and the result of the work is discarded.
        case abandons
    }

    /// The state of the task that waits for the work: whether it was cancelled.
    package final class Request: Sendable {
        private struct State {
            var isCancelled = false
            var isCommitted = false
            var wake: (@Sendable () -> Void)?
        }

        private let state = Monitor(State())

        package var isCancelled: Bool { state.withLock { $0.isCancelled } }

        /// Sets `wake` to be called when the task is cancelled. If it is cancelled already, calls `wake` now.
        package func whenCancelled(_ wake: @escaping @Sendable () -> Void) {
            let isLate = state.withLock { state in
                state.wake = wake
                return state.isCancelled
            }
            if isLate { wake() }
        }

        /// Commits the work: it continues even if the task is cancelled, and a cancelled task returns immediately. Only
        /// for work that returns no value.
        ///
        /// - Throws: `CancellationError` if the task is already cancelled.
        package func commit() throws {
            try state.withLock { state in
                if state.isCancelled { throw CancellationError() }
                state.isCommitted = true
            }
        }

        /// - Returns: Whether `commit` was called before.
        fileprivate func cancel() -> Bool {
            let (wake, isCommitted) = state.withLock { state in
                state.isCancelled = true
                return (state.wake, state.isCommitted)
            }
            wake?()
            return isCommitted
        }
    }

    private struct Job<R: Sendable> {
        var continuation: CheckedContinuation<R, any Error>?
        var hasBegun = false
    }

    /// Runs `body` on the thread after earlier jobs. If the task is cancelled before the job begins, the job does not
    /// run.
    package func run<R: Sendable>(
        _ cancellation: Cancellation = .cooperates, _ body: @escaping @Sendable (Request) throws -> R
    ) async throws -> R {
        let request = Request()
        let job = Monitor(Job<R>())
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<R, any Error>) in
                job.withLock { $0.continuation = continuation }
                if request.isCancelled { return Self.deliver(.failure(CancellationError()), to: job) }
                add {
                    let runs = job.withLock { job in
                        job.hasBegun = true
                        return job.continuation != nil
                    }
                    if runs { Self.deliver(Result { try body(request) }, to: job) }
                }
            }
        } onCancel: {
            if request.cancel(), let nothing = () as? R { return Self.deliver(.success(nothing), to: job) }
            let leaves = job.withLock { !$0.hasBegun || cancellation == .abandons }
            if leaves { Self.deliver(.failure(CancellationError()), to: job) }
        }
    }

    private static func deliver<R: Sendable>(_ result: Result<R, any Error>, to job: Monitor<Job<R>>) {
        let continuation = job.withLock { job in
            defer { job.continuation = nil }
            return job.continuation
        }
        continuation?.resume(with: result)
    }

    /// Whether a job is running.
    package var isWorking: Bool { queue.withLock { $0.isWorking } }

    /// Whether the calling thread is this thread. It runs no other job while the caller waits.
    package var isCurrent: Bool { queue.withLockWithoutNotifying { $0.thread == .current } }

    /// Runs `job` on the thread after earlier jobs. Does not wait.
    package func add(_ job: @escaping @Sendable () -> Void) {
        let isFirst = queue.withLock { queue in
            queue.jobs.append(job)
            defer { queue.hasStarted = true }
            return !queue.hasStarted
        }
        if isFirst { start() }
    }

    private func start() {
        let starts = DedicatedThread.start(name) { [queue] in SerialThread.work(queue) }
        if starts { return }
        // If no thread can be created, run the jobs here. The next call tries again to create a thread.
        queue.withLock { $0.hasStarted = false }
        while let job = queue.withLock({ $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }) { job() }
    }

    private static func work(_ queue: Monitor<Queue>) {
        queue.withLockWithoutNotifying { $0.thread = .current }
        while true {
            let job: (@Sendable () -> Void)?? = queue.wait { queue in
                queue.isWorking = !queue.jobs.isEmpty
                if !queue.jobs.isEmpty { return .some(queue.jobs.removeFirst()) }
                return queue.hasEnded ? .some(nil) : nil
            }
            guard case .some(.some(let job)) = job else { return }
            job()
        }
    }
}
