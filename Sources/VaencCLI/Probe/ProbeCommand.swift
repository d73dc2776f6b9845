import ArgumentParser
import VAAPI
import Vaenc

struct ProbeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "probe",
        abstract: "Say what can encode here: devices, drivers, and all that they say they can do.")

    @Option(
        help: ArgumentHelp("Only this device; with auto, all of them.", valueName: "auto|reference|software|PATH|PCI"))
    var device = "auto"

    @Flag(help: "Every attribute of every profile, by name and value.")
    var all = false

    @Flag(help: "One JSON object.")
    var json = false

    @Flag(help: .hidden) var verify = false
    @Flag(help: .hidden) var capture = false

    func run() throws {
        if verify { throw VaencError.notBuilt("--verify") }
        if capture { throw VaencError.notBuilt("--capture") }
        let selector = try DeviceOptions.selector(device)
        let reports = Devices.reports(selector)
        // A device that was named must be there; a list of what there is cannot fail.
        if selector != .auto, let report = reports.first, !report.usable, report.driver == nil {
            throw VaencError(
                report.why?.contains("no permission") == true ? .noPermission : .unavailable, report.why ?? "the device does not work")
        }
        let text = json ? try JSON.text(ProbeReport(reports)) + "\n" : ProbeTable.text(reports, everything: all)
        guard Terminal.write(text, to: 1) else { throw VaencError(.inputOutput, "cannot write to stdout", remedy: "look at what reads it") }
    }
}
