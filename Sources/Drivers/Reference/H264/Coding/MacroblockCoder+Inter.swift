// Mode decision and coding of macroblocks of P slices.

extension MacroblockCoder {
    mutating func decideInter() {
        loadMotionNeighbors()
        skipVector = predictSkip()
        let maySkip = mayUse(skipVector, reference: 0)
        if maySkip && trySkip() {
            setMotion(15, skipVector, reference: 0)
            kind = .skip
            codedBlockPattern = 0
            return
        }
        var best = chooseInter16x16()
        kind = .inter16x16
        let whole = best
        if preset.partitions { choosePartitions(whole, &best.cost) }
        if kind == .inter16x16 { setMotion(15, whole.motion, reference: whole.reference) }
        if !best.isUsable {
            decideIntraAlone()
            return
        }
        if preset.decidesByCost {
            decideByCost(whole, searchCost: best.cost, maySkip: maySkip)
            return
        }
        if maySkip && kind == .inter16x16 && whole.reference == 0 && whole.motion == skipVector {
            // `trySkip` left the prediction of luma in `inter`.
            predictSkippedChroma((x &* 64 &+ Int(skipVector.x), y &* 64 &+ Int(skipVector.y)))
        } else {
            compensate()
        }
        var interCost = best.cost
        var transformed: Int?
        if !preset.hadamard {
            let satd = H264BlockCost.satd(sourceLuma, inter.luma, H264Scratch.workStride, width: 16, height: 16)
            transformed = satd
            interCost =
                satd
                &+ motionCost(Int(whole.motion.x), Int(whole.motion.y), predict16x16(whole.reference))
        }
        if decideIntra(against: interCost) {
            setMotion(15, .zero, reference: -1)
            return
        }
        let chroma = codeChroma(inter, intra: false)
        codedBlockPattern = codeInterLuma(satd: transformed) | chroma &<< 4
        if kind == .inter16x16 && codedBlockPattern == 0 && whole.reference == 0 && whole.motion == skipVector {
            kind = .skip
        }
    }

    // MARK: Skipping

    /// Predicts luma as P_Skip into `inter`. Returns the position for the prediction of chroma.
    private mutating func predictSkippedLuma() -> (x: Int, y: Int) {
        let planes = references[0]
        let motion = skipVector
        // A vector that points beyond the planes is clamped. The samples there are constant in the outward direction.
        let outside = MotionSearch.reach &+ 1
        let positionX = min(max(Int(motion.x), 4 &* (-16 &* x &- outside)), 4 &* (16 &* (width &- 1 &- x) &+ outside))
        let positionY = min(max(Int(motion.y), 4 &* (-16 &* y &- outside)), 4 &* (16 &* (height &- 1 &- y) &+ outside))
        let atX = x &* 64 &+ positionX
        let atY = y &* 64 &+ positionY
        MotionCompensation.luma(
            planes, stride: stride, x: atX, y: atY, width: 16, height: 16, to: inter.luma, H264Scratch.workStride)
        return (atX, atY)
    }

    private mutating func predictSkippedChroma(_ at: (x: Int, y: Int)) {
        MotionCompensation.chroma(
            references[0], stride: stride, x: at.x, y: at.y, width: 8, height: 8, toCb: inter.cb, cr: inter.cr,
            H264Scratch.workStride)
    }

    /// Predicts luma and chroma as P_Skip into `inter`.
    mutating func predictSkipped() {
        let at = predictSkippedLuma()
        predictSkippedChroma(at)
    }

    /// Predicts as P_Skip into `inter`. Returns whether the residual is too small to be coded.
    private mutating func trySkip() -> Bool {
        let at = predictSkippedLuma()
        if isWorthCoding() { return false }
        predictSkippedChroma(at)
        return codeChroma(inter, intra: false) == 0
    }

