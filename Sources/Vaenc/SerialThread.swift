import Glibc

/// A thread that runs blocking work in order, so that Swift's cooperative pool never blocks on a device.
/// The thread starts with the first piece of work and ends when this object goes.
final class SerialThread: Sendable {
    private let wake = Wake()

    deinit { wake.signal(end: true) }

    /// Runs `body` on the thread after what was given before.
    func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Result, any Error>) in
            wake.add({ continuation.resume(with: Swift.Result(catching: body)) })
        }
    }

    /// What the thread waits on: kept alive by the thread, not by the owner, so that the owner's end ends it.
    ///
    /// SAFETY: the mutex and condition live at fixed addresses, from `init` to `deinit`, and the thread holds a
    /// reference to this object while it runs.
    @safe private final class Wake: @unchecked Sendable {
        private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
        private var jobs: [@Sendable () -> Void] = []
        private var started = false
        private var ended = false

        init() {
            unsafe mutex.initialize(to: pthread_mutex_t())
            unsafe condition.initialize(to: pthread_cond_t())
            unsafe pthread_mutex_init(mutex, nil)
            unsafe pthread_cond_init(condition, nil)
        }

        deinit {
            unsafe pthread_cond_destroy(condition)
            unsafe pthread_mutex_destroy(mutex)
            unsafe condition.deallocate()
            unsafe mutex.deallocate()
        }

        func add(_ job: @escaping @Sendable () -> Void) {
            unsafe pthread_mutex_lock(mutex)
            jobs.append(job)
            let start = !started
            started = true
            unsafe pthread_cond_signal(condition)
            unsafe pthread_mutex_unlock(mutex)
            if start { self.start() }
        }

        func signal(end: Bool) {
            unsafe pthread_mutex_lock(mutex)
            ended = ended || end
            unsafe pthread_cond_signal(condition)
            unsafe pthread_mutex_unlock(mutex)
        }

        private func start() {
            var thread = pthread_t()
            let me = unsafe Unmanaged.passRetained(self).toOpaque()
            let failed = unsafe pthread_create(&thread, nil, { context in
                unsafe Unmanaged<Wake>.fromOpaque(context!).takeRetainedValue().loop()
                return nil
            }, me)
            if failed != 0 {
                // No thread to be had: the work is done here rather than never.
                unsafe Unmanaged<Wake>.fromOpaque(me).release()
                signal(end: true)
                loop()
                return
            }
            pthread_detach(thread)
        }

        private func loop() {
            while true {
                unsafe pthread_mutex_lock(mutex)
                while jobs.isEmpty && !ended { unsafe pthread_cond_wait(condition, mutex) }
                if jobs.isEmpty {
                    unsafe pthread_mutex_unlock(mutex)
                    return
                }
                let job = jobs.removeFirst()
                unsafe pthread_mutex_unlock(mutex)
                job()
            }
        }
    }
}
