internal import Glibc

/// A deadline on the monotonic clock, or none.
struct Deadline {
    let moment: timespec?

    static let never = Deadline(moment: nil)

    private init(moment: timespec?) { self.moment = moment }

    /// Makes the deadline that is `nanoseconds` from now. A value that is too large, such as VA_TIMEOUT_INFINITE, means
    /// no deadline.
    init(after nanoseconds: UInt64) {
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        let (sum, overflow) = nanoseconds.addingReportingOverflow(UInt64(now.tv_nsec))
        let seconds = sum / 1_000_000_000
        guard !overflow, seconds < 1 << 33 else {
            moment = nil
            return
        }
        moment = timespec(tv_sec: now.tv_sec + Int(seconds), tv_nsec: Int(sum % 1_000_000_000))
    }
}

/// A mutex with one condition variable, which uses the monotonic clock.
///
/// SAFETY: `init` allocates and initializes both before other threads can reach them. `deinit` destroys both when the
/// last reference is gone, so that no thread holds the mutex or waits.
@safe final class Monitor: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        unsafe pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body()
    }

    /// Releases the lock, waits for the next `wakeAll` or for the deadline, and takes the lock again. The caller must
    /// hold the lock. Returns false after the deadline.
    func wait(until deadline: Deadline = .never) -> Bool {
        guard var moment = deadline.moment else {
            return unsafe pthread_cond_wait(condition, mutex) == 0
        }
        return unsafe pthread_cond_timedwait(condition, mutex, &moment) == 0
    }

    func wakeAll() {
        unsafe pthread_cond_broadcast(condition)
    }
}
