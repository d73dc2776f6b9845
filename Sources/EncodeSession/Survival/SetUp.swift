import Glibc
import VideoBase

/// Questions to a device, asked again when it fails for a moment.
enum SetUp {
    /// Runs `body` with 1, 2, … in as many tries as `limits` says, with growing pauses. What the device refuses, or the request has
    /// wrong, is not tried again. Blocks.
    static func attempt<R>(_ limits: SurvivalLimits, _ body: (Int) throws -> R) throws -> R {
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
