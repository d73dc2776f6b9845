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

    init(_ display: Display, _ settings: EncodeSettings) throws {
        let limits = settings.limits
        var attributes: [AttributeType: UInt32] = [
            .rtFormat: RTFormat.yuv420.rawValue, .rateControl: RateControlModes.cqp.rawValue,
        ]
        packed = limits.packedHeaders
        if !packed.isEmpty { attributes[.encPackedHeaders] = packed.rawValue }
        let config = try Config(
            display, profile: Profile(settings.profile),
            entryPoint: limits.entryPoint == .slice ? .encodeSlice : .encodeSliceLowPower, attributes: attributes)
        // One input is filled while the others are in the device.
        inputs = try Surface.make(display, count: settings.asyncDepth + 1, size: settings.codedSize)
        reconstructions = try Surface.make(display, count: settings.structure.slotCount, size: settings.codedSize)
        let context = try Context(
            config, size: settings.codedSize, targets: reconstructions + inputs,
            limits: try config.surfaceCapabilities())
        self.context = context
        let capacity = Self.codedCapacity(settings)
        coded = try (0..<settings.asyncDepth).map { _ throws(VAError) in try CodedBuffer(context, capacity: capacity) }
    }

    /// Bytes that an access unit may take: a macroblock has at most 3200 bits (H.264 A.3.1 n), and a fifth more for
    /// escapes; headers and what drivers keep for themselves on top.
    static func codedCapacity(_ settings: EncodeSettings) -> Int {
        let macroblocks = settings.widthInMacroblocks * settings.heightInMacroblocks
        return (macroblocks * 480 + settings.sliceRows.count * 512 + 65536).aligned(to: 4096)
    }
}
