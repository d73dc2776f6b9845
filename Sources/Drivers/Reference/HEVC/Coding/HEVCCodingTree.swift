/// CuPredMode and cu_skip_flag.
package enum HEVCPredictionMode: UInt8, BitwiseCopyable, Sendable { case intra, inter, skip }

/// PartMode, H.265 table 7-10; the raw value is the number in the table.
package enum HEVCPartition: UInt8, BitwiseCopyable, Sendable {
    case part2Nx2N, part2NxN, partNx2N, partNxN
    case part2NxnU, part2NxnD, partnLx2N, partnRx2N

    /// The number of prediction units.
    package var count: Int {
        switch self {
        case .part2Nx2N: 1
        case .partNxN: 4
        default: 2
        }
    }
}

/// One coding unit, passed from the search to the entropy coder, H.265 7.3.8.5.
package struct HEVCCodingUnit: BitwiseCopyable, Sendable {
    /// The position in the picture in luma samples.
    package var x: Int32 = 0
    package var y: Int32 = 0
    package var log2Size: UInt8 = 3
    package var mode = HEVCPredictionMode.intra
    package var partition = HEVCPartition.part2Nx2N
    /// rqt_root_cbf of an inter unit: whether there is a transform tree. Not used for skipped and intra units.
    package var hasTransformTree = false
    /// intra_chroma_pred_mode, 0…4.
    package var chromaMode: UInt8 = 4
    /// QP_Y.
    package var qp: Int8 = 0
    /// CuQpDeltaVal, which the entropy coder writes with the first coded transform unit of the quantization group.
    package var qpDelta: Int8 = 0
    /// The indices of the first prediction unit (there are `partition.count`, also for intra) and of the transform
    /// tree's root.
    package var firstPrediction: UInt16 = 0
    package var firstNode: UInt16 = 0

    package init() {}
}

/// One prediction unit, H.265 7.3.8.6, or one block with its own intra mode.
package struct HEVCPredictionUnit: BitwiseCopyable, Sendable {
    /// IntraPredModeY, and its syntax: mpm_idx, or −1 and rem_intra_luma_pred_mode.
    package var intraMode: UInt8 = 1
    package var mpmIndex: Int8 = -1
    package var remainingMode: UInt8 = 0
    /// merge_idx, or −1 if the unit is not merged. Only then the differences and predictors below are used.
    package var mergeIndex: Int8 = -1
    /// The motion, merged or not. inter_pred_idc follows from the reference indices that are −1.
    package var motion = HEVCMotion()
    /// MvdL0 and MvdL1. MvdL1 is zero in a block with both lists if mvd_l1_zero_flag is 1.
    package var difference0 = MotionVector.zero
    package var difference1 = MotionVector.zero
    /// mvp_l0_flag and mvp_l1_flag.
    package var predictor0: UInt8 = 0
    package var predictor1: UInt8 = 0

    package init() {}
}

/// A node of a transform tree, H.265 7.3.8.8. Nodes are in coding order: a node, then its four subtrees if it is split.
package struct HEVCTransformNode: BitwiseCopyable, Sendable {
    /// split_transform_flag, coded or inferred.
    package var isSplit = false
    /// cbf_luma of a leaf.
    package var luma = false
    /// cbf_cb and cbf_cr. In a split 8×8 node they are the flags of the 4×4 chroma blocks that are coded after its
    /// fourth child; the flags of its children are not used. In other split nodes they are true if any node below has
    /// levels.
    package var cb = false
    package var cr = false
    /// transform_skip_flag by component: bit 0 luma, bit 1 Cb, bit 2 Cr.
    package var skips: UInt8 = 0

    package init() {}
}

