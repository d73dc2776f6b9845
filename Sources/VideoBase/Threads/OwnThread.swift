internal import Glibc

/// Threads of one's own, for calls that block.
package enum OwnThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs `body` on a new thread, which nobody joins. False where there is none to be had: then it is not run.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        var thread = pthread_t()
        // SAFETY: the thread takes over the one reference that is passed to it.
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

    /// Runs `body` on a new thread and waits for it; nil where it has not come back by then, or there is no thread. It
    /// is left to itself in that case.
    package static func run<R: Sendable>(atMostNanoseconds limit: UInt64, _ body: @escaping @Sendable () -> R) -> R? {
        let result = Monitor<R?>(nil)
        guard start({ result.withLock { [value = body()] in $0 = value } }) else { return nil }
        return result.wait(atMostNanoseconds: limit) { $0 }
    }
}
