import ArgumentParser

/// A command line in plain form: one subcommand, options written `--name VALUE` or `--name=VALUE`, flags, and at most one
/// input. Nearly all command lines are plain.
///
/// ArgumentParser finds the options of a command by reflection and by searching the conformances of the whole program,
/// which takes longer than the rest of the start. A plain command line is read without it. ArgumentParser reads every other
/// command line, and every one that may be wrong: it decides what is wrong.
final class PlainCommandLine {
    private let arguments: ArraySlice<String>
    private var isRead: [Bool]
    /// Whether everything that was read is in plain form.
    private var isPlain = true

    private init(_ arguments: ArraySlice<String>) {
        self.arguments = arguments
        isRead = Array(repeating: false, count: arguments.endIndex)
    }

    /// Reads a command line.
    ///
    /// - Parameter arguments: The arguments without the program's name.
    /// - Returns: The command; nil if ArgumentParser must read the command line.
    static func command(_ arguments: [String]) -> (any ParsableCommand)? {
        switch arguments.first {
        case "encode": read(EncodeCommand(), arguments)
        case "probe": read(ProbeCommand(), arguments)
        default: nil
        }
    }

    private static func read<Command: PlainOptions & ParsableCommand>(_ command: Command, _ arguments: [String]) -> (any ParsableCommand)? {
        guard !arguments.contains(where: { $0.isEmpty || $0 == "--" }) else { return nil }
        let line = PlainCommandLine(arguments.dropFirst())
        var command = command
        command.read(line)
        return line.isPlain && !line.isRead.dropFirst().contains(false) ? command : nil
    }

    /// Whether an argument begins like an option. `-` alone is the name of stdin or stdout.
    private static func isOption(_ argument: String) -> Bool { argument.utf8.first == UInt8(ascii: "-") && argument.utf8.count > 1 }

    // MARK: What a command has

    /// Returns the values of an option that may be repeated.
    func values<Value: ExpressibleByArgument>(_ names: String...) -> [Value] { read(names) }

    /// Returns the value of an option; nil if the option is not there.
    func value<Value: ExpressibleByArgument>(_ names: String...) -> Value? {
        let values: [Value] = read(names)
        if values.count > 1 { isPlain = false }
        return values.first
    }

    /// Returns whether a flag is there.
    func flag(_ name: String) -> Bool {
        let places = arguments.indices.filter { arguments[$0] == name }
        for place in places { isRead[place] = true }
        if places.count > 1 { isPlain = false }
        return !places.isEmpty
    }

    /// Returns true for a flag, false for its inverse and nil if neither is there.
    func flag(_ name: String, inverse: String) -> Bool? {
        let (isOn, isOff) = (flag(name), flag(inverse))
        if isOn, isOff { isPlain = false }
        return isOn ? true : isOff ? false : nil
    }

    /// Returns a group of options.
    func options<Options: PlainOptions>(_ options: Options) -> Options {
        var options = options
        options.read(self)
        return options
    }

    /// Returns the input; nil if there is none. Read it after all options.
    func input() -> String? {
        let places = arguments.indices.filter { !isRead[$0] && !Self.isOption(arguments[$0]) }
        guard let place = places.first else { return nil }
        isRead[place] = true
        return arguments[place]
    }

    private func read<Value: ExpressibleByArgument>(_ names: [String]) -> [Value] {
        var values: [Value] = []
        for place in arguments.indices where Self.isOption(arguments[place]) && names.contains(where: { arguments[place].hasPrefix($0) }) {
            guard let text = text(at: place, names) else { continue }
            guard let value = Value(argument: text) else {
                isPlain = false
                return values
            }
            values.append(value)
        }
        return values
    }

    /// Returns the text of the value if the argument is one of these options.
    private func text(at place: Int, _ names: [String]) -> String? {
        let argument = arguments[place]
        if names.contains(argument) {
            isRead[place] = true
            let next = place + 1
            guard next < arguments.endIndex, !isRead[next], !Self.isOption(arguments[next]) else {
                isPlain = false
                return nil
            }
            isRead[next] = true
            return arguments[next]
        }
        guard let equal = argument.firstIndex(of: "="), argument.hasPrefix("--"), names.contains(String(argument[..<equal])) else { return nil }
        isRead[place] = true
        let value = argument[argument.index(after: equal)...]
        if value.isEmpty { isPlain = false }
        return String(value)
    }
}

/// Options that can be read from a plain command line.
protocol PlainOptions {
    /// Sets every property: from the command line, or to the default that its declaration has.
    mutating func read(_ line: PlainCommandLine)
}
