internal import Glibc
internal import Synchronization

/// Counts the calls of each name in the process, over all displays, and says what is to go wrong.
package final class CallCounter: Sendable {
    package static let shared = CallCounter()

    private struct State {
        var text: String?
        var plan = FaultPlan()
        var counts: [String: Int] = [:]
    }

    private let state = Mutex(State())

    /// Takes a plan over. Counting goes on where the text is that of the display before, and begins again otherwise.
    package func start(_ text: String, _ plan: FaultPlan) {
        state.withLock { state in
            if state.text == text { return }
            state = State(text: text, plan: plan)
        }
    }

    /// Counts a call.
    package func next(_ call: String) -> FaultPlan.Fault? {
        state.withLock { state in
            let number = state.counts[call, default: 0] + 1
            state.counts[call] = number
            return state.plan.fault(call, number: number)
        }
    }

    /// How often each call came so far, a line each, by name.
    package var report: String {
        state.withLock { state in
            state.counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined()
        }
    }
}

/// Sleeps on the monotonic clock.
func sleep(milliseconds: Int) {
    var left = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
    while true {
        var remaining = timespec()
        guard unsafe nanosleep(&left, &remaining) != 0, errno == EINTR else { return }
        left = remaining
    }
}
