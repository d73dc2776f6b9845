import ArgumentParser
import Vaenc

/// A planned command that this version does not implement. With any arguments, it reports that and exits with status
/// 69.
protocol NotBuiltCommand: ParsableCommand {
    static var name: String { get }
    var rest: [String] { get }
}

extension NotBuiltCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: name, abstract: "Not implemented yet.", shouldDisplay: false)
    }

    func run() throws { throw VaencError.notBuilt("vaenc \(Self.name)", remedy: "vaenc --help lists the commands") }
}

struct DoctorCommand: NotBuiltCommand {
    static let name = "doctor"
    @Argument(parsing: .captureForPassthrough) var rest: [String] = []
}
