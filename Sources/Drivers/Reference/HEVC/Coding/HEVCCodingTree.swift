/// CuPredMode and cu_skip_flag.
package enum HEVCPredictionMode: UInt8, BitwiseCopyable, Sendable { case intra, inter, skip }

/// PartMode, H.265 table 7-10, by its number there.
package enum HEVCPartition: UInt8, BitwiseCopyable, Sendable {
    case part2Nx2N, part2NxN, partNx2N, partNxN
    case part2NxnU, part2NxnD, partnLx2N, partnRx2N

    /// Prediction units.
    package var count: Int {
        switch self {
        case .part2Nx2N: 1
        case .partNxN: 4
        default: 2
        }
    }
}

/// One coding unit as analysis hands it to the entropy coder, H.265 7.3.8.5.
package struct HEVCCodingUnit: BitwiseCopyable, Sendable {
    /// Luma samples, in the picture.
    package var x: Int32 = 0
    package var y: Int32 = 0
    package var log2Size: UInt8 = 3
    package var mode = HEVCPredictionMode.intra
    package var partition = HEVCPartition.part2Nx2N
    /// rqt_root_cbf of an inter unit: there is a transform tree. Not read for skip and intra.
    package var hasTransformTree = false
    /// intra_chroma_pred_mode, 0…4.
    package var chromaMode: UInt8 = 4
    /// QP_Y.
    package var qp: Int8 = 0
    /// CuQpDeltaVal, which the coder writes with the first coded transform unit of the quantization group.
    package var qpDelta: Int8 = 0
    /// Indices of its first prediction unit (there are `partition.count`, for intra too) and of the root of its transform
    /// tree.
    package var firstPrediction: UInt16 = 0
    package var firstNode: UInt16 = 0

    package init() {}
}

/// One prediction unit, H.265 7.3.8.6, or one block with an intra mode of its own.
package struct HEVCPredictionUnit: BitwiseCopyable, Sendable {
    /// IntraPredModeY; its syntax: mpm_idx, or −1 and rem_intra_luma_pred_mode.
    package var intraMode: UInt8 = 1
    package var mpmIndex: Int8 = -1
    package var remainingMode: UInt8 = 0
    /// merge_idx, or −1: not merged, and the rest counts.
    package var mergeIndex: Int8 = -1
    /// The motion itself, merged or not; which references are −1 says inter_pred_idc.
    package var motion = HEVCMotion()
    /// MvdL0 and MvdL1. The second is zero with mvd_l1_zero_flag in a block of both lists.
    package var difference0 = MotionVector.zero
    package var difference1 = MotionVector.zero
    /// mvp_l0_flag and mvp_l1_flag.
    package var predictor0: UInt8 = 0
    package var predictor1: UInt8 = 0

    package init() {}
}

/// A node of a transform tree, H.265 7.3.8.8, in the order of coding: a node, then, where it is split, its four subtrees.
package struct HEVCTransformNode: BitwiseCopyable, Sendable {
    /// split_transform_flag, read or inferred.
    package var isSplit = false
    /// cbf_luma, of a leaf.
    package var luma = false
    /// cbf_cb and cbf_cr. Of a split 8×8 node they are those of the 4×4 chroma blocks that go with its fourth child,
    /// and its children's are not read. Else those of a split node say whether any below has levels.
    package var cb = false
    package var cr = false
    /// transform_skip_flag by component: bit 0 luma, 1 Cb, 2 Cr.
    package var skips: UInt8 = 0

    package init() {}
}

/// sao(), H.265 7.3.8.3, of one coding tree unit.
package struct HEVCSAOParameters: BitwiseCopyable, Sendable {
    /// SaoTypeIdx: nothing, band, edge.
    package enum Kind: UInt8, BitwiseCopyable, Sendable { case off, band, edge }

    package struct Component: BitwiseCopyable, Sendable {
        package var kind = Kind.off
        /// The signed offsets as they are written: SaoOffsetVal[1…4] before the shift (which is 0 up to 10 bits). For
        /// edges the first two are ≥ 0 and the last two ≤ 0.
        package var offsets = SIMD4<Int8>.zero
        /// sao_band_position, 0…31.
        package var band: UInt8 = 0
        /// sao_eo_class, 0…3. Cr takes that of Cb.
        package var edgeClass: UInt8 = 0

        package init() {}
    }

    package var mergesLeft = false
    package var mergesUp = false
    /// Those merged from are copied here too. Cr's kind is Cb's.
    package var luma = Component()
    package var cb = Component()
    package var cr = Component()

    package init() {}
}

/// One coding tree unit as analysis hands it to the entropy coder. Its memory is kept for the next.
package final class HEVCCodingTree: Sendable {
    /// Coding units of 8×8 in 64×64, intra blocks of 4×4, and nodes down to 4×4.
    static let unitLimit = 64
    static let predictionLimit = 256
    static let nodeLimit = 341

    package let counts = ElementStorage<Int32>(count: 3, repeating: 0)
    /// In coding order. Where the coding quadtree splits follows from their sizes and the picture's.
    package let units = ElementStorage<HEVCCodingUnit>(count: unitLimit, repeating: HEVCCodingUnit())
    package let predictions = ElementStorage<HEVCPredictionUnit>(count: predictionLimit, repeating: HEVCPredictionUnit())
    package let nodes = ElementStorage<HEVCTransformNode>(count: nodeLimit, repeating: HEVCTransformNode())
    package let sao = ElementStorage<HEVCSAOParameters>(count: 1, repeating: HEVCSAOParameters())
    /// Transform levels: each block's n·n in raster order, without a gap, at `HEVCLevels`. Those of blocks whose cbf
    /// is 0 are not read.
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

/// Where a block's levels stand in its coding tree unit: by its place in z-order, so that every block of a size that
/// may stand there has its own n·n.
package enum HEVCLevels {
    static let cb = 4096
    static let cr = 5120
    static let count = 6144

    /// Of a luma block whose first sample is (x, y) in the unit.
    @inline(__always) package static func luma(x: Int, y: Int) -> Int { zOrder(x >> 2, y >> 2) << 4 }

    /// Of a chroma block whose area's first *luma* sample is (x, y) in the unit, multiples of 8, and `base` `cb` or `cr`.
    @inline(__always) package static func chroma(_ base: Int, x: Int, y: Int) -> Int {
        base + (zOrder(x >> 3, y >> 3) << 4)
    }

    /// Interleaves the bits of x (first) and y, of which four each count.
    @inline(__always) private static func zOrder(_ x: Int, _ y: Int) -> Int {
        func spread(_ v: Int) -> Int {
            let pairs = (v | v &<< 2) & 0x33
            return (pairs | pairs &<< 1) & 0x55
        }
        return spread(x) | spread(y) &<< 1
    }
}
