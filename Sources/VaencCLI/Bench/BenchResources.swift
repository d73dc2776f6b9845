import Glibc
import MediaFiles
import Synchronization
import Vaenc

/// The folder and the child processes of a benchmark, which must not remain if a signal ends it.
///
/// Every change happens under one lock. `interrupt` keeps the lock until the program has ended, so that no other thread
/// creates anything afterwards or reports an error that the clean-up caused.
final class BenchResources: Sendable {
    private static let names = ["clip.nv12", "stream"]

    /// The folder for temporary files.
    let folder: String
    /// The running children, with the signal that ends each of them. The lock also guards the folder.
    private let children = Mutex<[pid_t: Int32]>([:])

    init() throws {
        let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/vaenc-bench-XXXXXX".utf8CString)
        // SAFETY: mkdtemp writes only inside the string that it receives.
        let made = unsafe mkdtemp(&template)
        guard unsafe made != nil else {
            throw TemporaryFileError.creating(errno, "a folder in \(parent)")
        }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    var clip: String { "\(folder)/\(Self.names[0])" }
    var stream: String { "\(folder)/\(Self.names[1])" }

    /// Creates or empties a file of the folder. The caller closes the descriptor.
    func create(_ path: String) throws -> Int32 {
        try children.withLock { _ in
            let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw TemporaryFileError.creating(errno, path) }
            return file
        }
    }

    /// Runs `start`, which starts a child process, and keeps the child's number until `reap`.
    ///
    /// - Parameters:
    ///   - signal: The signal that ends the child and its process group.
    ///   - program: The program's name, for errors.
    ///   - start: Returns the child, and 0 or errno.
    func start(endedBy signal: Int32, _ program: String, _ start: () -> (process: pid_t, failure: Int32)) throws -> pid_t {
        try children.withLock { children in
            let (child, failure) = start()
            guard failure == 0 else { throw ProgramStart.error(failure, program) }
            children[child] = signal
            return child
        }
    }

    /// Waits for the end of a child.
    func reap(_ child: pid_t) {
        // The number of the child remains reserved until `waitpid`, so that a signal cannot reach another process.
        var information = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(child), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
        children.withLock { children in
            children[child] = nil
            waitpid(child, nil, WNOHANG)
        }
    }

    /// Ends a child that runs until it is stopped.
    func stop(_ child: pid_t) {
        children.withLock { children in
            if let signal = children.removeValue(forKey: child) { Self.end([child: signal]) }
        }
    }

    /// Ends the remaining children and removes the folder.
    func remove() { children.withLock { removeAll(&$0) } }

    /// Does the same as `remove` for a signal, and ends the program.
    ///
    /// - Parameter report: Reports what is finished, and returns the line to print and the exit status; nil if nothing
    ///   is finished.
    func interrupt(_ report: () -> (line: String?, status: Int32)?) {
        children.withLock { children in
            removeAll(&children)
            let (line, status) = report() ?? ("interrupted: the benchmark has no result, and its temporary files were removed", 130)
            if let line { Terminal.note(line) }
            UnfinishedFiles.remove { _ in _exit(status) }
        }
    }

    private func removeAll(_ children: inout [pid_t: Int32]) {
        for name in Self.names { unsafe unlink("\(folder)/\(name)") }
        unsafe rmdir(folder)
        Self.end(children)
        children = [:]
    }

    /// Ends children with their process groups. A process that is blocked in a kernel driver does not end even after
    /// SIGKILL; it is left behind after three seconds.
    private static func end(_ children: [pid_t: Int32]) {
        for (child, signal) in children { kill(-child, signal) }
        var remaining = Set(children.keys)
        for round in 0..<300 where !remaining.isEmpty {
            if round == 200 { for child in remaining { kill(-child, SIGKILL) } }
            remaining = remaining.filter { waitpid($0, nil, WNOHANG) == 0 }
            if !remaining.isEmpty { usleep(10_000) }
        }
    }
}
