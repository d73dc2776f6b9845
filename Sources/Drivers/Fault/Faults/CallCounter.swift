internal import Glibc
internal import Synchronization

/// Counts the calls of each name over the displays that were started with the same rules, and says what is to go wrong.
///
/// So counting goes on over a display that takes a failed one's place, and displays with other rules count for
/// themselves.
package final class CallCounter: Sendable {
    private static let all = Mutex<[String: CallCounter]>([:])

    /// The counter of these rules: made with the first display that has them.
    package static func of(_ text: String, _ plan: FaultPlan) -> CallCounter {
        all.withLock { all in
            if let known = all[text] { return known }
            let made = CallCounter(plan)
            all[text] = made
            return made
        }
    }

    private let plan: FaultPlan
    private let counts = Mutex<[String: Int]>([:])

    private init(_ plan: FaultPlan) { self.plan = plan }

    /// Counts a call.
    package func next(_ call: String) -> FaultPlan.Fault? {
        let number = counts.withLock { counts in
            counts[call, default: 0] += 1
            return counts[call, default: 0]
        }
        return plan.fault(call, number: number)
    }

    /// How often each call came so far, a line each, by name.
    package var report: String {
        counts.withLock { counts in
            counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined()
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
