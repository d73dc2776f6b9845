internal import Glibc
internal import VideoBase

/// A thread of its own for calls that block, such as waits for a device: Swift's cooperative pool has only as many
/// threads as the machine has cores, and blocking there can stop a whole process.
///
/// Jobs run one at a time in the order in which they were given. Letting go of the last reference waits for what was
/// given before, then ends the thread.
package final class DeviceThread: Sendable {
    private let queue: JobQueue
    private let thread: pthread_t

    /// - Throws: `VaencError` where the system gives no more threads.
    package init() throws {
        let queue = JobQueue()
        self.queue = queue
        var thread = pthread_t()
        // SAFETY: the new thread takes over the retained queue; without a thread it is released here.
        let context = unsafe Unmanaged.passRetained(queue).toOpaque()
        let status = unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context else { return nil }
                unsafe Unmanaged<JobQueue>.fromOpaque(context).takeRetainedValue().runUntilClosed()
                return nil
            }, context)
        self.thread = thread
        guard status == 0 else {
            unsafe Unmanaged<JobQueue>.fromOpaque(context).release()
            queue.abandon()
            throw VaencError(.unavailable, "cannot start a thread: \(unsafe String(cString: strerror(status)))")
        }
    }

    deinit {
        guard queue.close() else { return }
        // The last reference may go in a job of the thread itself, which cannot wait for its own end.
        if pthread_equal(thread, pthread_self()) != 0 {
            pthread_detach(thread)
        } else {
            pthread_join(thread, nil)
        }
    }

    /// Runs `job` after those given before it, and returns at once.
    package func async(_ job: sending @escaping () -> Void) {
        queue.add(job)
    }

    /// Runs `job` after those given before it and waits for its result. From a job of this thread, runs it at once.
    package func sync<R, Failure: Error>(_ job: @escaping () throws(Failure) -> R) throws(Failure) -> R {
        if pthread_equal(thread, pthread_self()) != 0 { return try job() }
        // SAFETY: the caller waits while the job runs, so nothing is used from two threads at once; the gate orders
        // what the job wrote before what the caller reads.
        nonisolated(unsafe) let job = job
        nonisolated(unsafe) var result: Result<R, Failure>?
        let done = Gate()
        queue.add {
            unsafe result = Result { () throws(Failure) -> R in unsafe try job() }
            done.open()
        }
        done.wait()
        guard let result = unsafe result else { preconditionFailure("the gate opens after the result is there") }
        return try result.get()
    }
}
