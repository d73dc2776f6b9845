internal import Glibc

/// A value that one thread at a time can get at, and that threads can wait on to change.
@safe final class Monitor<Value>: @unchecked Sendable {
    // SAFETY: allocated at fixed addresses for the object's life, as POSIX wants; `value` is used with the mutex held.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value

    init(_ value: sending Value) {
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(condition, nil)
        self.value = value
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Runs `body` alone with the value, once `ready` holds, and lets those who wait look again.
    func locked<R>(when ready: (Value) -> Bool = { _ in true }, _ body: (inout Value) -> R) -> R {
        unsafe pthread_mutex_lock(mutex)
        defer {
            unsafe pthread_cond_broadcast(condition)
            unsafe pthread_mutex_unlock(mutex)
        }
        while !ready(value) { unsafe pthread_cond_wait(condition, mutex) }
        return body(&value)
    }
}
