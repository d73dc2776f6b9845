import Threads
import VAAPI

/// The state that the caller and the threads of a pipeline share.
///
/// A thread that has finished a picture submits the next one itself, so a picture costs at most one thread switch. The
/// second thread is needed only if the first is in the device or in a handler while the device has a free buffer.
struct PipelineState {
    private var idleBuffers: [CodedBuffer]
    /// The planned pictures that are not submitted yet, in coding order.
    private var queue: [PictureJob] = []
    /// The maximum number of queued pictures; 0: the caller waits for a coded buffer.
    private let queueDepth: Int
    /// Whether a picture is submitted only after all pictures before it were read.
    private let isSerial: Bool
    /// Whether the caller may wait for the packet of each picture.
    private let isAwaited: Bool
    /// The number of pictures submitted and not read yet.
    private(set) var inFlight = 0
    /// The number of submitted pictures whose finishing job has not ended.
    private var finishing = 0
    /// The time since which the handler runs, in nanoseconds of `MonotonicClock`; nil if it does not.
    private var handlerBegan: Int64?
    /// Whether a thread waits for the device.
    private var isSyncing = false
    /// Whether a thread submits pictures, or a job that does so is waiting.
    private var isSubmitting = false
    /// Whether the caller sleeps until there is room.
    private var callerWaits = false
    /// The error that ended the pipeline. It is reported once and thrown by every later call.
    private(set) var failure: (any Error)?
    private var failureIsReported = false
    /// Whether submission failed. Pictures that wait for submission are then discarded.
    var submissionFailed = false
    /// Whether reading the device's output failed. Pictures in flight are then not waited for.
    var outputFailed = false
    var isClosed = false

    init(idleBuffers: [CodedBuffer], queueDepth: Int, isSerial: Bool, isAwaited: Bool = false) {
        (self.idleBuffers, self.queueDepth, self.isSerial, self.isAwaited) = (idleBuffers, queueDepth, isSerial, isAwaited)
        queue.reserveCapacity(queueDepth + 1)
    }

    /// Whether pictures are no longer submitted.
    private var hasEnded: Bool { submissionFailed || outputFailed || isClosed }

    /// Whether a coded buffer is not in use.
    var hasIdleBuffer: Bool { !idleBuffers.isEmpty }

    private var hasBuffer: Bool { hasIdleBuffer && (inFlight == 0 || !isSerial) }

    /// Whether a picture can be submitted and no thread is about to do it.
    private var canStart: Bool { !isSubmitting && !hasEnded && !queue.isEmpty && hasBuffer }

    /// Records the error that ends the pipeline. Returns whether it is the first one.
    mutating func fail(_ error: any Error) -> Bool {
        guard failure == nil, !isClosed else { return false }
        failure = error
        return true
    }

    /// Returns the failure, once, when all pictures that were planned before it are submitted or discarded.
    mutating func takeFailure() -> (any Error)? {
        guard !failureIsReported, let failure, queue.isEmpty || hasEnded else { return nil }
        failureIsReported = true
        return failure
    }

    func throwIfEnded() throws {
        if let failure { throw failure }
        if isClosed { throw EncodePipeline.closed }
    }

    /// Removes the pictures that will not be submitted because the pipeline has ended. Release them outside of the
    /// monitor: that may map surfaces.
    mutating func takeDiscarded() -> [PictureJob] {
        guard hasEnded else { return [] }
        defer { queue = [] }
        return queue
    }

    // MARK: The caller

    /// Returns nil while the caller must wait. A caller that has waited continues only when the queue is empty, so that
    /// it is woken once for several pictures.
    mutating func waitForRoom() throws -> Void? {
        callerWaits = try !hasRoom()
        return callerWaits ? nil : ()
    }

    private func hasRoom() throws -> Bool {
        try throwIfEnded()
        if queueDepth == 0 { return queue.isEmpty && hasBuffer }
        return callerWaits ? queue.isEmpty : queue.count < queueDepth
    }

    /// What the caller does after it has added a picture.
    enum Follow {
        case nothing
        /// Adds a job that submits pictures.
        case submit(isUrgent: Bool)
        /// Makes the job that submits pictures urgent.
        case hurry
    }

    /// Adds a picture. A picture that is submitted alone is not urgent, because others may follow soon.
    mutating func add(_ job: PictureJob) -> Follow {
        queue.append(job)
        let isUrgent = queue.count >= urgentDepth
        // A thread that delivers a picture will look for more pictures soon, unless its handler blocks.
        let isNeeded = finishing == 0 || isSyncing || queue.count >= queueDepth || handlerBlocks
        guard canStart, isNeeded else { return isSubmitting && queue.count == urgentDepth ? .hurry : .nothing }
        isSubmitting = true
        return .submit(isUrgent: isUrgent)
    }

    private var handlerBlocks: Bool { handlerBegan.map { MonotonicClock.nanoseconds - $0 > 300_000 } ?? false }

    /// The number of queued pictures from which their submission is urgent.
    private var urgentDepth: Int { isAwaited ? 1 : max(queueDepth * 3 / 4, 1) }

    // MARK: The threads

    /// Begins to submit pictures if that is possible and no other thread does so.
    mutating func beginSubmitting() -> Bool {
        guard canStart else { return false }
        isSubmitting = true
        return true
    }

    /// Takes the next picture to submit, with a buffer. Returns nil, and ends submitting, if there is none.
    mutating func next() -> (job: PictureJob, output: CodedBuffer)? {
        guard !hasEnded, !queue.isEmpty, hasBuffer, let output = idleBuffers.popLast() else {
            isSubmitting = false
            return nil
        }
        inFlight += 1
        finishing += 1
        return (queue.removeFirst(), output)
    }

    /// Whether the caller must be woken after a picture was taken or read.
    var mustWakeCaller: Bool { callerWaits && (queueDepth == 0 ? queue.isEmpty && hasBuffer : queue.isEmpty) }

    /// Records that a picture that was taken is not in flight, because submitting it failed.
    mutating func submissionFails() {
        submissionFailed = true
        isSubmitting = false
    }

    /// Begins a wait for the device. Returns whether the thread must submit pictures first.
    mutating func beginSync() -> Bool {
        isSyncing = true
        return beginSubmitting()
    }

    mutating func endSync() { isSyncing = false }

    /// Returns the buffer of a picture that was read.
    mutating func read(_ output: CodedBuffer) {
        idleBuffers.append(output)
        inFlight -= 1
    }

    /// Records that the handler begins. Returns false if it must not run.
    mutating func beginHandler() -> Bool {
        if isClosed { return false }
        handlerBegan = MonotonicClock.nanoseconds
        return true
    }

    /// Ends the finishing job of a picture. Returns whether a job that submits pictures must be added.
    mutating func endFinishing() -> Bool {
        finishing -= 1
        handlerBegan = nil
        return beginSubmitting()
    }
}
