internal import Glibc

/// Threads that help the contexts' threads to encode pictures. All contexts of a process share them, so that the number
/// of threads does not grow with the number of contexts. The threads end when the last reference to the pool is
/// released, which must not happen on one of them.
package final class WorkerPool: Sendable {
    private let state = State()
    private let threads: [Thread]

    /// One call of `run`. Its fields are only accessed with the monitor's lock held.
    private final class Task: @unchecked Sendable {
        /// Nil after the end of `run`, because a helper may release the task later.
        var body: (@Sendable (Int) -> Void)?
        /// The number of calls that have not started yet.
        var left: Int
        var nextNumber = 1
        /// The number of helpers that have not returned yet.
        var helpers = 0

        init(_ calls: Int, _ body: @escaping @Sendable (Int) -> Void) {
            self.body = body
            left = calls - 1
        }
    }

    /// What the threads share. Its fields are only accessed with the monitor's lock held.
    private final class State: @unchecked Sendable {
        let monitor = Monitor()
        /// The tasks that helpers may join, oldest first.
        var tasks: [Task] = []
        var isEnded = false
    }

    /// The pool of the process while it exists.
    private final class Current: @unchecked Sendable {
        let monitor = Monitor()
        weak var pool: WorkerPool?
    }

    private static let current = Current()

    /// Returns the pool of the process, with one thread less than there are processors. Returns nil if there is one
    /// processor only, or if the system cannot start a thread.
    package static func shared() -> WorkerPool? {
        current.monitor.withLock {
            if let pool = current.pool { return pool }
            let pool = WorkerPool(helpers: processors - 1)
            current.pool = pool
            return pool
        }
    }

    /// Starts `helpers` threads, or fewer if the system cannot start them. Returns nil if there would be none.
    package init?(helpers: Int) {
        let state = state
        var threads: [Thread] = []
        while threads.count < helpers, let thread = Thread("vaenc-helper", { Self.help(state) }) {
            threads.append(thread)
        }
        self.threads = threads
        if threads.isEmpty { return nil }
    }

    deinit {
        state.monitor.withLock {
            state.isEnded = true
            state.monitor.wakeAll()
        }
        for thread in threads { thread.join() }
    }

    /// The number of threads of the pool.
    package var helpers: Int { threads.count }

    /// The number of processors that the calling thread may use, at most 16; without /proc, that of the system.
    private static var processors: Int {
        var count = 0
        let file = unsafe open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC)
        if file >= 0 {
            var bytes = [UInt8](repeating: 0, count: 8192)
            let length = unsafe read(file, &bytes, bytes.count)
            close(file)
            // A mask in hexadecimal digits, with commas.
            for line in bytes.prefix(max(length, 0)).split(separator: UInt8(ascii: "\n")) {
                let text = String(decoding: line, as: UTF8.self)
                guard text.hasPrefix("Cpus_allowed:") else { continue }
                count = text.dropFirst(13).reduce(0) { $0 + ($1.hexDigitValue ?? 0).nonzeroBitCount }
            }
        }
        if count == 0 { count = sysconf(Int32(_SC_NPROCESSORS_ONLN)) }
        return min(max(count, 1), 16)
    }

    /// Calls `body` on the calling thread and on helpers that have no other work, at most `calls` times, and returns
    /// when all calls have returned. The argument is the number of the call, which is 0 on the calling thread. A call
    /// must return only if there is nothing left to do that it could start.
    func run(_ calls: Int, _ body: @escaping @Sendable (Int) -> Void) {
        if calls < 2 { return body(0) }
        let state = state
        let task = Task(calls, body)
        state.monitor.withLock {
            state.tasks.append(task)
            state.monitor.wakeAll()
        }
        body(0)
        state.monitor.withLock {
            state.tasks.removeAll { $0 === task }
            while task.helpers > 0 { _ = state.monitor.wait() }
            task.body = nil
        }
    }

    /// Helps with tasks until the pool ends. This is the body of the threads.
    private static func help(_ state: State) {
        while let (task, number) = state.monitor.withLock({ join(state) }) {
            call(task, number)
            state.monitor.withLock {
                state.tasks.removeAll { $0 === task }
                task.helpers -= 1
                if task.helpers == 0 { state.monitor.wakeAll() }
            }
        }
    }

    /// Calls the task's body. The caller counts as a helper of the task, so that no one changes the body. It is a
    /// function so that the reference to the body ends here.
    @inline(never) private static func call(_ task: Task, _ number: Int) { task.body?(number) }

    /// Waits for a task, and returns it with the number of the call. Returns nil if the pool ends.
    private static func join(_ state: State) -> (Task, Int)? {
        while !state.isEnded {
            if let task = state.tasks.first {
                defer {
                    task.left -= 1
                    task.nextNumber += 1
                    task.helpers += 1
                    if task.left == 0 { state.tasks.removeFirst() }
                }
                return (task, task.nextNumber)
            }
            _ = state.monitor.wait()
        }
        return nil
    }
}
