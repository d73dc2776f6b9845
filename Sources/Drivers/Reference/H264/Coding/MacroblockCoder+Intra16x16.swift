// Intra 16×16 luma: choice of the mode, and coding.

extension MacroblockCoder {
    /// Returns the best Intra16x16PredMode and its cost. If no cost is below `limit`, returns any mode and a cost of at
    /// least `limit`. Loads the neighborhood of `intra16`.
    mutating func chooseIntra16x16(below limit: Int) -> (mode: Int, cost: Int) {
        loadLumaNeighborhood(intra16)
        var best = (mode: 2, cost: limit)
        for mode in 0..<4 {
            switch mode {
            case 0: if !intraTop { continue }
            case 1: if !intraLeft { continue }
            case 3: if !(intraTop && intraLeft && intraTopLeft) { continue }
            default: break
            }
            IntraPlanar.predict16x16(
                mode: mode, around: intra16.luma, left: intraLeft, top: intraTop, to: trial, equalRows: 4)
            let bits = [1, 2, 2, 3] as InlineArray<4, Int>
            let modeCost = lambda &* bits[mode]
            // The cost is always SATD, because SAD misjudges the smooth modes.
            let cost =
                H264BlockCost.satd16x16(
                    sourceLuma, trial, H264Scratch.workStride, repeats: mode & 1 == 0, below: best.cost &- modeCost)
                &+ modeCost
            if cost < best.cost { best = (mode, cost) }
        }
        return best
    }

    /// Codes the luma as intra 16×16 into `intra16`, whose neighborhood must be loaded. Returns the luma coded block
    /// pattern.
    mutating func codeIntra16x16(mode: Int) -> Int {
        let stride = H264Scratch.workStride
        let block = intra16.luma
        IntraPlanar.predict16x16(mode: mode, around: block, left: intraLeft, top: intraTop, to: block)
        let dc = coefficients + 256
        for pair in 0..<8 {
            let c = coefficients + pair &* 32
            let offset = Self.pairOffset(pair)
            ForwardTransform.pair(
                sourceLuma + (offset.y &* H264Scratch.sourceStride &+ offset.x),
                block + (offset.y &* stride &+ offset.x), stride,
                to: c)
            let raster = (offset.y &>> 2) &* 4 &+ (offset.x &>> 2)
            dc[raster] = c[0]
            dc[raster &+ 1] = c[4]
            c[0] = 0
            c[4] = 0
        }
        var score = sliceType == .i ? 6 : 0
        for pair in 0..<8 {
            let c = coefficients + pair &* 32
            let any = quantizePair(c, quantizer, from: 1, kind: .luma16x16AC, intra: true)
            score &+= scanPair(pair, c, any, intra16, firstLevel: 1, scoreSoFar: score, sufficient: 6)
        }
        var pattern = 0
        if score < 6 {
            intra16.counts.store(0, SIMD16<UInt8>(repeating: 0))
        } else {
            for i in 0..<16 where intra16.counts[i] != 0 { pattern = 15 }
        }
        ForwardTransform.lumaDC(dc)
        var dcCount = 0
        for i in 0..<16 {
            let level = quantizer.quantizeDC(Int(dc[i]), intra: true)
            dc[i] = Int16(truncatingIfNeeded: level)
            dcCount &+= level != 0 ? 1 : 0
        }
        intra16.counts[MacroblockLevels.lumaDCBlock] = UInt8(truncatingIfNeeded: dcCount)
        let levels = intra16.levels + MacroblockLevels.lumaDC
        let zigzag: InlineArray<16, UInt8> = [0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15]
        for i in 0..<16 { levels[i] = dc[Int(zigzag[i])] }
        if dcCount == 0 && pattern == 0 { return 0 }
        ForwardTransform.hadamard4x4(dc) { $0 }
        let scale = quantizer.scaleDC
        for pair in 0..<8 {
            let c = coefficients + pair &* 32
            let offset = Self.pairOffset(pair)
            if pattern == 0 {
                for i in 0..<4 { c.store(i &* 8, Words(repeating: 0)) }
            } else {
                quantizer.scalePair(c)
            }
            let raster = (offset.y &>> 2) &* 4 &+ (offset.x &>> 2)
            c[0] = Int16(truncatingIfNeeded: (Int(dc[raster]) &* scale &+ 2) &>> 2)
            c[4] = Int16(truncatingIfNeeded: (Int(dc[raster &+ 1]) &* scale &+ 2) &>> 2)
            InverseTransform.addPair(c, to: block + (offset.y &* stride &+ offset.x), stride)
        }
        return pattern
    }

    /// Returns the position in the macroblock of a pair of 4×4 blocks (luma4x4BlkIdx 2 · `pair` and 2 · `pair` + 1), in
    /// samples.
    @inline(__always) static func pairOffset(_ pair: Int) -> (x: Int, y: Int) {
        (((pair &>> 1) & 1) &* 8, (pair & 1) &* 4 &+ (pair &>> 2) &* 8)
    }

    /// Scans the levels of a pair's blocks into `candidate`. Returns the sum of their scores (see `Scan.score`). Scores
    /// are not computed any more after the sum with `scoreSoFar` has reached `sufficient`.
    @inline(__always) mutating func scanPair(
        _ pair: Int, _ c: ElementPointer<Int16>, _ any: SIMD2<UInt64>, _ candidate: CandidatePointers, firstLevel: Int,
        scoreSoFar: Int, sufficient: Int
    ) -> Int {
        var score = 0
        for half in 0..<2 {
            let index = pair &* 2 &+ half
            if (half == 0 ? any.x : any.y) == 0 {
                candidate.counts[index] = 0
                continue
            }
            let levels = candidate.levels + index &* 16
            candidate.counts[index] = UInt8(truncatingIfNeeded: Scan.block4x4(c + half &* 4, to: levels))
            if scoreSoFar &+ score < sufficient { score &+= Scan.score(levels, from: firstLevel, count: 16) }
        }
        return score
    }
}
