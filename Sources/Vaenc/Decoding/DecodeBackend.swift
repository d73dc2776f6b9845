import DecodeSession
import ReferenceDisplay
import VAAPI
public import VideoBase

/// The device or library that decodes pictures.
public struct DecodeBackend: Sendable, Hashable {
    /// The type of the device; `.software` if libavcodec decodes on the CPU.
    public var kind: DeviceKind
    /// The path of the render node; nil if there is none.
    public var path: String?
    /// The vendor string of the driver, or `libavcodec`.
    public var driver: String
    /// The reason for the choice, in one line.
    public var why: String

    static func software(_ why: String) -> DecodeBackend {
        DecodeBackend(kind: .software, path: nil, driver: "libavcodec", why: why)
    }

    static func device(_ display: Display) -> DecodeBackend {
        DecodeBackend(
            kind: display.kind, path: display.path, driver: display.vendor, why: "the device decodes the input")
    }

    /// Returns a function for each display that the selector selects, which opens that display. Empty for software.
    static func displays(_ device: DeviceSelector) throws -> [() throws -> Display] {
        switch device {
        case .software: return []
        case .reference: return [{ try ReferenceDisplay.open() }]
        case .path(let path): return [{ try open(path) }]
        case .pci(let address):
            guard let node = RenderNode.all().first(where: { $0.pciAddress == address }) else {
                throw VaencError(
                    .unavailable, "there is no GPU with a render node at PCI address \(address)",
                    remedy: RenderNode.advice())
            }
            return [{ try open(node.path) }]
        case .auto: return RenderNode.all().map { node in { try open(node.path) } }
        }
    }

    /// - Throws: Also `deviceFailed` if the driver ends the process that opens it.
    private static func open(_ path: String) throws -> Display {
        try DriverTrials.proveDecoder(.vaapi, path)
        return try Display.open(renderNode: path)
    }

    /// Returns the first selected device whose driver decodes the stream; nil if libavcodec must decode it.
    ///
    /// - Throws: `unavailable` if the device does not exist, or if hardware is required and no device decodes the
    ///   stream.
    static func choose(
        _ selector: DeviceSelector, _ codec: VideoCodec, bitDepth: Int = 8, requireHardware: Bool
    ) throws -> (device: DecodeDevice?, backend: DecodeBackend) {
        do { return try selected(selector, codec: codec, bitDepth: bitDepth, requireHardware: requireHardware) } catch {
            throw requireHardware ? HardwareRequirement.advised(error) : error
        }
    }

    private static func selected(
        _ selector: DeviceSelector, codec: VideoCodec, bitDepth: Int, requireHardware: Bool
    ) throws -> (device: DecodeDevice?, backend: DecodeBackend) {
        if selector == .software, !requireHardware { return (nil, .software("software was requested")) }
        var why: [String] = []
        var failure: (any Error)?
        for open in try displays(selector) {
            let display: Display
            do { display = try open() } catch  where selector == .auto {
                why.append("\(error)")
                continue
            }
            do {
                let (device, rejectionReason) = try prepare(display, again: open, codec: codec, bitDepth: bitDepth)
                guard let rejectionReason else { return (device, .device(device.display)) }
                why.append(rejectionReason)
            } catch {
                why.append("\(error)")
                failure = failure ?? (error as? VAError)?.endingSession() ?? error
            }
        }
        let reason = why.first ?? "there is no render node in /dev/dri"
        if requireHardware {
            if let failure { throw failure }
            throw VaencError(
                .unavailable, "no device decodes the stream: \(reason)",
                remedy: "leave out `requireHardware`")
        }
        return (nil, .software(reason))
    }

    /// Returns the display's decoder, and the reason why it does not decode the stream. If the display fails, tries
    /// again with a newly opened display.
    private static func prepare(
        _ display: Display, again: () throws -> Display, codec: VideoCodec, bitDepth: Int
    ) throws -> (device: DecodeDevice, rejectionReason: String?) {
        func attempt(_ display: Display) throws -> (device: DecodeDevice, rejectionReason: String?) {
            let device = try DecodeDevice(display)
            return (device, try device.rejectionReason(of: codec, bitDepth: bitDepth))
        }
        do { return try attempt(display) } catch { return try attempt(try again()) }
    }
}
