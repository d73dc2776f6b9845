/// The macroblock types that the encoder chooses among.
package enum MacroblockKind: UInt8 {
    case intra4x4, intra8x8, intra16x16
    case skip
    case inter16x16, inter16x8, inter8x16, inter8x8
    /// B_Direct_16x16.
    case direct

    package var isIntra: Bool { rawValue <= MacroblockKind.intra16x16.rawValue }
}

/// A motion vector or a difference of two, in quarter samples.
package struct MotionVector: Equatable, BitwiseCopyable, Sendable {
    var x: Int16
    var y: Int16
    package static let zero = MotionVector(x: 0, y: 0)
}

/// One macroblock as analysis hands it to an entropy coder: the syntax elements of H.264 7.3.5, already
/// relative to their predictions. One value lives per slice worker and is refilled for each macroblock.
package struct MacroblockSyntax {
    package var kind = MacroblockKind.skip
    package var transform8x8 = false
    /// `Intra16x16PredMode`, 0…3.
    package var intra16x16Mode = 0
    /// `intra_chroma_pred_mode`, 0…3.
    package var intraChromaMode = 0
    /// Bits 0…3: luma 8×8 blocks; bits 4…5: chroma 0…2. For intra 16×16 the luma bits are 0 or 15.
    package var codedBlockPattern = 0
    /// `mb_qp_delta`, written where the syntax has it.
    package var qpDelta = 0
    /// The macroblock's own QP_Y, for whoever needs it.
    package var qp = 26
    /// Bits of the quadrants of inter 8×8 in B slices that are B_Direct_8x8.
    package var directQuadrants = 0
    /// -1: `prev_intra_pred_mode_flag` is 1; else `rem_intra_pred_mode`. By luma4x4BlkIdx; 8×8 blocks use 0, 4, 8, 12.
    let intraModes = ElementStorage<Int8>(count: 16, repeating: -1)
    /// `ref_idx_l0` (and, at 4…7, `ref_idx_l1`) by 8×8 quadrant, the same in all quadrants of a partition; in B slices
    /// −1 where a list is not used. List 1 is not read in P slices.
    let referenceIndices = ElementStorage<Int8>(count: 8, repeating: 0)
    /// `mvd_l0` (and, at 4…7, `mvd_l1`) by 8×8 quadrant, the same in all quadrants of a partition.
    let motionDifferences = ElementStorage<MotionVector>(count: 8, repeating: .zero)
    /// Transform levels in zig-zag order, see `MacroblockLevels`. Entries of blocks that `codedBlockPattern`
    /// says are not coded are not read.
    let levels = ElementStorage<Int16>(count: MacroblockLevels.count, repeating: 0)
    /// Non-zero levels by block, see `MacroblockLevels`; 0 for blocks that are not coded.
    let nonZeroCounts = ElementStorage<UInt8>(count: MacroblockLevels.blockCount, repeating: 0)

    package init() {}
}

/// Where a macroblock's levels and counts stand.
package enum MacroblockLevels {
    /// Luma 4×4 block b (luma4x4BlkIdx): 16 levels from 16·b (intra 16×16: 0 unused, AC in 1…15).
    /// Luma 8×8 block b: 64 levels from 64·b.
    package static let luma = 0
    /// Intra 16×16 DC, 16 levels.
    package static let lumaDC = 256
    /// Chroma DC, 4 levels of Cb then 4 of Cr.
    package static let chromaDC = 272
    /// Chroma AC block b (0…3 Cb, 4…7 Cr): 16 places from 280 + 16·b, the first unused, AC in 1…15.
    package static let chromaAC = 280
    package static let count = 408

    /// Indices into `nonZeroCounts`: luma 4×4 blocks 0…15 (an 8×8 block's 0…64 stands at 4·b, its others are 0),
    /// then intra 16×16 DC, Cb DC, Cr DC, and chroma AC blocks 0…7.
    package static let lumaDCBlock = 16
    package static let chromaDCBlock = 17
    package static let chromaACBlock = 19
    package static let blockCount = 27
}
