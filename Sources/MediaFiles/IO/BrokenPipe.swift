import Glibc

/// Calls write(2) on a pipe whose reader may be gone. The call fails with EPIPE, and the program receives no SIGPIPE.
enum BrokenPipe {
    // SAFETY: sigemptyset initializes the signal sets. The caller owns the buffer.
    static func write(_ descriptor: Int32, bytes: UnsafeRawPointer, count: Int) -> Int {
        var pipeSignal = sigset_t()
        var previous = sigset_t()
        var pending = sigset_t()
        _ = unsafe sigemptyset(&pipeSignal)
        _ = unsafe sigaddset(&pipeSignal, SIGPIPE)
        _ = unsafe sigpending(&pending)
        let wasPending = unsafe sigismember(&pending, SIGPIPE) == 1
        _ = unsafe pthread_sigmask(SIG_BLOCK, &pipeSignal, &previous)
        let result = unsafe Glibc.write(descriptor, bytes, count)
        let error = errno
        if result < 0, error == EPIPE, !wasPending {
            // The signal is pending for this thread: remove it before the signal is unblocked.
            var none = timespec(tv_sec: 0, tv_nsec: 0)
            _ = unsafe sigtimedwait(&pipeSignal, nil, &none)
        }
        _ = unsafe pthread_sigmask(SIG_SETMASK, &previous, nil)
        errno = error
        return result
    }
}
