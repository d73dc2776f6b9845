public import VideoBase

/// What a device does for one profile at one entry point.
public struct Capability: Sendable, Hashable {
    /// `h264`, `hevc`, `av1`, …; `none` for video processing and other work on no standard.
    public var codec: String
    /// `High`, `Main 10`; `VAProfileVP9Profile0` for those that vaenc does not encode.
    public var profile: String
    /// `EncSlice`, `EncSliceLP`, `VLD`, or another of VA-API's.
    public var entrypoint: String
    public var rateControl: [RateControlMode] = []
    /// Limits in luma samples; nil where the driver does not say.
    public var minWidth: Int?
    public var minHeight: Int?
    public var maxWidth: Int?
    public var maxHeight: Int?
    /// Bits per sample.
    public var bitDepths: [Int] = []
    /// References in list 0 and list 1; nil where it does not apply.
    public var maxReferences: MaxReferences?
    /// Pictures predicted from both sides in time.
    public var bFrames = false
    /// Headers that the driver takes from the client: `sequence picture slice misc raw`.
    public var packedHeaders: [String] = []
    public var maxSlices: Int?
    public var qualityLevels: Int?
    /// Regions of interest per picture.
    public var roi = 0
    /// `column row adaptive cyclic`.
    public var intraRefresh: [String] = []
    /// Where surfaces may lie: `va drm-prime drm-prime-2 …`.
    public var memoryTypes: [String] = []
    /// Every VAConfigAttrib that the driver supports, by number.
    public var attributes: [Attribute] = []

    public struct MaxReferences: Sendable, Hashable {
        public var l0: Int
        public var l1: Int
    }

    /// A VAConfigAttrib.
    public struct Attribute: Sendable, Hashable {
        /// `VAConfigAttribRateControl`, or `VAConfigAttrib(61)` where no header names it.
        public var name: String
        public var value: UInt32
        /// What the value says, one string per flag or field: `VA_RC_CBR`, `l0=3`.
        public var meaning: [String]
    }

    /// Encodes video slices, rather than decodes or processes.
    public var encodes: Bool { entrypoint == "EncSlice" || entrypoint == "EncSliceLP" }
    public var decodes: Bool { entrypoint == "VLD" }
}

extension Capability {
    /// - Parameter surface: nil where the driver made no configuration to ask.
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

    /// By the profile where it decides (drivers list formats that the profile cannot hold), else by the surfaces.
    private static func bitDepths(_ profile: Profile, _ attributes: ConfigAttributes) -> [Int] {
        if let known = profile.codecProfile { return known == .hevcMain10 ? [10] : [8] }
        let formats = attributes.rtFormats.rawValue
        return [(0x1f, 8), (0x700, 10), (0x7000, 12)].filter { formats & $0.0 != 0 }.map(\.1)
    }

    /// A list 1 is not enough: Constrained Baseline has no B pictures, and HEVC hardware may only repeat list 0 in it.
    private static func bFrames(_ profile: Profile, _ attributes: ConfigAttributes) -> Bool {
        guard let references = attributes.maxReferences, references.l1 > 0 else { return false }
        if profile == .h264ConstrainedBaseline { return false }
        let direction = attributes.predictionDirection
        return direction.isEmpty || direction.contains(.future)
    }
}
