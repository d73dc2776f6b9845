internal import Glibc
internal import Synchronization
internal import VideoBase

/// Threads that do the jobs of a few lanes: those of a lane one at a time and in order, lanes side by side, earlier
/// lanes first.
///
/// No thread belongs to a lane. Who ends a job looks for the next in any lane, so that what one job makes the next of,
/// in another lane, goes on without a change of thread where nothing else is to be done.
final class LaneExecutor: Sendable {
    typealias Job = () -> Void

    private struct Lane {
        var jobs: [Job] = []
        var isBusy = false
        var isClosed = false

        var isReady: Bool { !isBusy && !jobs.isEmpty }
        var isDone: Bool { isClosed && !isBusy && jobs.isEmpty }
    }

    private struct State {
        var lanes: [Lane]
        /// Those that take jobs.
        var threads = 0

        var isDone: Bool { lanes.allSatisfy(\.isDone) }

        mutating func take() -> (lane: Int, job: Job)? {
            guard let lane = lanes.firstIndex(where: \.isReady) else { return nil }
            lanes[lane].isBusy = true
            return (lane, lanes[lane].jobs.removeFirst())
        }
    }

    /// The handler of calls that do not come back.
    ///
    /// It is an object: each `withLock` of a `Mutex` of an optional closure wraps the closure once more, which leaks memory
    /// and overflows the stack when the chain of wrappers is released.
    final class LossHandler: Sendable {
        let report: @Sendable (any Error) -> Void
        init(_ report: @escaping @Sendable (any Error) -> Void) { self.report = report }
    }

    /// nil if calls are not made on these threads.
    let whenLost = Mutex<LossHandler?>(nil)
    private let state: Monitor<State>
    /// Those who wait for a lane's end.
    private let ends = Monitor(())

    /// A thread of a crew, as it knows itself.
    final class Post: Sendable {
        fileprivate let crew: LaneExecutor
        /// Of the job that it does.
        fileprivate let lane = Atomic(-1)
        fileprivate let isLeftBehind = Atomic(false)
        private let calls = Atomic(false)
        private let lent = Atomic(false)

        fileprivate init(_ crew: LaneExecutor) { self.crew = crew }

        /// Of the thread that asks; nil on threads of others.
        static var current: Post? {
            guard let key = LaneExecutor.key, let pointer = unsafe pthread_getspecific(key) else { return nil }
            // SAFETY: the thread's body keeps its post until the thread ends.
            return unsafe Unmanaged<Post>.fromOpaque(pointer).takeUnretainedValue()
        }

        /// Used by its own thread alone: whether it is in a call.
        var isInCall: Bool {
            get { calls.load(ordering: .relaxed) }
            set { calls.store(newValue, ordering: .relaxed) }
        }

        /// Used by its own thread alone: whether it runs what is not its own.
        var isLent: Bool {
            get { lent.load(ordering: .relaxed) }
            set { lent.store(newValue, ordering: .relaxed) }
        }

        /// nil where calls are not made in place.
        var whenLost: LossHandler? { isLent ? nil : crew.whenLost.withLock { $0 } }

        /// Takes no more jobs.
        func resign() { isLeftBehind.store(true, ordering: .releasing) }

        /// Another thread takes the place of this one, which is stuck.
        func replace() {
            resign()
            crew.leaveBehind(lane.load(ordering: .acquiring))
        }
    }

    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return unsafe pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    /// - Throws: `VaencError` where the system gives no more threads.
    init(lanes: Int) throws {
        state = Monitor(State(lanes: Array(repeating: Lane(), count: lanes)))
        for _ in 0..<lanes {
            guard start() else {
                for lane in 0..<lanes { close(lane) }
                throw VaencError.noThread("for a device")
            }
        }
    }

    /// Whether the thread that asks is doing a job of that lane.
    func isDoing(_ lane: Int) -> Bool {
        guard let post = Post.current, post.crew === self else { return false }
        return post.lane.load(ordering: .relaxed) == lane
    }

