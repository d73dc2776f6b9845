import ArgumentParser
import Vaenc

/// Rejects empty names and empty option values. A script passes them if one of its variables is not set. Other messages
/// would print an invisible name.
enum EmptyValues {
    /// Checks a command line.
    ///
    /// - Parameters:
    ///   - arguments: The arguments without the program's name, already accepted by the parser.
    ///   - command: The command that the arguments call.
    /// - Throws: `usage`.
    static func check(_ arguments: [String], of command: any ParsableCommand.Type) throws {
        // Nearly always nothing is empty and the description is not needed. Hidden commands, which vaenc runs itself,
        // are not checked.
        guard command.configuration.shouldDisplay, arguments.contains(where: { $0.isEmpty || $0.hasPrefix("-") && $0.hasSuffix("=") }) else { return }
        let description = try CommandDescription(command)
        let emptyInput = VaencError.usage("the name of the input is empty", remedy: "name a file, or - for stdin")
        var index = 0
        while index < arguments.count, arguments[index] != "--" {
            let argument = arguments[index]
            index += 1
            if argument.isEmpty { throw emptyInput }
            guard let option = description.option(RepeatedOptions.name(argument)), option.takesValue else { continue }
            var value = argument.firstIndex(of: "=").map { String(argument[argument.index(after: $0)...]) }
            if value == nil, index < arguments.count {
                value = arguments[index]
                index += 1
            }
            guard value == "" else { continue }
            throw error(option, option.names[0])
        }
        if arguments[index...].contains("") { throw emptyInput }
    }

    /// Rejects `--name=`. ArgumentParser treats it as an option without a value, and may read the next argument as the
    /// value.
    ///
    /// - Parameter arguments: The arguments without the program's name, before they are parsed.
    /// - Throws: `usage`.
    static func checkAttached(_ arguments: [String]) throws {
        let names = arguments.prefix { $0 != "--" }.filter { $0.hasPrefix("-") && $0.firstIndex(of: "=") == $0.indices.last }.map(
            RepeatedOptions.name)
        guard !names.isEmpty, let command = VaencCommand.configuration.subcommands.first(where: { $0._commandName == arguments[0] }),
            command.configuration.shouldDisplay
        else { return }
        let description = try CommandDescription(command)
        for name in names {
            guard let option = description.option(name) else { continue }
            throw option.takesValue ? error(option, name) : VaencError.usage("\(name) takes no value", remedy: "write \(name) alone")
        }
    }

    private static func error(_ option: CommandDescription.Option, _ name: String) -> VaencError {
        option.names.contains("-o")
            ? VaencError.usage("the name of the output is empty", remedy: "name one with -o FILE")
            : VaencError.usage("the value of \(name) is empty", remedy: "add a value, or leave out the option")
    }

    /// Returns the first option that takes a value and is followed by another option of the command; nil if there is
    /// none.
    static func missing(_ arguments: [String], of command: any ParsableCommand.Type) -> (name: String, next: String)? {
        guard let description = try? CommandDescription(command) else { return nil }
        var index = 0
        while index + 1 < arguments.count, arguments[index] != "--" {
            let (argument, next) = (arguments[index], arguments[index + 1])
            index += 1
            guard let option = description.option(argument), option.takesValue else { continue }
            if description.option(RepeatedOptions.name(next)) != nil { return (argument, next) }
            index += 1
        }
        return nil
    }
}
