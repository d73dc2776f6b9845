import ArgumentParser
import Glibc
import MediaFiles
import VAAPI
import Vaenc

/// The root of the command line, which only names its subcommands.
@main
struct VaencCommand: ParsableCommand {
    static let name = "vaenc"

    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Hardware video encoding on Linux, through VA-API.",
        discussion: """
            Encode:                vaenc encode movie.mkv -o movie.mp4
            On a specific GPU:     vaenc encode movie.mkv -o movie.mp4 --device /dev/dri/renderD128
            Devices and drivers:   vaenc probe

            Without a GPU, vaenc encodes in software with libx264 or libx265 and prints a notice. With \
            --require-hardware, it fails instead.

            Exit status: 0 success, 64 usage error, 65 invalid input, 66 input not found, 69 not available (for \
            example, no device supports the request), 70 bug in vaenc, 73 cannot create the output, 74 I/O error, 75 \
            device failure, 77 no permission, 130 interrupted.
            """,
        version: vaencVersion,
        subcommands: [
            ProbeCommand.self, EncodeCommand.self, BenchCommand.self, CaptureCommand.self, RemuxCommand.self,
            DecodeCommand.self, ConvertCommand.self, InspectCommand.self, CompareCommand.self, DoctorCommand.self,
            TryDriverCommand.self,
        ])

    /// Returns the arguments with unchanged file names: `CommandLine.arguments` loses bytes that are not UTF-8.
    private static func arguments() -> [String] {
        // SAFETY: argv holds argc C strings for the life of the process.
        (1..<max(1, Int(CommandLine.argc))).compactMap { index in
            guard let text = unsafe CommandLine.unsafeArgv[index] else { return nil }
            return unsafe FileName.string(Array(UnsafeRawBufferPointer(start: text, count: strlen(text))))
        }
    }

    /// Parses a command line. If it is valid, only the subcommand's parser runs: the root's parser would create the options
    /// of a subcommand several times and search for words that request completion scripts, which takes milliseconds.
    private static func parse(_ arguments: [String]) throws -> any ParsableCommand {
        let subcommand = arguments.first.flatMap { name in configuration.subcommands.first { $0._commandName == name } }
        if let subcommand, let command = try? subcommand.parseAsRoot(Array(arguments.dropFirst())), type(of: command) == subcommand {
            return command
        }
        return try parseAsRoot(arguments)
    }

    /// Parses a command line and rejects what ArgumentParser tolerates.
    private static func checked(_ arguments: [String]) throws -> any ParsableCommand {
        try Suggestion.checkCommand(arguments)
        try EmptyValues.checkAttached(arguments)
        try SingleDashWords.check(arguments)
        let command = try parse(arguments)
        try RepeatedOptions.check(arguments, of: type(of: command))
        try EmptyValues.check(arguments, of: type(of: command))
        return command
    }

    static func main() {
        Clock.begin()
        let arguments = arguments()
        if arguments.first == MeasuredProgram.command { Glibc.exit(MeasuredProgram.run(Array(arguments.dropFirst()))) }
        Interruption.holdBack()
        Descriptors.holdStandardNumbers()
        Descriptors.makeRoom()
        AddressSpace.shareHeaps()
        // With SIGPIPE ignored, a closed pipe is reported as an error instead of killing the process.
        signal(SIGPIPE, SIG_IGN)
        // The same applies to a file that exceeds the system's limit (ulimit -f).
        signal(SIGXFSZ, SIG_IGN)
        DriverTrials.program = "/proc/self/exe"
        do {
            var command = try PlainCommandLine.command(arguments) ?? checked(arguments)
            try DriverCallWatchdog.checkEnvironment()
            if !(command is any InterruptibleCommand) { Interruption.letThrough() }
            try command.run()
        } catch {
            Glibc.exit(Failure.report(error, arguments))
        }
    }
}
