import Glibc
import MediaFiles
import Synchronization
import Threads

/// A command that handles Ctrl-C itself, because it has something to finish.
protocol InterruptibleCommand {}

/// Handles Ctrl-C: provides a flag for loops, and an action that wakes a reader that waits for input.
///
/// The first SIGINT, SIGTERM or SIGHUP requests a clean end: the output is finished with the frames encoded so far,
/// under its final name. A second one ends the program immediately: the unfinished file of a recording remains, and
/// other unfinished files are removed.
final class Interruption: Sendable {
    /// A signal that arrived.
    struct Arrival: Sendable {
        var number: Int32
        /// Whether the kernel sent the signal for a terminal: for Ctrl-C or the end of the terminal. Otherwise a
        /// program sent it.
        var isOfTerminal: Bool
        /// The time of arrival on the monotonic clock.
        var nanoseconds: UInt64

        /// Whether this signal repeats the first one, because one request reached the program in two ways.
        ///
        /// A terminal sends one SIGINT for each Ctrl-C, so a second one is a second request. `timeout` signals the
        /// program and then immediately its process group. A parent (`npm run`) passes on the Ctrl-C that the terminal
        /// has also sent to the program. The end of a terminal or of a login causes SIGHUP or SIGTERM from the kernel,
        /// the shell and systemd.
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

    /// Blocks the signals for this thread and the threads that it starts, until `watch` or `letThrough`. A blocked
    /// signal stays pending. Otherwise an ignored one, such as SIGINT in the background of a script, would be lost.
    static func holdBack() {
        var signals = set()
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Unblocks the signals. They have their usual effect, including those that are pending.
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

    /// Blocks the signals for this thread and the threads that it starts, and waits for them on a separate thread. Call
    /// it before any other thread is started.
    func watch() {
        Self.holdBack()
        let starts = DedicatedThread.start("vaenc-signals") { [self] in
            var signals = Self.set()
            while true {
                var info = unsafe siginfo_t()
                let number = unsafe sigwaitinfo(&signals, &info)
                // signal.h: signals of the kernel have a code above 0 (SI_KERNEL), those of programs 0 or less
                // (SI_USER).
                let isOfTerminal = unsafe info.si_code > 0
                if number > 0 {
                    arrived(Arrival(number: number, isOfTerminal: isOfTerminal, nanoseconds: UInt64(Clock.now * 1e9)))
                }
            }
        }
        // Without the waiting thread, the signals end the program by their default action.
        if !starts { Self.letThrough() }
    }

    /// Returns the signals that end vaenc. SIGHUP is excluded if the program was started with it ignored (nohup).
    /// SIGINT is always included: shells ignore it for background jobs of a script, but `kill -INT` must still work
    /// there.
    private static func watched() -> [Int32] {
        var action = sigaction()
        guard unsafe sigaction(SIGHUP, nil, &action) == 0 else { return [SIGINT, SIGTERM, SIGHUP] }
        // SAFETY: SIG_IGN is the address 1, compared and never called.
        let ignored = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
        return ignored ? [SIGINT, SIGTERM] : [SIGINT, SIGTERM, SIGHUP]
    }

    /// Sets the action for the first signal, which wakes a reader that waits for input. Runs it immediately if a signal
    /// has arrived.
    func whenFirst(_ action: @escaping @Sendable () -> Void) {
        onFirst.withLock { $0 = action }
        if isRequested { action() }
    }

    /// Sets the action for the second signal, which ends the outputs and returns the paths of recordings that remain.
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
                // Without an input there is nothing to finish. This runs inside the lock, so that a thread that opens
                // an input now waits and does not report the same.
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
                        ? "interrupted twice: unfinished files were removed"
                        : "interrupted twice: the recorded part is in \(kept.joined(separator: ", "))")
                _exit(130)
            }
        }
    }
}
