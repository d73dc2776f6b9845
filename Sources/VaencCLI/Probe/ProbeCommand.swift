import ArgumentParser
import Capture
import VAAPI
import Vaenc

struct ProbeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "probe", _superCommandName: VaencCommand.name,
        abstract: "List the devices that can encode on this machine, with their drivers and capabilities.")

    @Option(
        help: ArgumentHelp("Device to list; auto lists all of them.", valueName: "auto|reference|software|PATH|PCI"))
    var device = "auto"

    @Flag(help: "Print every attribute of every profile, by name and value.")
    var all = false

    @Flag(help: "Print one JSON object.")
    var json = false

    @Flag(help: "Encode a few pictures in each mode that a driver advertises, and list the modes that fail.")
    var verify = false

    @Flag(help: "List the cameras, with their formats, sizes and rates.")
    var capture = false

    func run() throws {
        let cameras = capture ? try CaptureDevices.all() : nil
        let selector = try DeviceOptions.selector(device)
        let reports = Devices.reports(selector)
        // A named device must exist. The list of all devices cannot fail.
        if selector != .auto, let report = reports.first, !report.usable, report.driver == nil {
            var remedy: String?
            if case .pci = selector { remedy = RenderNode.advice() }
            throw VaencError(
                report.failureCategory == .noPermission ? .noPermission : .unavailable, report.why ?? "the device does not work", remedy: remedy)
        }
        let verified = verify ? reports.map { Devices.verify($0) } : nil
        let text =
            json
            ? try JSON.text(ProbeReport(reports, asked: selector, verified: verified, cameras: cameras)) + "\n"
            : Terminal.visible(
                ProbeTable.text(reports, asked: selector, everything: all, verified: verified)
                    + (cameras.map(CaptureTable.text) ?? ""), keepsLines: true)
        try Terminal.report(text, to: 1)
        if let verified, let error = Self.failure(reports, verified) { throw error }
    }

    /// Returns the error for advertised modes that failed; nil if all work.
    private static func failure(_ reports: [DeviceReport], _ verified: [[[TrialResult]]]) -> VaencError? {
        var names: [String] = []
        var count = 0
        for (report, trials) in zip(reports, verified) {
            for (capability, trials) in zip(report.capabilities, trials) {
                count += trials.count
                names += trials.filter { $0.failure != nil }.map {
                    "\(report.path ?? report.kind.rawValue) \(ProbeTable.name(capability)) \(capability.entryPoint.shortName) \($0.mode)"
                }
            }
        }
        if names.isEmpty { return nil }
        return VaencError(
            .deviceFailed, "\(names.count) of \(count) advertised modes failed: \(names.joined(separator: ", "))",
            remedy: "use the modes that work, or update the driver")
    }
}

extension ProbeCommand: PlainOptions {
    mutating func read(_ line: PlainCommandLine) {
        device = line.value("--device") ?? "auto"
        all = line.flag("--all")
        json = line.flag("--json")
        verify = line.flag("--verify")
        capture = line.flag("--capture")
    }
}
