import EncodeSession
import ReferenceDisplay
import SoftwareEncode
public import VAAPI
public import VideoBase

/// The devices of this machine, and what is chosen where nothing is asked.
public enum Devices {
    /// The reports of the devices that a selector means; `auto` means all: render nodes, the reference driver,
    /// software. A device that does not work is listed with the reason.
    public static func reports(_ selector: DeviceSelector = .auto) -> [DeviceReport] {
        switch selector {
        case .auto:
            // First, as nothing can be loaded behind a driver whose loading never ends.
            let processor = software()
            return RenderNode.all().map { renderNode($0.path) } + [reference(), processor]
        case .reference: return [reference()]
        case .software: return [software()]
        case .path(let path): return [renderNode(path)]
        case .pci(let address):
            return [
                RenderNode.all().first { $0.pciAddress == address }.map { renderNode($0.path) }
                    ?? DeviceReport(
                        kind: .vaapi, pci: address, usable: false, why: "there is no GPU with a render node at \(address)")
            ]
        }
    }

    /// What `encode` takes with nothing asked.
    public struct Default: Sendable, Hashable {
        /// A render node's path, or `software`; nil where nothing can encode.
        public var device: String?
        public var codec: VideoCodec
        public var why: String
    }

    /// The device and codec for `--codec auto` with the device asked for, from the reports that were made of it.
    public static func defaultChoice(among reports: [DeviceReport], asked: DeviceSelector = .auto) -> Default {
        func taken(_ report: DeviceReport, _ device: String?, _ why: String) -> Default {
            let choice = CodecChoice.choose(on: report)
            let name = choice.codec.standardName
            return Default(device: device, codec: choice.codec, why: "\(why); \(name): \(choice.why)")
        }
        func encodes(_ report: DeviceReport) -> Bool {
            if report.kind == .software { return report.usable }
            let codec = CodecChoice.choose(on: report).codec.rawValue
            return report.usable && report.capabilities.contains { $0.encodes && $0.codec == codec }
        }
        if asked != .auto {
            guard let report = reports.first, encodes(report) else {
                return Default(device: nil, codec: .h264, why: reports.first?.why ?? "\(asked) does not encode H.264")
            }
            return taken(report, report.path ?? report.kind.rawValue, "the device asked for")
        }
        let hardware = reports.filter { $0.kind == .vaapi }
        if let device = hardware.first(where: encodes) { return taken(device, device.path, "the first device that encodes") }
        let why = hardware.first.map { $0.why ?? "\($0.path ?? "the GPU") does not encode H.264" } ?? "there is no render node"
        if let software = reports.first(where: { $0.kind == .software }), software.usable {
            return taken(software, "software", "no hardware encoder (\(why))")
        }
        return Default(device: nil, codec: .h264, why: "no hardware encoder (\(why)) and no software encoder")
    }

    /// Whether some GPU of this machine encodes the codec. The counterpart of asking VideoToolbox for a hardware encoder.
    public static func isHardwareEncodeSupported(_ codec: VideoCodec, profile: CodecProfile? = nil) -> Bool {
        RenderNode.all().map { renderNode($0.path) }.contains { $0.isHardwareEncodeSupported(codec, profile: profile) }
    }

    /// Whether some GPU of this machine decodes the codec: VTIsHardwareDecodeSupported's counterpart.
    public static func isHardwareDecodeSupported(_ codec: VideoCodec, profile: CodecProfile? = nil) -> Bool {
        RenderNode.all().map { renderNode($0.path) }.contains { $0.isHardwareDecodeSupported(codec, profile: profile) }
    }

    /// The folder of the reference driver's file, for LIBVA_DRIVERS_PATH of other programs (with LIBVA_DRIVER_NAME=libvaenc);
    /// nil where it is not installed.
    public static var referenceDriverFolder: String? { ReferenceDisplay.driverFolder }

    private static func renderNode(_ path: String) -> DeviceReport {
        do { try DriverTrials.proveReport(.vaapi, path) } catch {
            return DeviceReport(kind: .vaapi, path: path, failure: error)
        }
        return DeviceReport.ofRenderNode(path)
    }

    private static func reference() -> DeviceReport {
        do {
            try DriverTrials.proveReport(.reference, nil)
            return DeviceReport(try ReferenceDisplay.open())
        } catch {
            return DeviceReport(kind: .reference, path: nil, failure: error)
        }
    }

    private static func software() -> DeviceReport {
        let missing = VideoCodec.allCases.map { ($0, SoftwareEncoder.unavailability(of: $0)) }
        let names = missing.filter { $0.1 == nil }.map { $0.0.softwareLibrary.rawValue }
        return DeviceReport(
            kind: .software, driver: names.isEmpty ? nil : names.joined(separator: ", "), usable: !names.isEmpty,
            why: names.isEmpty ? missing.first?.1?.description : nil)
    }
}
