internal import CTestOracles
internal import Glibc

/// Runs another program to its end.
public struct ProcessRunner: Sendable {
    public struct Result: Sendable {
        /// The exit status; 128 + the signal's number where a signal ended it.
        public var status: Int
        public var stdout: [UInt8]
        public var stderr: [UInt8]
        public var timedOut: Bool
        /// From the start to the end, and to the first byte on stdout (nil where there was none).
        public var wallSeconds: Double
        public var firstOutputSeconds: Double?
        /// User and system time, of the program and what it waited for.
        public var cpuSeconds: Double
        /// Largest resident set in KiB.
        public var peakKB: Int

        public var output: String { String(decoding: stdout, as: UTF8.self) }
        public var errors: String { String(decoding: stderr, as: UTF8.self) }
        /// The lines of stderr that are not blank.
        public var errorLines: [Substring] { errors.split(whereSeparator: \.isNewline) }
    }

    public struct Failure: Error, CustomStringConvertible {
        public var description: String
    }

    /// Runs `program` (looked for in PATH unless it has a slash) and waits. Blocks the thread.
    ///
    /// - Parameters:
    ///   - environment: added to this process's; nil takes a variable away.
    ///   - input: what the program reads on stdin, at most 64 KiB.
    ///   - timeout: seconds after which it is killed.
    public static func run(
        _ program: String, _ arguments: [String], environment: [String: String?] = [:], input: [UInt8] = [],
        directory: String? = nil, timeout: Double = 120
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
        // SAFETY: every string lives until the call is over.
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

    /// The environment that this process was started with: what `setenv` puts there for a moment, for a driver that is
    /// being loaded in this process, is no other program's.
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

    /// `body` gets an array of C strings that ends in nil, valid while it runs.
    private static func withCStrings<R>(
        _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R
    ) -> R {
        // SAFETY: every copy lives until `body` has returned.
        var copies = unsafe strings.map { unsafe strdup($0) } + [nil]
        defer { unsafe copies.forEach { unsafe free($0) } }
        return unsafe copies.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress!) }
    }
}

/// A pipe whose ends are not inherited.
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
