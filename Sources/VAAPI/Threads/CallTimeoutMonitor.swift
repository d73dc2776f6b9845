internal import Glibc
internal import Synchronization
internal import VideoBase

/// Looks after calls that are made without anybody waiting beside them, and says when one does not come back in time.
///
/// One thread for the process, asleep until the earliest deadline that it knew when it fell asleep: a call that comes
/// back in time costs two locks, and wakes nobody.
final class CallTimeoutMonitor: Sendable {
    static let shared = CallTimeoutMonitor()

    /// A call under way.
    struct Call: Hashable { fileprivate var number: UInt64 }

    private struct Watched {
        var deadline: UInt64
        var isLost: @Sendable () -> Void
    }

    private struct State {
        var calls: [Call: Watched] = [:]
        var next: UInt64 = 0
        /// When the thread wakes by itself; nil before it is started.
        var wakesAt: UInt64?
    }

    private let state = Mutex(State())
    private let bell = Monitor(false)

    /// - Parameter isLost: called once, on a thread of its own, when the time is up; the call's `end` is then false.
    /// - Returns: nil where the system gives no thread to look out on.
    func begin(nanoseconds: UInt64, isLost: @escaping @Sendable () -> Void) -> Call? {
        let (sum, isTooLong) = Self.now.addingReportingOverflow(nanoseconds)
        let deadline = isTooLong ? UInt64.max : sum
        let (call, rings, starts) = state.withLock { state in
            let call = Call(number: state.next)
            state.next += 1
            state.calls[call] = Watched(deadline: deadline, isLost: isLost)
            let rings = state.wakesAt.map { deadline < $0 } ?? false
            let starts = state.wakesAt == nil
            if rings || starts { state.wakesAt = deadline }
            return (call, rings, starts)
        }
        if rings { bell.withLock { $0 = true } }
        guard starts, !start() else { return call }
        state.withLock { state in
            state.calls[call] = nil
            state.wakesAt = nil
        }
        return nil
    }

    /// False where the call counts as lost.
    func end(_ call: Call) -> Bool { state.withLock { $0.calls.removeValue(forKey: call) != nil } }

    private func start() -> Bool {
        var thread = pthread_t()
        let status = unsafe pthread_create(
            &thread, nil,
            { _ in
                CallTimeoutMonitor.shared.look()
                return nil
            }, nil)
        if status == 0 { pthread_detach(thread) }
        return status == 0
    }

    /// The thread's body.
    private func look() {
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
            // What came while the lost ones were told of rang.
            _ = bell.wait(atMostNanoseconds: wakesAt - min(wakesAt, Self.now)) { isRung -> Void? in
                defer { isRung = false }
                return isRung ? () : nil
            }
        }
    }

    private static var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
