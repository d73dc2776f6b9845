/// Limits the number of threads that help the encoders of the process, so that many contexts do not start many threads.
package final class HelperBudget: Sendable {
    static let process = HelperBudget(limit: 2 * WorkerPool.processors)

    private let state: State

    /// SAFETY: `free` is only accessed with the monitor's lock held.
    private final class State: @unchecked Sendable {
        let monitor = Monitor()
        var free: Int

        init(free: Int) { self.free = free }
    }

    package init(limit: Int) { state = State(free: limit) }

    /// Takes up to `count` threads from the budget. Returns how many the caller may start.
    package func take(_ count: Int) -> Int {
        state.monitor.withLock {
            let granted = max(min(count, state.free), 0)
            state.free -= granted
            return granted
        }
    }

    package func giveBack(_ count: Int) { state.monitor.withLock { state.free += count } }
}
