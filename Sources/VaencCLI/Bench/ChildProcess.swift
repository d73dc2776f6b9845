import Glibc
import Vaenc
import VideoBase

/// The result of a child process whose output was copied to a file.
struct ChildResult {
    var exitStatus: Int32
    var wallSeconds: Double
    var cpuSeconds: Double
    /// The peak resident set.
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
        let pipes = [try Pipe(), try Pipe(), try Pipe()]
        defer { for pipe in pipes { pipe.closeBoth() } }
        let pid = try resources.start(endedBy: SIGKILL, arguments[0]) {
            ProgramStart.spawn(
                ["/proc/self/exe", MeasuredProgram.command] + arguments, environment: environment, output: pipes[0].write,
                errors: pipes[1].write, record: pipes[2].write, isInOwnGroup: true)
        }
        for pipe in pipes { pipe.closeWrite() }

        var (firstByte, bytes) = (Double?.none, 0)
        var (messages, record): ([UInt8], [UInt8]) = ([], [])
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        var descriptors = pipes.map { pollfd(fd: $0.read, events: Int16(POLLIN), revents: 0) }
        while descriptors.contains(where: { $0.fd >= 0 }) {
            // SAFETY: both arrays outlive the calls, which receive their counts.
            guard unsafe poll(&descriptors, nfds_t(descriptors.count), -1) >= 0 || errno == EINTR else { break }
            for index in descriptors.indices where descriptors[index].fd >= 0 && descriptors[index].revents != 0 {
                let count = unsafe Glibc.read(descriptors[index].fd, &chunk, chunk.count)
                switch index {
                case _ where count <= 0: descriptors[index].fd = -1
                case 0:
                    firstByte = firstByte ?? Clock.now
                    bytes += count
                    let code = unsafe chunk.withUnsafeBytes {
                        unsafe TemporaryFileError.write(UnsafeRawBufferPointer(rebasing: $0[..<count]), to: target)
                    }
                    if code != 0 { throw TemporaryFileError.writing(code, output) }
                case 1: messages = (messages + chunk.prefix(count)).suffix(4096)
                default: record += chunk.prefix(count)
                }
            }
        }
        resources.reap(pid)
        let measured = try MeasuredProgram(record, of: arguments[0])
        return ChildResult(
            exitStatus: measured.status & 0x7F == 0 ? (measured.status >> 8) & 0xFF : 128 + measured.status & 0x7F,
            wallSeconds: measured.end - measured.start, cpuSeconds: measured.processorSeconds,
            peakKilobytes: measured.peakKilobytes, firstByteSeconds: firstByte.map { $0 - measured.start }, bytes: bytes,
            lastMessage: String(decoding: messages, as: UTF8.self).split(whereSeparator: \.isNewline).last.map(String.init) ?? "")
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
            throw [EMFILE, ENFILE].contains(code)
                ? ProgramStart.error(code, arguments[0])
                : VaencError(.inputOutput, "cannot open /dev/null", remedy: "check it with ls -l /dev/null")
        }
        defer { close(silence) }
        // Xvfb removes its lock and its socket at SIGTERM.
        let pid: pid_t
        do {
            pid = try resources.start(endedBy: SIGTERM, arguments[0]) {
                ProgramStart.spawn(arguments, output: out.write, errors: silence, isInOwnGroup: true)
            }
        } catch {
            out.closeBoth()
            throw error
        }
        out.closeWrite()
        return (pid, out.read)
    }

    /// Returns whether PATH contains the program.
    static func exists(_ program: String) -> Bool {
        guard let path = unsafe getenv("PATH") else { return false }
        return unsafe String(cString: path).split(separator: ":").contains { unsafe access("\($0)/\(program)", X_OK) == 0 }
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
