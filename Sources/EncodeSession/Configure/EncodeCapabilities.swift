import VAAPI
package import VideoBase

/// A driver's capabilities to encode with one profile at one entry point: its answers (`Capability`), interpreted, and
/// corrected by `DriverQuirk`. Settings are resolved with them.
package struct EncodeCapabilities: Sendable, Hashable {
    /// The allowed divisions of a picture into slices, VA_ENC_SLICE_STRUCTURE_….
    enum SliceStructure: Sendable, Hashable {
        /// Whole macroblock rows, any number in each slice.
        case rows
        /// The same number of rows in every slice; the last slice may be smaller.
        case equalRows
        /// Slices of equal numbers of rows, which are a power of two.
        case powerOfTwoRows
    }

    /// The meaning of a picture's quality level.
    enum QualityScale: Sendable, Hashable {
        case none
        /// The levels 1 (best) to `count` (fastest).
        case levels(count: Int)
        /// Levels 1, 4 and 7 of seven. The driver rejects other levels or maps them to these.
        case threeOfSeven
        /// The bits of radeonsi: bit 0 marks the value as valid, bits 1 and 2 hold 1 (balance) or 2 (quality); 0 is
        /// speed.
        case radeonBits
    }

    var profile: CodecProfile
    var entryPoint: EntryPoint
    /// The supported rate control modes; constant QP alone if the driver does not report any.
    package var rateControl: Set<RateControlMode> = [.cqp]
    var minSize = VideoSize(width: 16, height: 16)
    /// The maximum picture size; nil if the driver does not report it.
    var maxSize: VideoSize?
    /// The number of list 0 references; 0: intra pictures only.
    var maxReferences0 = 1
    var maxReferences1 = 0
    /// Whether the driver's answers allow B pictures with references in both temporal directions.
    var hasBPictures = false
    var maxSlices = 1
    var sliceStructure = SliceStructure.rows
    /// Whether the driver limits the size of slices (VA_ENC_SLICE_STRUCTURE_MAX_SLICE_SIZE).
    package var limitsSliceBytes = false
    /// Whether the driver limits the size of frames (VAConfigAttribMaxFrameSize).
    var limitsFrameBytes = false
    /// The kinds of packed headers that the driver accepts.
    var packedHeaders: PackedHeaderKinds = []
    var quality = QualityScale.none
    /// The maximum number of regions of interest with QP differences in a picture.
    package var maxRegions = 0
    /// Whether the driver offers trellis quantization.
    package var trellis = false
    /// VA_RC_MB: whether the driver's rate control may vary the QP within a picture.
    var macroblockRateControl = false
    /// The supported directions of a rolling intra refresh: `rollingColumn`, `rollingRow`.
    var intraRefresh: IntraRefreshKinds = []
    /// The maximum number of distinct reference pictures, over both lists.
    var maxStored = 16
    /// Whether the status flags of coded buffers are valid.
    var reportsStatus = true
    /// Whether mapping a coded buffer may fail until its surface is synchronized, although the buffer reports
    /// completion.
    var mapsAfterSurfaceSync = false
    /// Whether the driver changes the parameter sets that it accepts.
    var rewritesParameterSets = false
    /// Whether all pictures get the QP in pic_init_qp of the first picture; the driver ignores slice_qp_delta.
    var hasOneQP = false
    /// The limits that only the profile's codec has.
    var coding: CodecCapabilities

    /// The number of references of a P picture. With two equal lists, both must hold them.
    var predictedReferences: Int {
        coding.needsTwoLists ? min(maxReferences0, maxReferences1) : maxReferences0
    }

    /// The number of pictures shown later that a B picture may predict from.
    var futureReferences: Int {
        guard coding.predictsFromFuture else { return 0 }
        return coding.maxDifferingReferences0 == nil ? maxReferences1 : min(maxReferences1, 1)
    }

    /// Whether the driver uses our slice headers, so that vaenc chooses the lists and the marking.
    var takesSliceHeaders: Bool { packedHeaders.contains(.slice) }
}

/// The answers of a device that exist for one codec only.
enum CodecCapabilities: Sendable, Hashable {
    case h264
    case hevc(HEVCCapabilities)

    /// The unit that slices are made of.
    var blockName: String {
        switch self {
        case .h264: "macroblock"
        case .hevc: "coding tree block"
        }
    }

    /// Whether P pictures must use B slices with two equal lists.
    var needsTwoLists: Bool {
        switch self {
        case .h264: false
        case .hevc(let limits): limits.needsTwoLists
        }
    }

    /// Whether B pictures may refer to pictures shown after them.
    var predictsFromFuture: Bool {
        switch self {
        case .h264: true
        case .hevc(let limits): limits.predictsFromFuture
        }
    }

    /// The maximum number of list 0 references of a B picture whose lists differ; nil: the same as for other pictures.
    var maxDifferingReferences0: Int? {
        switch self {
        case .h264: nil
        case .hevc(let limits): limits.maxDifferingReferences0
        }
    }

    /// Whether deblocking can be disabled.
    var deblockingDisable: Bool {
        switch self {
        case .h264: true
        case .hevc(let limits): limits.deblockingDisable
        }
    }

    /// The minimum number of blocks in a slice.
    var minSliceBlocks: Int {
        switch self {
        case .h264: 1
        case .hevc(let limits): limits.minSliceBlocks
        }
    }
}

/// All that a driver can encode with one codec.
struct DeviceCapabilities: Sendable, Hashable {
    /// The driver's name for itself, for messages.
    var driver: String
    /// The capabilities of each profile at each entry point.
    var encoders: [EncodeCapabilities]

    func capabilities(_ profile: CodecProfile, _ entryPoint: EntryPoint) -> EncodeCapabilities? {
        encoders.first { $0.profile == profile && $0.entryPoint == entryPoint }
    }
}
