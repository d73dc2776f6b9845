/// The macroblock types that the encoder uses.
package enum MacroblockKind: UInt8 {
    case intra4x4, intra8x8, intra16x16
    case skip
    case inter16x16, inter16x8, inter8x16, inter8x8
    /// B_Direct_16x16.
    case direct

    package var isIntra: Bool { rawValue <= MacroblockKind.intra16x16.rawValue }
}

/// The syntax elements of one macroblock, H.264 7.3.5, as the analysis passes them to an entropy coder. They are
/// already relative to their predictions. Values are reused for other macroblocks.
package struct MacroblockSyntax {
    package var kind = MacroblockKind.skip
    package var transform8x8 = false
    /// `Intra16x16PredMode`, 0…3.
    package var intra16x16Mode = 0
    /// `intra_chroma_pred_mode`, 0…3.
    package var intraChromaMode = 0
    /// Bits 0…3: luma 8×8 blocks; bits 4…5: chroma 0…2. For intra 16×16 the luma bits are 0 or 15.
    package var codedBlockPattern = 0
    /// `mb_qp_delta`, written if the syntax contains it.
    package var qpDelta = 0
    /// QP_Y of the macroblock. Until `QPChain.settle`, the QP with which the macroblock was coded.
    package var qp = 26
    /// The bits of the quadrants that are B_Direct_8x8, if the kind is inter 8×8 in a B slice.
    package var directQuadrants = 0
    /// −1 if `prev_intra_pred_mode_flag` is 1, otherwise `rem_intra_pred_mode`. The index is luma4x4BlkIdx; 8×8 blocks
    /// use the indices 0, 4, 8 and 12.
    let intraModes: ElementPointer<Int8>
    /// `ref_idx_l0` (indices 0…3) and `ref_idx_l1` (4…7) by 8×8 quadrant. All quadrants of a partition have the same
    /// value. In B slices, −1 means that the list is not used. In P slices, list 1 is ignored.
    let referenceIndices: ElementPointer<Int8>
    /// `mvd_l0` (indices 0…3) and `mvd_l1` (4…7) by 8×8 quadrant. All quadrants of a partition have the same value.
    let motionDifferences: ElementPointer<MotionVector>
    /// Transform levels in zig-zag order; see `MacroblockLevels`. Entries of blocks that are not coded according to
    /// `codedBlockPattern` are ignored.
    let levels: ElementPointer<Int16>
    /// The number of nonzero levels of each block; see `MacroblockLevels`. It is 0 for blocks that are not coded.
    let nonZeroCounts: ElementPointer<UInt8>

    /// Keeps the elements alive.
    private let memory: Memory

    private final class Memory: Sendable {
        let intraModes = ElementStorage<Int8>(count: 16, repeating: -1)
        let referenceIndices = ElementStorage<Int8>(count: 8, repeating: 0)
        let motionDifferences = ElementStorage<MotionVector>(count: 8, repeating: .zero)
        let levels = ElementStorage<Int16>(count: MacroblockLevels.count, repeating: 0)
        let nonZeroCounts = ElementStorage<UInt8>(count: MacroblockLevels.blockCount, repeating: 0)
    }

    package init() {
        let memory = Memory()
        self.memory = memory
        intraModes = memory.intraModes.elements
        referenceIndices = memory.referenceIndices.elements
        motionDifferences = memory.motionDifferences.elements
        levels = memory.levels.elements
        nonZeroCounts = memory.nonZeroCounts.elements
    }
}

/// The indices of a macroblock's levels and counts.
package enum MacroblockLevels {
    /// Luma. 4×4 block b (luma4x4BlkIdx) has 16 levels from 16·b on (intra 16×16: AC levels in 1…15, 0 unused). 8×8
    /// block b has 64 levels from 64·b on.
    package static let luma = 0
    /// Intra 16×16 DC: 16 levels.
    package static let lumaDC = 256
    /// Chroma DC: 4 levels of Cb, then 4 of Cr.
    package static let chromaDC = 272
    /// Chroma AC: block b (0…3 Cb, 4…7 Cr) has 16 entries from 280 + 16·b on. The first entry is unused, the AC levels
    /// are in 1…15.
    package static let chromaAC = 280
    package static let count = 408

    /// Indices into `nonZeroCounts`: luma 4×4 blocks 0…15 (the count 0…64 of 8×8 block b is at 4·b, its other entries
    /// are 0), intra 16×16 DC, Cb DC, Cr DC, and chroma AC blocks 0…7.
    package static let lumaDCBlock = 16
    package static let chromaDCBlock = 17
    package static let chromaACBlock = 19
    package static let blockCount = 27
}
