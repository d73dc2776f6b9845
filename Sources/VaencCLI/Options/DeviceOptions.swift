import ArgumentParser
import Vaenc

struct DeviceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "auto (hardware that works, else software), reference, software, a render node or a PCI address.",
            valueName: "auto|reference|software|PATH|PCI"))
    var device = "auto"

    @Flag(help: "Refuse to fall back to software.")
    var requireHardware = false

    @Option(help: ArgumentHelp("Intel's low-power entry point.", valueName: "auto|on|off"))
    var lowPower: Automatic = .auto

    func selection() throws -> DeviceSelection {
        let selection = try DeviceSelection(device)
        if requireHardware, selection == .software || selection == .reference {
            throw VaencError.usage("--require-hardware contradicts --device \(device)")
        }
        return selection
    }
}

/// A switch that may be left to the program.
enum Automatic: String, ExpressibleByArgument, CaseIterable {
    case auto, on, off

    var value: Bool? {
        switch self {
        case .auto: nil
        case .on: true
        case .off: false
        }
    }
}
