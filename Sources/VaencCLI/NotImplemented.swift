import ArgumentParser
import Vaenc

/// A planned command that this version does not implement. With any arguments, it reports that and exits with status
/// 69.
protocol NotImplementedCommand: ParsableCommand {
    static var name: String { get }
    var rest: [String] { get }
}

extension NotImplementedCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: name, abstract: "Not implemented yet.", shouldDisplay: false)
    }

    func run() throws { throw VaencError.notImplemented("vaenc \(Self.name)", remedy: "vaenc --help lists the commands") }
}

struct DoctorCommand: NotImplementedCommand {
    static let name = "doctor"
    @Argument(parsing: .captureForPassthrough) var rest: [String] = []
}
