public import VideoBase

/// The capabilities of a device for one profile at one entry point.
public struct Capability: Sendable, Hashable {
    /// The codec: `h264`, `hevc`, `av1`, …, or `none` for entry points without a codec, such as video processing.
    public var codec: String
    /// The profile: `High`, `Main 10`, …, or the name in `va.h` (`VAProfileVP9Profile0`) if vaenc does not encode it.
    public var profile: String
    /// The entry point: `EncSlice`, `EncSliceLP`, `VLD`, or another name of VA-API.
    public var entrypoint: String
    /// The supported rate control modes.
    public var rateControl: [RateControlMode] = []
    /// The size limits in luma samples, or nil if the driver does not report them.
    public var minWidth: Int?
    /// The minimum height in luma samples, or nil if the driver does not report it.
    public var minHeight: Int?
    /// The maximum width in luma samples, or nil if the driver does not report it.
    public var maxWidth: Int?
    /// The maximum height in luma samples, or nil if the driver does not report it.
    public var maxHeight: Int?
    /// The supported bit depths, in bits per sample.
    public var bitDepths: [Int] = []
    /// The maximum number of references in list 0 and list 1, or nil if the driver does not report it.
    public var maxReferences: MaxReferences?
    /// Whether B pictures with references in both temporal directions are supported.
    public var bFrames = false
    /// The headers that the driver accepts from the client: `sequence`, `picture`, `slice`, `misc`, `raw`.
    public var packedHeaders: [String] = []
    /// The maximum number of slices per picture, or nil if the driver does not report it.
    public var maxSlices: Int?
    /// The number of quality levels (on radeonsi, a bit field), or nil if the driver does not report it.
    public var qualityLevels: Int?
    /// The maximum number of regions of interest per picture.
    public var roi = 0
    /// The supported kinds of intra refresh: `column`, `row`, `adaptive`, `cyclic`.
    public var intraRefresh: [String] = []
    /// The supported memory types of surfaces: `va`, `drm-prime`, `drm-prime-2`, ….
    public var memoryTypes: [String] = []
    /// Every VAConfigAttrib that the driver supports, ordered by number.
    public var attributes: [Attribute] = []

    /// The maximum number of references in each reference picture list.
    public struct MaxReferences: Sendable, Hashable {
        /// The maximum number of references in list 0.
        public var l0: Int
        /// The maximum number of references in list 1.
        public var l1: Int
    }

    /// The value of a VAConfigAttrib.
    public struct Attribute: Sendable, Hashable {
        /// The name: `VAConfigAttribRateControl`, or a text like `VAConfigAttrib(61)` for an unknown number.
        public var name: String
        /// The raw value.
        public var value: UInt32
        /// The meaning of the value, one string per flag or field: `VA_RC_CBR`, `l0=3`.
        public var meaning: [String]
    }

    /// Whether the entry point encodes video slices.
    public var encodes: Bool { entrypoint == "EncSlice" || entrypoint == "EncSliceLP" }
    /// Whether the entry point decodes video.
    public var decodes: Bool { entrypoint == "VLD" }
}

extension Capability {
    /// Creates the capabilities from a driver's answers.
    ///
    /// - Parameter surface: The surface limits, or nil if they could not be queried.
    package init(
        _ profile: Profile, _ entryPoint: EntryPoint, _ attributes: ConfigAttributes, _ surface: SurfaceCapabilities?
    ) {
        codec = profile.codecName ?? "none"
        self.profile = profile.shortName
        entrypoint = entryPoint.shortName
        minWidth = surface?.minWidth
        minHeight = surface?.minHeight
        maxWidth = attributes.maxPictureWidth ?? surface?.maxWidth
        maxHeight = attributes.maxPictureHeight ?? surface?.maxHeight
        bitDepths = Self.bitDepths(profile, attributes)
        memoryTypes = surface?.memoryTypes.names ?? []
        self.attributes = attributes.values.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            Attribute(name: $0.key.name, value: $0.value, meaning: $0.key.meaning(of: $0.value))
        }
        rateControl = attributes.rateControl.modes
        maxReferences = attributes.maxReferences.map { MaxReferences(l0: $0.l0, l1: $0.l1) }
        bFrames = entryPoint.encodes && Self.bFrames(profile, attributes)
        packedHeaders = attributes.packedHeaders.names
        maxSlices = attributes.maxSlices
        qualityLevels = attributes.qualityLevels
        roi = attributes.regionsOfInterest?.count ?? 0
        intraRefresh = attributes.intraRefresh.names
    }

    /// Returns the bit depths that the profile allows, because drivers also list surface formats that the profile
    /// cannot use. For a profile that vaenc does not encode, returns the depths of the surface formats.
    private static func bitDepths(_ profile: Profile, _ attributes: ConfigAttributes) -> [Int] {
        if let known = profile.codecProfile { return known == .hevcMain10 ? [10] : [8] }
        let formats = attributes.rtFormats.rawValue
        return [(0x1f, 8), (0x700, 10), (0x7000, 12)].filter { formats & $0.0 != 0 }.map(\.1)
    }

    /// Whether B pictures are supported. References in list 1 are not sufficient: Constrained Baseline has no B
    /// pictures, and HEVC hardware may only repeat list 0 in list 1.
    private static func bFrames(_ profile: Profile, _ attributes: ConfigAttributes) -> Bool {
        guard let references = attributes.maxReferences, references.l1 > 0 else { return false }
        if profile == .h264ConstrainedBaseline { return false }
        let direction = attributes.predictionDirection
        return direction.isEmpty || direction.contains(.future)
    }
}
