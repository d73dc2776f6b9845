import EncodePlanning
import VAAPI
import VideoBase

/// Everything that a session owns on the device. Freed in the right order by the objects' references to each other:
/// buffers, context, surfaces and configuration, display.
struct DeviceObjects: Sendable {
    let context: Context
    /// Reconstruction surfaces, by slot.
    let reconstructions: [Surface]
    let inputs: [Surface]
    let coded: [CodedBuffer]
    /// Header kinds that the configuration agreed to take.
    let packed: DeviceLimits.PackedHeaders

    /// - Parameter kept: surfaces for input that are there already.
    init(_ display: Display, _ settings: EncodeSettings, inputs kept: [Surface]? = nil, codedScale: Int = 1) throws {
        let limits = settings.limits
        var attributes: [AttributeType: UInt32] = [
            .rtFormat: RTFormat(settings.pixelFormat).rawValue, .rateControl: settings.rate.attribute,
        ]
        packed = limits.packedHeaders
        if !packed.isEmpty { attributes[.encPackedHeaders] = packed.rawValue }
        let config = try Config(
            display, profile: Profile(settings.profile),
            entryPoint: limits.entryPoint == .slice ? .encodeSlice : .encodeSliceLowPower, attributes: attributes)
        // One input is filled while the others are in the device, wait for a later frame, or are kept until a frame
        // shown before theirs is delivered.
        inputs = try kept ?? Surface.make(
            display, count: settings.asyncDepth + 1 + settings.structure.bFrames * 2, size: settings.grid.coded,
            format: settings.pixelFormat)
        reconstructions = try Surface.make(
            display, count: settings.structure.slotCount, size: settings.grid.coded, format: settings.pixelFormat)
        let context = try Context(
            config, size: settings.grid.coded, targets: reconstructions + inputs,
            limits: try config.surfaceCapabilities())
        self.context = context
        let capacity = Self.codedCapacity(settings) * codedScale
        coded = try (0..<settings.asyncDepth).map { _ throws(VAError) in try CodedBuffer(context, capacity: capacity) }
    }

    /// Bytes that an access unit may take: a macroblock has at most 3200 bits (H.264 A.3.1 n), 16×16 samples of HEVC
    /// five thirds of those that they have raw (H.265 A.3.2), and a fifth more for escapes; headers and what drivers
    /// keep for themselves on top.
    static func codedCapacity(_ settings: EncodeSettings) -> Int {
        let area =
            switch settings.profile.codec {
            case .h264: 480
            case .hevc: settings.profile.bitDepth > 8 ? 960 : 768
            }
        return (settings.grid.areas * area + settings.sliceRows.count * 512 + 65536).aligned(to: 4096)
    }
}
