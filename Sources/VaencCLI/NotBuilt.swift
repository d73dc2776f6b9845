import ArgumentParser
import Vaenc

/// A command of the contract that this version does not have: whatever its arguments, it says so and exits with 69.
protocol NotBuiltCommand: ParsableCommand {
    static var name: String { get }
    var rest: [String] { get }
}

extension NotBuiltCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: name, abstract: "Not built yet.", shouldDisplay: false)
    }

    func run() throws { throw VaencError.notBuilt("vaenc \(Self.name)", remedy: "this version has probe, encode and bench") }
}

struct DecodeCommand: NotBuiltCommand {
    static let name = "decode"
    @Argument(parsing: .captureForPassthrough) var rest: [String] = []
}

struct InspectCommand: NotBuiltCommand {
    static let name = "inspect"
    @Argument(parsing: .captureForPassthrough) var rest: [String] = []
}

struct CompareCommand: NotBuiltCommand {
    static let name = "compare"
    @Argument(parsing: .captureForPassthrough) var rest: [String] = []
}

struct DoctorCommand: NotBuiltCommand {
    static let name = "doctor"
    @Argument(parsing: .captureForPassthrough) var rest: [String] = []
}
