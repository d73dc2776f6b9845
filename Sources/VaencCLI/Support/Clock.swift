import Glibc
import Threads

/// The wall and processor time of this process.
enum Clock {
    private static let start = now

    /// Returns the seconds from the program's start to a time of `now`.
    static func sinceStart(_ time: Double) -> Double { time - start }

    /// Sets the start time. Call it before anything else.
    static func begin() { _ = start }

    /// The monotonic clock in seconds.
    static var now: Double { MonotonicClock.seconds }

    /// The date and time in the form 2026-01-31T12:00:00Z.
    static var date: String {
        var now = time(nil)
        var parts = unsafe tm()
        unsafe gmtime_r(&now, &parts)
        let fields = unsafe [parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec]
            .map { $0 < 10 ? "0\($0)" : "\($0)" }
        return fields[..<3].joined(separator: "-") + "T" + fields[3...].joined(separator: ":") + "Z"
    }

    static var secondsSinceStart: Double { now - start }

    /// The user and system time of all threads, in seconds.
    static var processorSeconds: Double {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }
}
