// Mode decision and coding of macroblocks of B slices.

extension MacroblockCoder {
    mutating func decideBipredictive() {
        directQuadrants = 0
        deriveDirect()
        // Direct prediction depends on the motion of a picture that a decoder may not have if it starts at the intra
        // refresh.
        let mayBeDirect = !isGuarded
        if mayBeDirect && trySkipDirect() {
            setDirect(15)
            kind = .skip
            codedBlockPattern = 0
            return
        }
        // `inter` contains the luma of direct prediction here.
        var directCosts = InlineArray<4, Int>(repeating: 0)
        var best = lambda
        for i in 0..<4 {
            let quarter = H264Partition.quarter(i)
            directCosts[i] = distortion(inter.luma + (quarter.y &* H264Scratch.workStride &+ quarter.x), quarter)
            best &+= directCosts[i]
        }
        if !mayBeDirect {
            best = H264MotionChoice.unusable
            directCosts = InlineArray(repeating: H264MotionChoice.unusable)
        }
        kind = .direct
        let found = searchLists(.whole, hints: [H264MotionChoice(), H264MotionChoice()])
        let whole = choosePair(.whole, found, bits: (3, 5))
        if whole.cost < best {
            best = whole.cost
            kind = .inter16x16
        }
        if preset.partitions { choosePairs(found, directCosts, &best) }
        switch kind {
        case .direct: setDirect(15)
        case .inter16x16: setMotion(15, whole.motion)
        default: break
        }
        if best >= H264MotionChoice.unusable {
            decideIntraAlone()
            return
        }
        if preset.decidesByCost {
            decidePairsByCost(whole, searchCost: best, mayBeDirect: mayBeDirect)
            return
        }
        compensate()
        var interCost = best
        if !preset.hadamard {
            interCost =
                H264BlockCost.satd(sourceLuma, inter.luma, H264Scratch.workStride, width: 16, height: 16) &+ 4 &* lambda
        }
        if decideIntra(against: interCost) {
            setMotion(15, PairMotion())
            return
        }
        let chroma = codeChroma(inter, intra: false)
        codedBlockPattern = codeInterLuma() | chroma &<< 4
        if kind == .direct && codedBlockPattern == 0 { kind = .skip }
    }

    /// Whether transform_size_8x8_flag may be 1 for an inter macroblock of this kind, H.264 7.3.5.
    var mayTransform8x8: Bool {
        mutating get {
            if !allowsTransform8x8 || sliceType != .b || direct_8x8_inference_flag { return allowsTransform8x8 }
            return kind != .direct && (kind != .inter8x8 || directQuadrants == 0)
        }
    }

    /// Tries smaller partitions, starting from the vectors of the whole macroblock and the costs of direct prediction
    /// of its quarters. If one of them costs less than `cost`, stores it in `kind` and `cost`, and its motion in the
    /// caches.
    private mutating func choosePairs(
        _ whole: InlineArray<2, H264MotionChoice>, _ directCosts: InlineArray<4, Int>, _ cost: inout Int
    ) {
        var quarters = InlineArray<4, PairMotion>(repeating: PairMotion())
        var found = InlineArray<4, InlineArray<2, H264MotionChoice>>(repeating: whole)
        var quarterCost = lambda &* 7
        var direct = 0
        for list in 0..<2 { clearMotion(list) }
        for i in 0..<4 {
            found[i] = searchLists(.quarter(i), hints: whole)
            let choice = choosePair(.quarter(i), found[i], bits: (3, 5))
            let directCost = directCosts[i] &+ lambda
            if directCost <= choice.cost {
                direct |= 1 &<< i
                quarters[i] = directMotion(i)
                quarterCost &+= directCost
            } else {
                quarters[i] = choice.motion
                quarterCost &+= choice.cost
            }
            setMotion(1 &<< i, quarters[i])
        }
        if quarterCost < cost {
            cost = quarterCost
            kind = .inter8x8
            directQuadrants = direct
        } else if quarterCost > cost &+ cost / 8 {
            return
        }
        var halves = InlineArray<4, PairMotion>(repeating: PairMotion())
        for direction in 0..<2 {
            let upright = direction == 1
            for list in 0..<2 { clearMotion(list) }
            var halfCost = lambda
            for i in 0..<2 {
                let partition = H264Partition.half(i, upright: upright)
                // Takes the better hint of its two quarters for each list.
                let (a, b) = upright ? (i, i &+ 2) : (2 &* i, 2 &* i &+ 1)
                var hints = found[a]
                for list in 0..<2 where found[b][list].cost < hints[list].cost { hints[list] = found[b][list] }
                let choice = choosePair(partition, searchLists(partition, hints: hints), bits: (3, 4))
                halves[2 &* direction &+ i] = choice.motion
                setMotion(partition.blocks, choice.motion)
                halfCost &+= choice.cost
                if halfCost >= cost { break }
            }
            if halfCost < cost {
                cost = halfCost
                kind = upright ? .inter8x16 : .inter16x8
            }
        }
        switch kind {
        case .inter16x8, .inter8x16:
            let upright = kind == .inter8x16
            directQuadrants = 0
            for i in 0..<2 {
                setMotion(H264Partition.half(i, upright: upright).blocks, halves[(upright ? 2 : 0) &+ i])
            }
        default:
            for i in 0..<4 { setMotion(1 &<< i, quarters[i]) }
        }
    }

