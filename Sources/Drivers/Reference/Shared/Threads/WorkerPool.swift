internal import Glibc

/// Threads that help a context's thread to encode a picture. They end when the pool is released.
final class WorkerPool: Sendable {
    /// The number of calls that run at the same time, including that of the caller.
    let count: Int
    private let state = State()
    private let threads: [Thread]

    /// What the threads share. Its fields are only accessed with the monitor's lock held.
    private final class State: @unchecked Sendable {
        let monitor = Monitor()
        var body: (@Sendable (Int) -> Void)?
        /// The number of `run` calls so far.
        var generation = 0
        var running = 0
        var isEnded = false
    }

    /// Starts `count` − 1 threads, or fewer if the system cannot start them.
    init(count: Int) {
        let state = state
        var threads: [Thread] = []
        for index in 1..<max(count, 1) {
            guard let thread = Thread("vaenc-driver-\(index)", { Self.help(state, index) }) else { break }
            threads.append(thread)
        }
        self.threads = threads
        self.count = threads.count + 1
    }

    deinit {
        state.monitor.withLock {
            state.isEnded = true
            state.monitor.wakeAll()
        }
        for thread in threads { thread.join() }
    }

    /// The number of processors that the calling thread may use, at most 16; without /proc, that of the system.
    static var processors: Int {
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

    /// Calls `body` with each index from 0 to `count` − 1, each on its own thread, and returns when all calls have
    /// returned. Only one thread at a time may call this.
    func run(_ body: @escaping @Sendable (Int) -> Void) {
        if threads.isEmpty { return body(0) }
        state.monitor.withLock {
            state.body = body
            state.generation += 1
            state.running = threads.count
            state.monitor.wakeAll()
        }
        body(0)
        state.monitor.withLock {
            while state.running > 0 { _ = state.monitor.wait() }
            state.body = nil
        }
    }

    private static func help(_ state: State, _ index: Int) {
        var seen = 0
        while true {
            let body: (@Sendable (Int) -> Void)? = state.monitor.withLock {
                while !state.isEnded && state.generation == seen { _ = state.monitor.wait() }
                seen = state.generation
                return state.isEnded ? nil : state.body
            }
            guard let body else { return }
            body(index)
            state.monitor.withLock {
                state.running -= 1
                if state.running == 0 { state.monitor.wakeAll() }
            }
        }
    }
}

/// The progress of rows that are coded in parallel: each row may go on as far as the row above it permits.
///
/// The fields are only accessed with the monitor's lock held.
final class RowProgress: @unchecked Sendable {
    private let monitor = Monitor()
    private let rows: Int
    private var next = 0
    private var done: [Int]
    private var waiting = 0

    init(rows: Int) {
        self.rows = rows
        done = [Int](repeating: 0, count: rows)
    }

    /// Returns the next row that no thread has taken; nil if there is none. Rows are taken in order, so that the first
    /// row that is not complete never waits.
    func take() -> Int? {
        monitor.withLock {
            guard next < rows else { return nil }
            defer { next += 1 }
            return next
        }
    }

    /// Waits until `count` units of a row are done.
    func wait(row: Int, count: Int) {
        monitor.withLock {
            waiting += 1
            while done[row] < count { _ = monitor.wait() }
            waiting -= 1
        }
    }

    /// Declares that `count` units of a row are done.
    func report(row: Int, count: Int) {
        monitor.withLock {
            done[row] = count
            if waiting > 0 { monitor.wakeAll() }
        }
    }
}