    /// Returns whether the residual of the luma prediction in `inter` has enough levels to be coded.
    @inline(__always) mutating func isWorthCoding() -> Bool {
        // The pair with the largest difference is first, because it often decides.
        var differences = InlineArray<8, Int>(repeating: 0)
        var first = 0
        for pair in 0..<8 {
            let offset = Self.pairOffset(pair)
            differences[pair] = H264BlockCost.sad8x4(
                sourceLuma + (offset.y &* H264Scratch.sourceStride &+ offset.x),
                inter.luma + (offset.y &* H264Scratch.workStride &+ offset.x), H264Scratch.workStride)
            if differences[pair] > differences[first] { first = pair }
        }
        var score = 0
        for i in 0..<8 {
            let pair = i ^ first
            if differences[pair] < quantizer.zeroLevelSAD4x4 { continue }
            let offset = Self.pairOffset(pair)
            let original = sourceLuma + (offset.y &* H264Scratch.sourceStride &+ offset.x)
            let block = inter.luma + (offset.y &* H264Scratch.workStride &+ offset.x)
            ForwardTransform.pair(original, block, H264Scratch.workStride, to: coefficients)
            let any = quantizer.quantizePair(coefficients, intra: false)
            if any.x | any.y == 0 { continue }
            score &+= scanPair(pair, coefficients, any, inter, firstLevel: 0, scoreSoFar: score, sufficient: 6)
            if score >= 6 { return true }
        }
        return false
    }

    // MARK: Choosing vectors

    private mutating func chooseInter16x16() -> H264MotionChoice {
        var best = H264MotionChoice()
        let partition = H264Partition(x: 0, y: 0, width: 16, height: 16)
        for reference in 0..<min(referenceCount, preset.references) {
            var candidates = 0
            @inline(__always) func add(_ motion: MotionVector) {
                motionCache[MotionSearch.candidates &+ candidates] = motion
                candidates &+= 1
            }
            if referenceCache[MotionCache.left] >= 0 { add(motionCache[MotionCache.left]) }
            if referenceCache[MotionCache.above] >= 0 { add(motionCache[MotionCache.above]) }
            if referenceCache[MotionCache.aboveRight] >= 0 { add(motionCache[MotionCache.aboveRight]) }
            if reference > 0 { add(best.motion) }
            add(.zero)
            var choice = search(
                partition, reference: reference, predictor: predict16x16(reference), candidates: candidates)
            choice.cost &+= referenceCost(reference)
            if choice.cost < best.cost { best = choice }
        }
        best.cost &+= lambda
        return best
    }

    /// Returns the best vector of a partition over the references that the preset searches. `index` is the partition's
    /// number among those of its shape. The search starts from the vectors of `hint` and `second`.
    private mutating func choosePartition(
        _ partition: H264Partition, index: Int, hint: H264MotionChoice, second: H264MotionChoice
    ) -> H264MotionChoice {
        var best = H264MotionChoice()
        let count = min(referenceCount, preset.references)
        for reference in 0..<count {
            if reference != hint.reference && !preset.partitionReferences { continue }
            motionCache[MotionSearch.candidates] = hint.motion
            motionCache[MotionSearch.candidates + 1] = second.motion
            let predictor =
                partition.width == 16
                ? predict16x8(index, reference)
                : (partition.height == 16 ? predict8x16(index, reference) : predict8x8(index, reference))
            var choice = search(partition, reference: reference, predictor: predictor, candidates: 2)
            choice.cost &+= referenceCost(reference)
            if choice.cost < best.cost { best = choice }
        }
        return best
    }

