import Glibc

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
