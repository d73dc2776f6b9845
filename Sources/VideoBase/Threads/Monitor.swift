internal import Glibc

/// A value behind a lock, and waiting until it allows something: a POSIX mutex and a condition variable on the
/// monotonic clock. For threads of one's own, which may block; Swift's cooperative pool must not.
@safe package final class Monitor<Value>: @unchecked Sendable {
    // SAFETY: mutex and condition are allocated and initialized in init and live until deinit; `value` is touched only
    // while the mutex is held.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value

    package init(_ value: sending Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        _ = unsafe pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        _ = unsafe pthread_condattr_init(&attributes)
        _ = unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        _ = unsafe pthread_cond_init(condition, &attributes)
        _ = unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        _ = unsafe pthread_cond_destroy(condition)
        _ = unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Wakes one of those who wait, where that is enough.
    package func wakeOne() { _ = unsafe pthread_cond_signal(condition) }

    /// Runs `body` with the value and wakes nobody: for changes that nobody waits for.
    package func withLockWithoutNotifying<R>(_ body: (inout Value) throws -> R) rethrows -> R {
        _ = unsafe pthread_mutex_lock(mutex)
        defer { _ = unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Like `wait`, and wakes nobody afterwards.
    package func waitWithoutNotifying<R>(_ body: (inout Value) throws -> R?) rethrows -> R {
        _ = unsafe pthread_mutex_lock(mutex)
        defer { _ = unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = try body(&value) { return result }
            _ = unsafe pthread_cond_wait(condition, mutex)
        }
    }

    /// Runs `body` with the value and wakes those who wait. `body` must not block, nor enter the monitor again.
    package func withLock<R>(_ body: (inout Value) throws -> R) rethrows -> R {
        _ = unsafe pthread_mutex_lock(mutex)
        defer {
            _ = unsafe pthread_cond_broadcast(condition)
            _ = unsafe pthread_mutex_unlock(mutex)
        }
        return try body(&value)
    }

    /// Runs `body` until it gives a result, asleep in between while nothing changes. Blocks.
    package func wait<R>(_ body: (inout Value) throws -> R?) rethrows -> R {
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

    /// Like `wait`, for at most that long: nil when the time is up.
    package func wait<R>(atMostNanoseconds limit: UInt64, _ body: (inout Value) throws -> R?) rethrows -> R? {
        var deadline = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &deadline)
        let nanoseconds = UInt64(deadline.tv_nsec) + limit % 1_000_000_000
        deadline.tv_sec += Int(min(limit / 1_000_000_000, 1 << 32) + nanoseconds / 1_000_000_000)
        deadline.tv_nsec = Int(nanoseconds % 1_000_000_000)
        _ = unsafe pthread_mutex_lock(mutex)
        defer {
            _ = unsafe pthread_cond_broadcast(condition)
            _ = unsafe pthread_mutex_unlock(mutex)
        }
        while true {
            if let result = try body(&value) { return result }
            if unsafe pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT { return try body(&value) }
        }
    }
}
