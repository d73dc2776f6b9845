import VideoBase

/// The limits of a device for one profile and one entry point: the driver's answers that encoding settings depend on.
struct DeviceLimits: Sendable, Hashable {
    enum EntryPoint: String, Sendable, Hashable {
        /// VAEntrypointEncSlice.
        case slice = "EncSlice"
        /// VAEntrypointEncSliceLP.
        case sliceLowPower = "EncSliceLP"
    }

    /// The allowed divisions of a picture into slices, VA_ENC_SLICE_STRUCTURE_….
    enum SliceStructure: Sendable, Hashable {
        /// Whole macroblock rows, any number in each slice.
        case rows
        /// The same number of rows in every slice; the last slice may be smaller.
        case equalRows
        /// Like `equalRows`, but the number of rows is a power of two.
        case powerOfTwoRows
    }

    /// The kinds of packed headers that the driver accepts, VA_ENC_PACKED_HEADER_….
    struct PackedHeaders: OptionSet, Sendable, Hashable {
        var rawValue: UInt32
        static let sequence = PackedHeaders(rawValue: 1)
        static let picture = PackedHeaders(rawValue: 2)
        static let slice = PackedHeaders(rawValue: 4)
        static let misc = PackedHeaders(rawValue: 8)
        static let rawData = PackedHeaders(rawValue: 16)
        static let all: PackedHeaders = [.sequence, .picture, .slice, .misc, .rawData]
    }

    /// The supported directions of a rolling intra refresh, VA_ENC_INTRA_REFRESH_ROLLING_….
    struct IntraRefresh: OptionSet, Sendable, Hashable {
        var rawValue: UInt32
        static let columns = IntraRefresh(rawValue: 1)
        static let rows = IntraRefresh(rawValue: 2)
    }

    /// The meaning of a picture's quality level.
    enum QualityScale: Sendable, Hashable {
        case none
        /// 1 (best) … `count` (fastest).
        case levels(count: Int)
        /// Levels 1, 4 and 7 of seven. The driver rejects other levels or maps them to these.
        case threeOfSeven
        /// radeonsi: bit 0 marks the value as valid, bits 1 and 2 hold 1 (balance) or 2 (quality); 0 is speed.
        case radeonBits
    }

    var profile: CodecProfile
    var entryPoint: EntryPoint
    var rateControl: Set<RateControlMode> = [.cqp]
    var minSize = VideoSize(width: 16, height: 16)
    /// nil if the driver does not report it.
    var maxSize: VideoSize?
    /// The number of list 0 references; 0: intra pictures only.
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
    /// The maximum number of regions of interest with QP differences in a picture.
    var maxRegions = 0
    var trellis = false
    /// VA_RC_MB: whether the driver's rate control may vary the QP within a picture.
    var macroblockRateControl = false
    var intraRefresh: IntraRefresh = []
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
    var coding = CodecLimits.h264

    /// HEVC's part; nil for other codecs.
    var hevc: HEVCLimits? {
        get { if case .hevc(let limits) = coding { limits } else { nil } }
        set { coding = newValue.map(CodecLimits.hevc) ?? .h264 }
    }

    /// The number of references of a P picture. With two equal lists, both must hold them.
    var predictedReferences: Int {
        hevc?.needsTwoLists == true ? min(maxReferences0, maxReferences1) : maxReferences0
    }

    /// The number of pictures shown later that a B picture may predict from.
    var futureReferences: Int {
        guard let hevc else { return maxReferences1 }
        guard hevc.predictsFromFuture else { return 0 }
        return hevc.maxDifferingReferences0 == nil ? maxReferences1 : min(maxReferences1, 1)
    }

    /// Whether the driver uses our slice headers, so that vaenc chooses the lists and the marking.
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
