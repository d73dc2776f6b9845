import VAAPI
import VideoBase

/// What a device's HEVC encoder has of tools, and how it wants pictures: VAConfigAttribEncHEVCFeatures,
/// VAConfigAttribEncHEVCBlockSizes and VAConfigAttribPredictionDirection, and what is known of drivers that do not
/// answer.
struct HEVCLimits: Sendable, Hashable {
    /// log2 of blocks' sides, in luma samples.
    var log2CodingTreeBlock = 5
    var log2MinCodingBlock = 3
    var log2MinTransformBlock = 2
    var log2MaxTransformBlock = 5
    /// max_transform_hierarchy_depth_inter and _intra.
    var transformDepthInter = 2
    var transformDepthIntra = 2
    var amp = false
    var sao = false
    var temporalMVP = false
    var strongIntraSmoothing = false
    /// Only where the driver cannot do without.
    var needsTransformSkip = false
    var needsSignDataHiding = false
    var needsConstrainedIntra = false
    var cuQPDelta = Support.supported
    /// Deblocking can be switched off.
    var deblockingDisable = false
    /// What coded widths and heights are multiples of.
    var alignment = VideoSize(width: 16, height: 16)
    /// P pictures must have B slices with two equal lists (VA_PREDICTION_DIRECTION_BI_NOT_EMPTY).
    var needsTwoLists = false
    /// B pictures may refer to pictures shown after them.
    var predictsFromFuture = true
    /// References of a B picture's lists where they differ, over what the lists hold otherwise.
    var maxDifferingReferences0: Int?
    /// An intra refresh is for pictures with equal lists alone, and slices have so many coding tree blocks at least.
    var minSliceBlocks = 1

    enum Support: Sendable, Hashable {
        case none, supported, required
    }

    /// - Parameters:
    ///   - driver: what it calls itself.
    ///   - references: as the driver says, of list 0 and list 1.
    init(
        _ attributes: ConfigAttributes, alignment: VideoSize?, driver: String, entryPoint: DeviceLimits.EntryPoint,
        references: (l0: Int, l1: Int)
    ) {
        let isIntel = driver.contains("iHD")
        let isRadeon = DriverQuirks.isRadeon(driver)
        let isLowPower = isIntel && entryPoint == .sliceLowPower
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
        } else if isRadeon {
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
            // Some answer 3: required, and settable.
            cuQPDelta =
                switch features.cuQPDelta {
                case .notSupported: .none
                case .supported: .supported
                case .required, .reserved: .required
                }
            deblockingDisable = features.deblockingFilterDisable != .notSupported
        } else {
            // Those that do not answer: Gen9's EncSlice, older low power, the first VCN.
            amp = isIntel
            sao = isLowPower
            temporalMVP = isLowPower
            cuQPDelta = isLowPower ? .required : .supported
        }
        // Mesa rounds up to this, whatever it answers; hardware of others codes 16 by 16.
        self.alignment = VideoSize(
            width: max(alignment?.width ?? 16, isRadeon ? 64 : 16), height: max(alignment?.height ?? 16, 16))
        if let direction = attributes[.predictionDirection].map(PredictionDirection.init(rawValue:)) {
            needsTwoLists = direction.contains(.bidirectionalNotEmpty)
            predictsFromFuture = direction.contains(.future)
        } else if isLowPower {
            // Gen11 fails at a picture whose lists differ.
            (needsTwoLists, predictsFromFuture) = (true, false)
        }
        if references.l1 == 0 { (needsTwoLists, predictsFromFuture) = (false, false) }
        // VDEnc is behind the low-power entry point, and since Meteor Lake behind the other too: 64×64 blocks alone.
        let onlyLargest = attributes.hevcBlockSizes.map { $0.log2MinCodingTreeBlock == 6 } ?? false
        if isLowPower || isIntel && onlyLargest { maxDifferingReferences0 = 2 }
        if isRadeon { minSliceBlocks = 4 }
    }

    /// Levels between the largest and the smallest transform block of the largest coding block (7.4.3.2.1).
    private var deepest: Int { log2CodingTreeBlock - log2MinTransformBlock }

    /// As every driver can do, for what is not known.
    init() {}
}
