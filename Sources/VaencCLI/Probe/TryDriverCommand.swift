import ArgumentParser
import Vaenc

/// What vaenc runs itself with, so that a driver that ends its process ends that of the trial.
struct TryDriverCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: DriverTrials.command, abstract: "Try a driver, for another vaenc.", shouldDisplay: false)

    @Argument(parsing: .captureForPassthrough) var what: [String] = []

    func run() throws {
        let status = DriverTrials.serve(what)
        if status != 0 { throw ExitCode(status) }
    }
}
