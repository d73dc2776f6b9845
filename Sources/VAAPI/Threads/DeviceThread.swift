internal import Synchronization
internal import VideoBase

/// A thread of its own for calls that block, such as waits for a device: Swift's cooperative pool has only as many
/// threads as the machine has cores, and blocking there can stop a whole process.
///
/// Jobs run one at a time in the order in which they were given. Letting go of the last reference waits for what was
/// given before, then ends the thread.
package final class DeviceThread: Sendable {
    private let crew: LaneExecutor
    private let lane: Int

    private init(_ crew: LaneExecutor, lane: Int) {
        self.crew = crew
        self.lane = lane
    }

    /// - Throws: `VaencError` where the system gives no more threads.
    package convenience init() throws { self.init(try LaneExecutor(lanes: 1), lane: 0) }

    /// Two that run side by side. What a job of the first gives to the second is done without a change of thread,
    /// where nothing more is there for the first.
    package static func pair() throws -> (first: DeviceThread, second: DeviceThread) {
        let crew = try LaneExecutor(lanes: 2)
        return (DeviceThread(crew, lane: 0), DeviceThread(crew, lane: 1))
    }

    deinit { crew.end(lane) }

    /// Has calls on devices that jobs make through a `DriverCallWatchdog` made right on this thread (and on its pair's), where
    /// nobody waits beside it. Where one does not come back, the thread is left behind with the job, and another one goes
    /// on with the jobs after it.
    ///
    /// - Parameter whenLost: called for each such call, on a thread of its own. The job, should it ever go on, gets the
    ///   same error.
    package func makesCalls(whenLost: @escaping @Sendable (any Error) -> Void) {
        crew.whenLost.withLock { [handler = LaneExecutor.LossHandler(whenLost)] in $0 = handler }
    }

    /// Runs what is not the thread's own, a caller's handler: calls on devices that are made there are waited for beside
    /// them, as on any other thread, and the thread is not left behind for them.
    package static func lent<R>(_ body: () throws -> R) rethrows -> R {
        guard let post = LaneExecutor.Post.current else { return try body() }
        let wasLent = post.isLent
        post.isLent = true
        defer { post.isLent = wasLent }
        return try body()
    }

    /// Runs `job` after those given before it, and returns at once.
    package func async(_ job: sending @escaping () -> Void) {
        crew.add(to: lane, job)
    }

    /// Runs `job` after those given before it and waits for its result. From a job of this thread, runs it at once.
    package func sync<R, Failure: Error>(_ job: @escaping () throws(Failure) -> R) throws(Failure) -> R {
        if crew.isDoing(lane) { return try job() }
        // SAFETY: the caller waits while the job runs, so nothing is used from two threads at once; the gate orders
        // what the job wrote before what the caller reads.
        nonisolated(unsafe) var job = Optional(job)
        nonisolated(unsafe) var outcome: Result<R, Failure>?
        let done = OneShotEvent()
        crew.add(to: lane, isAwaited: true) {
            unsafe outcome = unsafe job.map { job in Result { () throws(Failure) -> R in try job() } }
            // All of it is the caller's alone once the gate is open.
            unsafe job = nil
            done.open()
        }
        done.wait()
        defer { unsafe outcome = nil }
        guard let result = unsafe outcome else { preconditionFailure("the gate opens after the result is there") }
        return try result.get()
    }
}