    /// Tries smaller partitions against `whole`. Stores the best in `kind`, the cache and `cost`.
    private mutating func choosePartitions(_ whole: H264MotionChoice, _ cost: inout Int) {
        var quarters = [whole, whole, whole, whole] as InlineArray<4, H264MotionChoice>
        var quarterCost = lambda &* 9
        for i in 0..<4 {
            let partition = H264Partition(x: (i & 1) &* 8, y: (i &>> 1) &* 8, width: 8, height: 8)
            let choice = choosePartition(
                partition, index: i, hint: whole, second: i > 0 ? quarters[i &- 1] : whole)
            quarters[i] = choice
            quarterCost &+= choice.cost
            setMotion(1 &<< i, choice.motion, reference: choice.reference)
        }
        if quarterCost < cost {
            cost = quarterCost
            kind = .inter8x8
        } else if quarterCost > cost &+ cost / 8 {
            return
        }
        var halves = [whole, whole] as InlineArray<2, H264MotionChoice>
        var upright = halves
        for direction in 0..<2 {
            let vertical = direction == 1
            for i in 0..<4 { referenceCache[MotionCache.quadrant(i)] = -2 }
            var halfCost = lambda &* 3
            for i in 0..<2 {
                let choice: H264MotionChoice
                if vertical {
                    choice = choosePartition(
                        H264Partition(x: i &* 8, y: 0, width: 8, height: 16), index: i, hint: quarters[i],
                        second: quarters[i &+ 2])
                    upright[i] = choice
                    setMotion(i == 0 ? 0b0101 : 0b1010, choice.motion, reference: choice.reference)
                } else {
                    choice = choosePartition(
                        H264Partition(x: 0, y: i &* 8, width: 16, height: 8), index: i, hint: quarters[i &* 2],
                        second: quarters[i &* 2 &+ 1])
                    halves[i] = choice
                    setMotion(i == 0 ? 0b0011 : 0b1100, choice.motion, reference: choice.reference)
                }
                halfCost &+= choice.cost
                if halfCost >= cost { break }
            }
            if halfCost < cost {
                cost = halfCost
                kind = vertical ? .inter8x16 : .inter16x8
            }
        }
        switch kind {
        case .inter16x8:
            setMotion(0b0011, halves[0].motion, reference: halves[0].reference)
            setMotion(0b1100, halves[1].motion, reference: halves[1].reference)
        case .inter8x16:
            setMotion(0b0101, upright[0].motion, reference: upright[0].reference)
            setMotion(0b1010, upright[1].motion, reference: upright[1].reference)
        default:
            for i in 0..<4 { setMotion(1 &<< i, quarters[i].motion, reference: quarters[i].reference) }
        }
    }

    // MARK: Coding

    /// Predicts luma and chroma into `inter` with the vectors in the cache.
    mutating func compensate() {
        if sliceType == .b {
            compensatePairs()
            return
        }
        switch kind {
        case .inter16x16: compensate(H264Partition(x: 0, y: 0, width: 16, height: 16), block: 0)
        case .inter16x8:
            compensate(H264Partition(x: 0, y: 0, width: 16, height: 8), block: 0)
            compensate(H264Partition(x: 0, y: 8, width: 16, height: 8), block: 2)
        case .inter8x16:
            compensate(H264Partition(x: 0, y: 0, width: 8, height: 16), block: 0)
            compensate(H264Partition(x: 8, y: 0, width: 8, height: 16), block: 1)
        default:
            for i in 0..<4 {
                compensate(H264Partition(x: (i & 1) &* 8, y: (i &>> 1) &* 8, width: 8, height: 8), block: i)
            }
        }
    }

    @inline(__always) private mutating func compensate(_ partition: H264Partition, block: Int) {
        let index = MotionCache.quadrant(block)
        let motion = motionCache[index]
        let planes = references[Int(referenceCache[index])]
        let atX = (x &* 16 &+ partition.x) &* 4 &+ Int(motion.x)
        let atY = (y &* 16 &+ partition.y) &* 4 &+ Int(motion.y)
        MotionCompensation.luma(
            planes, stride: stride, x: atX, y: atY, width: partition.width, height: partition.height,
            to: inter.luma + (partition.y &* H264Scratch.workStride &+ partition.x), H264Scratch.workStride)
        let chroma = (partition.y / 2) &* H264Scratch.workStride &+ partition.x / 2
        MotionCompensation.chroma(
            planes, stride: stride, x: atX, y: atY, width: partition.width / 2, height: partition.height / 2,
            toCb: inter.cb + chroma, cr: inter.cr + chroma, H264Scratch.workStride)
    }

    /// Codes the residual relative to the prediction in `inter`. Returns the luma coded block pattern.
    ///
    /// - Parameter satd: The SATD of the prediction, if it is known.
    mutating func codeInterLuma(satd: Int? = nil) -> Int {
        transform8x8 = false
        if mayTransform8x8 {
            let stride = H264Scratch.workStride
            let small = satd ?? H264BlockCost.satd(sourceLuma, inter.luma, stride, width: 16, height: 16)
            transform8x8 = H264BlockCost.isSATD8x8(sourceLuma, inter.luma, stride, below: small)
        }
        let pattern = transform8x8 ? codeInter8x8Transform() : codeInter4x4Transform()
        if pattern == 0 { transform8x8 = false }
        return pattern
    }

