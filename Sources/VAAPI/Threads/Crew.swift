internal import Glibc
internal import Synchronization
internal import VideoBase

/// The thread that takes jobs from a queue, and those that were left behind in calls.
final class Crew: Sendable {
    let queue = JobQueue()
    /// Told of calls that do not come back; nil where calls are not made on these threads.
    let whenLost = Mutex<(@Sendable (any Error) -> Void)?>(nil)
    private let hasEnded = Gate()

    /// A thread of a crew, as it knows itself.
    final class Post: Sendable {
        fileprivate let crew: Crew
        fileprivate let isLeftBehind = Atomic(false)
        private let calls = Atomic(false)

        fileprivate init(_ crew: Crew) { self.crew = crew }

        /// Of the thread that asks; nil on threads of others.
        static var current: Post? {
            guard let key = Crew.key, let pointer = unsafe pthread_getspecific(key) else { return nil }
            // SAFETY: the thread's body keeps its post until the thread ends.
            return unsafe Unmanaged<Post>.fromOpaque(pointer).takeUnretainedValue()
        }

        /// Used by its own thread alone: whether it is in a call.
        var isInCall: Bool {
            get { calls.load(ordering: .relaxed) }
            set { calls.store(newValue, ordering: .relaxed) }
        }

        var whenLost: (@Sendable (any Error) -> Void)? { crew.whenLost.withLock { $0 } }

        /// Takes no more jobs.
        func resign() { isLeftBehind.store(true, ordering: .releasing) }

        /// Another thread takes the place of this one, which is stuck.
        func replace() {
            resign()
            if crew.start() != 0 { crew.queue.abandon() }
        }
    }

    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return unsafe pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    /// Whether the thread that asks is one of these.
    var isCurrent: Bool { Post.current?.crew === self }

    /// 0, or why there is no thread: an errno.
    func start() -> CInt {
        guard Self.key != nil else { return EAGAIN }
        var thread = pthread_t()
        // SAFETY: the new thread takes over the retained post; without a thread it is released here.
        let context = unsafe Unmanaged.passRetained(Post(self)).toOpaque()
        let status = unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context, let key = Crew.key else { return nil }
                unsafe pthread_setspecific(key, context)
                let post = unsafe Unmanaged<Post>.fromOpaque(context).takeUnretainedValue()
                post.crew.work(at: post)
                pthread_setspecific(key, nil)
                unsafe Unmanaged<Post>.fromOpaque(context).release()
                return nil
            }, context)
        if status == 0 { pthread_detach(thread) } else { unsafe Unmanaged<Post>.fromOpaque(context).release() }
        return status
    }

    private func work(at post: Post) {
        queue.run { !post.isLeftBehind.load(ordering: .acquiring) }
        if !post.isLeftBehind.load(ordering: .acquiring) { hasEnded.open() }
    }

    /// Waits for the jobs that were given, and ends the thread; from one of its jobs without waiting.
    func end() {
        if queue.close(), !isCurrent { hasEnded.wait() }
    }

    static func words(_ status: CInt) -> String { unsafe String(cString: strerror(status)) }
}
