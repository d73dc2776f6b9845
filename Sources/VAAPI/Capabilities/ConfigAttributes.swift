package import VideoBase

/// The attributes of one profile at one entry point: the raw value of every supported VAConfigAttrib, and its
/// interpretation.
package struct ConfigAttributes: Sendable, Hashable {
    /// The values of the supported attributes.
    package var values: [AttributeType: UInt32]

    package init(values: [AttributeType: UInt32]) { self.values = values }

    /// Returns the value of an attribute, or nil if the driver does not support the attribute.
    package subscript(_ type: AttributeType) -> UInt32? { values[type] }

    package var rtFormats: RTFormat { RTFormat(rawValue: self[.rtFormat] ?? 0) }
    package var rateControl: RateControlModes { RateControlModes(rawValue: self[.rateControl] ?? 0) }
    package var packedHeaders: PackedHeaderKinds { PackedHeaderKinds(rawValue: self[.encPackedHeaders] ?? 0) }
    package var sliceStructure: SliceStructure { SliceStructure(rawValue: self[.encSliceStructure] ?? 0) }
    package var intraRefresh: IntraRefreshKinds { IntraRefreshKinds(rawValue: self[.encIntraRefresh] ?? 0) }
    package var predictionDirection: PredictionDirection {
        PredictionDirection(rawValue: self[.predictionDirection] ?? 0)
    }

    /// The maximum number of references of a picture in list 0 and list 1, or nil if the driver does not report it.
    package var maxReferences: ReferenceLimits? {
        self[.encMaxRefFrames].map { ReferenceLimits(l0: Int($0 & 0xffff), l1: Int($0 >> 16)) }
    }
    package var maxSlices: Int? { self[.encMaxSlices].map(Int.init) }
    /// The number of quality levels, where level 1 is the best; 0 or 1 means that there is only one.
    ///
    /// On radeonsi, the value is a bit field instead; `EncodeCapabilities` interprets it.
    package var qualityLevels: Int? { self[.encQualityRange].map(Int.init) }
    package var maxPictureWidth: Int? { self[.maxPictureWidth].map(Int.init) }
    package var maxPictureHeight: Int? { self[.maxPictureHeight].map(Int.init) }
    package var trellis: Bool { (self[.encQuantization] ?? 0) & 1 != 0 }

    /// The limits for regions of interest (VAConfigAttribValEncROI), or nil if the driver does not support any.
    package var regionsOfInterest: RegionLimits? {
        guard let value = self[.encROI], value & 0xff > 0 else { return nil }
        return RegionLimits(
            count: Int(value & 0xff), takesPriority: value & 0x100 != 0, takesQPDelta: value & 0x200 != 0)
    }

    /// Whether the driver supports a maximum frame size (VAEncMiscParameterTypeMaxFrameSize).
    package var maxFrameSize: Bool { (self[.maxFrameSize] ?? 0) & 1 != 0 }
    package var hevcFeatures: HEVCFeatures? { self[.encHEVCFeatures].map(HEVCFeatures.init) }
    package var hevcBlockSizes: HEVCBlockSizes? { self[.encHEVCBlockSizes].map(HEVCBlockSizes.init) }
}

/// The maximum number of references in each reference picture list.
public struct ReferenceLimits: Sendable, Hashable {
    /// The maximum number of references in list 0.
    public var l0: Int
    /// The maximum number of references in list 1.
    public var l1: Int
    package init(l0: Int, l1: Int) {
        self.l0 = l0
        self.l1 = l1
    }
}

package struct RegionLimits: Sendable, Hashable {
    package var count: Int
    package var takesPriority: Bool
    package var takesQPDelta: Bool
}

/// A set of rate control modes: the VA_RC_… flags.
package struct RateControlModes: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package static let none = RateControlModes(rawValue: 0x1)
    package static let cbr = RateControlModes(rawValue: 0x2)
    package static let vbr = RateControlModes(rawValue: 0x4)
    package static let cqp = RateControlModes(rawValue: 0x10)
    package static let icq = RateControlModes(rawValue: 0x40)
    package static let macroblock = RateControlModes(rawValue: 0x80)
    package static let qvbr = RateControlModes(rawValue: 0x400)
    package static let avbr = RateControlModes(rawValue: 0x800)

    package init(_ mode: RateControlMode) {
        self =
            switch mode {
            case .cqp: .cqp
            case .cbr: .cbr
            case .vbr: .vbr
            case .icq: .icq
            case .qvbr: .qvbr
            case .avbr: .avbr
            }
    }

    /// The rate control modes of the set that vaenc supports.
    package var modes: [RateControlMode] { RateControlMode.allCases.filter { contains(RateControlModes($0)) } }
}

