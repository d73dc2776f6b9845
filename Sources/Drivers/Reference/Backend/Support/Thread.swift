internal import Glibc

/// A thread of the driver, with a stack of 8 MiB for the encoders.
///
/// SAFETY: `init` passes a retained body to the new thread, which releases it. If there is no thread, `init` releases
/// it. The handle is joined once.
@safe final class Thread: @unchecked Sendable {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private static let stackBytes = 8 << 20
    private var handle = pthread_t()

    /// Starts a thread that calls `run`. Returns nil if the system cannot start a thread.
    init?(_ run: @escaping @Sendable () -> Void) {
        // The memory may be uninitialized: pthread_attr_init fills it.
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        unsafe pthread_attr_init(attributes)
        defer {
            unsafe pthread_attr_destroy(attributes)
            unsafe attributes.deallocate()
        }
        unsafe pthread_attr_setstacksize(attributes, Self.stackBytes)
        let body = unsafe Unmanaged.passRetained(Body(run))
        let status = unsafe pthread_create(
            &handle, attributes,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, body.toOpaque())
        guard status == 0 else {
            unsafe body.release()
            return nil
        }
    }

    /// Waits for the end of the thread. Must be called at most once.
    func join() {
        _ = pthread_join(handle, nil)
    }
}
