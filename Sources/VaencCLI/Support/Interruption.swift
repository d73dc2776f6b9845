import Glibc
import Synchronization

/// Ctrl-C, made into a question that loops ask and a call that wakes whoever waits for input.
///
/// The first SIGINT, SIGTERM or SIGHUP asks for a clean end: what was encoded is finished under its final name.
/// A second one ends the program at once, with the unfinished file removed.
final class Interruption: Sendable {
    private let count = Atomic<Int>(0)
    private let onFirst = Mutex<(@Sendable () -> Void)?>(nil)
    private let onSecond = Mutex<(@Sendable () -> Void)?>(nil)

    var isRequested: Bool { count.load(ordering: .relaxed) > 0 }

    /// Blocks the signals for this thread and those it starts, and waits for them on a thread of its own.
    /// Call it before any other thread is started.
    func watch() {
        signal(SIGPIPE, SIG_IGN)
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for number in [SIGINT, SIGTERM, SIGHUP] { unsafe sigaddset(&signals, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        var thread = pthread_t()
        // SAFETY: the thread owns one reference to self for the life of the process.
        _ = unsafe pthread_create(&thread, nil, { context in
            let interruption = unsafe Unmanaged<Interruption>.fromOpaque(context!).takeUnretainedValue()
            var signals = sigset_t()
            unsafe sigemptyset(&signals)
            for number in [SIGINT, SIGTERM, SIGHUP] { unsafe sigaddset(&signals, number) }
            while true {
                var number: Int32 = 0
                if unsafe sigwait(&signals, &number) == 0 { interruption.arrived() }
            }
        }, context)
        pthread_detach(thread)
    }

    /// What wakes a reader that waits for input.
    func whenFirst(_ action: @escaping @Sendable () -> Void) {
        onFirst.withLock { $0 = action }
        if isRequested { action() }
    }

    /// What must be removed when the program is told twice.
    func whenSecond(_ action: (@Sendable () -> Void)?) { onSecond.withLock { $0 = action } }

    private func arrived() {
        let before = count.add(1, ordering: .relaxed).oldValue
        if before == 0 {
            onFirst.withLock { $0 }?()
        } else {
            onSecond.withLock { $0 }?()
            _exit(130)
        }
    }
}
