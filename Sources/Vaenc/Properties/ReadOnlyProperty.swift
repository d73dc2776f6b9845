internal import SoftwareEncode
import VideoBase

/// A property that a session reports by name and that cannot be set.
enum ReadOnlyProperty: String, CaseIterable, Sendable {
    case numberOfPendingFrames = "NumberOfPendingFrames"
    case usingHardwareAcceleratedVideoEncoder = "UsingHardwareAcceleratedVideoEncoder"
    /// The vendor string of the driver, or the library and its version.
    case encoderID = "EncoderID"
    /// The path of the render node.
    case usingGPU = "UsingGPU"
    case pixelFormat = "PixelFormat"
    case codec = "Codec"
    case width = "Width"
    case height = "Height"

    var type: PropertyKind {
        switch self {
        case .numberOfPendingFrames, .width, .height: .integer
        case .usingHardwareAcceleratedVideoEncoder: .boolean
        case .encoderID, .usingGPU, .pixelFormat, .codec: .string
        }
    }

    func value(_ session: CompressionSession) throws -> PropertyValue? {
        let configuration = session.configuration
        switch self {
        case .numberOfPendingFrames: return .integer(session.pendingFrameCount)
        case .usingHardwareAcceleratedVideoEncoder: return .bool(session.choice.kind == .vaapi)
        case .encoderID: return .string(try session.encoderDescription.driver)
        case .usingGPU: return try session.encoderDescription.path.map { .string($0) }
        case .pixelFormat:
            let coded = configuration.coding(session.choice.codec)
            let isSoftware = session.choice.kind == .software
            let plain = isSoftware ? session.choice.codec.softwareLibrary.pixelFormat : .nv12
            let deep: PixelFormat = plain == .i420 ? .i420p10 : .p010
            return .string((coded.codedBitDepth > 8 ? deep : plain).rawValue)
        case .codec: return .string(session.choice.codec.rawValue)
        case .width: return .integer(configuration.size.width)
        case .height: return .integer(configuration.size.height)
        }
    }
}
