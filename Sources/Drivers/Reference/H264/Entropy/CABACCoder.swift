/// Writes slice data with CABAC: H.264 7.3.4 and 7.3.5, with the binarizations and contexts of 9.3 for frame
/// macroblocks.
struct CABACCoder {
    var arithmetic: ArithmeticEncoder
    /// Whether a macroblock was written in this slice. If so, its end_of_slice_flag is written before the next
    /// macroblock.
    private var begun = false
    /// Whether mb_qp_delta of the previous macroblock was not 0.
    private var hadDelta = false
    let offsets8x8 = EntropyTables.shared.contextOffsets8x8.elements

    init(arithmetic: ArithmeticEncoder) { self.arithmetic = arithmetic }

    /// Sets the states of all contexts at the start of a slice, 9.3.1.1.
    static func initialize(_ contexts: ElementPointer<UInt8>, slice: EntropySlice) {
        let values: [Int8]
        if slice.type == .i {
            values = CABACInitialValues.intra
        } else {
            switch slice.cabac_init_idc {
            case 0: values = CABACInitialValues.inter0
            case 1: values = CABACInitialValues.inter1
            default: values = CABACInitialValues.inter2
            }
        }
        let qp = min(max(slice.qp, 0), 51)
        for index in 0..<(values.count / 2) {
            let preState = min(max((Int(values[2 * index]) * qp) >> 4 + Int(values[2 * index + 1]), 1), 126)
            let gap = CABACInitialValues.gapEnd - CABACInitialValues.gapStart
            let context = index < CABACInitialValues.gapStart ? index : index + gap
            contexts[context] = UInt8(preState <= 63 ? 2 * (63 - preState) : 2 * (preState - 64) + 1)
        }
    }

    /// Writes a macroblock.
    ///
    /// `grid` contains the block flags of the neighbors and receives those of this macroblock. `record` contains the
    /// traits and coded_block_pattern, and receives motion, references and DC flags.
    mutating func write(
        _ macroblock: borrowing MacroblockSyntax, slice: EntropySlice, left: NeighborRecord, top: NeighborRecord,
        grid: BlockCountGrid, record: inout NeighborRecord
    ) {
        if begun { arithmetic.encodeTerminate(0) }
        begun = true
        if slice.type != .i {
            let first = slice.type == .p ? 11 : 24
            let context = first + (left.traits.contains(.coded) ? 1 : 0) + (top.traits.contains(.coded) ? 1 : 0)
            arithmetic.encode(context, macroblock.kind == .skip ? 1 : 0)
            if macroblock.kind == .skip {
                hadDelta = false
                return
            }
        }
        writeType(macroblock, slice: slice, left: left, top: top)
        let transform8x8 = record.traits.contains(.transform8x8)
        if macroblock.kind.isIntra {
            if slice.transform8x8 && macroblock.kind != .intra16x16 {
                writeTransformSize(transform8x8, left: left, top: top)
            }
            writeIntraModes(macroblock, left: left, top: top)
            if macroblock.intraChromaMode != 0 { record.traits.insert(.chromaMode) }
        } else {
            writeMotion(macroblock, slice: slice, left: left, top: top, record: &record)
        }
        let pattern = macroblock.codedBlockPattern
        if macroblock.kind != .intra16x16 {
            writePattern(pattern, left: left, top: top)
            if !macroblock.kind.isIntra && macroblock.codesTransformSize(slice) {
                writeTransformSize(transform8x8, left: left, top: top)
            }
        }
        guard pattern != 0 || macroblock.kind == .intra16x16 else {
            hadDelta = false
            return
        }
        writeDelta(macroblock.qpDelta)
        record.dc = writeResidual(
            macroblock, transform8x8: transform8x8, neighbors: (left.dc, top.dc), grid: grid)
    }

    /// Ends the slice. Returns the number of bytes.
    mutating func finish() -> Int {
        if begun { arithmetic.encodeTerminate(1) }
        begun = false
        arithmetic.finish()
        return arithmetic.byteCount
    }

    // MARK: Types and modes