    /// Where no thread could be kept, the job is done at once.
    ///
    /// - Parameter isAwaited: the caller waits for it, and takes no job meanwhile.
    func add(to lane: Int, isAwaited: Bool = false, _ job: sending @escaping Job) {
        // SAFETY: the job goes to the one thread that takes it out, or stays here.
        nonisolated(unsafe) let job = job
        let (hasThread, isReady) = state.withLockWithoutNotifying { state in
            let hasThread = state.threads > 0
            if hasThread { unsafe state.lanes[lane].jobs.append(job) }
            return (hasThread, state.lanes[lane].isReady)
        }
        if !hasThread { return unsafe job() }
        // One of these threads looks for a job after its own anyway.
        if isReady, isAwaited || !looksForJobs { state.wakeOne() }
    }

    /// Whether the thread that asks takes another job after the one that it does.
    private var looksForJobs: Bool {
        guard let post = Post.current, post.crew === self else { return false }
        return !post.isLeftBehind.load(ordering: .acquiring)
    }

    /// No more jobs come in that lane. Waits for those that were given, but not on one of these threads.
    func end(_ lane: Int) {
        close(lane)
        if Post.current?.crew === self { return }
        ends.wait { _ in state.withLockWithoutNotifying { $0.threads == 0 || $0.lanes[lane].isDone } ? () : nil }
    }

    private func close(_ lane: Int) { state.withLock { $0.lanes[lane].isClosed = true } }

    // MARK: Threads

    /// False where there is no thread to be had.
    private func start() -> Bool {
        guard Self.key != nil else { return false }
        var thread = pthread_t()
        // SAFETY: the new thread takes over the retained post; without a thread it is released here.
        let context = unsafe Unmanaged.passRetained(Post(self)).toOpaque()
        state.withLockWithoutNotifying { $0.threads += 1 }
        let status = unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context, let key = LaneExecutor.key else { return nil }
                unsafe pthread_setspecific(key, context)
                let post = unsafe Unmanaged<Post>.fromOpaque(context).takeUnretainedValue()
                post.crew.work(at: post)
                pthread_setspecific(key, nil)
                unsafe Unmanaged<Post>.fromOpaque(context).release()
                return nil
            }, context)
        if status == 0 {
            pthread_detach(thread)
        } else {
            state.withLockWithoutNotifying { $0.threads -= 1 }
            unsafe Unmanaged<Post>.fromOpaque(context).release()
        }
        return status == 0
    }

    private func work(at post: Post) {
        while let lane = workOnce(at: post) {
            post.lane.store(-1, ordering: .releasing)
            if post.isLeftBehind.load(ordering: .acquiring) { return }
            finish(lane)
        }
    }

    /// Does the next job: gives its lane, which is busy until all that the job held is let go of.
    @inline(never) private func workOnce(at post: Post) -> Int? {
        guard let (lane, job) = next() else { return nil }
        post.lane.store(lane, ordering: .releasing)
        job()
        return lane
    }

    /// Like `workOnce`, without waiting, on any thread.
    @inline(never) private func workHere() -> Int? {
        guard let (lane, job) = state.withLockWithoutNotifying({ $0.take() }) else { return nil }
        job()
        return lane
    }

    /// nil when all lanes are closed and done.
    private func next() -> (lane: Int, job: Job)? {
        let (taken, isMore) = state.waitWithoutNotifying { state -> ((lane: Int, job: Job)?, Bool)? in
            if let taken = state.take() { return (taken, state.lanes.contains(where: \.isReady)) }
            guard state.isDone else { return nil }
            state.threads -= 1
            return (nil, true)
        }
        if isMore { state.wakeOne() }
        return taken
    }

    private func finish(_ lane: Int) {
        let isDone = state.withLockWithoutNotifying { state in
            state.lanes[lane].isBusy = false
            return state.lanes[lane].isDone
        }
        if isDone { ends.withLock { _ in } }
    }

    /// A thread is stuck in that lane.
    private func leaveBehind(_ lane: Int) {
        state.withLockWithoutNotifying { state in
            state.threads -= 1
            if lane >= 0 { state.lanes[lane].isBusy = false }
        }
        if start() { return }
        // The threads that are left do it all; without any, what waits is done here.
        guard state.withLock({ $0.threads == 0 }) else { return }
        while let lane = workHere() {
            finish(lane)
        }
        ends.withLock { _ in }
    }
}
