internal import Synchronization
internal import Threads
package import VideoBase

/// A dedicated thread for calls that block, such as waits for a device.
///
/// Swift's cooperative pool has only as many threads as the machine has cores, and blocking calls there can stop the
/// whole process.
///
/// Jobs run one at a time, in the order in which they were added. Releasing the last reference waits for all jobs and
/// then ends the thread.
package final class DeviceThread: Sendable {
    private let executor: LaneExecutor
    private let lane: Int

    private init(_ executor: LaneExecutor, lane: Int) {
        self.executor = executor
        self.lane = lane
    }

    /// Creates a thread.
    ///
    /// - Parameter name: The name that `top -H` shows.
    /// - Throws: A `VaencError` if the system cannot start a thread.
    package convenience init(_ name: String) throws(VaencError) { self.init(try Self.executor(name, lanes: 1), lane: 0) }

    private static func executor(_ name: String, lanes: Int) throws(VaencError) -> LaneExecutor {
        guard let executor = LaneExecutor(name, lanes: lanes) else { throw VaencError.noThread("for a device") }
        return executor
    }

    /// Creates two threads that run in parallel. If the first thread has no more jobs, a job that it adds to the second
    /// runs without a thread switch.
    ///
    /// - Throws: A `VaencError` if the system cannot start the threads.
    package static func pair(_ name: String) throws(VaencError) -> (first: DeviceThread, second: DeviceThread) {
        let executor = try executor(name, lanes: 2)
        return (DeviceThread(executor, lane: 0), DeviceThread(executor, lane: 1))
    }

    deinit { executor.end(lane) }

    /// Lets jobs make driver calls directly on this thread and on the other thread of its pair. Without this,
    /// `DriverCallWatchdog` moves each call to a worker thread while this thread waits. If a call does not return in
    /// time, the thread is abandoned with its job, and a new thread continues with the following jobs.
    ///
    /// - Parameter whenLost: Called for each call that does not return, on the thread of `CallTimeoutMonitor`. If the
    ///   job ever continues, its call throws the same error.
    package func makesCalls(whenLost: @escaping @Sendable (any Error) -> Void) {
        executor.makesCalls(whenLost: LaneExecutor.LossHandler(whenLost))
    }

    /// Runs code that does not belong to this thread's jobs, such as a caller's handler. Device calls in `body` run on
    /// a different thread with a timeout, as on any other thread, so this thread is not abandoned because of them.
    package static func runningForeignCode<R>(_ body: () throws -> R) rethrows -> R {
        guard let context = LaneExecutor.WorkerContext.current else { return try body() }
        let ranForeignCode = context.runsForeignCode
        context.runsForeignCode = true
        defer { context.runsForeignCode = ranForeignCode }
        return try body()
    }

    /// Adds a job that runs after all jobs added before it, and returns immediately.
    ///
    /// - Parameter isUrgent: Whether the job must not wait up to 0.3 ms for others, which are then run
    ///   with it.
    package func async(isUrgent: Bool = true, _ job: sending @escaping () -> Void) {
        executor.add(to: lane, isUrgent: isUrgent, job)
    }

    /// Makes the jobs that were added to this thread and the other thread of its pair urgent.
    package func hurry() { executor.hurry() }

    /// Runs a job after all jobs added before it, and blocks until it has finished. If called from a job of this
    /// thread, runs the job immediately.
    package func sync<R, Failure: Error>(_ job: @escaping () throws(Failure) -> R) throws(Failure) -> R {
        if executor.isDoing(lane) { return try job() }
        // SAFETY: The caller waits while the job runs, so no value is used by two threads at once. The event orders the
        // job's writes before the caller's reads.
        nonisolated(unsafe) var job = Optional(job)
        nonisolated(unsafe) var outcome: Result<R, Failure>?
        let done = OneShotEvent()
        executor.add(to: lane, isAwaited: true) {
            unsafe outcome = unsafe job.map { job in Result { () throws(Failure) -> R in try job() } }
            // From here on, only the caller uses these values.
            unsafe job = nil
            done.open()
        }
        done.wait()
        defer { unsafe outcome = nil }
        guard let result = unsafe outcome else { preconditionFailure("the event opens after the result is stored") }
        return try result.get()
    }
}
