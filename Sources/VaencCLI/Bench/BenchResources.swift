import Glibc
import Synchronization
import Vaenc

/// The folder and the child processes of a benchmark, which must not remain if a signal ends it.
///
/// Every change happens under one lock. `interrupt` keeps the lock until the program has ended, so that no other thread
/// creates anything afterwards or reports an error that the clean-up caused.
final class BenchResources: Sendable {
    private struct State {
        /// The running children, with the signal that ends each of them.
        var children: [pid_t: Int32] = [:]
    }

    private static let names = ["clip.nv12", "stream"]

    /// The folder for temporary files.
    let folder: String
    private let state: Mutex<State>

    init() throws {
        let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/vaenc-bench-XXXXXX".utf8CString)
        // SAFETY: mkdtemp writes only inside the string that it receives.
        let made = unsafe mkdtemp(&template)
        guard unsafe made != nil else {
            throw TemporaryFileError.creating(errno, "a folder in \(parent)")
        }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        state = Mutex(State())
    }

    var clip: String { "\(folder)/\(Self.names[0])" }
    var stream: String { "\(folder)/\(Self.names[1])" }

    /// Creates or empties a file of the folder. The caller closes the descriptor.
    func create(_ path: String) throws -> Int32 {
        try state.withLock { _ in
            let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw TemporaryFileError.creating(errno, path) }
            return file
        }
    }

    /// Runs `start`, which starts a child process, and keeps the child's number until `reap`.
    ///
    /// - Parameter signal: The signal that ends the child.
    func start(endedBy signal: Int32, _ start: () throws -> pid_t) throws -> pid_t {
        try state.withLock { state in
            let child = try start()
            state.children[child] = signal
            return child
        }
    }

    /// Waits for the end of a child.
    func reap(_ child: pid_t) -> (status: Int32, usage: rusage) {
        // The number of the child remains reserved until `wait4`, so that a signal cannot reach another process.
        var information = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(child), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
        return state.withLock { state in
            state.children[child] = nil
            var status: Int32 = 0
            var usage = rusage()
            while unsafe wait4(child, &status, 0, &usage) < 0 && errno == EINTR {}
            return (status, usage)
        }
    }

    /// Ends a child that runs until it is stopped.
    func stop(_ child: pid_t) {
        state.withLock { state in Self.stop(&state.children, child) }
    }

    /// Ends the remaining children and removes the folder.
    func remove() { state.withLock { removeAll(&$0) } }

    /// Does the same as `remove` for a signal, and ends the program.
    func interrupt() {
        state.withLock { state in
            removeAll(&state)
            Terminal.note("interrupted: the benchmark has no result, and its temporary files were removed")
            _exit(130)
        }
    }

    private func removeAll(_ state: inout State) {
        for child in state.children.keys.sorted() { Self.stop(&state.children, child) }
        for name in Self.names { unsafe unlink("\(folder)/\(name)") }
        unsafe rmdir(folder)
    }

    private static func stop(_ children: inout [pid_t: Int32], _ child: pid_t) {
        guard let signal = children.removeValue(forKey: child) else { return }
        kill(child, signal)
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0 && errno == EINTR {}
    }
}
