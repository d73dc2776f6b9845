internal import Glibc

/// Creates dedicated threads for calls that block. Every thread of vaenc starts here, and has a name that `top -H`
/// shows.
package enum DedicatedThread {
    private final class Body: Sendable {
        let name: String
        let run: @Sendable () -> Void

        init(_ name: String, _ run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// Runs `body` on a new, detached thread. Returns false, without running `body`, if the system cannot start a
    /// thread.
    ///
    /// - Parameter name: The name of the thread; Linux shows its first 15 bytes.
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        var thread = pthread_t()
        // SAFETY: The thread takes ownership of the one reference that is passed to it.
        let context = unsafe Unmanaged.passRetained(Body(name, body)).toOpaque()
        let failed = unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context else { return nil }
                let body = unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue()
                DedicatedThread.name(body.name)
                body.run()
                return nil
            }, context)
        if failed == 0 {
            pthread_detach(thread)
        } else {
            unsafe Unmanaged<Body>.fromOpaque(context).release()
        }
        return failed == 0
    }

    /// Names the calling thread. Glibc declares pthread_setname_np only with _GNU_SOURCE, which Swift's import does not
    /// define. So this function writes to /proc/thread-self/comm. Without /proc, the thread keeps the program's name.
    private static func name(_ name: String) {
        let file = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        let bytes = Array(name.utf8.prefix(15))
        _ = unsafe write(file, bytes, bytes.count)
        close(file)
    }

    /// The system cannot start a thread.
    package struct CannotStart: Error {}

    /// Runs `body` on a new thread and waits for its result. Returns nil if `body` does not return in time; it then
    /// continues to run.
    ///
    /// - Throws: `CannotStart`, without running `body`.
    package static func run<R: Sendable>(
        _ name: String, atMostNanoseconds limit: UInt64, _ body: @escaping @Sendable () -> R
    ) throws(CannotStart) -> R? {
        let result = Monitor<R?>(nil)
        guard start(name, { result.withLock { [value = body()] in $0 = value } }) else { throw CannotStart() }
        return result.wait(atMostNanoseconds: limit) { $0 }
    }
}
