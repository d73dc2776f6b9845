import EncodeSession
import ReferenceDisplay
import SoftwareEncode
public import VAAPI
public import VideoBase

/// The devices of this machine, and the default choice among them.
public enum Devices {
    /// Returns a report for each device that the selector selects. `auto` selects all: render nodes, the reference
    /// driver and the software encoders. A device that does not work is listed with the reason. Queries the drivers, so
    /// it can block.
    public static func reports(_ selector: DeviceSelector = .auto) -> [DeviceReport] {
        switch selector {
        case .auto:
            // The software encoders are loaded first: if the loading of a driver hangs, no other library can be loaded
            // after it.
            let processor = software()
            return RenderNode.all().map { renderNode($0.path) } + [reference(), processor]
        case .reference: return [reference()]
        case .software: return [software()]
        case .path(let path): return [renderNode(path)]
        case .pci(let address):
            return [
                RenderNode.all().first { $0.pciAddress == address }.map { renderNode($0.path) }
                    ?? DeviceReport(
                        kind: .vaapi, pci: address, usable: false,
                        why: "there is no GPU with a render node at PCI address \(address)")
            ]
        }
    }

    /// The device and codec that `encode` uses by default.
    public struct Default: Sendable, Hashable {
        /// The path of a render node, `software` or `reference`; nil if no device can encode.
        public var device: String?
        /// The codec; H.264 if no device can encode.
        public var codec: VideoCodec
        /// The reason for the choice, as text for messages.
        public var why: String
    }

    /// Returns the device and codec that a session selects if `EncoderConfiguration.codec` is nil.
    ///
    /// - Parameters:
    ///   - reports: The reports that `reports(asked)` returned.
    ///   - asked: The requested device.
    public static func defaultChoice(among reports: [DeviceReport], asked: DeviceSelector = .auto) -> Default {
        func makeDefault(_ report: DeviceReport, device: String?, why: String) -> Default {
            let choice = CodecChoice.choose(on: report)
            let name = choice.codec.standardName
            return Default(device: device, codec: choice.codec, why: "\(why); \(name): \(choice.why)")
        }
        func encodes(_ report: DeviceReport) -> Bool {
            if report.kind == .software { return report.usable }
            let codec = CodecChoice.choose(on: report).codec
            return report.usable && report.capabilities.contains { $0.encodes && $0.codec == codec }
        }
        if asked != .auto {
            guard let report = reports.first, encodes(report) else {
                return Default(device: nil, codec: .h264, why: reports.first?.why ?? "\(asked) does not encode H.264")
            }
            return makeDefault(report, device: report.path ?? report.kind.rawValue, why: "the requested device")
        }
        let hardware = reports.filter { $0.kind == .vaapi }
        if let device = hardware.first(where: encodes) {
            return makeDefault(device, device: device.path, why: "the first device that encodes")
        }
        let why = hardware.first.map { $0.why ?? "\($0.path ?? "the GPU") does not encode H.264" } ?? "there is no render node"
        if let software = reports.first(where: { $0.kind == .software }), software.usable {
            return makeDefault(software, device: "software", why: "no hardware encoder: \(why)")
        }
        return Default(device: nil, codec: .h264, why: "no hardware encoder: \(why); no software encoder")
    }

    /// Returns whether a GPU of this machine encodes the codec, like a query for a hardware encoder in VideoToolbox.
    /// Queries the drivers, so it can block.
    public static func isHardwareEncodeSupported(_ codec: VideoCodec, profile: CodecProfile? = nil) -> Bool {
        RenderNode.all().map { renderNode($0.path) }.contains { $0.isHardwareEncodeSupported(codec, profile: profile) }
    }

    /// Returns whether a GPU of this machine decodes the codec, like VTIsHardwareDecodeSupported. Queries the drivers,
    /// so it can block.
    public static func isHardwareDecodeSupported(_ codec: VideoCodec, profile: CodecProfile? = nil) -> Bool {
        RenderNode.all().map { renderNode($0.path) }.contains { $0.isHardwareDecodeSupported(codec, profile: profile) }
    }

    /// The folder of the reference driver's file; nil if it is not installed. Other programs can use it as
    /// LIBVA_DRIVERS_PATH, with LIBVA_DRIVER_NAME=libvaenc.
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
        if names.isEmpty, let failure = missing.first?.1 { return DeviceReport(kind: .software, path: nil, failure: failure) }
        return DeviceReport(kind: .software, driver: names.joined(separator: ", "), usable: true)
    }
}
