import ArgumentParser
import Glibc
import VideoBase

/// Reports an error as one line on stderr and an exit status of the contract.
enum Failure {
    /// Reports an error and returns the exit status.
    ///
    /// - Parameter arguments: The command line, without the program's name.
    static func report(_ error: any Error, _ arguments: [String] = []) -> Int32 {
        if let described = error as? any DescribedError {
            Terminal.note(withGivenNames(oneLine(described.description), arguments))
            return described.category.exitStatus
        }
        if error is CancellationError {
            return ErrorCategory.interrupted.exitStatus
        }
        let code = VaencCommand.exitCode(for: error)
        if code == .success {
            // `--help` and `--version` were requested, so their text goes to stdout.
            guard let failure = Terminal.failure(writing: VaencCommand.fullMessage(for: error) + "\n", to: STDOUT_FILENO) else { return 0 }
            // A closed pipe is no error: its reader may need only the first lines of a help text.
            if failure != EPIPE { Terminal.note(Terminal.cannotWrite(failure, to: STDOUT_FILENO).description) }
            return ErrorCategory.inputOutput.exitStatus
        }
        let message = VaencCommand.message(for: error)
        if code == .validationFailure {
            Terminal.note(wrongUsage(oneLine(message), arguments))
            return ErrorCategory.usage.exitStatus
        }
        if !message.isEmpty { Terminal.note(oneLine(message)) }
        return code.rawValue == 1 ? ErrorCategory.internalFault.exitStatus : code.rawValue
    }

    /// Returns the parser's message, with a suggestion of what was meant.
    private static func wrongUsage(_ message: String, _ arguments: [String]) -> String {
        let first = arguments.first ?? ""
        let command = VaencCommand.configuration.subcommands.first { $0._commandName == first }
        if let separator = arguments.firstIndex(of: "--"), let command, let description = try? CommandDescription(command),
            let option = arguments[(separator + 1)...].first(where: { description.option(RepeatedOptions.name($0)) != nil })
        {
            return "\(option) follows --, after which every word is a file's name: write all options before --"
        }
        if let name = arguments.dropFirst().prefix(while: { $0 != "--" }).first(where: SingleDashWords.isFileName) {
            return SingleDashWords.fileName(name).description
        }
        if let command, let (name, next) = EmptyValues.missing(Array(arguments.dropFirst()), of: command) {
            return "\(name) has no value before \(next): write \(name) VALUE, or leave it out"
        }
        let unknown = "Unknown option '"
        guard message.hasPrefix(unknown) else {
            if let reworded = ParserMessage.reworded(message, command: command?._commandName, arguments: arguments) {
                return reworded
            }
            return "\(message) (vaenc \(command.map { "\($0._commandName) " } ?? "")--help lists the options)"
        }
        let name = String(message.dropFirst(unknown.count).prefix { $0 != "'" })
        return VaencError.usage("unknown option \(name)", remedy: Suggestion.remedy(forOption: name, of: command)).description
    }

    /// Returns a message with the spellings of options that were given, such as `--crf` instead of `--quality`.
    private static func withGivenNames(_ message: String, _ arguments: [String]) -> String {
        let given = Set(arguments.prefix { $0 != "--" }.map(RepeatedOptions.name))
        return RepeatedOptions.aliases.filter { $0.key.hasPrefix("--") && given.contains($0.key) }
            .reduce(message) { $0.replacing($1.value, with: $1.key) }
    }

    private static func oneLine(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }
            .joined(separator: " ")
    }
}

extension VaencError {
    static func usage(_ message: String, remedy: String) -> VaencError { VaencError(.usage, message, remedy: remedy) }

    /// Returns the error for a planned feature that this version does not implement.
    static func notImplemented(_ feature: String, remedy: String = "leave it out") -> VaencError {
        VaencError(.unavailable, "\(feature) is not implemented yet", remedy: remedy)
    }
}
