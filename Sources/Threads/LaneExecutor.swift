internal import Glibc
internal import Synchronization

/// A group of threads that executes the jobs of a few lanes. The jobs of one lane run one at a time and in order. Lanes
/// run in parallel, and lanes with a lower index take precedence.
///
/// No thread belongs to a lane. A thread that finishes a job takes the next ready job of any lane. If nothing else is
/// ready, a job that was added by the finished job, in any lane, therefore runs without a thread switch.
///
/// If jobs that are not urgent arrive within a short time after the last job was done, an idle thread lingers: it sleeps
/// until a timer expires or an urgent job arrives, and then runs all jobs that arrived meanwhile. So many short jobs cost
/// one thread switch together.
package final class LaneExecutor: Sendable {
    package typealias Job = () -> Void

    /// A job that waits. Passing the closure itself through generic functions would allocate a wrapper each time.
    private struct WaitingJob {
        let run: Job
    }

    private struct Lane {
        var jobs: [WaitingJob] = []
        var isBusy = false
        var isClosed = false

        var isReady: Bool { !isBusy && !jobs.isEmpty }
        var isDone: Bool { isClosed && !isBusy && jobs.isEmpty }
    }

    private struct State {
        var lanes: [Lane]
        /// The number of threads that take jobs.
        var threads = 0
        /// Whether a thread sleeps with a timer, so that jobs that are not urgent need not wake it.
        var isLingering = false
        /// The time since which no lane is busy, in nanoseconds of `MonotonicClock`.
        private var idleSince: Int64 = 0
        /// Whether the last job that found all lanes idle arrived soon after they became idle.
        private var expectsJobsSoon = false

        init(lanes: [Lane]) { self.lanes = lanes }

        private var isBusy: Bool { lanes.contains(where: \.isBusy) }
        var hasReadyLane: Bool { lanes.contains(where: \.isReady) }
        var isDone: Bool { lanes.allSatisfy(\.isDone) }

        /// Adds a job. Returns the thread that must be woken for it.
        mutating func add(_ job: WaitingJob, to lane: Int, isUrgent: Bool) -> Sleeper? {
            if !isBusy, !hasReadyLane {
                expectsJobsSoon = MonotonicClock.nanoseconds - idleSince < LaneExecutor.lingerNanoseconds
            }
            lanes[lane].jobs.append(job)
            guard lanes[lane].isReady else { return nil }
            if !isLingering { return .any }
            return isUrgent || isBusy ? .lingering : nil
        }

        /// Returns what an idle thread does next; nil if it sleeps.
        mutating func next() -> Next? {
            if let (lane, job) = take() { return .job(lane, job, isMore: hasReadyLane) }
            guard isDone else { return nil }
            threads -= 1
            return .end
        }

        /// Decides whether an idle thread lingers.
        mutating func beginLingering() -> Bool {
            guard !isBusy else { return false }
            idleSince = MonotonicClock.nanoseconds
            if isLingering || !expectsJobsSoon { return false }
            isLingering = true
            return true
        }

        mutating func take() -> (lane: Int, job: WaitingJob)? {
            guard let lane = lanes.firstIndex(where: \.isReady) else { return nil }
            lanes[lane].isBusy = true
            return (lane, lanes[lane].jobs.removeFirst())
        }
    }

    /// A thread that sleeps.
    private enum Sleeper {
        case any
        case lingering
    }

    private enum Next {
        case job(Int, WaitingJob, isMore: Bool)
        case end
    }

    /// The time for which a thread lingers: that of a few small pictures.
    private static let lingerNanoseconds: Int64 = 300_000

    /// The handler of calls that do not return.
    ///
    /// It is an object: each `withLock` of a `Mutex` that holds an optional closure wraps the closure once more. That
    /// leaks memory, and it overflows the stack when the chain of wrappers is released.
    package final class LossHandler: Sendable {
        package let report: @Sendable (any Error) -> Void
        package init(_ report: @escaping @Sendable (any Error) -> Void) { self.report = report }
    }

    /// The handler of calls that do not return, or nil if the jobs do not make device calls directly on these threads.
    private let whenLost = Mutex<LossHandler?>(nil)
    /// Whether there is a handler.
    private let makesCalls = Atomic(false)
    private let name: String
    private let state: Monitor<State>
    /// Whether the lingering thread must end its sleep. It sleeps here and not with the other threads, so that it is the
    /// one that is woken.
    private let alarm = Monitor(false)
    /// Signals the callers that wait for the end of a lane.
    private let ends = Monitor(())

    /// The state of one thread of the executor.
    package final class WorkerContext: Sendable {
        fileprivate let executor: LaneExecutor
        /// The lane of the job that the thread runs, or -1.
        fileprivate let lane = Atomic(-1)
        fileprivate let isAbandoned = Atomic(false)
        private let calls = Atomic(false)
        private let foreignCode = Atomic(false)
        let slot = TimedCallSlot()

        fileprivate init(_ executor: LaneExecutor) { self.executor = executor }

        /// The state of the calling thread, or nil if it belongs to no executor.
        package static var current: WorkerContext? {
            guard let key = LaneExecutor.key, let pointer = unsafe pthread_getspecific(key) else { return nil }
            // SAFETY: The thread's body keeps its `WorkerContext` until the thread ends.
            return unsafe Unmanaged<WorkerContext>.fromOpaque(pointer).takeUnretainedValue()
        }

        /// Whether the thread is in a device call. Only the thread itself uses the value.
        package private(set) var isInCall: Bool {
            get { calls.load(ordering: .relaxed) }
            set { calls.store(newValue, ordering: .relaxed) }
        }

        /// Whether the thread runs foreign code, such as a caller's handler. Only the thread itself uses the value.
        package var runsForeignCode: Bool {
            get { foreignCode.load(ordering: .relaxed) }
            set { foreignCode.store(newValue, ordering: .relaxed) }
        }

        /// Whether device calls may run on this thread.
        package var canCall: Bool { !runsForeignCode && executor.makesCalls.load(ordering: .relaxed) }

        /// Reports a lost call to the owner of the executor.
        package func reportLoss(_ error: any Error) { executor.whenLost.withLock { $0 }?.report(error) }

        /// Runs `body`, a device call, with a time limit. Returns false if the call was reported as lost before `body`
        /// returned; the thread is then abandoned.
        package func run(_ call: TimedCall, nanoseconds: UInt64, _ body: () -> Void) -> Bool {
            let deadline = slot.begin(call, nanoseconds: nanoseconds)
            isInCall = true
            body()
            isInCall = false
            if slot.end(deadline) { return true }
            abandon()
            return false
        }

        /// Marks the thread as abandoned: it takes no more jobs.
        package func abandon() { isAbandoned.store(true, ordering: .releasing) }

        /// Replaces this thread, which is stuck, by a new one.
        package func replace() {
            abandon()
            executor.replaceThread(lane.load(ordering: .acquiring))
        }
    }

    /// Lets the jobs make device calls on the executor's threads.
    ///
    /// - Parameter whenLost: Called for each call that does not return in time.
    package func makesCalls(whenLost handler: LossHandler) {
        whenLost.withLock { $0 = handler }
        makesCalls.store(true, ordering: .releasing)
    }

    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return unsafe pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    /// Creates an executor with one thread per lane. Returns nil if the system cannot start the threads.
    ///
    /// - Parameter name: The name of the threads.
    package init?(_ name: String, lanes: Int) {
        self.name = name
        state = Monitor(State(lanes: Array(repeating: Lane(), count: lanes)))
        for _ in 0..<lanes {
            guard start() else {
                for lane in 0..<lanes { close(lane) }
                return nil
            }
        }
    }

    /// Whether the calling thread is running a job of this lane.
    package func isDoing(_ lane: Int) -> Bool {
        guard let context = WorkerContext.current, context.executor === self else { return false }
        return context.lane.load(ordering: .relaxed) == lane
    }

    /// Adds a job to a lane. If the executor has no threads left, the job runs immediately on the calling thread.
    ///
    /// - Parameters:
    ///   - isAwaited: Whether the caller waits for the job and therefore takes no other job meanwhile.
    ///   - isUrgent: Whether the job must not wait for the end of a lingering thread's sleep.
    package func add(to lane: Int, isAwaited: Bool = false, isUrgent: Bool = true, _ job: sending @escaping Job) {
        // SAFETY: The job is used only by the one thread that takes it, or only here.
        nonisolated(unsafe) let job = job
        let (hasThread, sleeper) = state.withLockWithoutNotifying { state -> (Bool, Sleeper?) in
            if state.threads == 0 { return (false, nil) }
            return (true, unsafe state.add(WaitingJob(run: job), to: lane, isUrgent: isUrgent || isAwaited))
        }
        if !hasThread { return unsafe job() }
        // A thread of this executor takes another job after its current one, so no other thread need be woken.
        if let sleeper, isAwaited || !looksForJobs { wake(sleeper) }
    }

    /// Makes the jobs that wait for a lingering thread urgent.
    package func hurry() {
        if state.withLockWithoutNotifying({ $0.isLingering && $0.hasReadyLane }) { wake(.lingering) }
    }

    private func wake(_ sleeper: Sleeper) {
        switch sleeper {
        case .any: state.wakeOne()
        case .lingering:
            // The thread is woken without the lock, which it takes at once.
            alarm.withLockWithoutNotifying { $0 = true }
            alarm.wakeOne()
        }
    }

    /// Whether the calling thread takes another job soon, after the current one. Foreign code may take long.
    private var looksForJobs: Bool {
        guard let context = WorkerContext.current, context.executor === self else { return false }
        return !context.runsForeignCode && !context.isAbandoned.load(ordering: .acquiring)
    }

    /// Closes a lane: no more jobs may be added to it. Waits for the lane's jobs, except on a thread of this executor.
    package func end(_ lane: Int) {
        close(lane)
        if WorkerContext.current?.executor === self { return }
        ends.wait { _ in state.withLockWithoutNotifying { $0.threads == 0 || $0.lanes[lane].isDone } ? () : nil }
    }

    private func close(_ lane: Int) { state.withLock { $0.lanes[lane].isClosed = true } }

    // MARK: Threads

    /// Starts a thread. Returns false if the system cannot start one.
    private func start() -> Bool {
        guard let key = Self.key else { return false }
        let context = WorkerContext(self)
        state.withLockWithoutNotifying { $0.threads += 1 }
        let starts = DedicatedThread.start(name) {
            // SAFETY: The thread's body keeps `context` until the thread ends, and resets the value before.
            unsafe pthread_setspecific(key, Unmanaged.passUnretained(context).toOpaque())
            CallTimeoutMonitor.shared.add(context)
            context.executor.work(with: context)
            CallTimeoutMonitor.shared.remove(context)
            pthread_setspecific(key, nil)
        }
        if !starts { state.withLockWithoutNotifying { $0.threads -= 1 } }
        return starts
    }

    private func work(with context: WorkerContext) {
        while let lane = workOnce(with: context) {
            context.lane.store(-1, ordering: .releasing)
            if context.isAbandoned.load(ordering: .acquiring) { return }
            finish(lane)
        }
    }

    /// Runs the next job and returns its lane. The lane stays busy until everything that the job referenced is
    /// released.
    @inline(never) private func workOnce(with context: WorkerContext) -> Int? {
        guard let (lane, job) = next() else { return nil }
        context.lane.store(lane, ordering: .releasing)
        job.run()
        return lane
    }

    /// Runs the next job on the calling thread without waiting for one.
    @inline(never) private func workHere() -> Int? {
        guard let (lane, job) = state.withLockWithoutNotifying({ $0.take() }) else { return nil }
        job.run()
        return lane
    }

    /// Waits for the next job. Returns nil when all lanes are closed and done.
    private func next() -> (lane: Int, job: WaitingJob)? {
        var (next, lingers) = state.withLockWithoutNotifying { state in
            let next = state.next()
            return (next, next == nil && state.beginLingering())
        }
        if lingers {
            _ = alarm.waitWithoutNotifying(atMostNanoseconds: UInt64(Self.lingerNanoseconds)) { $0 ? () : nil }
            next = state.withLockWithoutNotifying { state in
                state.isLingering = false
                return state.next()
            }
            alarm.withLockWithoutNotifying { $0 = false }
        }
        switch next ?? state.waitWithoutNotifying({ $0.next() }) {
        case .job(let lane, let job, let isMore):
            if isMore { state.wakeOne() }
            return (lane, job)
        case .end:
            state.wakeOne()
            return nil
        }
    }

    private func finish(_ lane: Int) {
        let isDone = state.withLockWithoutNotifying { state in
            state.lanes[lane].isBusy = false
            return state.lanes[lane].isDone
        }
        if isDone { ends.withLock { _ in } }
    }

    /// Frees the lane of a stuck thread and starts a replacement.
    private func replaceThread(_ lane: Int) {
        state.withLockWithoutNotifying { state in
            state.threads -= 1
            if lane >= 0 { state.lanes[lane].isBusy = false }
        }
        if start() { return }
        // The remaining threads take over. If there are none, the waiting jobs run here.
        guard state.withLock({ $0.threads == 0 }) else { return }
        while let lane = workHere() {
            finish(lane)
        }
        ends.withLock { _ in }
    }
}