    /// Marks the macroblock's own blocks as not available yet.
    private mutating func clearMotion(_ list: Int) {
        for i in 0..<4 { referenceCaches[H264Scratch.motionCacheCount &* list &+ MotionCache.quadrant(i)] = -2 }
    }

    /// Predicts luma and chroma into `inter` with the vectors in the caches.
    mutating func compensatePairs() {
        switch kind {
        case .direct, .skip: predictDirect(chroma: true)
        case .inter16x16: predict(.whole, cachedMotion(0), chroma: true)
        case .inter16x8, .inter8x16:
            for i in 0..<2 {
                let partition = H264Partition.half(i, upright: kind == .inter8x16)
                predict(partition, cachedMotion(partition.block), chroma: true)
            }
        default:
            for i in 0..<4 { predict(.quarter(i), cachedMotion(i), chroma: true) }
        }
    }

    // MARK: By cost

    /// Codes the candidates, compares their costs, and selects the cheapest. The candidates are the result of the
    /// search (in `kind` and the caches), 16×16 with the motion of `whole`, direct prediction with and without a
    /// residual, and intra if its estimate is not much higher.
    private mutating func decidePairsByCost(_ whole: PairChoice, searchCost: Int, mayBeDirect: Bool) {
        let searched = kind
        var best = codeInterForCost()
        if searched != .inter16x16 && searched != .direct && whole.cost < H264MotionChoice.unusable {
            directQuadrants = 0
            kind = .inter16x16
            setMotion(15, whole.motion)
            keepIfBetter(&best)
        }
        if searched != .direct && mayBeDirect {
            directQuadrants = 0
            kind = .direct
            setDirect(15)
            keepIfBetter(&best)
        }
        if mayBeDirect { keepSkipIfBetter(&best) }
        restore(best)
        if decideIntra(against: searchCost &+ searchCost / 4) {
            setMotion(15, PairMotion())
            let cost = samplesCost(finalCandidate) &+ weigh(intraBits() &+ levelBits(finalCandidate) &+ 7 &* 256)
            if cost < best.cost { return }
            restore(best)
        }
        if kind == .direct && codedBlockPattern == 0 { kind = .skip }
    }

    private mutating func keepSkipIfBetter(_ best: inout CodedChoice) {
        swap(&inter, &spare)
        predictDirect(chroma: true)
        let cost = samplesCost(inter) &+ weigh(256 / 2)
        if cost > best.cost {
            swap(&inter, &spare)
            return
        }
        kind = .skip
        setDirect(15)
        transform8x8 = false
        codedBlockPattern = 0
        directQuadrants = 0
        best = currentChoice(cost: cost)
    }

    /// Codes the candidate in `kind` and the caches. If it is cheaper than `best`, it replaces `best` and stays in
    /// `inter`; otherwise `inter` keeps the samples of `best`.
    private mutating func keepIfBetter(_ best: inout CodedChoice) {
        swap(&inter, &spare)
        let tried = codeInterForCost()
        if tried.cost < best.cost { best = tried } else { swap(&inter, &spare) }
    }

    /// Returns the cost of mb_type, sub_mb_type, reference indices and vector differences, in 256ths of a bit.
    mutating func pairBits() -> Int {
        if kind == .direct { return 256 }
        let partitions: (count: Int, step: Int, bits: Int) =
            switch kind {
            case .inter16x16: (1, 1, 0)
            case .inter16x8: (2, 2, 1)
            case .inter8x16: (2, 1, 1)
            default: (4, 1, 6)
            }
        var bits = partitions.bits &* 256
        for list in 0..<2 {
            select(list)
            let differences = motionCache + MotionSearch.differences
            let indices = referenceCache + MotionSearch.differences
            predictMotion(differences: differences, indices: indices)
            for k in 0..<partitions.count {
                let i = k &* partitions.step
                if kind == .inter8x8 && directQuadrants &>> i & 1 != 0 {
                    bits &+= list == 0 ? 256 : 0
                    continue
                }
                if indices[i] < 0 { continue }
                // A type with one list costs three bits. A type with both lists costs five bits, half of them for each
                // list.
                bits &+=
                    referenceCaches[H264Scratch.motionCacheCount &* (1 &- list) &+ MotionCache.quadrant(i)] < 0
                    ? 768 : 640
                let (dx, dy) = (Int(differences[i].x), Int(differences[i].y))
                bits &+= 16 &* (Int(motionBits[abs(dx)]) &+ Int(motionBits[abs(dy)]))
                if referenceCount > 1 { bits &+= 256 &* (1 &+ 2 &* (indices[i] > 0 ? 1 : 0)) }
            }
        }
        select(0)
        return bits
    }
}
