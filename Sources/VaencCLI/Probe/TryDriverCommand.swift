import ArgumentParser
import Vaenc

/// The command that vaenc runs in a child process to try a driver. A driver that kills its process then ends only the
/// child.
struct TryDriverCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: DriverTrials.command, abstract: "Try a driver in a child process of vaenc.", shouldDisplay: false)

    @Argument(parsing: .captureForPassthrough) var what: [String] = []

    func run() throws {
        let status = DriverTrials.serve(what)
        if status != 0 { throw ExitCode(status) }
    }
}
