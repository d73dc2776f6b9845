import ArgumentParser
import VAAPI
import Vaenc

struct DeviceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Device: auto (hardware that works, otherwise software), reference, software, a render node or a PCI address.",
            valueName: "auto|reference|software|PATH|PCI"))
    var device = "auto"

    @Flag(help: "Refuse to fall back to software.")
    var requireHardware = false

    @Option(
        help: ArgumentHelp(
            "Whether to use Intel's low-power entry point (EncSliceLP). auto: only if the driver has no other entry point "
                + "for the profile.",
            valueName: "auto|on|off"))
    var lowPower: Automatic = .auto

    func selection() throws -> DeviceSelector {
        let selection = try Self.selector(device)
        if requireHardware, selection == .software || selection == .reference {
            throw VaencError.usage("--require-hardware contradicts --device \(device)", remedy: "leave out one of them")
        }
        return selection
    }

    static func selector(_ text: String) throws -> DeviceSelector {
        guard let selector = DeviceSelector(text) else {
            throw VaencError(
                .unavailable, "no device is called \(text)",
                remedy: "use auto, reference, software, a path such as /dev/dri/renderD128 or a PCI address such as 0000:03:00.0")
        }
        return selector
    }
}

/// A switch that can be left to the program.
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

extension DeviceOptions: PlainOptions {
    mutating func read(_ line: PlainCommandLine) {
        device = line.value("--device") ?? "auto"
        requireHardware = line.flag("--require-hardware")
        lowPower = line.value("--low-power") ?? .auto
    }
}
