import Glibc
import VideoBase

/// Opens what is written in place. A named pipe is waited for until somebody reads it.
package enum OutputOpening {
    private static let isCancelled = Monitor(false)
    private static let pollNanoseconds: UInt64 = 20_000_000

    /// Ends the wait for a named pipe's reader, here and later in this process, with the error `interrupted`.
    package static func cancel() { isCancelled.withLock { $0 = true } }

    /// - Returns: the descriptor; below zero with errno set where that fails.
    static func open(_ name: [CChar], isPipe: Bool) throws -> Int32 {
        guard isPipe else {
            // SAFETY: open(2) reads the string during the call.
            return unsafe Glibc.open(name, O_WRONLY | O_CLOEXEC)
        }
        while true {
            // SAFETY: as above. Without a reader it fails at once with ENXIO.
            let descriptor = unsafe Glibc.open(name, O_WRONLY | O_CLOEXEC | O_NONBLOCK)
            if descriptor >= 0 {
                let flags = fcntl(descriptor, F_GETFL)
                if flags >= 0 { _ = fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK) }
                return descriptor
            }
            if errno != ENXIO && errno != EINTR { return descriptor }
            let cancelled = isCancelled.wait(atMostNanoseconds: pollNanoseconds) { $0 ? true : nil }
            if cancelled == true { throw SystemError.interrupted }
        }
    }
}
