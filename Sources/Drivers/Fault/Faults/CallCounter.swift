internal import Glibc
internal import Synchronization

/// Counts the calls of each name and returns their faults.
///
/// All displays of the process that were opened with the same rules share one counter. Therefore, the count continues
/// when a display replaces a failed one. Displays with other rules have another counter.
package final class CallCounter: Sendable {
    private static let all = Mutex<[String: CallCounter]>([:])

    /// Returns the counter of these rules. The first display with these rules creates it.
    ///
    /// - Parameter text: The text of the rules in `plan`.
    package static func of(_ text: String, _ plan: FaultPlan) -> CallCounter {
        all.withLock { all in
            if let existing = all[text] { return existing }
            let counter = CallCounter(plan)
            all[text] = counter
            return counter
        }
    }

    private let plan: FaultPlan
    private let counts = Mutex<[String: Int]>([:])

    private init(_ plan: FaultPlan) { self.plan = plan }

    /// Counts a call and returns its fault, or nil.
    package func next(_ call: String) -> FaultPlan.Fault? {
        let number = counts.withLock { counts in
            counts[call, default: 0] += 1
            return counts[call, default: 0]
        }
        return plan.fault(call, number: number)
    }

    /// The number of calls so far, with one line per name in alphabetical order.
    package var report: String {
        counts.withLock { counts in
            counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined()
        }
    }
}

/// Sleeps on the monotonic clock. A signal does not end the sleep.
func sleep(milliseconds: Int) {
    var left = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
    while true {
        var remaining = timespec()
        guard unsafe nanosleep(&left, &remaining) != 0, errno == EINTR else { return }
        left = remaining
    }
}
