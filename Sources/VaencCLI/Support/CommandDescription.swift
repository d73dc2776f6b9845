import ArgumentParser
import FoundationEssentials

/// The options of a command, as ArgumentParser describes them.
///
/// Creating the description takes milliseconds. Create it only if a command line may be wrong.
struct CommandDescription {
    struct Option: Equatable {
        /// Every spelling, the longest first: `--output`, `-o`.
        var names: [String]
        /// Whether the option takes a value. Otherwise it is a flag.
        var takesValue: Bool
        /// Whether the option may be given several times.
        var isRepeatable: Bool
        var isHidden: Bool
    }

    let options: [Option]

    init(_ command: any ParsableCommand.Type) throws {
        let dump = try JSONDecoder().decode(Dump.self, from: Data(command._dumpHelp().utf8))
        options = (dump.command.arguments ?? []).compactMap { argument in
            guard let names = argument.names, argument.kind != "positional" else { return nil }
            return Option(
                names: names.map { ($0.kind == "long" ? "--" : "-") + $0.name }.sorted { $0.count > $1.count },
                takesValue: argument.kind == "option", isRepeatable: argument.isRepeating,
                isHidden: !argument.shouldDisplay)
        }
    }

    func option(_ name: String) -> Option? { options.first { $0.names.contains(name) } }

    private struct Dump: Decodable {
        struct Command: Decodable { var arguments: [Argument]? }
        struct Argument: Decodable {
            struct Name: Decodable { var kind, name: String }
            var kind: String
            var names: [Name]?
            var isRepeating: Bool
            var shouldDisplay: Bool
        }
        var command: Command
    }
}
