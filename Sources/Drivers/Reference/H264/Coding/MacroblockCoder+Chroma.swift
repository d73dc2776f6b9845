// Chroma: choice of the intra mode, and coding of the residual of intra and inter macroblocks.

extension MacroblockCoder {
    /// Returns the best intra_chroma_pred_mode and its cost. Leaves its prediction in `candidate`.
    mutating func predictIntraChroma(_ candidate: CandidatePointers) -> (mode: Int, cost: Int) {
        loadChromaNeighborhood(candidate)
        let stride = H264Scratch.workStride
        var best = (mode: 0, cost: Int.max)
        for mode in 0..<4 {
            switch mode {
            case 1: if !intraLeft { continue }
            case 2: if !intraTop { continue }
            case 3: if !(intraTop && intraLeft && intraTopLeft) { continue }
            default: break
            }
            let bits = [1, 3, 3, 5] as InlineArray<4, Int>
            var cost = lambda &* bits[mode]
            IntraPlanar.predictChroma(mode: mode, around: candidate.cb, left: intraLeft, top: intraTop, to: trial)
            cost &+= H264BlockCost.satd(sourceCb, trial, stride, width: 8, height: 8)
            IntraPlanar.predictChroma(mode: mode, around: candidate.cr, left: intraLeft, top: intraTop, to: trial)
            cost &+= H264BlockCost.satd(sourceCr, trial, stride, width: 8, height: 8)
            if cost < best.cost { best = (mode, cost) }
        }
        IntraPlanar.predictChroma(
            mode: best.mode, around: candidate.cb, left: intraLeft, top: intraTop, to: candidate.cb)
        IntraPlanar.predictChroma(
            mode: best.mode, around: candidate.cr, left: intraLeft, top: intraTop, to: candidate.cr)
        return best
    }

    /// Codes the residual relative to the chroma prediction in `candidate`. Returns CodedBlockPatternChroma: 0 no
    /// levels, 1 DC only, 2 DC and AC.
    mutating func codeChroma(_ candidate: CandidatePointers, intra: Bool) -> Int {
        let cb = codeChromaPlane(
            0, original: sourceCb, block: candidate.cb, quantizer: cbQuantizer, candidate: candidate, intra: intra)
        let cr = codeChromaPlane(
            1, original: sourceCr, block: candidate.cr, quantizer: crQuantizer, candidate: candidate, intra: intra)
        let pattern = max(cb, cr)
        return pattern
    }

    @inline(never) private mutating func codeChromaPlane(
        _ plane: Int, original: ElementPointer<UInt8>, block: ElementPointer<UInt8>, quantizer: H264Quantizer,
        candidate: CandidatePointers, intra: Bool
    ) -> Int {
        let stride = H264Scratch.workStride
        if !intra && H264BlockCost.sad8(original, block, stride, height: 8) < quantizer.zeroLevelSAD4x4 {
            candidate.counts.store(MacroblockLevels.chromaACBlock &+ plane &* 4, UInt32(0))
            candidate.counts[MacroblockLevels.chromaDCBlock &+ plane] = 0
            (candidate.levels + (MacroblockLevels.chromaDC &+ plane &* 4)).store(0, SIMD4<Int16>(repeating: 0))
            return 0
        }
        let counts = candidate.counts + (MacroblockLevels.chromaACBlock &+ plane &* 4)
        let top = coefficients
        let bottom = coefficients + 32
        ForwardTransform.pair(original, block, stride, to: top)
        ForwardTransform.pair(original + 4 &* H264Scratch.sourceStride, block + 4 &* stride, stride, to: bottom)
        let (d0, d1, d2, d3) = (Int(top[0]), Int(top[4]), Int(bottom[0]), Int(bottom[4]))
        top[0] = 0
        top[4] = 0
        bottom[0] = 0
        bottom[4] = 0
        let anyTop = quantizePair(top, quantizer, from: 1, kind: .chromaAC, intra: intra)
        let anyBottom = quantizePair(bottom, quantizer, from: 1, kind: .chromaAC, intra: intra)
        let any = [anyTop.x, anyTop.y, anyBottom.x, anyBottom.y] as InlineArray<4, UInt64>
        var hasAC = false
        if any[0] | any[1] | any[2] | any[3] != 0 {
            var score = intra && sliceType == .i ? 7 : 0
            for i in 0..<4 {
                counts[i] = 0
                if any[i] == 0 { continue }
                let levels = candidate.levels + (MacroblockLevels.chromaAC &+ (plane &* 4 &+ i) &* 16)
                let from = (i < 2 ? top : bottom) + (i & 1) &* 4
                counts[i] = UInt8(truncatingIfNeeded: Scan.block4x4(from, to: levels))
                if score < 7 { score &+= Scan.score(levels, from: 1, count: 16) }
            }
            hasAC = score >= 7
        }
        if !hasAC { counts.store(0, UInt32(0)) }

        let l0 = quantizer.quantizeDC(d0 &+ d1 &+ d2 &+ d3, intra: intra)
        let l1 = quantizer.quantizeDC(d0 &- d1 &+ d2 &- d3, intra: intra)
        let l2 = quantizer.quantizeDC(d0 &+ d1 &- d2 &- d3, intra: intra)
        let l3 = quantizer.quantizeDC(d0 &- d1 &- d2 &+ d3, intra: intra)
        let dcLevels = SIMD4<Int16>(
            Int16(truncatingIfNeeded: l0), Int16(truncatingIfNeeded: l1), Int16(truncatingIfNeeded: l2),
            Int16(truncatingIfNeeded: l3))
        (candidate.levels + (MacroblockLevels.chromaDC &+ plane &* 4)).store(0, dcLevels)
        let dcCount = (l0 != 0 ? 1 : 0) &+ (l1 != 0 ? 1 : 0) &+ (l2 != 0 ? 1 : 0) &+ (l3 != 0 ? 1 : 0)
        candidate.counts[MacroblockLevels.chromaDCBlock &+ plane] = UInt8(truncatingIfNeeded: dcCount)
        if !hasAC && dcCount == 0 { return 0 }

        if hasAC {
            quantizer.scalePair(top)
            quantizer.scalePair(bottom)
        } else {
            for i in 0..<8 { coefficients.store(i &* 8, Words(repeating: 0)) }
        }
        let scale = quantizer.scaleDC
        top[0] = Int16(truncatingIfNeeded: ((l0 &+ l1 &+ l2 &+ l3) &* scale) &>> 1)
        top[4] = Int16(truncatingIfNeeded: ((l0 &- l1 &+ l2 &- l3) &* scale) &>> 1)
        bottom[0] = Int16(truncatingIfNeeded: ((l0 &+ l1 &- l2 &- l3) &* scale) &>> 1)
        bottom[4] = Int16(truncatingIfNeeded: ((l0 &- l1 &- l2 &+ l3) &* scale) &>> 1)
        InverseTransform.addPair(top, to: block, stride)
        InverseTransform.addPair(bottom, to: block + 4 &* stride, stride)
        return hasAC ? 2 : 1
    }
}
