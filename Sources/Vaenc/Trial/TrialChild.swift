import Glibc

/// A child process that tries a driver, and its result.
struct TrialChild {
    /// The lines of its standard output.
    var lines: [String] = []
    /// The last line of its standard error, such as the message of a failed assertion.
    var lastMessage = ""
    /// The signal that ended it; 0 for none.
    var signal: Int32 = 0
    var status: Int32 = 0
    /// Whether it was ended because it wrote nothing for too long.
    var isHung = false

    /// Whether a fault in the process itself ended it, and not a signal from another process.
    var isCrashed: Bool { [SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS].contains(signal) }

    /// Runs a program until it ends. Blocks.
    ///
    /// - Parameter silenceNanoseconds: The time for which the program may write nothing.
    /// - Returns: The result; nil if the program cannot be run.
    static func run(_ program: String, _ arguments: [String], silenceNanoseconds: UInt64) -> TrialChild? {
        guard let output = Pipe(), let errors = Pipe() else { return nil }
        guard let process = spawn(program, arguments: arguments, output: output.write, errors: errors.write) else { return nil }
        output.closeWrite()
        errors.closeWrite()
        var child = TrialChild()
        var texts: [[UInt8]] = [[], []]
        var files = [output.read, errors.read].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var chunk = [UInt8](repeating: 0, count: 4096)
        let silence = Int32(clamping: silenceNanoseconds / 1_000_000)
        while files.contains(where: { $0.fd >= 0 }) {
            // SAFETY: both arrays outlive the calls, and the counts are theirs.
            let ready = unsafe poll(&files, nfds_t(files.count), silence)
            if ready < 0, errno == EINTR { continue }
            if ready <= 0 {
                child.isHung = true
                kill(process, SIGKILL)
                break
            }
            for index in files.indices where files[index].fd >= 0 && files[index].revents != 0 {
                let count = unsafe read(files[index].fd, &chunk, chunk.count)
                if count > 0 {
                    texts[index] += chunk.prefix(count)
                    if index == 1 { texts[1] = texts[1].suffix(4096) }
                } else if count == 0 || errno != EINTR {
                    files[index].fd = -1
                }
            }
        }
        child.wait(for: process)
        func lines(_ text: [UInt8]) -> [String] {
            String(decoding: text, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
        }
        child.lines = lines(texts[0])
        child.lastMessage = lines(texts[1]).last ?? ""
        return child
    }

    /// Waits for the process. A process that is blocked in a kernel driver does not end even after SIGKILL; it is left
    /// behind.
    private mutating func wait(for process: pid_t) {
        var code: Int32 = 0
        var tries = isHung ? 100 : Int.max
        while tries > 0 {
            // SAFETY: waitpid writes one Int32.
            let ended = unsafe waitpid(process, &code, isHung ? WNOHANG : 0)
            if ended == process { break }
            if ended < 0, errno != EINTR { return }
            tries -= 1
            if isHung { usleep(10_000) }
        }
        signal = code & 0x7F
        status = (code >> 8) & 0xFF
    }

    private static func spawn(_ program: String, arguments: [String], output: Int32, errors: Int32) -> pid_t? {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, errors, 2)
        // SAFETY: posix_spawn copies the strings before they are freed here.
        let texts = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe texts.indices { unsafe free(texts[index]) } }
        var process: pid_t = 0
        return unsafe posix_spawn(&process, program, &actions, nil, texts, environ) == 0 ? process : nil
    }

    private final class Pipe {
        let read: Int32
        private(set) var write: Int32

        init?() {
            var ends: [Int32] = [-1, -1]
            // SAFETY: pipe writes two descriptors, and the array has two elements.
            guard unsafe pipe(&ends) == 0 else { return nil }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            (read, write) = (ends[0], ends[1])
        }

        func closeWrite() {
            if write >= 0 { close(write) }
            write = -1
        }

        deinit {
            closeWrite()
            close(read)
        }
    }
}
