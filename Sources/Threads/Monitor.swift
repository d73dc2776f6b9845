public import Glibc

/// A value that is protected by a lock, and on whose state threads can wait: a POSIX mutex and a condition variable on
/// the monotonic clock.
///
/// Use it on dedicated threads, which may block. Threads of Swift's cooperative pool must not wait.
@usableFromInline @safe package final class Monitor<Value>: @unchecked Sendable {
    // SAFETY: The mutex, the condition variable and the value are allocated in init and live until deinit. The value is
    // accessed only while the mutex is held. Therefore it needs no dynamic check for exclusive access, which a stored
    // property of a class would have.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    @usableFromInline let value: UnsafeMutablePointer<Value>

    package init(_ value: sending Value) {
        unsafe self.value = .allocate(capacity: 1)
        unsafe self.value.initialize(to: value)
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        Self.makeMutex(mutex)
        var attributes = pthread_condattr_t()
        _ = unsafe pthread_condattr_init(&attributes)
        _ = unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        _ = unsafe pthread_cond_init(condition, &attributes)
        _ = unsafe pthread_condattr_destroy(&attributes)
    }

    /// The mutex spins briefly before the thread sleeps: the lock is held for less time than a sleep takes,
    /// and the caller's and the device's thread often take it at the same time.
    private static func makeMutex(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) {
        var attributes = pthread_mutexattr_t()
        _ = unsafe pthread_mutexattr_init(&attributes)
        _ = unsafe pthread_mutexattr_settype(&attributes, CInt(PTHREAD_MUTEX_ADAPTIVE_NP))
        _ = unsafe pthread_mutex_init(mutex, &attributes)
        _ = unsafe pthread_mutexattr_destroy(&attributes)
    }

    deinit {
        _ = unsafe pthread_cond_destroy(condition)
        _ = unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
        unsafe value.deinitialize(count: 1)
        unsafe value.deallocate()
    }

    // The generic functions are inlinable, so that they are compiled for the caller's types. Many run for each picture.
    // The compiler does so in other modules only if the class is also `@usableFromInline`.

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
        return unsafe try body(&value.pointee)
    }

    /// Works like `wait`, but wakes no thread afterwards.
    @inlinable package func waitWithoutNotifying<R>(_ body: (inout Value) throws -> R?) rethrows -> R {
        lock()
        defer { unlock() }
        while true {
            if let result = unsafe try body(&value.pointee) { return result }
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
        return unsafe try body(&value.pointee)
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
            if let result = unsafe try body(&value.pointee) { return result }
            sleep()
        }
    }

    /// Works like `wait`, but with a timeout. Returns nil if the timeout expires.
    @inlinable package func wait<R>(atMostNanoseconds limit: UInt64, _ body: (inout Value) throws -> R?) rethrows -> R? {
        let deadline = Self.deadline(after: limit)
        lock()
        defer {
            wakeAll()
            unlock()
        }
        return try repeatWithLock(until: deadline, body)
    }

    /// Works like `wait(atMostNanoseconds:)`, but wakes no thread afterwards.
    @inlinable package func waitWithoutNotifying<R>(
        atMostNanoseconds limit: UInt64, _ body: (inout Value) throws -> R?
    ) rethrows -> R? {
        let deadline = Self.deadline(after: limit)
        lock()
        defer { unlock() }
        return try repeatWithLock(until: deadline, body)
    }

    @inlinable func repeatWithLock<R>(until deadline: timespec, _ body: (inout Value) throws -> R?) rethrows -> R? {
        while true {
            if let result = unsafe try body(&value.pointee) { return result }
            if !sleep(until: deadline) { return unsafe try body(&value.pointee) }
        }
    }

    /// Returns false if the deadline has passed.
    @usableFromInline func sleep(until deadline: timespec) -> Bool {
        var deadline = deadline
        return unsafe pthread_cond_timedwait(condition, mutex, &deadline) != ETIMEDOUT
    }

    @usableFromInline static func deadline(after limit: UInt64) -> timespec {
        var deadline = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &deadline)
        let nanoseconds = UInt64(deadline.tv_nsec) + limit % 1_000_000_000
        deadline.tv_sec += Int(min(limit / 1_000_000_000, 1 << 32) + nanoseconds / 1_000_000_000)
        deadline.tv_nsec = Int(nanoseconds % 1_000_000_000)
        return deadline
    }
}
