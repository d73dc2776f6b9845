import VideoBase

/// What a device can do with one profile through one entry point: the part of its answers that encoding settings
/// depend on.
struct DeviceLimits: Sendable, Hashable {
    enum EntryPoint: String, Sendable, Hashable {
        /// VAEntrypointEncSlice
        case slice = "EncSlice"
        /// VAEntrypointEncSliceLP
        case sliceLowPower = "EncSliceLP"
    }

    /// How a picture may be cut, VA_ENC_SLICE_STRUCTURE_….
    enum SliceStructure: Sendable, Hashable {
        /// Whole macroblock rows, as many to each slice as one likes.
        case rows
        /// The same number of rows in every slice, the last one may be smaller.
        case equalRows
        /// As `equalRows`, with a power of two of them.
        case powerOfTwoRows
    }

    /// Header kinds that the driver takes ready made, VA_ENC_PACKED_HEADER_….
    struct PackedHeaders: OptionSet, Sendable, Hashable {
        var rawValue: UInt32
        static let sequence = PackedHeaders(rawValue: 1)
        static let picture = PackedHeaders(rawValue: 2)
        static let slice = PackedHeaders(rawValue: 4)
        static let misc = PackedHeaders(rawValue: 8)
        static let rawData = PackedHeaders(rawValue: 16)
        static let all: PackedHeaders = [.sequence, .picture, .slice, .misc, .rawData]
    }

    /// The ways in which intra macroblocks may move through the picture, VA_ENC_INTRA_REFRESH_ROLLING_….
    struct IntraRefresh: OptionSet, Sendable, Hashable {
        var rawValue: UInt32
        static let columns = IntraRefresh(rawValue: 1)
        static let rows = IntraRefresh(rawValue: 2)
    }

    /// What the quality level of a picture means.
    enum QualityScale: Sendable, Hashable {
        case none
        /// 1 (best) … `count` (fastest).
        case levels(count: Int)
        /// 1, 4 and 7 of as many levels, the others are refused or taken for these.
        case threeOfSeven
        /// radeonsi: bit 0 says that the value counts, bits 1 and 2 hold 1 balance, 2 quality; 0 is speed.
        case radeonBits
    }

    var profile: CodecProfile
    var entryPoint: EntryPoint
    var rateControl: Set<RateControlMode> = [.cqp]
    var minSize = VideoSize(width: 16, height: 16)
    /// nil where the driver does not say.
    var maxSize: VideoSize?
    /// Pictures that list 0 may hold; 0: key frames only.
    var maxReferences0 = 1
    var maxReferences1 = 0
    var maxSlices = 1
    var sliceStructure = SliceStructure.rows
    /// VA_ENC_SLICE_STRUCTURE_MAX_SLICE_SIZE.
    var limitsSliceBytes = false
    /// VAConfigAttribMaxFrameSize.
    var limitsFrameBytes = false
    var packedHeaders: PackedHeaders = []
    var quality = QualityScale.none
    /// Regions of interest that a picture may have, with QP differences.
    var maxRegions = 0
    var trellis = false
    /// VA_RC_MB: the driver's rate control may vary the QP within a picture.
    var macroblockRateControl = false
    var intraRefresh: IntraRefresh = []
    /// Reference pictures that the device keeps apart, over both lists.
    var maxStored = 16
    /// The status flags of coded buffers mean something.
    var reportsStatus = true
    /// A coded buffer that is done by its own word may not be mapped before the surface is, too.
    var mapsAfterSurfaceSync = false
    /// Parameter sets that the driver takes come out changed.
    var rewritesParameterSets = false
    /// All pictures get the QP of the first picture's pic_init_qp; slice_qp_delta is not looked at.
    var hasOneQP = false
    /// The limits that only the profile's codec has.
    var coding = CodecLimits.h264

    /// HEVC's part; nil for other codecs.
    var hevc: HEVCLimits? {
        get { if case .hevc(let limits) = coding { limits } else { nil } }
        set { coding = newValue.map(CodecLimits.hevc) ?? .h264 }
    }

    /// Pictures that a P picture may predict from: with two equal lists, both hold them.
    var predictedReferences: Int {
        hevc?.needsTwoLists == true ? min(maxReferences0, maxReferences1) : maxReferences0
    }

    /// Pictures shown later that a B picture may predict from.
    var futureReferences: Int {
        guard let hevc else { return maxReferences1 }
        guard hevc.predictsFromFuture else { return 0 }
        return hevc.maxDifferingReferences0 == nil ? maxReferences1 : min(maxReferences1, 1)
    }

    /// The slice headers say what ours say: lists and marking are ours to choose.
    var takesSliceHeaders: Bool { packedHeaders.contains(.slice) }
}

/// What a device answers for one codec alone.
enum CodecLimits: Sendable, Hashable {
    case h264
    case hevc(HEVCLimits)

    /// The unit that slices are made of.
    var blockName: String {
        switch self {
        case .h264: "macroblock"
        case .hevc: "coding tree block"
        }
    }
}

/// A device as the resolver sees it: its name in messages, and its limits for each profile and entry point.
struct DeviceProfile: Sendable, Hashable {
    var driver: String
    var limits: [DeviceLimits]

    func limits(_ profile: CodecProfile, _ entryPoint: DeviceLimits.EntryPoint) -> DeviceLimits? {
        limits.first { $0.profile == profile && $0.entryPoint == entryPoint }
    }
}
