import MediaFiles
import VideoBase

/// Rewords ArgumentParser's usage errors in the form of vaenc's: what is wrong, with the value, and what to do.
enum ParserMessage {
    /// The synopses of the commands with required arguments.
    private static let usage = [
        "remux": "vaenc remux INPUT -o OUTPUT", "decode": "vaenc decode INPUT -o OUTPUT.y4m", "convert": "vaenc convert INPUT -o OUTPUT",
        "inspect": "vaenc inspect FILE", "compare": "vaenc compare REFERENCE DISTORTED",
    ]

    /// Returns the reworded message; nil for messages of other kinds.
    ///
    /// - Parameters:
    ///   - message: The parser's message, in one line.
    ///   - command: The command's name; nil if there is none.
    ///   - arguments: The command line, without the program's name.
    static func reworded(_ message: String, command: String?, arguments: [String]) -> String? {
        invalidValue(message) ?? missingValue(message, arguments) ?? missingArgument(message, command) ?? tooMany(
            message, command: command, arguments: arguments)
            ?? flags(message)
    }

    /// Rewords `The value 'nan' is invalid for '--qp <N>'`.
    private static func invalidValue(_ message: String) -> String? {
        guard let (value, rest) = parts(message, start: "The value '", middle: "' is invalid for '") else { return nil }
        let (name, takes) = option(rest)
        if value.isEmpty { return "the value of \(name) is empty: add a value, or leave out the option" }
        let words = takes.split(separator: "|").map(String.init)
        if name == "--codec", value == "copy" { return "--codec copy is not known: vaenc remux copies streams without encoding" }
        if words.count > 1 {
            return "\(name) \(value) is not known: use \(words.dropLast().joined(separator: ", ")) or \(words[words.count - 1])"
        }
        if takes == "S" || takes == "SECONDS" {
            return "\(name) \(value) is not a number of seconds: write a number, such as 2.5"
        }
        let digits = value.hasPrefix("-") ? value.dropFirst() : value
        if !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }) {
            return "\(name) \(value) is out of range: use a number with fewer digits"
        }
        return "\(name) \(value) is not a whole number: write it with digits only, such as \(name) \(wholeNumber(value) ?? 4)"
    }

    /// Returns the whole number that is meant by a text such as `18.5` or `1.5M`; nil for other texts.
    private static func wholeNumber(_ text: Substring) -> Int? {
        let factors: [Character: Double] = ["k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9]
        let factor = text.last.flatMap { factors[$0] }
        let digits = factor == nil ? text : text.dropLast()
        guard digits.allSatisfy({ $0.isASCII && $0.isNumber || $0 == "." }), let number = Double(digits) else { return nil }
        return max(1, Int(clamping: number * (factor ?? 1)))
    }

    /// Rewords `Missing value for '--output <FILE>'`.
    private static func missingValue(_ message: String, _ arguments: [String]) -> String? {
        guard let rest = message.dropping("Missing value for '") else { return nil }
        let (name, takes) = option(rest)
        if let index = arguments.lastIndex(of: name), index + 1 < arguments.count {
            let next = arguments[index + 1]
            return "\(name) has no value, because \(next) is read as an option: write \(name)=\(next) if it is a value"
        }
        return "\(name) has no value: write \(name) \(takes)"
    }

    /// Rewords `Missing expected argument '--output <FILE>'`.
    private static func missingArgument(_ message: String, _ command: String?) -> String? {
        guard let rest = message.dropping("Missing expected argument '"), let command, let usage = usage[command] else { return nil }
        let (name, takes) = option(rest)
        let words = ["reference": "first input", "distorted": "second input"]
        return "\(name.isEmpty ? "the \(words[takes] ?? takes)" : name) is missing: write \(usage)"
    }

    /// Rewords `Unexpected argument 'x'` and `2 unexpected arguments: 'x', 'y'`.
    private static func tooMany(_ message: String, command: String?, arguments: [String]) -> String? {
        let remedy =
            command == nil || command == "probe"
            ? "vaenc \(command.map { "\($0) " } ?? "")--help lists the options" : "run vaenc once for each input"
        if let rest = message.dropping("Unexpected argument '") {
            if let remedy = sequence([rest.dropLast()], command) { return "unexpected argument \(rest.dropLast()): \(remedy)" }
            let hasOutput = arguments.contains { $0 == "-o" || $0 == "--output" || $0.hasPrefix("-o=") || $0.hasPrefix("--output=") }
            let isOutput = ["encode", "capture"].contains(command) && !hasOutput
            return "unexpected argument \(rest.dropLast()): \(isOutput ? "write -o \(rest.dropLast()) if it is the output" : remedy)"
        }
        guard let range = message.firstRange(of: " unexpected arguments: '"), let count = Int(message[..<range.lowerBound]) else { return nil }
        let all = message[range.upperBound...].dropLast().split(separatedBy: "', '").filter { !$0.isEmpty }
        let names = all.prefix(3).joined(separator: ", ")
        return "\(count) unexpected arguments (\(names)\(count > 3 ? ", …" : "")): \(sequence(all, command) ?? remedy)"
    }

    /// Returns the remedy for several pictures, such as a shell makes of `*.png`; nil for other arguments.
    private static func sequence(_ names: [Substring], _ command: String?) -> String? {
        guard let command, ["encode", "decode", "remux"].contains(command), names.allSatisfy({ MediaInput.isPicture(String($0)) }),
            let name = names.first, let dot = name.lastIndex(of: ".")
        else { return nil }
        let ending = name[name.index(after: dot)...]
        let rate = command == "encode" ? " --fps 30" : ""
        return "write one pattern for pictures in sequence, such as img%03d.\(ending), or pipe them in: cat *.\(ending) | vaenc \(command) -\(rate)"
    }

    /// Rewords `The option '--strict' does not take any value, but 'x' was specified.` and `Value to be set with flag
    /// '--no-b-pyramid' had already been set with flag '--b-pyramid'`.
    private static func flags(_ message: String) -> String? {
        if let (name, _) = parts(message, start: "The option '", middle: "' does not take any value") {
            return "\(name) takes no value: write \(name) alone"
        }
        guard
            let (second, rest) = parts(
                message, start: "Value to be set with flag '", middle: "' had already been set with flag '")
        else { return nil }
        return "\(second) contradicts \(rest.prefix { $0 != "'" }): leave out one of them"
    }

    /// Returns the text between `start`, which begins the message, and `middle`, and the text after `middle`.
    private static func parts(_ message: String, start: String, middle: String) -> (Substring, Substring)? {
        guard let rest = message.dropping(start), let range = rest.firstRange(of: middle) else { return nil }
        return (rest[..<range.lowerBound], rest[range.upperBound...])
    }

    /// Returns the name and the value of `--output <FILE>'…`. The name is empty for `<FILE>'…`.
    private static func option(_ text: Substring) -> (name: String, takes: String) {
        let synopsis = text.prefix { $0 != "'" }
        let name = synopsis.prefix { $0 != "<" && $0 != " " }
        let takes = synopsis.drop { $0 != "<" }.dropFirst().prefix { $0 != ">" }
        return (String(name), String(takes))
    }
}

extension String {
    /// Returns the text after a prefix; nil if the text does not begin with the prefix.
    fileprivate func dropping(_ beginning: String) -> Substring? { hasPrefix(beginning) ? dropFirst(beginning.count) : nil }
}
