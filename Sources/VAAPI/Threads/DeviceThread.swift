internal import Synchronization
internal import VideoBase

/// A dedicated thread for calls that block, such as waits for a device.
///
/// Swift's cooperative pool has only as many threads as the machine has cores, and blocking calls there can stop the
/// whole process.
///
/// Jobs run one at a time, in the order in which they were added. Releasing the last reference waits for all jobs and
/// then ends the thread.
package final class DeviceThread: Sendable {
    private let crew: LaneExecutor
    private let lane: Int

    private init(_ crew: LaneExecutor, lane: Int) {
        self.crew = crew
        self.lane = lane
    }

    /// Creates a thread.
    ///
    /// - Throws: A `VaencError` if the system cannot start a thread.
    package convenience init() throws { self.init(try LaneExecutor(lanes: 1), lane: 0) }

    /// Creates two threads that run in parallel. If the first thread has no more jobs, a job that it adds to the second
    /// runs without a thread switch.
    ///
    /// - Throws: A `VaencError` if the system cannot start the threads.
    package static func pair() throws -> (first: DeviceThread, second: DeviceThread) {
        let crew = try LaneExecutor(lanes: 2)
        return (DeviceThread(crew, lane: 0), DeviceThread(crew, lane: 1))
    }

    deinit { crew.end(lane) }

    /// Makes device calls of jobs, issued through a `DriverCallWatchdog`, run directly on this thread (and on the other
    /// thread of its pair), without a second thread that waits. If a call does not return in time, the thread is
    /// abandoned with its job, and a new thread continues with the following jobs.
    ///
    /// - Parameter whenLost: Called for each call that does not return, on the thread of `CallTimeoutMonitor`. If the
    ///   job ever continues, its call throws the same error.
    package func makesCalls(whenLost: @escaping @Sendable (any Error) -> Void) {
        crew.whenLost.withLock { [handler = LaneExecutor.LossHandler(whenLost)] in $0 = handler }
    }

    /// Runs code that does not belong to this thread's jobs, such as a caller's handler. Device calls in `body` run on
    /// a different thread with a timeout, as on any other thread, so this thread is not abandoned because of them.
    package static func lent<R>(_ body: () throws -> R) rethrows -> R {
        guard let post = LaneExecutor.Post.current else { return try body() }
        let wasLent = post.isLent
        post.isLent = true
        defer { post.isLent = wasLent }
        return try body()
    }

    /// Adds a job that runs after all jobs added before it, and returns immediately.
    package func async(_ job: sending @escaping () -> Void) {
        crew.add(to: lane, job)
    }

    /// Runs a job after all jobs added before it, and blocks until it has finished. If called from a job of this
    /// thread, runs the job immediately.
    package func sync<R, Failure: Error>(_ job: @escaping () throws(Failure) -> R) throws(Failure) -> R {
        if crew.isDoing(lane) { return try job() }
        // SAFETY: The caller waits while the job runs, so no value is used by two threads at once. The event orders the
        // job's writes before the caller's reads.
        nonisolated(unsafe) var job = Optional(job)
        nonisolated(unsafe) var outcome: Result<R, Failure>?
        let done = OneShotEvent()
        crew.add(to: lane, isAwaited: true) {
            unsafe outcome = unsafe job.map { job in Result { () throws(Failure) -> R in try job() } }
            // From here on, only the caller uses these values.
            unsafe job = nil
            done.open()
        }
        done.wait()
        defer { unsafe outcome = nil }
        guard let result = unsafe outcome else { preconditionFailure("the gate opens after the result is there") }
        return try result.get()
    }
}