    /// Writes mb_type, 9.3.2.5, and the four sub_mb_type of P_8x8.
    private mutating func writeType(
        _ macroblock: borrowing MacroblockSyntax, slice: EntropySlice, left: NeighborRecord, top: NeighborRecord
    ) {
        if slice.type == .b {
            writeTypeInB(macroblock, left: left, top: top)
            return
        }
        if macroblock.kind.isIntra {
            if slice.type == .i {
                let context = left.traits.contains(.intra16x16) ? 1 : 0
                writeIntraType(
                    macroblock, first: 3 + context + (top.traits.contains(.intra16x16) ? 1 : 0),
                    luma: 6, chroma: 7, chromaSecond: 8, modeHigh: 9, modeLow: 10)
            } else {
                arithmetic.encode(14, 1)
                writeIntraType(
                    macroblock, first: 17, luma: 18, chroma: 19, chromaSecond: 19, modeHigh: 20, modeLow: 20)
            }
            return
        }
        arithmetic.encode(14, 0)
        switch macroblock.kind {
        case .inter16x16:
            arithmetic.encode(15, 0)
            arithmetic.encode(16, 0)
        case .inter8x8:
            arithmetic.encode(15, 0)
            arithmetic.encode(16, 1)
            for _ in 0..<4 { arithmetic.encode(21, 1) }
        default:
            arithmetic.encode(15, 1)
            arithmetic.encode(17, macroblock.kind == .inter16x8 ? 1 : 0)
        }
    }

    /// Writes mb_type and sub_mb_type of B slices, table 9-37.
    private mutating func writeTypeInB(
        _ macroblock: borrowing MacroblockSyntax, left: NeighborRecord, top: NeighborRecord
    ) {
        // Neighbors that are neither skipped nor B_Direct_16x16 increase ctxIdxInc.
        let beside = left.traits.intersection([.coded, .direct]) == .coded ? 1 : 0
        let above = top.traits.intersection([.coded, .direct]) == .coded ? 1 : 0
        let isIntra = macroblock.kind.isIntra
        let type = isIntra ? 23 : macroblock.bipredictiveType
        arithmetic.encode(27 + beside + above, type == 0 ? 0 : 1)
        switch type {
        case 0: return
        case 1, 2:
            arithmetic.encode(30, 0)
            arithmetic.encode(32, type - 1)
            return
        default: arithmetic.encode(30, 1)
        }
        // The bins after the second, as a number, and how many they are. Types 3…10 have a 0 and three more bins.
        let (bins, count) =
            switch type {
            case 3...10: (type - 3, 4)
            case 11: (0b1110, 4)
            case 22: (0b1111, 4)
            case 23: (0b1101, 4)
            default: (type + 4, 5)
            }
        for index in 0..<count {
            arithmetic.encode(index == 0 ? 31 : 32, bins >> (count - 1 - index) & 1)
        }
        if isIntra {
            writeIntraType(macroblock, first: 32, luma: 33, chroma: 34, chromaSecond: 34, modeHigh: 35, modeLow: 35)
        } else if type == 22 {
            for quadrant in 0..<4 { writeSubTypeInB(macroblock.bipredictiveSubType(quadrant)) }
        }
    }

    private mutating func writeSubTypeInB(_ type: Int) {
        arithmetic.encode(36, type == 0 ? 0 : 1)
        switch type {
        case 0: return
        case 1, 2:
            arithmetic.encode(37, 0)
            arithmetic.encode(39, type - 1)
        default:
            // B_Bi_8x8.
            arithmetic.encode(37, 1)
            arithmetic.encode(38, 0)
            arithmetic.encode(39, 0)
            arithmetic.encode(39, 0)
        }
    }

