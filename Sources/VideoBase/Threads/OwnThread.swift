internal import Glibc

/// Creates dedicated threads for calls that block.
package enum OwnThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs `body` on a new, detached thread. Returns false, without running `body`, if the system cannot start a
    /// thread.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        var thread = pthread_t()
        // SAFETY: The thread takes ownership of the one reference that is passed to it.
        let context = unsafe Unmanaged.passRetained(Body(body)).toOpaque()
        let failed = unsafe pthread_create(&thread, nil, { context in
            if let context = unsafe context { unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
            return nil
        }, context)
        if failed == 0 {
            pthread_detach(thread)
        } else {
            unsafe Unmanaged<Body>.fromOpaque(context).release()
        }
        return failed == 0
    }

    /// Runs `body` on a new thread and waits for its result. Returns nil if `body` does not return in time, or if the
    /// system cannot start a thread. After a timeout, `body` continues to run.
    package static func run<R: Sendable>(atMostNanoseconds limit: UInt64, _ body: @escaping @Sendable () -> R) -> R? {
        let result = Monitor<R?>(nil)
        guard start({ result.withLock { [value = body()] in $0 = value } }) else { return nil }
        return result.wait(atMostNanoseconds: limit) { $0 }
    }
}
