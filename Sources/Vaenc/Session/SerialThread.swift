import Glibc
import VideoBase

/// A thread that runs blocking work in order, so that Swift's cooperative pool never blocks on a device.
/// The thread starts with the first piece of work and ends when this object goes.
final class SerialThread: Sendable {
    private struct Queue {
        var jobs: [@Sendable () -> Void] = []
        var hasStarted = false
        var hasEnded = false
        var isWorking = false
        /// nil until it has begun.
        var thread: pthread_t?
    }

    /// Kept alive by the thread, not by the owner, so that the owner's end ends the thread.
    private let queue = Monitor(Queue())

    deinit { queue.withLock { $0.hasEnded = true } }

    /// What a task that is cancelled may do with work that has begun.
    enum Cancellation {
        /// The work decides: it finds the request in its `Request`.
        case asks
        /// The task goes on at once, and what the work gives in the end is dropped.
        case abandons
    }

    /// Whether the task that waits for the work was cancelled.
    final class Request: Sendable {
        private struct State {
            var isCancelled = false
            var isTaken = false
            var wake: (@Sendable () -> Void)?
        }

        private let state = Monitor(State())

        var isCancelled: Bool { state.withLock { $0.isCancelled } }

        /// Calls `wake` when the task is cancelled, at once where it was.
        func whenCancelled(_ wake: @escaping @Sendable () -> Void) {
            let isLate = state.withLock { state in
                state.wake = wake
                return state.isCancelled
            }
            if isLate { wake() }
        }

        /// From now on the work goes on whatever becomes of the task: one that is cancelled returns at once. For work that
        /// gives nothing.
        ///
        /// - Throws: `CancellationError` if the task was cancelled before.
        func take() throws {
            try state.withLock { state in
                if state.isCancelled { throw CancellationError() }
                state.isTaken = true
            }
        }

        /// - Returns: whether the work was taken before.
        fileprivate func cancel() -> Bool {
            let (wake, isTaken) = state.withLock { state in
                state.isCancelled = true
                return (state.wake, state.isTaken)
            }
            wake?()
            return isTaken
        }
    }

    private struct Job<R: Sendable> {
        var continuation: CheckedContinuation<R, any Error>?
        var hasBegun = false
    }

    /// Runs `body` on the thread after what was given before. Cancelled before its turn, it is not run at all.
    func run<R: Sendable>(
        _ cancellation: Cancellation = .asks, _ body: @escaping @Sendable (Request) throws -> R
    ) async throws -> R {
        let request = Request()
        let job = Monitor(Job<R>())
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<R, any Error>) in
                job.withLock { $0.continuation = continuation }
                if request.isCancelled { return Self.give(.failure(CancellationError()), to: job) }
                add {
                    let runs = job.withLock { job in
                        job.hasBegun = true
                        return job.continuation != nil
                    }
                    if runs { Self.give(Result { try body(request) }, to: job) }
                }
            }
        } onCancel: {
            if request.cancel(), let nothing = () as? R { return Self.give(.success(nothing), to: job) }
            let leaves = job.withLock { !$0.hasBegun || cancellation == .abandons }
            if leaves { Self.give(.failure(CancellationError()), to: job) }
        }
    }

    private static func give<R: Sendable>(_ result: Result<R, any Error>, to job: Monitor<Job<R>>) {
        let continuation = job.withLock { job in
            defer { job.continuation = nil }
            return job.continuation
        }
        continuation?.resume(with: result)
    }

    /// A piece of work is being done.
    var isWorking: Bool { queue.withLock { $0.isWorking } }

    /// The calling thread is this one, which does none of its work while it waits.
    var isCurrent: Bool { queue.withLockWithoutNotifying { $0.thread == pthread_self() } }

    /// Runs `job` after what was given before.
    func add(_ job: @escaping @Sendable () -> Void) {
        let isFirst = queue.withLock { queue in
            queue.jobs.append(job)
            defer { queue.hasStarted = true }
            return !queue.hasStarted
        }
        if isFirst { start() }
    }

    /// SAFETY: the thread takes over the one reference that is passed to it.
    private func start() {
        var thread = pthread_t()
        let context = unsafe Unmanaged.passRetained(queue).toOpaque()
        let failed = unsafe pthread_create(&thread, nil, { context in
            if let context = unsafe context {
                SerialThread.work(unsafe Unmanaged<Monitor<Queue>>.fromOpaque(context).takeRetainedValue())
            }
            return nil
        }, context)
        if failed == 0 {
            pthread_detach(thread)
        } else {
            // No thread to be had: the work is done here rather than never, and the next call tries again.
            unsafe Unmanaged<Monitor<Queue>>.fromOpaque(context).release()
            queue.withLock { $0.hasStarted = false }
            while let job = queue.withLock({ $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }) { job() }
        }
    }

    private static func work(_ queue: Monitor<Queue>) {
        queue.withLockWithoutNotifying { $0.thread = pthread_self() }
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