    /// Writes the bins of an intra mb_type. The other parameters are the ctxIdx of the bins.
    private mutating func writeIntraType(
        _ macroblock: borrowing MacroblockSyntax, first: Int, luma: Int, chroma: Int, chromaSecond: Int,
        modeHigh: Int, modeLow: Int
    ) {
        guard macroblock.kind == .intra16x16 else {
            arithmetic.encode(first, 0)
            return
        }
        arithmetic.encode(first, 1)
        arithmetic.encodeTerminate(0)
        arithmetic.encode(luma, macroblock.codedBlockPattern & 15 != 0 ? 1 : 0)
        let chromaPattern = macroblock.codedBlockPattern >> 4
        arithmetic.encode(chroma, chromaPattern != 0 ? 1 : 0)
        if chromaPattern != 0 { arithmetic.encode(chromaSecond, chromaPattern == 2 ? 1 : 0) }
        arithmetic.encode(modeHigh, macroblock.intra16x16Mode >> 1)
        arithmetic.encode(modeLow, macroblock.intra16x16Mode & 1)
    }

    private mutating func writeTransformSize(_ flag: Bool, left: NeighborRecord, top: NeighborRecord) {
        let context = left.traits.contains(.transform8x8) ? 400 : 399
        arithmetic.encode(context + (top.traits.contains(.transform8x8) ? 1 : 0), flag ? 1 : 0)
    }

    private mutating func writeIntraModes(
        _ macroblock: borrowing MacroblockSyntax, left: NeighborRecord, top: NeighborRecord
    ) {
        if macroblock.kind != .intra16x16 {
            let modes = macroblock.intraModes
            for block in stride(from: 0, to: 16, by: macroblock.kind == .intra8x8 ? 4 : 1) {
                let mode = Int(modes[block])
                arithmetic.encode(68, mode < 0 ? 1 : 0)
                if mode >= 0 {
                    arithmetic.encode(69, mode & 1)
                    arithmetic.encode(69, mode >> 1 & 1)
                    arithmetic.encode(69, mode >> 2)
                }
            }
        }
        let mode = macroblock.intraChromaMode
        let context = left.traits.contains(.chromaMode) ? 65 : 64
        arithmetic.encode(context + (top.traits.contains(.chromaMode) ? 1 : 0), mode > 0 ? 1 : 0)
        if mode > 0 { arithmetic.encode(67, mode > 1 ? 1 : 0) }
        if mode > 1 { arithmetic.encode(67, mode > 2 ? 1 : 0) }
    }

    /// Writes coded_block_pattern, 9.3.3.1.1.4. Neighboring 8×8 blocks without levels increase ctxIdxInc of the luma
    /// bins.
    private mutating func writePattern(_ pattern: Int, left: NeighborRecord, top: NeighborRecord) {
        let leftPattern = Int(left.codedBlockPattern)
        let topPattern = Int(top.codedBlockPattern)
        arithmetic.encode(76 - (leftPattern >> 1 & 1) - (topPattern >> 1 & 2), pattern & 1)
        arithmetic.encode(76 - (pattern & 1) - (topPattern >> 2 & 2), pattern >> 1 & 1)
        arithmetic.encode(76 - (leftPattern >> 3 & 1) - (pattern << 1 & 2), pattern >> 2 & 1)
        arithmetic.encode(76 - (pattern >> 2 & 1) - (pattern & 2), pattern >> 3 & 1)
        let leftChroma = leftPattern >> 4
        let topChroma = topPattern >> 4
        let chroma = pattern >> 4
        arithmetic.encode(77 + (leftChroma != 0 ? 1 : 0) + (topChroma != 0 ? 2 : 0), chroma != 0 ? 1 : 0)
        if chroma != 0 {
            arithmetic.encode(81 + (leftChroma == 2 ? 1 : 0) + (topChroma == 2 ? 2 : 0), chroma == 2 ? 1 : 0)
        }
    }

    /// Writes mb_qp_delta in unary code. Positive values are mapped to odd numbers.
    private mutating func writeDelta(_ delta: Int) {
        var context = hadDelta ? 61 : 60
        hadDelta = delta != 0
        for index in 0..<(delta > 0 ? 2 * delta - 1 : -2 * delta) {
            arithmetic.encode(context, 1)
            context = index == 0 ? 62 : 63
        }
        arithmetic.encode(context, 0)
    }

    // MARK: Motion

