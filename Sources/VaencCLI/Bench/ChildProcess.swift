import Glibc
import Vaenc
import VideoBase

/// The result of a child process whose output was copied to a file.
struct ChildResult {
    var exitStatus: Int32
    var wallSeconds: Double
    var cpuSeconds: Double
    /// The peak resident set. It is exact if it exceeds that of vaenc; otherwise it was read every 20 ms.
    var peakKilobytes: Int
    /// The time from the start to the first byte on standard output; nil if the process wrote nothing.
    var firstByteSeconds: Double?
    var bytes: Int
    /// The last line that the process wrote to stderr.
    var lastMessage: String
}

/// Runs programs for measurement, each in a separate process, so that its time and memory can be measured.
enum ChildProcess {
    /// Runs `arguments[0]` (looked up in PATH) and copies its standard output to the file `output`. Blocks until the
    /// process ends.
    static func run(
        _ arguments: [String], environment: [String: String?] = [:], output: String, resources: BenchResources
    ) throws -> ChildResult {
        let target = try resources.create(output)
        defer { close(target) }
        let out = try Pipe()
        let err = try Pipe()
        defer { out.closeBoth(); err.closeBoth() }
        let began = Clock.now
        let inherited = ProcessPeak.resetOwn() ?? .max
        let pid = try resources.start(endedBy: SIGKILL) {
            try spawn(arguments, environment: environment, output: out.write, errors: err.write)
        }
        out.closeWrite()
        err.closeWrite()

        var result = ChildResult(
            exitStatus: 0, wallSeconds: 0, cpuSeconds: 0, peakKilobytes: 0, firstByteSeconds: nil, bytes: 0, lastMessage: "")
        var messages: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        var descriptors = [
            pollfd(fd: out.read, events: Int16(POLLIN), revents: 0), pollfd(fd: err.read, events: Int16(POLLIN), revents: 0),
        ]
        var open = 2
        var peak = ProcessPeak(pid)
        while open > 0 {
            peak.update()
            // SAFETY: both arrays outlive the calls, which receive their counts.
            guard unsafe poll(&descriptors, nfds_t(descriptors.count), ProcessPeak.interval) >= 0 || errno == EINTR else { break }
            for index in 0..<2 where descriptors[index].fd >= 0 && descriptors[index].revents != 0 {
                let count = unsafe Glibc.read(descriptors[index].fd, &chunk, chunk.count)
                if count <= 0 {
                    descriptors[index].fd = -1
                    open -= 1
                } else if index == 0 {
                    if result.firstByteSeconds == nil { result.firstByteSeconds = Clock.now - began }
                    result.bytes += count
                    let code = unsafe chunk.withUnsafeBytes { unsafe TemporaryFileError.write(UnsafeRawBufferPointer(rebasing: $0[..<count]), to: target) }
                    if code != 0 { throw TemporaryFileError.writing(code, output) }
                } else {
                    messages = (messages + chunk.prefix(count)).suffix(4096)
                }
            }
        }
        let (status, usage) = resources.reap(pid)
        result.wallSeconds = Clock.now - began
        result.exitStatus = status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + status & 0x7F
        result.cpuSeconds =
            Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
        // A child shares the memory of this process until it runs its own program, and the kernel counts that.
        result.peakKilobytes = usage.ru_maxrss > inherited ? usage.ru_maxrss : peak.kilobytes
        result.lastMessage = String(decoding: messages, as: UTF8.self).split(whereSeparator: \.isNewline).last.map(String.init) ?? ""
        return result
    }

    /// Starts a program that runs until `BenchResources.stop(_:)`.
    ///
    /// - Returns: The process, and the read end of its standard output. The caller closes it.
    static func start(_ arguments: [String], resources: BenchResources) throws -> (pid: pid_t, output: Int32) {
        let out = try Pipe()
        let silence = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
        guard silence >= 0 else {
            let code = errno
            out.closeBoth()
            throw lack(code, arguments[0]) ?? VaencError(
                .inputOutput, "cannot open /dev/null", remedy: "check it with ls -l /dev/null")
        }
        defer { close(silence) }
        // Xvfb removes its lock and its socket at SIGTERM.
        let pid = try resources.start(endedBy: SIGTERM) {
            try spawn(arguments, environment: [:], output: out.write, errors: silence)
        }
        out.closeWrite()
        return (pid, out.read)
    }

    /// Returns whether PATH contains the program.
    static func exists(_ program: String) -> Bool {
        guard let path = unsafe getenv("PATH") else { return false }
        return unsafe String(cString: path).split(separator: ":").contains { unsafe access("\($0)/\(program)", X_OK) == 0 }
    }

    private static func spawn(
        _ arguments: [String], environment: [String: String?], output: Int32, errors: Int32
    ) throws -> pid_t {
        var variables: [String] = []
        var entry = unsafe environ
        // SAFETY: environ is an array of C strings that ends with nil.
        while let text = unsafe entry.pointee {
            let line = unsafe String(cString: text)
            let name = String(line.prefix { $0 != "=" })
            if environment[name] == nil { variables.append(line) }
            unsafe entry += 1
        }
        for (name, value) in environment { if let value { variables.append("\(name)=\(value)") } }

        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, errors, 2)
        // The child does not inherit the signals that this program blocks and ignores.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        var usual = none
        for number in [SIGPIPE, SIGXFSZ] { unsafe sigaddset(&usual, number) }
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &usual)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        // SAFETY: posix_spawnp copies the strings for the child; `defer` frees them after the call.
        let argv = unsafe arguments.map { unsafe strdup($0) } + [nil]
        let envp = unsafe variables.map { unsafe strdup($0) } + [nil]
        defer { for unsafe pointer in unsafe argv + envp { unsafe free(pointer) } }
        var pid: pid_t = 0
        let failed = unsafe posix_spawnp(&pid, arguments[0], &actions, &attributes, argv, envp)
        guard failed == 0 else {
            throw lack(failed, arguments[0])
                ?? VaencError(.unavailable, "cannot run \(arguments[0])", remedy: "install it, or leave it out")
        }
        return pid
    }

    /// Returns the error for an exhausted limit of the system or of this process; nil for any other errno.
    private static func lack(_ code: Int32, _ program: String) -> VaencError? {
        switch code {
        case EMFILE, ENFILE: VaencError.noDescriptor("to run \(program)")
        case ENOMEM: VaencError.noMemory("to run \(program)")
        case EAGAIN: VaencError.noThread("to run \(program)")
        default: nil
        }
    }

    private final class Pipe {
        let read: Int32
        private(set) var write: Int32

        init() throws {
            var ends: [Int32] = [0, 0]
            guard unsafe pipe(&ends) == 0 else { throw VaencError.noDescriptor("to run a program") }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            read = ends[0]
            write = ends[1]
        }

        func closeWrite() {
            if write >= 0 { close(write) }
            write = -1
        }

        func closeBoth() {
            closeWrite()
            close(read)
        }
    }
}
