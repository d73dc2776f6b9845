import Glibc
import Threads
import VideoBase

/// Opens outputs that are written in place. For a named pipe it waits for a reader.
package enum OutputOpening {
    private static let isCancelled = Monitor(false)
    private static let pollNanoseconds: UInt64 = 20_000_000

    /// Ends the wait for a named pipe's reader with `interrupted`, for running and later waits in this process. Any
    /// thread may call this.
    package static func cancel() { isCancelled.withLock { $0 = true } }

    /// Opens the output. Blocks until a named pipe has a reader.
    /// - Parameter isCancelled: Returns whether to stop the wait.
    /// - Returns: The descriptor; negative on failure, with errno set.
    /// - Throws: `interrupted` after `cancel`, and if `isCancelled` returns true.
    static func open(_ name: [CChar], isPipe: Bool, isCancelled isStopped: () -> Bool = { false }) throws -> Int32 {
        guard isPipe else {
            // SAFETY: open(2) reads the string during the call.
            return unsafe Glibc.open(name, O_WRONLY | O_CLOEXEC)
        }
        while true {
            // SAFETY: open(2) reads the string during the call. It fails with ENXIO if the pipe has no reader.
            let descriptor = unsafe Glibc.open(name, O_WRONLY | O_CLOEXEC | O_NONBLOCK)
            if descriptor >= 0 {
                let flags = fcntl(descriptor, F_GETFL)
                if flags >= 0 { _ = fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK) }
                return descriptor
            }
            if errno != ENXIO && errno != EINTR { return descriptor }
            let cancelled = isCancelled.wait(atMostNanoseconds: pollNanoseconds) { $0 ? true : nil }
            if cancelled == true || isStopped() { throw SystemError.interrupted }
        }
    }
}
