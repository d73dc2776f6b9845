internal import CTestOracles
internal import Glibc

/// Runs another program until it ends.
public struct ProcessRunner: Sendable {
    /// The result of a run.
    public struct Result: Sendable {
        /// The exit status, or 128 + the number of the signal that ended the program.
        public var status: Int
        /// The bytes that the program wrote to stdout.
        public var stdout: [UInt8]
        /// The bytes that the program wrote to stderr.
        public var stderr: [UInt8]
        /// Whether the program was killed after the timeout.
        public var timedOut: Bool
        /// The time from the start to the end of the program.
        public var wallSeconds: Double
        /// The time from the start to the first byte on stdout; nil if the program wrote none.
        public var firstOutputSeconds: Double?
        /// The user and system time of the program and of the children that it waited for.
        public var cpuSeconds: Double
        /// The peak resident set in KiB.
        public var peakKB: Int

        /// The text on stdout.
        public var output: String { String(decoding: stdout, as: UTF8.self) }
        /// The text on stderr.
        public var errors: String { String(decoding: stderr, as: UTF8.self) }
        /// The lines of stderr that are not empty.
        public var errorLines: [Substring] { errors.split(whereSeparator: \.isNewline) }
    }

    /// A program that could not be run.
    public struct Failure: Error, CustomStringConvertible {
        /// The reason.
        public var description: String
    }

    /// Runs `program` (looked up in PATH if its name has no slash) and waits for it. Blocks the thread.
    ///
    /// - Parameters:
    ///   - environment: Variables that override this process's; nil removes a variable.
    ///   - input: The bytes for the program's stdin, at most 64 KiB.
    ///   - directory: The working folder; nil for this process's.
    ///   - timeout: The time in seconds after which the program is killed.
    /// - Throws: `Failure` if the program cannot be started.
    public static func run(
        _ program: String, _ arguments: [String], environment: [String: String?] = [:], input: [UInt8] = [],
        directory: String? = nil, timeout: Double = 600
    ) throws -> Result {
        var variables = currentEnvironment()
        for (name, value) in environment { variables[name] = value }
        let out = try Pipe()
        let err = try Pipe()
        let standardInput = try Pipe()
        guard input.count <= 65536 else { throw Failure(description: "too much input for a pipe") }
        standardInput.write(input)
        standardInput.closeWriter()

        let start = now()
        var child: pid_t = 0
        // SAFETY: `withCStrings` keeps every string alive until the call has returned.
        let failed = unsafe withCStrings([program] + arguments) { argv in
            unsafe withCStrings(variables.map { "\($0.key)=\($0.value)" }) { envp in
                unsafe withCStrings([directory ?? "."]) { folder in
                    var description = unsafe vaenc_oracle_child(
                        input: standardInput.reader, output: out.writer, errors: err.writer, folder: folder[0])
                    return unsafe vaenc_oracle_spawn(&child, &description, argv, envp)
                }
            }
        }
        standardInput.closeReader()
        out.closeWriter()
        err.closeWriter()
        guard failed == 0 else {
            throw Failure(description: "\(program): " + (unsafe String(cString: strerror(failed))))
        }

        var result = Result(
            status: 0, stdout: [], stderr: [], timedOut: false, wallSeconds: 0, cpuSeconds: 0, peakKB: 0)
        let deadline = start + timeout
        var open = [out.reader: true, err.reader: true]
        while open.values.contains(true) {
            let left = deadline - now()
            if left <= 0 {
                result.timedOut = true
                kill(child, SIGKILL)
                break
            }
            var polled = open.filter(\.value).map { pollfd(fd: $0.key, events: Int16(POLLIN), revents: 0) }
            unsafe poll(&polled, nfds_t(polled.count), Int32(min(left * 1000, 1000).rounded(.up)))
            for entry in polled where entry.revents != 0 {
                let bytes = readSome(entry.fd)
                if bytes.isEmpty { open[entry.fd] = false }
                if entry.fd == out.reader, result.firstOutputSeconds == nil, !bytes.isEmpty {
                    result.firstOutputSeconds = now() - start
                }
                if entry.fd == out.reader { result.stdout += bytes } else { result.stderr += bytes }
            }
        }
        var status: Int32 = 0
        var usage = rusage()
        while unsafe wait4(child, &status, 0, &usage) < 0 && errno == EINTR {}
        result.wallSeconds = now() - start
        result.status = status & 0x7f == 0 ? Int(status >> 8 & 0xff) : 128 + Int(status & 0x7f)
        result.cpuSeconds =
            Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
        result.peakKB = usage.ru_maxrss
        return result
    }

    private static func now() -> Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func readSome(_ descriptor: Int32) -> ArraySlice<UInt8> {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = unsafe read(descriptor, &buffer, buffer.count)
        return buffer[..<max(count, 0)]
    }

    /// Returns the environment with which this process was started. Variables that `setenv` sets temporarily, for a
    /// driver that this process loads, must not reach other programs.
    private static func currentEnvironment() -> [String: String] {
        var result: [String: String] = [:]
        let bytes = (try? Files.read("/proc/self/environ")) ?? []
        for entry in bytes.split(separator: 0) {
            let text = String(decoding: entry, as: UTF8.self)
            if let equals = text.firstIndex(of: "=") {
                result[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
        }
        return result
    }

    /// Calls `body` with an array of C strings that ends in nil and is valid during the call.
    private static func withCStrings<R>(
        _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R
    ) -> R {
        // SAFETY: `defer` frees the copies only after `body` has returned.
        var copies = unsafe strings.map { unsafe strdup($0) } + [nil]
        defer { unsafe copies.forEach { unsafe free($0) } }
        return unsafe copies.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress!) }
    }
}

/// A pipe whose ends are not inherited by children.
private final class Pipe {
    let reader: Int32
    let writer: Int32
    private var readerIsOpen = true
    private var writerIsOpen = true

    init() throws {
        var ends: [Int32] = [0, 0]
        guard unsafe vaenc_oracle_pipe(&ends) == 0 else { throw ProcessRunner.Failure(description: "pipe2 failed") }
        reader = ends[0]
        writer = ends[1]
    }

    func write(_ bytes: [UInt8]) { unsafe _ = Glibc.write(writer, bytes, bytes.count) }
    func closeReader() { if readerIsOpen { close(reader); readerIsOpen = false } }
    func closeWriter() { if writerIsOpen { close(writer); writerIsOpen = false } }

    deinit {
        closeReader()
        closeWriter()
    }
}
