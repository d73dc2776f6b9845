internal import Glibc
internal import Synchronization
internal import VideoBase

/// A thread that runs one job after another for changing callers. Idle workers are kept for reuse.
///
/// A job that never ends blocks only its own thread.
final class Worker: Sendable {
    /// A job. It does the work and returns a closure that publishes the result. The closure is called after everything
    /// that the work referenced has been released.
    typealias Job = @Sendable () -> @Sendable () -> Void

    private static let idleOnes = Mutex<[Worker]>([])
    /// The maximum number of idle workers that are kept.
    private static var most: Int { 8 }
    /// The key of the thread-local value that marks the threads of workers.
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return unsafe pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    private let job = Monitor<Job?>(nil)

    private init() {}

    /// Whether the calling thread belongs to a worker.
    static var isCurrent: Bool { key.map { unsafe pthread_getspecific($0) != nil } ?? false }

    /// Returns an idle worker or a new one, or nil if the system cannot start a thread.
    static func idle() -> Worker? {
        if let worker = idleOnes.withLock({ $0.popLast() }) { return worker }
        guard key != nil else { return nil }
        let worker = Worker()
        var thread = pthread_t()
        // SAFETY: The new thread takes ownership of the retained worker. If no thread starts, it is released below.
        let context = unsafe Unmanaged.passRetained(worker).toOpaque()
        let status = unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context, let key = Worker.key else { return nil }
                unsafe pthread_setspecific(key, context)
                unsafe Unmanaged<Worker>.fromOpaque(context).takeRetainedValue().work()
                return nil
            }, context)
        guard status == 0 else {
            unsafe Unmanaged<Worker>.fromOpaque(context).release()
            return nil
        }
        pthread_detach(thread)
        return worker
    }

    func start(_ job: @escaping Job) { self.job.withLock { $0 = job } }

    /// The body of the worker's thread.
    private func work() {
        while true {
            let tell = next()()
            let goesOn = Self.idleOnes.withLock { idle in
                guard idle.count < Self.most else { return false }
                idle.append(self)
                return true
            }
            tell()
            if !goesOn { return }
        }
    }

    private func next() -> Job {
        job.wait { job in
            defer { job = nil }
            return job
        }
    }
}
