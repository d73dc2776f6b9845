import ArgumentParser
import Vaenc

/// Refuses empty names and empty values of options. A script passes them if one of its variables is not set, and other messages would
/// print a name of which nothing is to be seen.
enum EmptyValues {
    /// - Parameters:
    ///   - arguments: without the program's name, and already accepted by the parser.
    ///   - command: the command that they mean.
    /// - Throws: `usage`.
    static func check(_ arguments: [String], of command: any ParsableCommand.Type) throws {
        // Almost always nothing is empty, and the description is not needed. What vaenc runs itself with is its own matter.
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
            throw option.names.contains("-o")
                ? VaencError.usage("the name of the output is empty", remedy: "name one with -o FILE")
                : VaencError.usage("the value of \(option.names[0]) is empty", remedy: "give it one, or leave out the option")
        }
        if arguments[index...].contains("") { throw emptyInput }
    }
}