    private mutating func writeMotion(
        _ macroblock: borrowing MacroblockSyntax, slice: EntropySlice, left: NeighborRecord, top: NeighborRecord,
        record: inout NeighborRecord
    ) {
        if macroblock.kind == .direct { return }
        let lists = slice.type == .b ? 2 : 1
        let direct = macroblock.kind == .inter8x8 && lists == 2 ? macroblock.directQuadrants : 0
        for quadrant in 0..<4 where direct >> quadrant & 1 == 0 {
            for list in 0..<lists {
                let at = 4 * list + quadrant
                let reference = macroblock.referenceIndices[at]
                if lists == 2 && reference < 0 { continue }
                let difference = macroblock.motionDifferences[at]
                record.motion[2 * at] = UInt8(min(difference.x.magnitude, 64))
                record.motion[2 * at + 1] = UInt8(min(difference.y.magnitude, 64))
                if reference > 0 { record.references |= 1 << UInt8(at) }
            }
        }
        for list in 0..<lists {
            if (list == 0 ? slice.referenceCounts.0 : slice.referenceCounts.1) <= 1 { continue }
            let quadrants = macroblock.codedQuadrants(slice, list: list)
            let ours = record.references >> UInt8(4 * list)
            for quadrant in 0..<4 where quadrants & 1 << quadrant != 0 {
                let besideBits =
                    quadrant & 1 != 0
                    ? ours >> UInt8(quadrant - 1)
                    : left.references >> UInt8(4 * list + quadrant + 1)
                let aboveBits =
                    quadrant & 2 != 0
                    ? ours >> UInt8(quadrant - 2)
                    : top.references >> UInt8(4 * list + quadrant + 2)
                writeReference(
                    Int(macroblock.referenceIndices[4 * list + quadrant]),
                    context: Int(besideBits & 1) + 2 * Int(aboveBits & 1))
            }
        }
        for list in 0..<lists {
            let quadrants = macroblock.codedQuadrants(slice, list: list)
            for quadrant in 0..<4 where quadrants & 1 << quadrant != 0 {
                let beside = 8 * list + (quadrant & 1 != 0 ? 2 * (quadrant - 1) : 2 * (quadrant + 1))
                let above = 8 * list + (quadrant & 2 != 0 ? 2 * (quadrant - 2) : 2 * (quadrant + 2))
                let besideMotion = quadrant & 1 != 0 ? record.motion : left.motion
                let aboveMotion = quadrant & 2 != 0 ? record.motion : top.motion
                let difference = macroblock.motionDifferences[4 * list + quadrant]
                writeDifference(
                    Int(difference.x), start: 40, neighbors: Int(besideMotion[beside]) + Int(aboveMotion[above]))
                writeDifference(
                    Int(difference.y), start: 47,
                    neighbors: Int(besideMotion[beside + 1]) + Int(aboveMotion[above + 1]))
            }
        }
    }

    /// Writes ref_idx in unary code.
    private mutating func writeReference(_ value: Int, context: Int) {
        var context = 54 + context
        for index in 0..<value {
            arithmetic.encode(context, 1)
            context = index == 0 ? 58 : 59
        }
        arithmetic.encode(context, 0)
    }

    /// Writes a component of mvd: UEG3 with signedValFlag 1 and uCoff 9. `neighbors` is the sum of the absolute
    /// components of the left and the upper block, 9.3.3.1.1.7.
    private mutating func writeDifference(_ value: Int, start: Int, neighbors: Int) {
        let magnitude = abs(value)
        let first = start + (neighbors < 3 ? 0 : neighbors > 32 ? 2 : 1)
        if magnitude == 0 {
            arithmetic.encode(first, 0)
            return
        }
        arithmetic.encode(first, 1)
        for index in 1..<min(magnitude, 9) { arithmetic.encode(start + min(index + 2, 6), 1) }
        if magnitude < 9 {
            arithmetic.encode(start + min(magnitude + 2, 6), 0)
        } else {
            arithmetic.encodeExpGolombBypass(magnitude - 9, order: 3)
        }
        arithmetic.encodeBypass(value < 0 ? 1 : 0, 1)
    }
}
