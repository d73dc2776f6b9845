import EncodePlanning
import VAAPI
import VideoBase

/// All objects of a session on the device. The references between the objects free them in the right order: buffers,
/// context, surfaces and configuration, display.
struct DeviceObjects: Sendable {
    let context: Context
    /// The reconstruction surfaces, indexed by slot.
    let reconstructions: [Surface]
    let inputs: [Surface]
    /// The memory of the input surfaces, and the reason for the choice.
    let inputMemory: InputMemory
    let coded: [CodedBuffer]
    /// The kinds of packed headers that the configuration accepts.
    let packed: PackedHeaderKinds

    /// Creates the objects. Blocks while the driver works.
    ///
    /// - Parameters:
    ///   - kept: Existing input surfaces to reuse; nil creates new ones.
    ///   - codedScale: The factor by which the coded buffers exceed their required size.
    init(_ display: Display, _ settings: EncodeSettings, inputs kept: [Surface]? = nil, codedScale: Int = 1) throws {
        let limits = settings.limits
        var attributes: [AttributeType: UInt32] = [
            .rtFormat: RTFormat(settings.pixelFormat).rawValue, .rateControl: settings.rate.attribute,
        ]
        packed = limits.packedHeaders
        if !packed.isEmpty { attributes[.encPackedHeaders] = packed.rawValue }
        let config = try Config(
            display, profile: Profile(settings.profile),
            entryPoint: limits.entryPoint, attributes: attributes)
        let surfaces = try config.surfaceCapabilities()
        if let kept {
            (inputs, inputMemory) = (kept, .kept(kept))
        } else {
            (inputs, inputMemory) = try InputMemory.make(display, settings, surfaces)
        }
        reconstructions = try Surface.make(
            display, count: settings.structure.slotCount, size: settings.grid.coded, format: settings.pixelFormat)
        let context = try Context(
            config, size: settings.grid.coded, targets: reconstructions + inputs,
            limits: surfaces)
        self.context = context
        let capacity = Self.codedCapacity(settings) * codedScale
        coded = try (0..<settings.asyncDepth).map { _ throws(VAError) in try CodedBuffer(context, capacity: capacity) }
    }

    /// Returns the maximum number of bytes of an access unit.
    ///
    /// A macroblock has at most 3200 bits (H.264 A.3.1 n). 16×16 samples of HEVC have at most five thirds of their raw
    /// size (H.265 A.3.2). A fifth is added for emulation prevention, and a constant for headers and the driver's own
    /// use.
    static func codedCapacity(_ settings: EncodeSettings) -> Int {
        let area =
            switch settings.profile.codec {
            case .h264: 480
            case .hevc: settings.profile.bitDepth > 8 ? 960 : 768
            }
        return (settings.grid.areas * area + settings.sliceRows.count * 512 + 65536).aligned(to: 4096)
    }
}