/// The values of sao(), H.265 7.3.8.3, for one coding tree unit.
package struct HEVCSAOParameters: BitwiseCopyable, Sendable {
    /// SaoTypeIdx: not applied, band offset, edge offset.
    package enum Kind: UInt8, BitwiseCopyable, Sendable { case off, band, edge }

    package struct Component: BitwiseCopyable, Sendable {
        package var kind = Kind.off
        /// The signed offsets as coded: SaoOffsetVal[1…4] before the shift (which is 0 up to 10 bits). With edge offset
        /// the first two are ≥ 0 and the last two ≤ 0.
        package var offsets = SIMD4<Int8>.zero
        /// sao_band_position, 0…31.
        package var band: UInt8 = 0
        /// sao_eo_class, 0…3. Cr has the class of Cb.
        package var edgeClass: UInt8 = 0

        package init() {}
    }

    package var mergesLeft = false
    package var mergesUp = false
    /// If the unit is merged, these are copies of the neighbor's parameters. Cr has the kind of Cb.
    package var luma = Component()
    package var cb = Component()
    package var cr = Component()

    package init() {}
}

/// One coding tree unit, passed from the search to the entropy coder. Its memory is reused.
package final class HEVCCodingTree: Sendable {
    /// The maximum numbers of elements in a 64×64 unit: coding units of 8×8, intra blocks of 4×4, and transform nodes
    /// down to 4×4.
    static let unitLimit = 64
    static let predictionLimit = 256
    static let nodeLimit = 341

    package let counts = ElementStorage<Int32>(count: 3, repeating: 0)
    /// The coding units in coding order. The splits of the coding quadtree follow from their sizes and the picture's
    /// size.
    package let units = ElementStorage<HEVCCodingUnit>(count: unitLimit, repeating: HEVCCodingUnit())
    package let predictions = ElementStorage<HEVCPredictionUnit>(count: predictionLimit, repeating: HEVCPredictionUnit())
    package let nodes = ElementStorage<HEVCTransformNode>(count: nodeLimit, repeating: HEVCTransformNode())
    package let sao = ElementStorage<HEVCSAOParameters>(count: 1, repeating: HEVCSAOParameters())
    /// Transform levels: the n·n levels of each block in raster order without padding, at the offset that `HEVCLevels`
    /// returns. Levels of blocks whose cbf is 0 are not read.
    package let levels = ElementStorage<Int16>(count: HEVCLevels.count, repeating: 0)

    package init() {}

    package var unitCount: Int {
        get { Int(counts.elements[0]) }
        set { counts.elements[0] = Int32(truncatingIfNeeded: newValue) }
    }
    package var predictionCount: Int {
        get { Int(counts.elements[1]) }
        set { counts.elements[1] = Int32(truncatingIfNeeded: newValue) }
    }
    package var nodeCount: Int {
        get { Int(counts.elements[2]) }
        set { counts.elements[2] = Int32(truncatingIfNeeded: newValue) }
    }
}

/// The offset of a block's levels in its coding tree unit. It depends on the block's z-scan index, so that all blocks
/// of any partitioning have separate memory.
package enum HEVCLevels {
    static let cb = 4096
    static let cr = 5120
    static let count = 6144

    /// Returns the offset of a luma block whose first sample is (x, y) in the unit.
    @inline(__always) package static func luma(x: Int, y: Int) -> Int { zOrder(x >> 2, y >> 2) << 4 }

    /// Returns the offset of a chroma block. (x, y) is the first *luma* sample of its area in the unit, in multiples of
    /// 8; `base` is `cb` or `cr`.
    @inline(__always) package static func chroma(_ base: Int, x: Int, y: Int) -> Int {
        base + (zOrder(x >> 3, y >> 3) << 4)
    }

    /// Interleaves the low four bits of x (least significant) and y.
    @inline(__always) private static func zOrder(_ x: Int, _ y: Int) -> Int {
        func spread(_ v: Int) -> Int {
            let pairs = (v | v &<< 2) & 0x33
            return (pairs | pairs &<< 1) & 0x55
        }
        return spread(x) | spread(y) &<< 1
    }
}
