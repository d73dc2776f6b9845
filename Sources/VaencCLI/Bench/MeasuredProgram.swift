import Glibc
import Vaenc

/// Runs a program in a small process between it and `vaenc bench`, and measures it there.
///
/// Until a child runs its own program, it shares its parent's memory, and the kernel counts that memory in the child's
/// peak. The small process has less memory than any encoder, so that the peak is that of the encoder.
struct MeasuredProgram {
    /// The first argument of the small process, which is this program. The program to measure and its arguments follow.
    static let command = "run-measured"

    /// The wait status of waitpid(2).
    var status: Int32
    /// The start and the end of the program on the monotonic clock, in seconds.
    var start, end: Double
    /// The user and system time in seconds.
    var processorSeconds: Double
    /// The peak resident set in kB.
    var peakKilobytes: Int

    /// Runs a program and writes its measurements to descriptor 3.
    ///
    /// - Returns: The exit status of the small process.
    static func run(_ arguments: [String]) -> Int32 {
        guard !arguments.isEmpty, fcntl(3, F_SETFD, FD_CLOEXEC) == 0 else { return 64 }
        let start = Clock.now
        let (process, failure) = ProgramStart.spawn(arguments, output: STDOUT_FILENO, errors: STDERR_FILENO, isInOwnGroup: false)
        var (status, usage) = (Int32(0), rusage())
        if failure == 0 {
            // The end of the program, not of this process, ends its output.
            close(STDOUT_FILENO)
            close(STDERR_FILENO)
            while unsafe wait4(process, &status, 0, &usage) < 0 && errno == EINTR {}
        }
        let cpu =
            Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
        Terminal.write("\(failure) \(status) \(start) \(Clock.now) \(cpu) \(usage.ru_maxrss)\n", to: 3)
        return 0
    }

    /// Parses what `run` wrote.
    ///
    /// - Parameter program: The program's name, for errors.
    /// - Throws: The error of a program that could not be started; `deviceFailed` without a complete record.
    init(_ record: [UInt8], of program: String) throws {
        let fields = String(decoding: record, as: UTF8.self).split { $0 == " " || $0 == "\n" }
        guard fields.count == 6, let failure = Int32(fields[0]), let status = Int32(fields[1]), let start = Double(fields[2]),
            let end = Double(fields[3]), let cpu = Double(fields[4]), let peak = Int(fields[5])
        else {
            throw VaencError(.deviceFailed, "the measurement of \(program) was ended", remedy: "run vaenc bench again")
        }
        if failure != 0 { throw ProgramStart.error(failure, program) }
        (self.status, self.start, self.end, processorSeconds, peakKilobytes) = (status, start, end, cpu, peak)
    }
}