/// A set of packed header types that the driver accepts from the client: the VA_ENC_PACKED_HEADER_… flags.
public struct PackedHeaderKinds: OptionSet, Sendable, Hashable {
    /// The flags as in `va.h`.
    public let rawValue: UInt32
    /// Creates a set from the flags in `va.h`.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// Sequence parameter sets, and video parameter sets of HEVC (VA_ENC_PACKED_HEADER_SEQUENCE).
    public static let sequence = PackedHeaderKinds(rawValue: 0x1)
    /// Picture parameter sets (VA_ENC_PACKED_HEADER_PICTURE).
    public static let picture = PackedHeaderKinds(rawValue: 0x2)
    /// Slice headers (VA_ENC_PACKED_HEADER_SLICE).
    public static let slice = PackedHeaderKinds(rawValue: 0x4)
    /// Messages and other headers (VA_ENC_PACKED_HEADER_MISC).
    public static let misc = PackedHeaderKinds(rawValue: 0x8)
    /// NAL units that the driver copies unchanged (VA_ENC_PACKED_HEADER_RAW_DATA).
    public static let rawData = PackedHeaderKinds(rawValue: 0x10)

    /// All kinds.
    package static let all: PackedHeaderKinds = [.sequence, .picture, .slice, .misc, .rawData]

    /// The names that reports use: `sequence`, `picture`, `slice`, `misc`, `raw`.
    public var names: [String] {
        zip([Self.sequence, .picture, .slice, .misc, .rawData], ["sequence", "picture", "slice", "misc", "raw"])
            .filter { contains($0.0) }.map(\.1)
    }
}

/// A set of supported slice structures: the VA_ENC_SLICE_STRUCTURE_… flags.
package struct SliceStructure: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package static let powerOfTwoRows = SliceStructure(rawValue: 0x1)
    package static let arbitraryMacroblocks = SliceStructure(rawValue: 0x2)
    package static let equalRows = SliceStructure(rawValue: 0x4)
    package static let maxSliceSize = SliceStructure(rawValue: 0x8)
    package static let arbitraryRows = SliceStructure(rawValue: 0x10)
    package static let equalMultiRows = SliceStructure(rawValue: 0x20)
}

/// A set of supported intra refresh kinds: the VA_ENC_INTRA_REFRESH_… flags.
public struct IntraRefreshKinds: OptionSet, Sendable, Hashable {
    /// The flags as in `va.h`.
    public let rawValue: UInt32
    /// Creates a set from the flags in `va.h`.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// A column of intra blocks moves through the pictures (VA_ENC_INTRA_REFRESH_ROLLING_COLUMN).
    public static let rollingColumn = IntraRefreshKinds(rawValue: 0x1)
    /// A row of intra blocks moves through the pictures (VA_ENC_INTRA_REFRESH_ROLLING_ROW).
    public static let rollingRow = IntraRefreshKinds(rawValue: 0x2)
    /// The driver chooses the intra blocks (VA_ENC_INTRA_REFRESH_ADAPTIVE).
    public static let adaptive = IntraRefreshKinds(rawValue: 0x10)
    /// The driver refreshes the blocks in turn (VA_ENC_INTRA_REFRESH_CYCLIC).
    public static let cyclic = IntraRefreshKinds(rawValue: 0x20)

    /// The names that reports use: `column`, `row`, `adaptive`, `cyclic`.
    public var names: [String] {
        zip([Self.rollingColumn, .rollingRow, .adaptive, .cyclic], ["column", "row", "adaptive", "cyclic"])
            .filter { contains($0.0) }.map(\.1)
    }
}

/// A set of supported prediction directions: the VA_PREDICTION_DIRECTION_… flags.
package struct PredictionDirection: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package static let previous = PredictionDirection(rawValue: 0x1)
    package static let future = PredictionDirection(rawValue: 0x2)
    /// The device has no true P slices: both reference lists must hold a reference.
    package static let bidirectionalNotEmpty = PredictionDirection(rawValue: 0x4)
}
