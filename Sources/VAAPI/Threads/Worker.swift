internal import Glibc
internal import Synchronization
internal import VideoBase

/// A thread that does one job after another, for whoever takes it from those that are idle.
///
/// A job that never ends keeps its thread, and nobody else.
final class Worker: Sendable {
    /// Does the work, and gives what tells its result: called when all that the work held is let go of.
    typealias Job = @Sendable () -> @Sendable () -> Void

    private static let idleOnes = Mutex<[Worker]>([])
    /// More than so many are not kept.
    private static var most: Int { 8 }
    /// Set on the threads of workers.
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return unsafe pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    private let job = Monitor<Job?>(nil)

    private init() {}

    /// Whether this is the thread of a worker.
    static var isCurrent: Bool { key.map { unsafe pthread_getspecific($0) != nil } ?? false }

    /// One that has nothing to do; nil where the system gives no more threads.
    static func idle() -> Worker? {
        if let worker = idleOnes.withLock({ $0.popLast() }) { return worker }
        guard key != nil else { return nil }
        let worker = Worker()
        var thread = pthread_t()
        // SAFETY: the new thread takes over the retained worker; without a thread it is released here.
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

    /// The thread's body.
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
