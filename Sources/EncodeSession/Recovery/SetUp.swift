import Glibc
import VideoBase

/// Retries setup calls after transient device faults.
enum SetUp {
    /// Runs `body` with the attempt number 1, 2, …, at most `limits.setUpTries` times, with growing pauses. Requests
    /// that the device rejects and errors in the request are not retried. Blocks.
    static func retryTransientFaults<R>(_ limits: RecoveryLimits, _ body: (Int) throws -> R) throws -> R {
        var attempt = 1
        while true {
            do { return try body(attempt) } catch {
                guard attempt < limits.setUpTries, error.isDeviceFault, !error.isRefusal else {
                    throw error.afterTries
                }
            }
            usleep(UInt32(clamping: limits.pauseNanoseconds / 1000 << UInt64(attempt - 1)))
            attempt += 1
        }
    }
}
