// Mode decision by the actual rate-distortion cost: squared error of the reconstruction plus weighted bits of header
// and levels.

/// One way of coding the macroblock, stored while others are tried.
struct CodedChoice {
    var kind = MacroblockKind.skip
    var transform8x8 = false
    var intra16x16Mode = 0
    var intraChromaMode = 0
    var codedBlockPattern = 0
    var cost = Int.max
    var motion = InlineArray<4, MotionVector>(repeating: .zero)
    var references = InlineArray<4, Int8>(repeating: -1)
    /// The motion of list 1.
    var secondMotion = InlineArray<4, MotionVector>(repeating: .zero)
    var secondReferences = InlineArray<4, Int8>(repeating: -1)
    var directQuadrants = 0
}

extension MacroblockCoder {
    /// Returns the choice that the coder and its caches currently contain.
    mutating func currentChoice(cost: Int) -> CodedChoice {
        var choice = CodedChoice(
            kind: kind, transform8x8: transform8x8, intra16x16Mode: intra16x16Mode, intraChromaMode: intraChromaMode,
            codedBlockPattern: codedBlockPattern, cost: cost)
        for i in 0..<4 {
            choice.motion[i] = motionCache[MotionCache.quadrant(i)]
            choice.references[i] = referenceCache[MotionCache.quadrant(i)]
        }
        if sliceType == .b {
            choice.directQuadrants = directQuadrants
            for i in 0..<4 {
                let index = H264Scratch.motionCacheCount &+ MotionCache.quadrant(i)
                choice.secondMotion[i] = motionCaches[index]
                choice.secondReferences[i] = referenceCaches[index]
            }
        }
        return choice
    }

    mutating func restore(_ choice: CodedChoice) {
        kind = choice.kind
        transform8x8 = choice.transform8x8
        intra16x16Mode = choice.intra16x16Mode
        intraChromaMode = choice.intraChromaMode
        codedBlockPattern = choice.codedBlockPattern
        for i in 0..<4 { setMotion(1 &<< i, choice.motion[i], reference: Int(choice.references[i])) }
        if sliceType == .b {
            directQuadrants = choice.directQuadrants
            select(1)
            for i in 0..<4 {
                setMotion(1 &<< i, choice.secondMotion[i], reference: Int(choice.secondReferences[i]))
            }
            select(0)
        }
    }

    /// Codes the candidates, compares their costs, and selects the cheapest. The candidates are the partitions in
    /// `kind` and the cache, 16×16 with the motion of `whole`, P_Skip, and intra if its estimate is not much higher.
    /// `searchCost` is the cost that the search found for the partitions.
    mutating func decideByCost(_ whole: H264MotionChoice, searchCost: Int, maySkip: Bool) {
        var best = codeInterForCost()
        if kind != .inter16x16 && whole.isUsable {
            // The first candidate stays in `inter` unless the second is cheaper.
            swap(&inter, &spare)
            kind = .inter16x16
            setMotion(15, whole.motion, reference: whole.reference)
            let other = codeInterForCost()
            if other.cost < best.cost {
                best = other
            } else {
                swap(&inter, &spare)
                restore(best)
            }
        }
        if maySkip && (best.codedBlockPattern != 0 || best.kind != .inter16x16 || whole.motion != skipVector) {
            swap(&inter, &spare)
            predictSkipped()
            let cost = samplesCost(inter) &+ weigh(256 / 2)
            if cost < best.cost {
                setMotion(15, skipVector, reference: 0)
                kind = .skip
                transform8x8 = false
                codedBlockPattern = 0
                best = currentChoice(cost: cost)
            } else {
                swap(&inter, &spare)
            }
        }
        if decideIntra(against: searchCost &+ searchCost / 4) {
            setMotion(15, .zero, reference: -1)
            let cost = samplesCost(finalCandidate) &+ weigh(intraBits() &+ levelBits(finalCandidate) &+ 5 &* 256)
            if cost < best.cost { return }
            restore(best)
        }
        if kind == .inter16x16 && codedBlockPattern == 0 && whole.reference == 0 && whole.motion == skipVector {
            kind = .skip
        }
    }

    /// Codes `kind` with the vectors in the cache into `inter`, with the cheaper of the two transforms.
    mutating func codeInterForCost() -> CodedChoice {
        compensate()
        let headerBits = sliceType == .b ? pairBits() : interBits()
        for row in 0..<16 {
            let at = row &* H264Scratch.workStride
            other.luma.store(at, inter.luma.load(at, as: Bytes.self))
        }
        transform8x8 = false
        var pattern = codeInter4x4Transform()
        if mayTransform8x8 {
            codedBlockPattern = pattern
            let small = lumaCost(inter) &+ weigh(levelBits(inter))
            swapLuma()
            transform8x8 = true
            let largePattern = codeInter8x8Transform()
            codedBlockPattern = largePattern
            let large = lumaCost(inter) &+ weigh(levelBits(inter))
            if large < small {
                pattern = largePattern
            } else {
                swapLuma()
                transform8x8 = false
            }
        }
        if pattern == 0 { transform8x8 = false }
        codedBlockPattern = pattern | codeChroma(inter, intra: false) &<< 4
        return currentChoice(cost: samplesCost(inter) &+ weigh(headerBits &+ levelBits(inter)))
    }