    /// The score below which levels are dropped, for a quarter and for the macroblock. If levels are chosen by cost,
    /// only blocks without levels are below it.
    private var minimumQuarterScore: Int { mutating get { preset.choosesLevels ? 1 : 3 } }
    private var minimumMacroblockScore: Int { mutating get { preset.choosesLevels ? 1 : 4 } }

    mutating func codeInter4x4Transform() -> Int {
        let stride = H264Scratch.workStride
        var pattern = 0
        var score = 0
        for quarter in 0..<4 {
            var quarterScore = 0
            for pair in quarter &* 2..<quarter &* 2 &+ 2 {
                let c = coefficients + pair &* 32
                let offset = Self.pairOffset(pair)
                let original = sourceLuma + (offset.y &* H264Scratch.sourceStride &+ offset.x)
                let block = inter.luma + (offset.y &* stride &+ offset.x)
                if !preset.choosesLevels && H264BlockCost.sad8x4(original, block, stride) < quantizer.zeroLevelSAD4x4 {
                    inter.counts.store(pair &* 2, UInt16(0))
                    continue
                }
                ForwardTransform.pair(original, block, stride, to: c)
                let any = quantizePair(c, quantizer, from: 0, kind: .luma4x4, intra: false)
                quarterScore &+= scanPair(pair, c, any, inter, firstLevel: 0, scoreSoFar: quarterScore, sufficient: 6)
            }
            if quarterScore >= minimumQuarterScore {
                pattern |= 1 &<< quarter
                score &+= quarterScore
            } else {
                inter.counts.store(quarter &* 4, UInt32(0))
            }
        }
        if score < minimumMacroblockScore {
            inter.counts.store(0, SIMD16<UInt8>(repeating: 0))
            return 0
        }
        for pair in 0..<8 where pattern &>> (pair &>> 1) & 1 != 0 {
            if inter.counts[pair &* 2] | inter.counts[pair &* 2 &+ 1] == 0 { continue }
            let c = coefficients + pair &* 32
            let offset = Self.pairOffset(pair)
            quantizer.scalePair(c)
            InverseTransform.addPair(c, to: inter.luma + (offset.y &* stride &+ offset.x), stride)
        }
        return pattern
    }

    mutating func codeInter8x8Transform() -> Int {
        let stride = H264Scratch.workStride
        var pattern = 0
        var score = 0
        inter.counts.store(0, SIMD16<UInt8>(repeating: 0))
        for quarter in 0..<4 {
            let c = coefficients + quarter &* 64
            let (column, row) = ((quarter & 1) &* 8, (quarter &>> 1) &* 8)
            ForwardTransform.block8x8(
                sourceLuma + (row &* H264Scratch.sourceStride &+ column), inter.luma + (row &* stride &+ column),
                stride, to: c)
            guard quantize8x8(c, intra: false) else { continue }
            let levels = inter.levels + quarter &* 64
            let count = Scan.block8x8(c, scan8x8, to: levels)
            let quarterScore = Scan.score(levels, from: 0, count: 64)
            if quarterScore >= minimumQuarterScore {
                inter.counts[quarter &* 4] = UInt8(truncatingIfNeeded: count)
                pattern |= 1 &<< quarter
                score &+= quarterScore
            }
        }
        if score < minimumMacroblockScore {
            inter.counts.store(0, SIMD16<UInt8>(repeating: 0))
            return 0
        }
        for quarter in 0..<4 where pattern &>> quarter & 1 != 0 {
            let c = coefficients + quarter &* 64
            let (column, row) = ((quarter & 1) &* 8, (quarter &>> 1) &* 8)
            quantizer.scale8x8(c)
            InverseTransform.add8x8(c, to: inter.luma + (row &* stride &+ column), stride)
        }
        return pattern
    }
}
