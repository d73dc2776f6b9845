// Intra 8×8 macroblocks: choice of the modes, and coding.

extension MacroblockCoder {
    /// Collects the neighboring samples of an 8×8 block and stores them in `edges` after the filter of H.264
    /// 8.3.2.2.1.
    private mutating func gatherEdges8x8(_ block: ElementPointer<UInt8>, left: Bool, top: Bool, corner: Bool, aboveRight: Bool) {
        let stride = H264Scratch.workStride
        let e = rawEdges.samples
        for i in 0..<8 { e[7 &- i] = block[i &* stride &- 1] }
        e[-1] = e[0]
        e[8] = block[0 &- stride &- 1]
        e.store(9, block.load(0 &- stride, as: UInt64.self))
        let last = block[7 &- stride]
        e.store(17, aboveRight ? block.load(8 &- stride, as: UInt64.self) : UInt64(last) &* 0x0101_0101_0101_0101)
        e[25] = e[24]
        // If the corner is not available, its neighbor takes its place. The filter then gives that neighbor the
        // weight 3.
        if !corner { e[8] = e[9] }
        rawEdges.derive(vectors: 2)
        let smooth = edges.samples
        smooth.store(0, rawEdges.smooth.load(0, as: Bytes.self))
        smooth.store(16, rawEdges.smooth.load(16, as: Bytes.self))
        if corner {
            if !top {
                smooth[8] = UInt8(truncatingIfNeeded: (3 &* Int(e[8]) &+ Int(e[7]) &+ 2) &>> 2)
            } else if !left {
                smooth[8] = UInt8(truncatingIfNeeded: (3 &* Int(e[8]) &+ Int(e[9]) &+ 2) &>> 2)
            }
        } else {
            smooth[7] = UInt8(truncatingIfNeeded: (3 &* Int(e[7]) &+ Int(e[6]) &+ 2) &>> 2)
        }
        smooth[-1] = smooth[0]
        smooth[25] = smooth[24]
        edges.derive(vectors: 2)
    }

    /// Codes the luma as intra 8×8 into `candidate`. Returns its cost and luma coded block pattern, or nil as soon as
    /// the cost reaches `limit`.
    mutating func codeIntra8x8(_ candidate: CandidatePointers, limit: Int) -> (cost: Int, pattern: Int)? {
        loadLumaNeighborhood(candidate)
        let stride = H264Scratch.workStride
        var cost = 0
        var pattern = 0
        for index in 0..<4 {
            let column = index & 1
            let row = index &>> 1
            let left = column > 0 || intraLeft
            let top = row > 0 || intraTop
            let corner = column > 0 ? (row > 0 || intraTop) : (row > 0 ? intraLeft : intraTopLeft)
            let aboveRight = row == 0 ? (column == 1 ? intraTopRight : intraTop) : column == 0
            let block = candidate.luma + (row &* 8 &* stride &+ column &* 8)
            let original = sourceLuma + (row &* 8 &* H264Scratch.sourceStride &+ column &* 8)
            gatherEdges8x8(block, left: left, top: top, corner: corner, aboveRight: aboveRight)
            let predicted = predictedMode(candidate.modes, column: column &* 2, row: row &* 2)
            var allowed = H264IntraMode.allowed(left: left, top: top, corner: corner)
            if !preset.allIntraModes { allowed &= 0b111 | 1 << predicted }
            var best = Int.max
            var mode = H264IntraMode.dc
            while allowed != 0 {
                let candidateMode = allowed.trailingZeroBitCount
                allowed &= allowed &- 1
                IntraDirectional.predict8x8(
                    mode: candidateMode, edges, left: left, top: top, to: trial, stride, scratch: rows)
                let bits = candidateMode == predicted ? 1 : 4
                let trialCost = H264BlockCost.satd8x8(original, trial, stride) &+ lambda &* bits
                if trialCost < best {
                    best = trialCost
                    mode = candidateMode
                }
            }
            cost &+= best
            if cost >= limit { return nil }
            let modePair = UInt16(truncatingIfNeeded: mode) &* 0x0101
            candidate.modes.store(row &* 8 &+ column &* 2, modePair)
            candidate.modes.store(row &* 8 &+ column &* 2 &+ 4, modePair)
            candidate.modes[16 &+ index &* 4] = Self.codedMode(mode, predicted: predicted)
            IntraDirectional.predict8x8(mode: mode, edges, left: left, top: top, to: block, stride, scratch: rows)
            ForwardTransform.block8x8(original, block, stride, to: coefficients)
            candidate.counts.store(index &* 4, UInt32(0))
            guard quantize8x8(coefficients, intra: true) else { continue }
            let count = Scan.block8x8(coefficients, scan8x8, to: candidate.levels + index &* 64)
            candidate.counts[index &* 4] = UInt8(truncatingIfNeeded: count)
            pattern |= 1 &<< index
            quantizer.scale8x8(coefficients)
            InverseTransform.add8x8(coefficients, to: block, stride)
        }
        return (cost, pattern)
    }
}
