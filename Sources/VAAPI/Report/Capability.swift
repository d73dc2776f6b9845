public import VideoBase

/// The answers of a driver for one profile at one entry point.
public struct Capability: Sendable, Hashable {
    /// The profile (VAProfile).
    public var profile: Profile
    /// The entry point (VAEntrypoint).
    public var entryPoint: EntryPoint
    /// The attributes of the pair (vaGetConfigAttributes).
    package var attributes: ConfigAttributes
    /// The surfaces that the pair accepts (vaQuerySurfaceAttributes), or nil if they could not be queried.
    package var surfaces: SurfaceCapabilities?

    package init(
        _ profile: Profile, at entryPoint: EntryPoint, attributes: ConfigAttributes, surfaces: SurfaceCapabilities?
    ) {
        (self.profile, self.entryPoint, self.attributes, self.surfaces) = (profile, entryPoint, attributes, surfaces)
    }

    /// The codec, or nil if vaenc does not encode it, or the entry point has none, such as video processing.
    public var codec: VideoCodec? { profile.codec }
    /// Whether the entry point encodes video slices.
    public var encodes: Bool { entryPoint.encodes }
    /// Whether the entry point decodes video.
    public var decodes: Bool { entryPoint == .decode }

    /// The supported rate control modes.
    public var rateControl: [RateControlMode] { attributes.rateControl.modes }
    /// The minimum width in luma samples, or nil if the driver does not report it.
    public var minWidth: Int? { surfaces?.minWidth }
    /// The minimum height in luma samples, or nil if the driver does not report it.
    public var minHeight: Int? { surfaces?.minHeight }
    /// The maximum width in luma samples, or nil if the driver does not report it.
    public var maxWidth: Int? { attributes.maxPictureWidth ?? surfaces?.maxWidth }
    /// The maximum height in luma samples, or nil if the driver does not report it.
    public var maxHeight: Int? { attributes.maxPictureHeight ?? surfaces?.maxHeight }
    /// The maximum number of references in list 0 and list 1, or nil if the driver does not report it.
    public var maxReferences: ReferenceLimits? { attributes.maxReferences }
    /// The headers that the driver accepts from the client.
    public var packedHeaders: PackedHeaderKinds { attributes.packedHeaders }
    /// The maximum number of slices per picture, or nil if the driver does not report it.
    public var maxSlices: Int? { attributes.maxSlices }
    /// The number of quality levels (on radeonsi, a bit field), or nil if the driver does not report it.
    public var qualityLevels: Int? { attributes.qualityLevels }
    /// The maximum number of regions of interest per picture.
    public var maxRegions: Int { attributes.regionsOfInterest?.count ?? 0 }
    /// The supported kinds of intra refresh.
    public var intraRefresh: IntraRefreshKinds { attributes.intraRefresh }
    /// The supported memory types of surfaces.
    public var memoryTypes: MemoryTypes { surfaces?.memoryTypes ?? [] }

    /// The supported bit depths, in bits per sample.
    ///
    /// For a profile that vaenc encodes, the depths are those that the profile allows, because drivers also list
    /// surface formats that the profile cannot use. For other profiles, they are the depths of the surface formats.
    public var bitDepths: [Int] {
        if let known = profile.codecProfile { return [known.bitDepth] }
        let formats = attributes.rtFormats.rawValue
        return [(0x1f, 8), (0x700, 10), (0x7000, 12)].filter { formats & $0.0 != 0 }.map(\.1)
    }

    /// Whether B pictures with references in both temporal directions are supported.
    ///
    /// References in list 1 are not sufficient: Constrained Baseline has no B pictures, and HEVC hardware may only
    /// repeat list 0 in list 1.
    public var bFrames: Bool {
        guard encodes, let references = attributes.maxReferences, references.l1 > 0 else { return false }
        if profile.codecProfile?.allowsBPictures == false { return false }
        let direction = attributes.predictionDirection
        return direction.isEmpty || direction.contains(.future)
    }

    /// Every VAConfigAttrib that the driver supports, ordered by number.
    public var attributeValues: [AttributeValue] {
        attributes.values.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            AttributeValue(name: $0.key.name, value: $0.value, meaning: $0.key.meaning(of: $0.value))
        }
    }

    /// The value of a VAConfigAttrib.
    public struct AttributeValue: Sendable, Hashable {
        /// The name: `VAConfigAttribRateControl`, or a text like `VAConfigAttrib(61)` for an unknown number.
        public var name: String
        /// The raw value.
        public var value: UInt32
        /// The meaning of the value, one string per flag or field: `VA_RC_CBR`, `l0=3`.
        public var meaning: [String]
    }
}
