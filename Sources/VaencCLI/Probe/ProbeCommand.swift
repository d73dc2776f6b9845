import ArgumentParser
import Vaenc

struct ProbeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "probe", abstract: "Say what the devices can do.")
    @OptionGroup var device: DeviceOptions
    func run() throws {}
}
