import VAAPI
import VideoBase

/// The coding tools of a device's HEVC encoder and its requirements for pictures. The sources are
/// VAConfigAttribEncHEVCFeatures, VAConfigAttribEncHEVCBlockSizes, VAConfigAttribPredictionDirection, and known values
/// of drivers that do not answer.
struct HEVCCapabilities: Sendable, Hashable {
    /// log2 of the side of coding tree blocks, in luma samples.
    var log2CodingTreeBlock = 5
    /// log2 of the side of the smallest coding blocks, in luma samples.
    var log2MinCodingBlock = 3
    /// log2 of the side of the smallest transform blocks, in samples.
    var log2MinTransformBlock = 2
    /// log2 of the side of the largest transform blocks, in samples.
    var log2MaxTransformBlock = 5
    /// max_transform_hierarchy_depth_inter.
    var transformDepthInter = 2
    /// max_transform_hierarchy_depth_intra.
    var transformDepthIntra = 2
    /// amp_enabled_flag: asymmetric partitions of inter blocks.
    var amp = false
    /// sample_adaptive_offset_enabled_flag.
    var sao = false
    /// sps_temporal_mvp_enabled_flag.
    var temporalMVP = false
    /// strong_intra_smoothing_enabled_flag.
    var strongIntraSmoothing = false
    /// Whether the driver requires transform_skip_enabled_flag. vaenc does not use the tool otherwise.
    var needsTransformSkip = false
    /// Whether the driver requires sign_data_hiding_enabled_flag. vaenc does not use the tool otherwise.
    var needsSignDataHiding = false
    /// Whether the driver requires constrained_intra_pred_flag. vaenc does not use the tool otherwise.
    var needsConstrainedIntra = false
    /// Whether the QP can differ within a picture (cu_qp_delta_enabled_flag).
    var cuQPDelta = Support.supported
    /// Whether deblocking can be disabled.
    var deblockingDisable = false
    /// Coded widths and heights are multiples of this.
    var alignment = VideoSize(width: 16, height: 16)
    /// Whether P pictures must use B slices with two equal lists (VA_PREDICTION_DIRECTION_BI_NOT_EMPTY).
    var needsTwoLists = false
    /// Whether B pictures may refer to pictures shown after them.
    var predictsFromFuture = true
    /// The maximum number of list 0 references of a B picture whose lists differ; nil: the same as for other pictures.
    var maxDifferingReferences0: Int?
    /// The minimum number of coding tree blocks in a slice.
    var minSliceBlocks = 1

    enum Support: Sendable, Hashable {
        case none, supported, required
    }

    /// Derives the limits from the driver's answers.
    ///
    /// - Parameters:
    ///   - alignment: The surface alignment that the driver reports; nil if unknown.
    ///   - driver: The driver's vendor string.
    ///   - references: The lengths of list 0 and list 1 that the driver reports.
    init(
        _ attributes: ConfigAttributes, alignment: VideoSize?, driver: String, entryPoint: EntryPoint,
        references: (l0: Int, l1: Int)
    ) {
        let isIntel = DriverQuirk.hevcToolsAreUnreported.affects(driver)
        let hasVDEncLimits = DriverQuirk.vdencReferences.affects(driver)
        let isLowPower = isIntel && entryPoint == .encodeSliceLowPower
        if let blocks = attributes.hevcBlockSizes {
            log2CodingTreeBlock = blocks.log2MaxCodingTreeBlock.clamped(to: 4...6)
            log2MinCodingBlock = blocks.log2MinCodingBlock.clamped(to: 3...log2CodingTreeBlock)
            log2MinTransformBlock = blocks.log2MinTransformBlock.clamped(to: 2...min(log2MinCodingBlock - 1, 5))
            log2MaxTransformBlock = blocks.log2MaxTransformBlock.clamped(
                to: log2MinTransformBlock...min(log2CodingTreeBlock, 5))
            transformDepthInter = min(blocks.maxTransformHierarchyDepthInter, deepest)
            transformDepthIntra = min(blocks.maxTransformHierarchyDepthIntra, deepest)
        } else if isLowPower {
            log2CodingTreeBlock = 6
        } else if DriverQuirk.hevcBlocksAreUnreported.affects(driver) {
            log2CodingTreeBlock = 6
            (transformDepthInter, transformDepthIntra) = (0, 0)
        }
        if let features = attributes.hevcFeatures {
            amp = features.amp != .notSupported
            sao = features.sao != .notSupported
            temporalMVP = features.temporalMVP != .notSupported
            strongIntraSmoothing = features.strongIntraSmoothing != .notSupported
            needsTransformSkip = features.transformSkip == .required
            needsSignDataHiding = features.signDataHiding == .required
            needsConstrainedIntra = features.constrainedIntraPrediction == .required
            // va.h does not define the answer 3. It is read as required.
            cuQPDelta =
                switch features.cuQPDelta {
                case .notSupported: .none
                case .supported: .supported
                case .required, .reserved: .required
                }
            deblockingDisable = features.deblockingFilterDisable != .notSupported
        } else {
            // Drivers that do not answer: Gen9's EncSlice, older low power, the first VCN.
            amp = isIntel
            sao = isLowPower
            temporalMVP = isLowPower
            cuQPDelta = isLowPower ? .required : .supported
        }
        // The hardware of DriverQuirk.hevcWidthStep codes units of 64 by 16 samples. Other hardware codes units of 16
        // by 16.
        self.alignment = VideoSize(
            width: max(alignment?.width ?? 16, DriverQuirk.hevcWidthStep.affects(driver) ? 64 : 16), height: max(alignment?.height ?? 16, 16))
        if let direction = attributes[.predictionDirection].map(PredictionDirection.init(rawValue:)) {
            needsTwoLists = direction.contains(.bidirectionalNotEmpty)
            predictsFromFuture = direction.contains(.future)
        } else if isLowPower {
            // DriverQuirk.hevcToolsAreUnreported. Gen11 fails if the lists of a picture differ
            // (codechal_vdenc_hevc.cpp).
            (needsTwoLists, predictsFromFuture) = (true, false)
        }
        if references.l1 == 0 { (needsTwoLists, predictsFromFuture) = (false, false) }
        // VDEnc runs behind the low-power entry point. Since Meteor Lake it also runs behind the other entry point; it
        // then supports 64×64 blocks only.
        let onlyLargest = attributes.hevcBlockSizes.map { $0.log2MinCodingTreeBlock == 6 } ?? false
        if hasVDEncLimits, entryPoint == .encodeSliceLowPower || onlyLargest { maxDifferingReferences0 = 2 }
        if DriverQuirk.ownHEVCSlices.affects(driver) { minSliceBlocks = 4 }
    }

    /// The number of levels from the largest to the smallest transform block in the largest coding block (7.4.3.2.1).
    private var deepest: Int { log2CodingTreeBlock - log2MinTransformBlock }

    /// Creates limits that every driver supports, for unknown devices.
    init() {}
}
