import Glibc
import VideoBase

/// A POSIX thread of our own, for calls that block: Swift's cooperative pool must not be held up.
@safe final class WorkerThread: @unchecked Sendable {
    private let handle: pthread_t

    /// Starts `body` on a new thread.
    init(name: StaticString, _ body: @escaping @Sendable () -> Void) throws {
        final class Start {
            let name: StaticString
            let body: @Sendable () -> Void
            init(_ name: StaticString, _ body: @escaping @Sendable () -> Void) {
                self.name = name
                self.body = body
            }
        }
        var handle = pthread_t()
        let start = unsafe Unmanaged.passRetained(Start(name, body))
        // SAFETY: the new thread takes over the retained box; where there is no new thread, it is released below.
        let status = unsafe pthread_create(
            &handle, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                let start = unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                _ = unsafe pthread_setname_np(
                    pthread_self(), UnsafeRawPointer(start.name.utf8Start).assumingMemoryBound(to: CChar.self))
                start.body()
                return nil
            }, start.toOpaque())
        guard status == 0 else {
            unsafe start.release()
            throw VaencError(.deviceFailed, "cannot start a thread (error \(status))")
        }
        self.handle = handle
    }

    var isCurrent: Bool { pthread_equal(pthread_self(), handle) != 0 }

    /// Blocks until the thread has ended. Once, or `detach`.
    func join() { _ = unsafe pthread_join(handle, nil) }

    /// Lets the thread end by itself.
    func detach() { _ = pthread_detach(handle) }
}
