import ArgumentParser
import VideoBase

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

    init(_ command: any ParsableCommand.Type) throws(VaencError) {
        guard let description = JSONValue(command._dumpHelp())?["command"] else {
            throw VaencError(.internalFault, "ArgumentParser describes \(command._commandName) in another form")
        }
        options = (description["arguments"]?.array ?? []).compactMap { argument in
            guard let names = argument["names"]?.array, let kind = argument["kind"]?.string, kind != "positional" else { return nil }
            return Option(
                names: names.compactMap { name in name["name"]?.string.map { (name["kind"]?.string == "long" ? "--" : "-") + $0 } }
                    .sorted { $0.count > $1.count },
                takesValue: kind == "option", isRepeatable: argument["isRepeating"]?.bool == true,
                isHidden: argument["shouldDisplay"]?.bool != true)
        }
    }

    func option(_ name: String) -> Option? { options.first { $0.names.contains(name) } }
}
