internal import Glibc
internal import Synchronization

/// Monitors calls for which no other thread waits, and reports a call that does not return in time.
///
/// One thread serves the whole process. It sleeps until the earliest known deadline. A call that returns in time costs
/// a few atomic operations, and wakes the thread only if its deadline is earlier than that.
final class CallTimeoutMonitor: Sendable {
    static let shared = CallTimeoutMonitor()

    private struct State {
        var threads: [LaneExecutor.WorkerContext] = []
        var isRunning = false
    }

    private let state = Mutex(State())
    /// The time at which the thread wakes up.
    private let wakesAt = Atomic<UInt64>(.max)
    private let wakeUp = Monitor(false)

    /// Monitors the calls of a thread.
    func add(_ thread: LaneExecutor.WorkerContext) { state.withLock { $0.threads.append(thread) } }

    func remove(_ thread: LaneExecutor.WorkerContext) { state.withLock { $0.threads.removeAll { $0 === thread } } }

    /// Ensures that the thread is awake at a deadline that a slot has. If the system cannot start the thread, the call
    /// has no time limit.
    func expect(_ deadline: UInt64) {
        // The slot was written before this value is read. The thread changes the value before it reads the slots.
        guard deadline < wakesAt.load(ordering: .sequentiallyConsistent) else { return }
        let starts = state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if !starts { return wakeUp.withLock { $0 = true } }
        if DedicatedThread.start("vaenc-timeouts", { CallTimeoutMonitor.shared.monitorCalls() }) { return }
        state.withLock { $0.isRunning = false }
    }

    /// The body of the monitor's thread.
    private func monitorCalls() {
        while true {
            wakesAt.store(.max, ordering: .sequentiallyConsistent)
            let now = Self.now
            var earliest = UInt64.max
            for thread in state.withLock({ $0.threads }) {
                if let deadline = thread.slot.report(ifLostAt: now, on: thread) { earliest = min(earliest, deadline) }
            }
            wakesAt.store(earliest, ordering: .sequentiallyConsistent)
            // If a call with an earlier deadline began in the meantime, it has set `wakeUp`, and the wait returns
            // immediately.
            _ = wakeUp.wait(atMostNanoseconds: earliest - min(earliest, Self.now)) { isSet -> Void? in
                defer { isSet = false }
                return isSet ? () : nil
            }
        }
    }

    static var now: UInt64 { UInt64(clamping: MonotonicClock.nanoseconds) }
}

/// A call with a time limit.
package struct TimedCall: Sendable {
    /// The object of a call, for the error.
    package enum Object: Sendable {
        case none
        case frame(Int)
        case described(@Sendable () -> String)

        /// The object in words, or an empty text.
        package var description: String {
            switch self {
            case .none: ""
            case .frame(let index): "frame \(index)"
            case .described(let text): text()
            }
        }
    }

    /// The name of the operation: `vaEndPicture`.
    package var name: String
    package var object: Object
    /// The receiver of the report if the call does not return in time.
    package var handler: any LostCallHandler

    package init(_ name: String, on object: Object, handler: any LostCallHandler) {
        (self.name, self.object, self.handler) = (name, object, handler)
    }
}

/// Receives the report of a call that did not return in time.
package protocol LostCallHandler: AnyObject, Sendable {
    /// Called once for a call, on the thread of `CallTimeoutMonitor`.
    func isLost(_ call: TimedCall, on thread: LaneExecutor.WorkerContext)
}

/// The call that one thread makes, with its deadline.
final class TimedCallSlot: @unchecked Sendable {
    // SAFETY: The thread writes `call` only while `deadline` is `none`, in which case the monitor does not read it. The
    // atomic operations on `deadline` order the accesses.
    private var call: TimedCall?
    private let deadline = Atomic<UInt64>(0)

    /// Values of `deadline` that are no time.
    private static var none: UInt64 { 0 }
    private static var lost: UInt64 { 1 }
    private static var reported: UInt64 { 2 }

    /// Begins a call of the calling thread, which owns the slot. Returns its deadline.
    func begin(_ call: TimedCall, nanoseconds: UInt64) -> UInt64 {
        let (sum, isTooLong) = CallTimeoutMonitor.now.addingReportingOverflow(nanoseconds)
        let end = isTooLong ? UInt64.max : max(sum, Self.reported + 1)
        self.call = call
        deadline.store(end, ordering: .sequentiallyConsistent)
        CallTimeoutMonitor.shared.expect(end)
        return end
    }

    /// Ends the call that has this deadline. Returns false if it was reported as lost; the report is then complete.
    func end(_ end: UInt64) -> Bool {
        if deadline.compareExchange(expected: end, desired: Self.none, ordering: .acquiringAndReleasing).exchanged {
            call = nil
            return true
        }
        while deadline.load(ordering: .acquiring) != Self.reported { usleep(100) }
        return false
    }

    /// Reports the call if its deadline has passed. Returns the deadline of a call that is in time; nil if there is
    /// none.
    func report(ifLostAt now: UInt64, on thread: LaneExecutor.WorkerContext) -> UInt64? {
        let end = deadline.load(ordering: .sequentiallyConsistent)
        guard end > Self.reported else { return nil }
        if end > now { return end }
        guard deadline.compareExchange(expected: end, desired: Self.lost, ordering: .acquiringAndReleasing).exchanged else { return nil }
        if let call { call.handler.isLost(call, on: thread) }
        deadline.store(Self.reported, ordering: .releasing)
        return nil
    }
}
