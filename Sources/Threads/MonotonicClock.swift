internal import Glibc

/// CLOCK_MONOTONIC, the clock that no adjustment of the system's time changes.
package enum MonotonicClock {
    /// The time in nanoseconds.
    package static var nanoseconds: Int64 {
        var time = timespec()
        // SAFETY: clock_gettime fills the structure.
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// The time in seconds.
    package static var seconds: Double { Double(nanoseconds) / 1e9 }
}
