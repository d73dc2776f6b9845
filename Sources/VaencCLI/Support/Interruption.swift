import Glibc
import MediaFiles
import Synchronization

/// A command that watches for Ctrl-C by itself, as it has something to finish.
protocol InterruptibleCommand {}

/// Ctrl-C, made into a question that loops ask and a call that wakes whoever waits for input.
///
/// The first SIGINT, SIGTERM or SIGHUP asks for a clean end: what was encoded is finished under its final name.
/// A second one ends the program at once: the unfinished file of a recording stays, others are removed.
final class Interruption: Sendable {
    /// A signal that came.
    struct Arrival: Sendable {
        var number: Int32
        /// The kernel sent it, for a terminal: its Ctrl-C, or its end. Otherwise a program sent it.
        var isOfTerminal: Bool
        /// On the monotonic clock.
        var nanoseconds: UInt64

        /// Whether this signal repeats the first one, because one wish reached the program in two ways.
        ///
        /// A terminal sends one SIGINT for each Ctrl-C, so a second one is a second wish. `timeout` signals the program and at once the
        /// group that the program is in. A parent (`npm run`) passes on the Ctrl-C that the terminal has sent to the program too. The
        /// end of a terminal or of a login brings SIGHUP or SIGTERM from the kernel, the shell and systemd.
        func repeats(_ first: Arrival) -> Bool {
            let endsLogin = number == SIGHUP || first.number == SIGHUP
            let limit: UInt64 =
                if endsLogin || isOfTerminal != first.isOfTerminal { 500_000_000 } else if isOfTerminal { 0 } else { 100_000_000 }
            return nanoseconds &- first.nanoseconds < limit
        }
    }

    private let count = Atomic<Int>(0)
    private let first = Mutex<Arrival?>(nil)
    private let onFirst = Mutex<(@Sendable () -> Void)?>(nil)
    private let onSecond = Mutex<(@Sendable () -> [String])?>(nil)

    var isRequested: Bool { count.load(ordering: .relaxed) > 0 }

    /// Has the signals wait, for this thread and those it starts, until `watch` or `letThrough`: one that is ignored, as
    /// SIGINT is in the background of a script, would be lost.
    static func holdBack() {
        var signals = set()
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Signals do what they usually do, also those that wait.
    static func letThrough() {
        var signals = set()
        unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    private static func set() -> sigset_t {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for number in watched() { unsafe sigaddset(&signals, number) }
        return signals
    }

    /// Blocks the signals for this thread and those it starts, and waits for them on a thread of its own.
    /// Call it before any other thread is started.
    func watch() {
        Self.holdBack()
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        var thread = pthread_t()
        // SAFETY: the thread owns one reference to self for the life of the process.
        let failed = unsafe pthread_create(&thread, nil, { context in
            let interruption = unsafe Unmanaged<Interruption>.fromOpaque(context!).takeUnretainedValue()
            var signals = Interruption.set()
            while true {
                var info = unsafe siginfo_t()
                let number = unsafe sigwaitinfo(&signals, &info)
                // signal.h: what the kernel sends has a code above 0 (SI_KERNEL), what programs send has 0 or less (SI_USER).
                let isOfTerminal = unsafe info.si_code > 0
                if number > 0 {
                    interruption.arrived(Arrival(number: number, isOfTerminal: isOfTerminal, nanoseconds: UInt64(Clock.now * 1e9)))
                }
            }
        }, context)
        // Without a thread that waits for them they end the program by themselves.
        if failed != 0 { Self.letThrough() } else { pthread_detach(thread) }
    }

    /// The signals that end vaenc: SIGHUP does not where whoever started it had it ignored (nohup). SIGINT always does:
    /// shells ignore it for what a script puts in the background, where `kill -INT` is still meant.
    private static func watched() -> [Int32] {
        var action = sigaction()
        guard unsafe sigaction(SIGHUP, nil, &action) == 0 else { return [SIGINT, SIGTERM, SIGHUP] }
        // SAFETY: SIG_IGN is the address 1, compared and never called.
        let ignored = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
        return ignored ? [SIGINT, SIGTERM] : [SIGINT, SIGTERM, SIGHUP]
    }

    /// What wakes a reader that waits for input.
    func whenFirst(_ action: @escaping @Sendable () -> Void) {
        onFirst.withLock { $0 = action }
        if isRequested { action() }
    }

    /// What must be ended when the program is told twice; it gives the paths of recordings that stay.
    func whenSecond(_ action: (@Sendable () -> [String])?) { onSecond.withLock { $0 = action } }

    private func arrived(_ arrival: Arrival) {
        let isRepeat = first.withLock { first in
            guard let first else {
                first = arrival
                return false
            }
            return arrival.repeats(first)
        }
        if isRepeat { return }
        let before = count.add(1, ordering: .relaxed).oldValue
        if before == 0 {
            OutputOpening.cancel()
            let action: @Sendable () -> Void = onFirst.withLock { action in
                if let action { return action }
                // Before there is an input there is nothing to finish. In here, so that who opens one now waits, and does
                // not say the same.
                Terminal.note("interrupted before the first frame: nothing was written")
                UnfinishedFiles.remove { _ in _exit(130) }
            }
            action()
        } else {
            let closed = onSecond.withLock { $0 }?() ?? []
            UnfinishedFiles.remove { open in
                let kept = closed + open
                Terminal.note(
                    kept.isEmpty
                        ? "interrupted twice: what was not finished is removed"
                        : "interrupted twice: what was recorded is in \(kept.joined(separator: ", "))")
                _exit(130)
            }
        }
    }
}
