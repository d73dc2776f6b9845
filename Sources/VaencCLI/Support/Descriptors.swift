import Glibc

/// This process's table of descriptors.
enum Descriptors {
    /// Takes the numbers of stdin, stdout and stderr where the caller closed them. Otherwise a file that is opened later gets such a
    /// number, and what goes to stderr is written into it.
    ///
    /// The descriptors are open in the direction that nobody uses: reading and writing fails with EBADF, as on closed ones.
    static func holdStandardNumbers() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            // SAFETY: open reads the string. It gives the lowest free number, which is this one.
            _ = unsafe open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Makes the table as large as it may get by default, at most 1024: it begins with 64.
    ///
    /// Call it before there is a second thread: then it costs microseconds. To grow the table of a process with
    /// several threads Linux waits until none of them reads the old one (an RCU grace period, 10 to 30 ms), and whoever
    /// wanted a descriptor waits with it: on the thread that encodes, where many surfaces are open as DMA-BUFs, or
    /// inside a driver or a layer below it that keeps its descriptors at high numbers. Mesa and Intel's driver do not
    /// (they take the lowest from 3 on), so a device that is only looked at gains nothing with those.
    static func makeRoom() {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        let highest = Int32(min(limit.rlim_cur, 1024)) - 1
        // Refused where stderr is closed or the number is too high: then the table grows when it must.
        let descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, highest)
        if descriptor >= 0 { close(descriptor) }
    }
}
