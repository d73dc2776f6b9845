import Glibc

/// write(2) to a pipe whose reader may be gone: an error, and no SIGPIPE for the program, whose signals are its own.
enum BrokenPipe {
    // SAFETY: the signal sets are initialised by sigemptyset; the buffer is the caller's.
    static func write(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
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
            // The signal is this thread's: take it back before signals are let through again.
            var none = timespec(tv_sec: 0, tv_nsec: 0)
            _ = unsafe sigtimedwait(&pipeSignal, nil, &none)
        }
        _ = unsafe pthread_sigmask(SIG_SETMASK, &previous, nil)
        errno = error
        return result
    }
}
