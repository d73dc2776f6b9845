import Glibc

/// A lock with a condition: state that threads wait on.
@safe final class Monitor<State>: Sendable {
    // SAFETY: allocated and initialised in init, destroyed in deinit; `state` is reached under the mutex alone.
    private nonisolated(unsafe) let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private nonisolated(unsafe) let condition: UnsafeMutablePointer<pthread_cond_t>
    private nonisolated(unsafe) var state: State

    init(_ state: sending State) {
        unsafe self.state = state
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(condition, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Runs `body` under the lock, then wakes all who wait.
    func update<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer {
            unsafe pthread_cond_broadcast(condition)
            unsafe pthread_mutex_unlock(mutex)
        }
        return unsafe try body(&state)
    }

    /// Runs `body` under the lock again and again, waiting in between, until it returns a value.
    func wait<Result>(_ body: (inout State) throws -> Result?) rethrows -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer {
            unsafe pthread_cond_broadcast(condition)
            unsafe pthread_mutex_unlock(mutex)
        }
        while true {
            if let result = unsafe try body(&state) { return result }
            unsafe pthread_cond_wait(condition, mutex)
        }
    }
}

/// Threads of our own: encoding blocks for long, which Swift's cooperative pool must not.
enum WorkerThread {
    /// Starts `body` on a new detached thread; false where the system has none to give.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        // SAFETY: the box is retained here and released once by the thread.
        let box = unsafe Unmanaged.passRetained(Box(body))
        var thread = pthread_t()
        let code = unsafe pthread_create(
            &thread, nil,
            { context in
                let box = unsafe Unmanaged<Box>.fromOpaque(context!).takeRetainedValue()
                box.body()
                return nil
            }, box.toOpaque())
        if code != 0 { unsafe box.release() } else { pthread_detach(thread) }
        return code == 0
    }

    private final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}

/// CLOCK_MONOTONIC in nanoseconds.
func monotonicNanoseconds() -> Int64 {
    var time = timespec()
    // SAFETY: the call fills the structure.
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