    private mutating func swapLuma() {
        let (luma, levels, counts) = (inter.luma, inter.levels, inter.counts)
        inter.luma = other.luma
        inter.levels = other.levels
        inter.counts = other.counts
        other.luma = luma
        other.levels = levels
        other.counts = counts
    }

    // MARK: Distortion and bits

    /// Converts 256ths of a bit into squared errors with λ = 0.85 · 2^((QP − 12) / 3), reduced as in `LevelChooser`.
    mutating func weigh(_ bits: Int) -> Int { (bits &* squareLambda) &>> 16 }

    private mutating func lumaCost(_ candidate: CandidatePointers) -> Int {
        H264BlockCost.squares(sourceLuma, candidate.luma, H264Scratch.workStride, width: 16, height: 16)
    }

    mutating func samplesCost(_ candidate: CandidatePointers) -> Int {
        lumaCost(candidate)
            &+ H264BlockCost.squares(sourceCb, candidate.cb, H264Scratch.workStride, width: 8, height: 8)
            &+ H264BlockCost.squares(sourceCr, candidate.cr, H264Scratch.workStride, width: 8, height: 8)
    }

    /// Returns the cost of mb_type, reference indices and vector differences, in 256ths of a bit.
    private mutating func interBits() -> Int {
        let differences = motionCache + MotionSearch.differences
        let indices = referenceCache + MotionSearch.differences
        predictMotion(differences: differences, indices: indices)
        let partitions: (last: Int, step: Int, bits: Int) =
            switch kind {
            case .inter16x16: (0, 1, 1)
            case .inter16x8: (2, 2, 3)
            case .inter8x16: (1, 1, 3)
            default: (3, 1, 6)
            }
        var bits = partitions.bits &* 256
        var i = 0
        while i <= partitions.last {
            let (dx, dy) = (Int(differences[i].x), Int(differences[i].y))
            bits &+= 16 &* (Int(motionBits[abs(dx)]) &+ Int(motionBits[abs(dy)]))
            if referenceCount > 1 { bits &+= 256 &* (1 &+ 2 &* Int(indices[i] > 0 ? 1 : 0)) }
            i &+= partitions.step
        }
        return bits
    }

    /// Returns the cost of the prediction modes and of mb_type, in 256ths of a bit. The part of mb_type that
    /// distinguishes intra from inter is not included.
    mutating func intraBits() -> Int {
        var bits = intraChromaMode == 0 ? 256 : 768
        switch kind {
        case .intra16x16: bits &+= 4 &* 256
        case .intra8x8:
            for i in 0..<4 { bits &+= intra8.modes[16 &+ 4 &* i] < 0 ? 256 : 1024 }
        default:
            for i in 0..<16 { bits &+= intra4.modes[16 &+ i] < 0 ? 256 : 1024 }
        }
        return bits
    }

    /// Returns the cost of levels and coded block pattern of the candidate, in 256ths of a bit. It depends on
    /// `codedBlockPattern` and `transform8x8`.
    mutating func levelBits(_ candidate: CandidatePointers) -> Int {
        let model = chooser.model
        let intra = kind.isIntra
        let counts = candidate.counts
        var bits: Int = 4 &* 256
        let isWhole = kind == .intra16x16
        for quarter in 0..<4 where codedBlockPattern &>> quarter & 1 != 0 {
            if transform8x8 {
                bits &+= model.blockCost(
                    candidate.levels + 64 &* quarter, from: 0, count: 64, nonZero: Int(counts[4 &* quarter]),
                    kind: .luma8x8, intra: intra)
                continue
            }
            for i in 4 &* quarter..<4 &* quarter &+ 4 {
                bits &+= 256
                if counts[i] == 0 { continue }
                bits &+= model.blockCost(
                    candidate.levels + 16 &* i, from: isWhole ? 1 : 0, count: 16, nonZero: Int(counts[i]),
                    kind: isWhole ? .luma16x16AC : .luma4x4, intra: intra)
            }
        }
        if isWhole {
            bits &+= model.blockCost(
                candidate.levels + MacroblockLevels.lumaDC, from: 0, count: 16,
                nonZero: Int(counts[MacroblockLevels.lumaDCBlock]), kind: .luma4x4, intra: true)
        }
        if codedBlockPattern &>> 4 != 0 {
            bits &+=
                256 &* 2
                &* (Int(counts[MacroblockLevels.chromaDCBlock])
                    &+ Int(counts[MacroblockLevels.chromaDCBlock &+ 1]))
        }
        if codedBlockPattern &>> 5 != 0 {
            for i in 0..<8 {
                bits &+= 256
                let count = Int(counts[MacroblockLevels.chromaACBlock &+ i])
                if count == 0 { continue }
                bits &+= model.blockCost(
                    candidate.levels + (MacroblockLevels.chromaAC &+ 16 &* i), from: 1, count: 16, nonZero: count,
                    kind: .chromaAC, intra: intra)
            }
        }
        return bits
    }
}
