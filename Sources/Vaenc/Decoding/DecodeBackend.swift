import DecodeSession
import ReferenceDisplay
import VAAPI
public import VideoBase

/// Where pictures are decoded.
public struct DecodeBackend: Sendable, Hashable {
    /// `.software` where the processor decodes.
    public var kind: DeviceKind
    /// The render node; nil where there is none.
    public var path: String?
    /// What the driver calls itself, or `libavcodec`.
    public var driver: String
    /// Why there, in one line.
    public var why: String

    static func software(_ why: String) -> DecodeBackend {
        DecodeBackend(kind: .software, path: nil, driver: "libavcodec", why: why)
    }

    static func device(_ display: Display) -> DecodeBackend {
        DecodeBackend(
            kind: display.kind, path: display.path, driver: display.vendor, why: "the device decodes the input")
    }

    /// The displays that a selector means, each to be opened; none for software.
    static func displays(_ device: DeviceSelector) throws -> [() throws -> Display] {
        switch device {
        case .software: return []
        case .reference: return [{ try ReferenceDisplay.open() }]
        case .path(let path): return [{ try open(path) }]
        case .pci(let address):
            guard let node = RenderNode.all().first(where: { $0.pciAddress == address }) else {
                throw VaencError(
                    .unavailable, "there is no GPU with a render node at \(address)", remedy: RenderNode.advice())
            }
            return [{ try open(node.path) }]
        case .auto: return RenderNode.all().map { node in { try open(node.path) } }
        }
    }

    /// - Throws: `deviceFailed` also for a driver that ends the process that opens it.
    private static func open(_ path: String) throws -> Display {
        try DriverTrials.proveDecoder(.vaapi, path)
        return try Display.open(renderNode: path)
    }

    /// The first of the selector's devices whose driver decodes such a stream; nil where libavcodec has to.
    ///
    /// - Throws: `unavailable` for a device that is not there, or where hardware is required and none decodes.
    static func choose(
        _ selector: DeviceSelector, _ codec: VideoCodec, bitDepth: Int = 8, requireHardware: Bool
    ) throws -> (device: DecodeDevice?, place: DecodeBackend) {
        if selector == .software, !requireHardware { return (nil, .software("asked for")) }
        var why: [String] = []
        var failure: (any Error)?
        for open in try displays(selector) {
            let display: Display
            do { display = try open() } catch where selector == .auto {
                why.append("\(error)")
                continue
            }
            do {
                let (device, refusal) = try prepare(display, again: open, codec, bitDepth)
                guard let refusal else { return (device, .device(device.display)) }
                why.append(refusal)
            } catch {
                why.append("\(error)")
                failure = failure ?? (error as? VAError)?.endingSession() ?? error
            }
        }
        let reason = why.first ?? "there is no render node in /dev/dri"
        if requireHardware {
            if let failure { throw failure }
            throw VaencError(
                .unavailable, "no device decodes the stream: \(reason)", remedy: "leave out `requireHardware`, or use software")
        }
        return (nil, .software(reason))
    }

    /// A display's decoder, and why it does not decode the stream; if the display fails, those of another one.
    private static func prepare(
        _ display: Display, again: () throws -> Display, _ codec: VideoCodec, _ bitDepth: Int
    ) throws -> (device: DecodeDevice, refusal: String?) {
        func attempt(_ display: Display) throws -> (device: DecodeDevice, refusal: String?) {
            let device = try DecodeDevice(display)
            return (device, try device.refusal(of: codec, bitDepth: bitDepth))
        }
        do { return try attempt(display) } catch { return try attempt(try again()) }
    }
}
