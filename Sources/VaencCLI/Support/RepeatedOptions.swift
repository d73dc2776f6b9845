import ArgumentParser
import MediaFiles
import Vaenc

/// Rejects an option that takes one value and is given several times: ArgumentParser silently keeps the last value.
enum RepeatedOptions {
    /// Other spellings of options, with their long names.
    static let aliases = ["-o": "--output", "--crf": "--quality"]

    /// Checks a command line.
    ///
    /// - Parameters:
    ///   - arguments: The arguments without the program's name, already accepted by the parser.
    ///   - command: The command that the arguments call.
    /// - Throws: `usage`.
    static func check(_ arguments: [String], of command: any ParsableCommand.Type) throws {
        let arguments = Array(arguments.prefix { $0 != "--" })
        // Nearly always nothing is given twice and the description is not needed.
        var seen: Set<String> = []
        let mayRepeat = arguments.contains { argument in
            guard argument.hasPrefix("-") else { return false }
            let name = name(argument)
            return !seen.insert(aliases[name] ?? name).inserted
        }
        if !mayRepeat { return }
        let description = try CommandDescription(command)
        var values: [(option: CommandDescription.Option, values: [String])] = []
        var index = 0
        while index < arguments.count {
            let argument = arguments[index]
            index += 1
            guard let option = description.option(name(argument)), option.takesValue else { continue }
            var value = argument.firstIndex(of: "=").map { String(argument[argument.index(after: $0)...]) }
            if value == nil, index < arguments.count {
                value = arguments[index]
                index += 1
            }
            if let position = values.firstIndex(where: { $0.option == option }) {
                values[position].values.append(value ?? "")
            } else {
                values.append((option, [value ?? ""]))
            }
        }
        guard let repeated = values.first(where: { !$0.option.isRepeatable && $0.values.count > 1 }) else { return }
        if repeated.option.names.contains("-o") {
            throw VaencError.usage(
                "-o was used \(repeated.values.count) times (\(repeated.values.joined(separator: ", "))), but this command writes one output",
                remedy: "run vaenc once for each output")
        }
        let outputs = values.first { $0.option.names.contains("-o") }?.values.count ?? 0
        throw VaencError.usage(
            "\(repeated.option.names[0]) was used \(repeated.values.count) times (\(repeated.values.joined(separator: ", "))), but it takes one value",
            remedy: outputs > 1
                ? "use it once, for all outputs; for outputs with different values run vaenc once for each" : "use it once")
    }

    /// Returns `--name` for `--name=value`. Arguments without a leading dash are returned unchanged.
    static func name(_ argument: String) -> String {
        argument.hasPrefix("-") ? String(argument.prefix { $0 != "=" }) : argument
    }
}
