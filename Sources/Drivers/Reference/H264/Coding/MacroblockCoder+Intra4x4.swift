// Intra 4×4 macroblocks. Each block is predicted from the reconstruction of the blocks before it, so modes are chosen
// and blocks are coded in one pass.

/// Positions of luma 4×4 blocks by luma4x4BlkIdx, H.264 6.4.3, in blocks.
enum LumaBlocks {
    @inline(__always) static func column(_ index: Int) -> Int { (index & 1) &+ ((index &>> 1) & 2) }
    @inline(__always) static func row(_ index: Int) -> Int { ((index &>> 1) & 1) &+ ((index &>> 2) & 2) }
    /// Bit b is set if the block above right of block b is in this macroblock or above it, and before it in coding
    /// order.
    static let aboveRightInside: Int = 0b0101_0111_0101_0111
}

extension MacroblockCoder {
    /// Returns Intra4x4PredMode of the 4×4 block to the left in the neighboring macroblock, or −1 if it is not
    /// available.
    @inline(__always) private mutating func modeLeft(_ row: Int) -> Int {
        hasLeft ? Int(tables.intraModes[(y &* 4 &+ row) &* width &* 4 &+ x &* 4 &- 1]) : -1
    }

    /// Returns Intra4x4PredMode of the 4×4 block above in the neighboring macroblock, or −1 if it is not available.
    @inline(__always) private mutating func modeAbove(_ column: Int) -> Int {
        hasTop ? Int(tables.intraModes[(y &* 4 &- 1) &* width &* 4 &+ x &* 4 &+ column]) : -1
    }

    /// Returns predIntra4x4PredMode or predIntra8x8PredMode, H.264 8.3.1.1 and 8.3.2.1. `modes` contains the modes of
    /// this macroblock's blocks in raster order.
    @inline(__always) mutating func predictedMode(_ modes: ElementPointer<Int8>, column: Int, row: Int) -> Int {
        let left = column > 0 ? Int(modes[row &* 4 &+ column &- 1]) : modeLeft(row)
        let above = row > 0 ? Int(modes[row &* 4 &- 4 &+ column]) : modeAbove(column)
        return left < 0 || above < 0 ? H264IntraMode.dc : min(left, above)
    }

    /// Collects the neighboring samples of a 4×4 block in `edges`.
    @inline(__always) private mutating func gatherEdges4x4(_ block: ElementPointer<UInt8>, hasAboveRight: Bool) {
        let stride = H264Scratch.workStride
        let e = edges.samples
        let left: (UInt8, UInt8, UInt8, UInt8) = (
            block[3 &* stride &- 1], block[2 &* stride &- 1], block[stride &- 1], block[-1]
        )
        e[-1] = left.0
        e[0] = left.0
        e[1] = left.1
        e[2] = left.2
        e[3] = left.3
        e[4] = block[0 &- stride &- 1]
        var above: UInt64 = block.load(0 &- stride)
        if !hasAboveRight {
            above = (above & 0xFFFF_FFFF) | (((above &>> 24) & 0xFF) &* 0x0101_0101) &<< 32
        }
        e.store(5, above)
        e[13] = UInt8(truncatingIfNeeded: above &>> 56)
        edges.derive(vectors: 1)
    }

    /// Codes the luma as intra 4×4 into `candidate`. Returns its cost and luma coded block pattern, or nil as soon as
    /// the cost reaches `limit`.
    mutating func codeIntra4x4(_ candidate: CandidatePointers, limit: Int) -> (cost: Int, pattern: Int)? {
        loadLumaNeighborhood(candidate)
        let stride = H264Scratch.workStride
        var cost = 0
        var pattern = 0
        for index in 0..<16 {
            let column = LumaBlocks.column(index)
            let row = LumaBlocks.row(index)
            let hasLeft = column > 0 || intraLeft
            let hasTop = row > 0 || intraTop
            let hasCorner = column > 0 ? (row > 0 || intraTop) : (row > 0 ? intraLeft : intraTopLeft)
            let hasAboveRight =
                row == 0
                ? (column == 3 ? intraTopRight : intraTop) : LumaBlocks.aboveRightInside &>> index & 1 != 0
            let block = candidate.luma + (row &* 4 &* stride &+ column &* 4)
            let original = sourceLuma + (row &* 4 &* H264Scratch.sourceStride &+ column &* 4)
            gatherEdges4x4(block, hasAboveRight: hasAboveRight)
            let predicted = predictedMode(candidate.modes, column: column, row: row)
            var allowed = H264IntraMode.allowed(left: hasLeft, top: hasTop, corner: hasCorner)
            if !preset.allIntraModes { allowed &= 0b111 | 1 << predicted }
            var best = Int.max
            var mode = H264IntraMode.dc
            while allowed != 0 {
                let candidateMode = allowed.trailingZeroBitCount
                allowed &= allowed &- 1
                IntraDirectional.predict4x4(
                    mode: candidateMode, edges, left: hasLeft, top: hasTop, to: trial, stride, scratch: rows)
                let bits = candidateMode == predicted ? 1 : 4
                let trialCost = H264BlockCost.satd4x4(original, trial, stride) &+ lambda &* bits
                if trialCost < best {
                    best = trialCost
                    mode = candidateMode
                }
            }
            cost &+= best
            if cost >= limit { return nil }
            candidate.modes[row &* 4 &+ column] = Int8(truncatingIfNeeded: mode)
            candidate.modes[16 &+ index] = Self.codedMode(mode, predicted: predicted)
            IntraDirectional.predict4x4(
                mode: mode, edges, left: hasLeft, top: hasTop, to: block, stride, scratch: rows)
            ForwardTransform.single(original, block, stride, to: coefficients)
            let levels = candidate.levels + index &* 16
            let any = quantizeSingle(coefficients)
            if any.x == 0 {
                candidate.counts[index] = 0
                continue
            }
            candidate.counts[index] = UInt8(truncatingIfNeeded: Scan.block4x4(coefficients, to: levels))
            pattern |= 1 &<< (index &>> 2)
            quantizer.scalePair(coefficients)
            InverseTransform.addSingle(coefficients, to: block, stride)
        }
        return (cost, pattern)
    }

    /// Returns −1 for the predicted mode, otherwise rem_intra_pred_mode.
    @inline(__always) static func codedMode(_ mode: Int, predicted: Int) -> Int8 {
        mode == predicted ? -1 : Int8(truncatingIfNeeded: mode < predicted ? mode : mode &- 1)
    }
}
