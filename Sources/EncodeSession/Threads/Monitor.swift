import Glibc

/// A value behind a lock, and waiting until it allows something: a POSIX mutex and condition variable.
@safe final class Monitor<Value>: @unchecked Sendable {
    // SAFETY: mutex and condition are allocated and initialized in init and live until deinit; `value` is touched only
    // while the mutex is held.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value

    init(_ value: Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        _ = unsafe pthread_mutex_init(mutex, nil)
        _ = unsafe pthread_cond_init(condition, nil)
    }

    deinit {
        _ = unsafe pthread_cond_destroy(condition)
        _ = unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Runs `body` with the value and wakes those who wait. `body` must not block, nor enter the monitor again.
    func withLock<R>(_ body: (inout Value) throws -> R) rethrows -> R {
        _ = unsafe pthread_mutex_lock(mutex)
        defer {
            _ = unsafe pthread_cond_broadcast(condition)
            _ = unsafe pthread_mutex_unlock(mutex)
        }
        return try body(&value)
    }

    /// Runs `body` until it gives a result, asleep in between while nothing changes. Blocks.
    func wait<R>(_ body: (inout Value) throws -> R?) rethrows -> R {
        _ = unsafe pthread_mutex_lock(mutex)
        defer {
            _ = unsafe pthread_cond_broadcast(condition)
            _ = unsafe pthread_mutex_unlock(mutex)
        }
        while true {
            if let result = try body(&value) { return result }
            _ = unsafe pthread_cond_wait(condition, mutex)
        }
    }
}
