import ArgumentParser
import Vaenc
import VideoBase

/// The command that vaenc runs in a child process to try a driver. A driver that kills its process then ends only the
/// child.
struct TryDriverCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: DriverTrials.command, _superCommandName: VaencCommand.name, abstract: "Try a driver in a child process of vaenc.", shouldDisplay: false)

    @Argument(parsing: .captureForPassthrough) var what: [String] = []

    func run() throws {
        do { try DriverTrials.serve(what) } catch {
            switch error {
            case .unknownTrial: throw ExitCode(ErrorCategory.usage.exitStatus)
            case .loaderIsStuck: throw ExitCode(DriverTrials.hungStatus)
            }
        }
    }
}
