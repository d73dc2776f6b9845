import ArgumentParser

@main
struct VaencCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "vaenc")
}
