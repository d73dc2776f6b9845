import TestOracles
import Testing

/// The commands of vaenc and their options, as the program dumps them.
struct CommandOptions {
    struct Option {
        /// The names with their dashes: `--output`, `-o`.
        var names: [String]
        var takesValue: Bool
        var isRepeatable: Bool
        var isHidden: Bool
        /// The value's name in the help: `auto|on|off`, `N`.
        var valueName: String
        /// The description in the help.
        var help: String

        /// A value that the parser accepts.
        var value: String {
            let first = String(valueName.split(separator: "|").first ?? "2")
            return valueName.contains("|") && !first.contains("…") ? first : "2"
        }
    }

    var command: String
    var options: [Option]

    static func all() throws -> [CommandOptions] { try dumped.get() }

    private static let dumped = Result { try dump() }

    private static func dump() throws -> [CommandOptions] {
        let result = try ProcessRunner.run(Checkout.vaenc, ["--experimental-dump-help"])
        let root = try #require(JSONValue(result.output)?["command"])
        return (root["subcommands"]?.array ?? []).compactMap { command in
            guard let name = command["commandName"]?.string, name != "help" else { return nil }
            let options = (command["arguments"]?.array ?? []).filter { $0["kind"]?.string != "positional" }.map { argument in
                Option(
                    names: (argument["names"]?.array ?? []).map { ($0["kind"]?.string == "long" ? "--" : "-") + ($0["name"]?.string ?? "") },
                    takesValue: argument["kind"]?.string == "option", isRepeatable: argument["isRepeating"]?.bool == true,
                    isHidden: argument["shouldDisplay"]?.bool == false, valueName: argument["valueName"]?.string ?? "",
                    help: argument["abstract"]?.string ?? "")
            }
            return CommandOptions(command: name, options: options)
        }
    }
}
