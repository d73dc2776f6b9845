internal import Glibc

/// A thread of the driver, with a stack of 8 MiB for the encoders.
///
/// SAFETY: `init` passes a retained body to the new thread, which releases it. If there is no thread, `init` releases
/// it. The handle is joined once.
@safe final class Thread: @unchecked Sendable {
    private final class Body {
        let name: String
        let run: @Sendable () -> Void

        init(_ name: String, _ run: @escaping @Sendable () -> Void) { (self.name, self.run) = (name, run) }
    }

    private static let stackBytes = 8 << 20
    private var handle = pthread_t()

    /// Starts a thread that calls `run`. Returns nil if the system cannot start a thread.
    ///
    /// - Parameter name: The name of the thread, which `top -H` shows; at most 15 bytes.
    init?(_ name: String, _ run: @escaping @Sendable () -> Void) {
        // The memory may be uninitialized: pthread_attr_init fills it.
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        unsafe pthread_attr_init(attributes)
        defer {
            unsafe pthread_attr_destroy(attributes)
            unsafe attributes.deallocate()
        }
        unsafe pthread_attr_setstacksize(attributes, Self.stackBytes)
        let body = unsafe Unmanaged.passRetained(Body(name, run))
        let status = unsafe pthread_create(
            &handle, attributes,
            { argument in
                guard let argument = unsafe argument else { return nil }
                let body = unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
                Thread.name(body.name)
                body.run()
                return nil
            }, body.toOpaque())
        guard status == 0 else {
            unsafe body.release()
            return nil
        }
    }

    /// Names the calling thread. Without /proc, it keeps the program's name.
    private static func name(_ name: String) {
        let file = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        let bytes = Array(name.utf8.prefix(15))
        _ = unsafe write(file, bytes, bytes.count)
        close(file)
    }

    /// Waits for the end of the thread. Call it at most once.
    func join() {
        _ = pthread_join(handle, nil)
    }
}
