internal import Glibc

/// A value that is protected by a lock, and on whose state threads can wait: a POSIX mutex and a condition variable on
/// the monotonic clock.
///
/// Use it on dedicated threads, which may block. Threads of Swift's cooperative pool must not wait.
@safe package final class Monitor<Value>: @unchecked Sendable {
    // SAFETY: The mutex and the condition variable are allocated in init and live until deinit. `value` is accessed
    // only while the mutex is held.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    @usableFromInline var value: Value

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

    // The generic functions are inlinable, so that they are compiled for the caller's types. Many run for each picture.

    @usableFromInline func lock() { _ = unsafe pthread_mutex_lock(mutex) }

    @usableFromInline func unlock() { _ = unsafe pthread_mutex_unlock(mutex) }

    @usableFromInline func wakeAll() { _ = unsafe pthread_cond_broadcast(condition) }

    @usableFromInline func sleep() { _ = unsafe pthread_cond_wait(condition, mutex) }

    /// Wakes one waiting thread.
    package func wakeOne() { _ = unsafe pthread_cond_signal(condition) }

    /// Runs `body` with the value and wakes no thread. For changes that no thread waits for.
    @inlinable package func withLockWithoutNotifying<R>(_ body: (inout Value) throws -> R) rethrows -> R {
        lock()
        defer { unlock() }
        return try body(&value)
    }

    /// Works like `wait`, but wakes no thread afterwards.
    @inlinable package func waitWithoutNotifying<R>(_ body: (inout Value) throws -> R?) rethrows -> R {
        lock()
        defer { unlock() }
        while true {
            if let result = try body(&value) { return result }
            sleep()
        }
    }

    /// Runs `body` with the value and wakes all waiting threads. `body` must not block or enter the monitor again.
    @inlinable package func withLock<R>(_ body: (inout Value) throws -> R) rethrows -> R {
        lock()
        defer {
            wakeAll()
            unlock()
        }
        return try body(&value)
    }

    /// Runs `body` until it returns a result, and sleeps between the runs until the value changes. Wakes all waiting
    /// threads afterwards. Blocks.
    @inlinable package func wait<R>(_ body: (inout Value) throws -> R?) rethrows -> R {
        lock()
        defer {
            wakeAll()
            unlock()
        }
        while true {
            if let result = try body(&value) { return result }
            sleep()
        }
    }

    /// Works like `wait`, but with a timeout. Returns nil if the timeout expires.
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
