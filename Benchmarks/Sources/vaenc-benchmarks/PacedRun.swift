import CTestOracles
import Glibc
import TestOracles

/// A program that reads raw frames from a pipe at a fixed rate and writes an H.264 stream to another. The times are
/// those of the last byte of each frame written, and of the first byte of its packet read.
final class PacedRun {
    private let frame: [UInt8]
    private let count: Int
    private let period: Double
    private let name: String
    private var child: pid_t = 0
    private var input: Int32 = -1
    private var output: Int32 = -1
    private var written: [Double] = []
    private var received: [Double] = []
    private var scanner = PacketScanner()

    /// Returns the seconds from each frame to its packet. The frames are written `period` seconds apart.
    static func latencies(_ contender: Contender, frame: [UInt8], count: Int, period: Double) throws -> [Double] {
        let run = PacedRun(contender.name, frame, count, period)
        do {
            try run.start(contender)
            try run.transfer()
        } catch {
            if run.child > 0 { kill(run.child, SIGKILL) }
            _ = run.finish()
            throw error
        }
        let status = run.finish()
        guard status == 0 else { throw Unmeasurable(description: "\(contender.name) ended with status \(status)") }
        guard run.received.count == count else {
            throw Unmeasurable(description: "\(contender.name) wrote \(run.received.count) pictures for \(count) frames")
        }
        return zip(run.received, run.written).map { $0 - $1 }
    }

    private init(_ name: String, _ frame: [UInt8], _ count: Int, _ period: Double) {
        self.name = name
        self.frame = frame
        self.count = count
        self.period = period
    }

    private func start(_ contender: Contender) throws {
        // A program that ends early is an error of `write`.
        signal(SIGPIPE, SIG_IGN)
        var toChild: [Int32] = [-1, -1], fromChild: [Int32] = [-1, -1]
        let null = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
        guard null >= 0, unsafe vaenc_oracle_pipe(&toChild) == 0, unsafe vaenc_oracle_pipe(&fromChild) == 0 else {
            throw Unmeasurable(description: "cannot make pipes")
        }
        (input, output) = (toChild[1], fromChild[0])
        let pipeSize: Int32 = 1 << 20, setPipeSize: Int32 = 1031  // F_SETPIPE_SZ
        for end in [input, output] { _ = fcntl(end, setPipeSize, pipeSize) }
        _ = fcntl(input, F_SETFL, O_NONBLOCK)
        let failure = unsafe Self.withCStrings([contender.program] + contender.arguments) { argv in
            unsafe Self.withCStrings(Self.variables(contender.environment)) { envp in
                var description = unsafe vaenc_oracle_child(input: toChild[0], output: fromChild[1], errors: null, folder: nil)
                return unsafe vaenc_oracle_spawn(&child, &description, argv, envp)
            }
        }
        for end in [toChild[0], fromChild[1], null] { close(end) }
        guard failure == 0 else { throw Unmeasurable(description: "\(name): \(unsafe String(cString: strerror(failure)))") }
    }

    /// Writes all frames and reads until the program closes its output.
    private func transfer() throws {
        let begin = now()
        var offset = 0
        while true {
            let due = begin + Double(written.count) * period
            let isDue = written.count < count && now() >= due
            var polled = [pollfd(fd: output, events: Int16(POLLIN), revents: 0)]
            if isDue { polled.append(pollfd(fd: input, events: Int16(POLLOUT), revents: 0)) }
            let wait = written.count == count || isDue ? 10 : max(due - now(), 0)
            let ready = unsafe poll(&polled, nfds_t(polled.count), Int32((wait * 1000).rounded(.up)))
            guard ready > 0 || wait < 10 else { throw Unmeasurable(description: "\(name) neither reads nor writes for 10 s") }
            if polled[0].revents != 0, try !read() { return }
            if isDue && polled[1].revents != 0 { try write(&offset) }
        }
    }

    private func write(_ offset: inout Int) throws {
        // SAFETY: write reads only the bytes from `offset` to the end of the frame.
        let count = unsafe frame.withUnsafeBytes { unsafe Glibc.write(input, $0.baseAddress! + offset, $0.count - offset) }
        guard count >= 0 || errno == EAGAIN else { throw Unmeasurable(description: "\(name) ended before its input") }
        offset += max(count, 0)
        guard offset == frame.count else { return }
        written.append(now())
        offset = 0
        if written.count == self.count { closeInput() }
    }

    /// Reads once. Returns false at the end of the stream.
    private func read() throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe Glibc.read(output, &buffer, buffer.count)
        guard count > 0 else { return false }
        let time = now()
        let packets = scanner.pictures(in: buffer[..<count])
        received += [Double](repeating: time, count: packets)
        return true
    }

    private func closeInput() {
        if input >= 0 { close(input) }
        input = -1
    }

    /// Closes the pipes and waits for the program. Returns its status.
    private func finish() -> Int {
        closeInput()
        if output >= 0 { close(output) }
        guard child > 0 else { return 0 }
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0 && errno == EINTR {}
        return status & 0x7f == 0 ? Int(status >> 8 & 0xff) : 128 + Int(status & 0x7f)
    }

    private func now() -> Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Returns the environment of this process with changes.
    private static func variables(_ changes: [String: String?]) -> [String] {
        let own = (try? Files.read("/proc/self/environ")) ?? []
        let kept = own.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }.filter { entry in
            !changes.keys.contains(String(entry.prefix { $0 != "=" }))
        }
        return kept + changes.compactMap { name, value in value.map { "\(name)=\($0)" } }
    }

    /// Calls `body` with an array of C strings that ends in nil and is valid during the call.
    private static func withCStrings<R>(_ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R) -> R {
        // SAFETY: `defer` frees the copies only after `body` has returned.
        var copies = unsafe strings.map { unsafe strdup($0) } + [nil]
        defer { for index in 0..<strings.count { unsafe free(copies[index]) } }
        return unsafe copies.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress!) }
    }
}

/// Counts the pictures of an H.264 stream that arrives in parts. Each picture has one slice.
struct PacketScanner {
    private var zeros = 0
    private var isHeaderNext = false

    /// Returns the number of slice headers that begin in the next bytes of the stream.
    mutating func pictures(in bytes: ArraySlice<UInt8>) -> Int {
        var count = 0
        for byte in bytes {
            if isHeaderNext && (byte & 31 == 1 || byte & 31 == 5) { count += 1 }
            isHeaderNext = byte == 1 && zeros >= 2
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return count
    }
}
