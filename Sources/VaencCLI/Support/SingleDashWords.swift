import ArgumentParser
import VideoBase

/// Rejects words of one dash and several letters: ArgumentParser reads `-threads` as the options -t, -h, -r and so on,
/// and would print the help.
enum SingleDashWords {
    /// Checks a command line.
    ///
    /// - Parameter arguments: The arguments without the program's name, before they are parsed.
    /// - Throws: `usage`.
    static func check(_ arguments: [String]) throws(VaencError) {
        let words = Array(arguments.prefix { $0 != "--" })
        guard words.contains(where: isOne), !words.contains(where: { ["-h", "--help", "--version"].contains($0) }) else { return }
        let command = VaencCommand.configuration.subcommands.first { $0._commandName == words[0] }
        let description = command.flatMap { try? CommandDescription($0) }
        var index = command == nil ? 0 : 1
        while index < words.count {
            if isOne(words[index]) { throw error(words[index], command) }
            // A value may begin with a dash: `--qp -5` is a number that is out of range.
            index += description?.option(words[index])?.takesValue == true ? 2 : 1
        }
    }

    private static func isOne(_ word: String) -> Bool {
        word.hasPrefix("-") && !word.hasPrefix("--") && RepeatedOptions.name(word).count > 2 && Double(word) == nil
    }

    private static func error(_ word: String, _ command: (any ParsableCommand.Type)?) -> VaencError {
        guard !isFileName(word) else { return fileName(word) }
        let name = RepeatedOptions.name(word)
        return VaencError.usage("unknown option \(name)", remedy: Suggestion.remedy(forOption: name, of: command))
    }

    /// Returns the error for a file name that begins with a dash.
    static func fileName(_ word: String) -> VaencError {
        if word.hasPrefix("-o") {
            return VaencError.usage("\(word) is not an option", remedy: "write -o \(word.dropFirst(2)), or ./\(word) if it is a file's name")
        }
        return VaencError.usage("\(word) begins with a dash and is read as an option", remedy: "write ./\(word) if it is a file's name")
    }

    /// Whether a word that begins with one dash looks like a file name.
    static func isFileName(_ word: String) -> Bool {
        guard word.hasPrefix("-"), !word.hasPrefix("--"), !word.contains("="), Double(word) == nil else { return false }
        let ending = word.split(separator: ".", omittingEmptySubsequences: false).dropFirst().last ?? ""
        return (1...5).contains(ending.count) && ending.allSatisfy { $0.isLetter || $0.isNumber } && ending.contains(where: \.isLetter)
    }
}
