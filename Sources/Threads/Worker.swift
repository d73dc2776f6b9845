internal import Glibc
internal import Synchronization

/// A thread that runs one job after another for changing callers. Idle workers are kept for reuse.
///
/// A job that never ends blocks only its own thread.
package final class Worker: Sendable {
    /// A job. It does the work and returns a closure that publishes the result. The closure is called after everything
    /// that the work referenced has been released.
    package typealias Job = @Sendable () -> @Sendable () -> Void

    private static let idleWorkers = Mutex<[Worker]>([])
    /// The maximum number of idle workers that are kept.
    private static var idleLimit: Int { 8 }
    /// The key of the thread-local value that marks the threads of workers.
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return unsafe pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    private let job = Monitor<Job?>(nil)

    private init() {}

    /// Whether the calling thread belongs to a worker.
    package static var isCurrent: Bool { key.map { unsafe pthread_getspecific($0) != nil } ?? false }

    /// Returns an idle worker or a new one, or nil if the system cannot start a thread.
    package static func idle() -> Worker? {
        if let worker = idleWorkers.withLock({ $0.popLast() }) { return worker }
        guard key != nil else { return nil }
        let worker = Worker()
        let starts = DedicatedThread.start("vaenc-call") {
            guard let key = Worker.key else { return }
            // SAFETY: The value only marks the thread; the pointer is never dereferenced.
            unsafe pthread_setspecific(key, Unmanaged.passUnretained(worker).toOpaque())
            worker.work()
            pthread_setspecific(key, nil)
        }
        return starts ? worker : nil
    }

    package func start(_ job: @escaping Job) { self.job.withLock { $0 = job } }

    /// The body of the worker's thread.
    private func work() {
        while true {
            let notify = next()()
            let continues = Self.idleWorkers.withLock { idle in
                guard idle.count < Self.idleLimit else { return false }
                idle.append(self)
                return true
            }
            notify()
            if !continues { return }
        }
    }

    private func next() -> Job {
        job.wait { job in
            defer { job = nil }
            return job
        }
    }
}
