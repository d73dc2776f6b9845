import Glibc

/// This process's table of file descriptors.
enum Descriptors {
    /// Opens stdin, stdout and stderr if the caller closed them. Otherwise a file that is opened later gets one of
    /// their numbers, and messages for stderr are written into it.
    ///
    /// The descriptors are opened in the opposite direction of their use. Reading and writing fail with EBADF, as with
    /// closed descriptors.
    static func holdStandardNumbers() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            // SAFETY: open only reads the string. It returns the lowest free number, which is this one.
            _ = unsafe open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Enlarges the table from its initial 64 entries to the default limit, at most 1024.
    ///
    /// Call it before a second thread exists: it then takes microseconds. If a process has several threads, Linux
    /// enlarges its table only after no thread reads the old one (an RCU grace period, 10 to 30 ms). The caller that
    /// needs a descriptor waits for that long. This affects the encoding thread if many surfaces are open as DMA-BUFs,
    /// and drivers or layers below them that keep their descriptors at high numbers. Mesa and Intel's driver take the
    /// lowest number from 3 on, so a device that is only probed gains nothing with them.
    static func makeRoom() {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        let highest = Int32(min(limit.rlim_cur, 1024)) - 1
        // The call fails if stderr is closed or the number is too high. The table then grows on demand.
        let descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, highest)
        if descriptor >= 0 { close(descriptor) }
    }
}
