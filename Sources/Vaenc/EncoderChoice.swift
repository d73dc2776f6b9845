import EncodeSession
import ReferenceDisplay
import SoftwareEncode
import VAAPI
public import VideoBase

/// Which encoder a session got, and why.
public struct EncoderChoice: Sendable, Hashable {
    public var kind: DeviceKind
    /// The render node, nil where there is none.
    public var path: String?
    /// One line for a person where something was decided for the user, else nil.
    public var notice: String?

    /// Makes the encoder that the selector names, or with `auto` the first that can do what is asked.
    static func makeEncoder(
        configuration: EncoderConfiguration, device: DeviceSelector, requireHardware: Bool,
        handler: @escaping PacketHandler
    ) throws -> (encoder: any VideoEncoder, choice: EncoderChoice) {
        switch device {
        case .software:
            return (try SoftwareEncoder(configuration: configuration, onPacket: handler), EncoderChoice(kind: .software))
        case .reference:
            let display = try ReferenceDisplay.open()
            let encoder = try HardwareEncoder(display: display, configuration: configuration, onPacket: handler)
            return (encoder, EncoderChoice(kind: .reference))
        case .path(let path):
            return try hardware(path, configuration, handler)
        case .pci(let address):
            guard let node = RenderNode.all().first(where: { $0.pciAddress == address }) else {
                throw VaencError(
                    .unavailable, "there is no GPU with a render node at \(address)", remedy: RenderNode.advice())
            }
            return try hardware(node.path, configuration, handler)
        case .auto:
            return try automatic(configuration, requireHardware: requireHardware, handler: handler)
        }
    }

    private static func hardware(
        _ path: String, _ configuration: EncoderConfiguration, _ handler: @escaping PacketHandler
    ) throws -> (encoder: any VideoEncoder, choice: EncoderChoice) {
        let display = try Display.open(renderNode: path)
        let encoder = try HardwareEncoder(display: display, configuration: configuration, onPacket: handler)
        return (encoder, EncoderChoice(kind: .vaapi, path: path))
    }

    /// The first render node whose driver encodes what is asked, proved by preparing it; else software.
    private static func automatic(
        _ configuration: EncoderConfiguration, requireHardware: Bool, handler: @escaping PacketHandler
    ) throws -> (encoder: any VideoEncoder, choice: EncoderChoice) {
        var failures: [any Error] = []
        let nodes = RenderNode.all()
        for node in nodes {
            do {
                let made = try hardware(node.path, configuration, handler)
                try made.encoder.prepare()
                return made
            } catch let error as any DescribedError where error.category == .usage {
                // The request is wrong on every device.
                throw error
            } catch {
                failures.append(error)
            }
        }
        let why = failures.first.map { "\($0)" } ?? "there is no render node in /dev/dri"
        if requireHardware {
            if let error = failures.first { throw error }
            throw VaencError(.unavailable, "no hardware encoder: \(why)", remedy: "leave out --require-hardware, or use --device reference")
        }
        let encoder = try SoftwareEncoder(configuration: configuration, onPacket: handler)
        let name = configuration.codec == .h264 ? "libx264" : "libx265"
        return (encoder, EncoderChoice(kind: .software, notice: "no hardware encoder (\(why)): encoding in software with \(name)"))
    }
}
