internal import Glibc
internal import Synchronization

/// Monitors calls for which no other thread waits, and reports a call that does not return in time.
///
/// One thread serves the whole process. It sleeps until the earliest known deadline. A call that returns in time costs
/// two lock operations, and wakes the thread only if its deadline is earlier than that.
package final class CallTimeoutMonitor: Sendable {
    package static let shared = CallTimeoutMonitor()

    /// A call in progress.
    package struct Call: Hashable, Sendable { fileprivate var number: UInt64 }

    private struct Watched {
        var deadline: UInt64
        var isLost: @Sendable () -> Void
    }

    private struct State {
        var calls: [Call: Watched] = [:]
        var next: UInt64 = 0
        /// The time at which the thread wakes up; nil before the thread is started.
        var wakesAt: UInt64?
    }

    private let state = Mutex(State())
    private let wakeUp = Monitor(false)

    /// Registers a call and its deadline.
    ///
    /// - Parameter isLost: Called once, on the monitor's thread, when the deadline passes. `end` then returns false.
    /// - Returns: The registered call, or nil if the system cannot start the monitor's thread.
    package func begin(nanoseconds: UInt64, isLost: @escaping @Sendable () -> Void) -> Call? {
        let (sum, isTooLong) = Self.now.addingReportingOverflow(nanoseconds)
        let deadline = isTooLong ? UInt64.max : sum
        let (call, wakes, starts) = state.withLock { state in
            let call = Call(number: state.next)
            state.next += 1
            state.calls[call] = Watched(deadline: deadline, isLost: isLost)
            let wakes = state.wakesAt.map { deadline < $0 } ?? false
            let starts = state.wakesAt == nil
            if wakes || starts { state.wakesAt = deadline }
            return (call, wakes, starts)
        }
        if wakes { wakeUp.withLock { $0 = true } }
        guard starts, !start() else { return call }
        state.withLock { state in
            state.calls[call] = nil
            state.wakesAt = nil
        }
        return nil
    }

    /// Unregisters a call that has returned. Returns false if the call was already reported as lost.
    package func end(_ call: Call) -> Bool { state.withLock { $0.calls.removeValue(forKey: call) != nil } }

    private func start() -> Bool {
        DedicatedThread.start("vaenc-timeouts") { CallTimeoutMonitor.shared.monitorCalls() }
    }

    /// The body of the monitor's thread.
    private func monitorCalls() {
        while true {
            let now = Self.now
            let (lost, wakesAt) = state.withLock { state in
                let lost = state.calls.filter { $0.value.deadline <= now }
                for call in lost.keys { state.calls[call] = nil }
                let earliest = state.calls.values.reduce(UInt64.max) { min($0, $1.deadline) }
                state.wakesAt = earliest
                return (lost, earliest)
            }
            for call in lost.values { call.isLost() }
            // If a call with an earlier deadline was registered in the meantime, it has set `wakeUp`, and the wait
            // returns immediately.
            _ = wakeUp.wait(atMostNanoseconds: wakesAt - min(wakesAt, Self.now)) { isSet -> Void? in
                defer { isSet = false }
                return isSet ? () : nil
            }
        }
    }

    private static var now: UInt64 { UInt64(clamping: MonotonicClock.nanoseconds) }
}
