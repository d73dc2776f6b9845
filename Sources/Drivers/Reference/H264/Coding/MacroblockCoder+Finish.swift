// Decision for intra modes, and storing of the macroblock in the picture, the tables and the syntax elements.

extension MacroblockCoder {
    /// Decides a macroblock of an I slice.
    mutating func decideIntra() { _ = decideIntra(against: Int.max) }

    /// Decides a macroblock of a P or B slice that must be intra.
    mutating func decideIntraAlone() {
        for list in 0..<(sliceType == .b ? 2 : 1) {
            select(list)
            setMotion(15, .zero, reference: -1)
        }
        select(0)
        directQuadrants = 0
        decideIntra()
    }

    /// Codes the macroblock as intra if that costs less than `interCost` (luma distortion and weighted bits). Returns
    /// whether it did.
    mutating func decideIntra(against interCost: Int) -> Bool {
        let inP = sliceType != .i
        let typeCost = inP ? lambda &* 5 : 0
        // Above the limit, neither the whole block nor small blocks are used.
        var limit = Int.max / 4
        if interCost < limit / 2 { limit = interCost &+ interCost / 2 &- typeCost &- lambda &* 2 }
        if !preset.smallIntraInP { limit = min(limit, max(interCost &- typeCost &- lambda &* 2, 0)) }
        let whole = chooseIntra16x16(below: limit)
        let wholeCost = whole.cost &+ typeCost &+ lambda &* 2
        var best = min(interCost, wholeCost)
        var choice = wholeCost < interCost ? MacroblockKind.intra16x16 : .inter16x16
        var pattern = 0
        // Small blocks are rarely better if the whole block is much worse than inter. They also predict from above
        // right, which intra refresh may not have refreshed yet.
        let seesStale = isGuarded && !refresh.isRows && x &+ 1 >= refresh.renewed && hasTopRight && !constrainedIntra
        let triesSmall =
            !seesStale
            && (!inP || preset.smallIntraInP && wholeCost < interCost &+ interCost / 2
                || choice == .intra16x16)
        if triesSmall {
            if allowsTransform8x8, let coded = codeIntra8x8(intra8, limit: best &- typeCost) {
                best = coded.cost &+ typeCost
                choice = .intra8x8
                pattern = coded.pattern
            }
            if let coded = codeIntra4x4(intra4, limit: best &- typeCost &- lambda &* 2) {
                best = coded.cost &+ typeCost
                choice = .intra4x4
                pattern = coded.pattern
            }
        }
        if choice == .inter16x16 { return false }
        kind = choice
        transform8x8 = choice == .intra8x8
        if choice == .intra16x16 {
            intra16x16Mode = whole.mode
            pattern = codeIntra16x16(mode: whole.mode)
        }
        let candidate = finalCandidate
        intraChromaMode = predictIntraChroma(candidate).mode
        codedBlockPattern = pattern | codeChroma(candidate, intra: true) &<< 4
        return true
    }

    var finalCandidate: CandidatePointers {
        mutating get {
            switch kind {
            case .intra4x4: intra4
            case .intra8x8: intra8
            case .intra16x16: intra16
            default: inter
            }
        }
    }

    mutating func finish(_ syntax: inout MacroblockSyntax) {
        let candidate = finalCandidate
        storeLuma(candidate.luma)
        storeChroma(candidate.cb, candidate.cr)
        syntax.kind = kind
        syntax.transform8x8 = transform8x8
        syntax.intra16x16Mode = intra16x16Mode
        syntax.intraChromaMode = intraChromaMode
        syntax.codedBlockPattern = codedBlockPattern
        syntax.directQuadrants = directQuadrants
        syntax.qp = qp
        let isIntra = kind.isIntra
        tables.isIntra[address] = isIntra ? 1 : 0
        tables.transform8x8[address] = transform8x8 ? 1 : 0
        tables.nonZero[address] = nonZeroBits(candidate)
        storeModes()
        if sliceType == .i {
            intraCount &+= 1
            setMotion(15, .zero, reference: -1)
            storeMotion()
        } else {
            intraCount &+= isIntra ? 1 : 0
            skipCount &+= kind == .skip ? 1 : 0
            storeMotion()
            if !isIntra && kind != .skip && kind != .direct {
                for list in 0..<(sliceType == .b ? 2 : 1) {
                    select(list)
                    predictMotion(
                        differences: syntax.motionDifferences + 4 &* list,
                        indices: syntax.referenceIndices + 4 &* list)
                }
                if sliceType == .b { select(0) }
            }
        }
        if kind == .skip { return }
        if kind == .intra4x4 || kind == .intra8x8 {
            syntax.intraModes.copy(from: candidate.modes + 16, count: 16)
        }
        copyLevels(candidate, to: syntax)
        if preset.learns { learnLevels(syntax) }
    }

    /// Copies the levels of coded blocks, and sets the counts of the other blocks to 0.
    private mutating func copyLevels(_ candidate: CandidatePointers, to syntax: MacroblockSyntax) {
        let counts = syntax.nonZeroCounts
        let levels = syntax.levels
        counts.store(0, SIMD16<UInt8>(repeating: 0))
        counts.store(11, SIMD16<UInt8>(repeating: 0))
        for quarter in 0..<4 where codedBlockPattern &>> quarter & 1 != 0 {
            counts.store(quarter &* 4, candidate.counts.load(quarter &* 4, as: UInt32.self))
            Self.copy(candidate.levels + quarter &* 64, to: levels + quarter &* 64, count: 64)
        }
        if kind == .intra16x16 {
            counts[MacroblockLevels.lumaDCBlock] = candidate.counts[MacroblockLevels.lumaDCBlock]
            (levels + MacroblockLevels.lumaDC).copy(from: candidate.levels + MacroblockLevels.lumaDC, count: 16)
        }
        if codedBlockPattern &>> 4 != 0 {
            let dc = MacroblockLevels.chromaDC
            (levels + dc).copy(from: candidate.levels + dc, count: 8)
            counts.store(
                MacroblockLevels.chromaDCBlock,
                candidate.counts.load(MacroblockLevels.chromaDCBlock, as: UInt16.self))
            if codedBlockPattern &>> 5 != 0 {
                let ac = MacroblockLevels.chromaAC
                Self.copy(candidate.levels + ac, to: levels + ac, count: 128)
                counts.store(
                    MacroblockLevels.chromaACBlock,
                    candidate.counts.load(MacroblockLevels.chromaACBlock, as: UInt64.self))
            }
        }
    }

    /// Copies levels. `count` must be a multiple of 16. This is faster than a call of the C library.
    @inline(__always) private static func copy(
        _ levels: ElementPointer<Int16>, to other: ElementPointer<Int16>, count: Int
    ) {
        var i = 0
        while i < count {
            let (low, high) = (levels.load(i, as: Words.self), levels.load(i &+ 8, as: Words.self))
            other.store(i, low)
            other.store(i &+ 8, high)
            i &+= 16
        }
    }

    /// Returns a bit for each 4×4 block in raster order: whether it has levels.
    private mutating func nonZeroBits(_ candidate: CandidatePointers) -> UInt16 {
        if codedBlockPattern & 15 == 0 { return 0 }
        var bits = 0
        for quarter in 0..<4 where codedBlockPattern &>> quarter & 1 != 0 {
            let counts: UInt32 = candidate.counts.load(quarter &* 4)
            var blocks = 0b11_0011
            if !transform8x8 {
                // The top bit of each byte is set if the byte is not 0. The product moves these bits together.
                let tops = (((counts & 0x7F7F_7F7F) &+ 0x7F7F_7F7F) | counts) & 0x8080_8080
                let nibble = Int(truncatingIfNeeded: ((tops &>> 7) &* 0x0102_0408) &>> 24) & 15
                blocks = nibble & 1 | (nibble & 2) | (nibble & 12) &<< 2
            } else if counts & 0xFF == 0 {
                blocks = 0
            }
            bits |= blocks &<< ((quarter & 1) &* 2 &+ (quarter &>> 1) &* 8)
        }
        return UInt16(truncatingIfNeeded: bits)
    }

    private mutating func storeModes() {
        let row = width &* 4
        let to = tables.intraModes + (y &* 4 &* row &+ x &* 4)
        if kind == .intra4x4 || kind == .intra8x8 {
            let modes = finalCandidate.modes
            for i in 0..<4 { to.store(i &* row, modes.load(i &* 4, as: UInt32.self)) }
        } else {
            // With constrained intra prediction, inter macroblocks count as not available for intra prediction.
            let value: UInt32 = !kind.isIntra && constrainedIntra ? 0xFFFF_FFFF : 0x0202_0202
            for i in 0..<4 { to.store(i &* row, value) }
        }
    }

    private mutating func storeMotion() {
        let row = width &* 2
        let origin = y &* 2 &* row &+ x &* 2
        if hasBipredictiveSlices {
            storeMotionOfLists(origin)
            return
        }
        if kind == .skip || kind == .inter16x16 || kind.isIntra {
            storeWholeMotion(origin, row)
            return
        }
        for i in 0..<4 {
            let index = MotionCache.quadrant(i)
            let at = origin &+ (i &>> 1) &* row &+ (i & 1)
            let reference = referenceCache[index]
            tables.motion[at] = motionCache[index]
            tables.reference[at] = reference
            tables.referencePicture[at] = reference < 0 ? -1 : referenceIdentities[Int(reference)]
            stillBlocks[at] = reference == 0 && motionCache[index].isStill ? 1 : 0
        }
    }

    /// Stores motion that is the same in all four 8×8 blocks.
    @inline(__always) private mutating func storeWholeMotion(_ origin: Int, _ row: Int) {
        let reference = referenceCache[MotionCache.first]
        let motion = motionCache[MotionCache.first]
        let picture = reference < 0 ? -1 : referenceIdentities[Int(reference)]
        let isStill: UInt8 = reference == 0 && motion.isStill ? 1 : 0
        for y in 0..<2 {
            let at = origin &+ y &* row
            tables.motion.store(at, SIMD4(motion.x, motion.y, motion.x, motion.y))
            tables.reference.store(at, SIMD2(repeating: reference))
            tables.referencePicture.store(at, SIMD2(repeating: picture))
            stillBlocks.store(at, SIMD2(repeating: isStill))
        }
    }

    private mutating func storeMotionOfLists(_ origin: Int) {
        let row = width &* 2
        for i in 0..<4 {
            let index = MotionCache.quadrant(i)
            let block = origin &+ (i &>> 1) &* row &+ (i & 1)
            var colocated: Int8 = -1
            stillBlocks[block] = 0
            for list in 0..<2 {
                let at = block &+ tables.blocks &* list
                var reference: Int8 = -1
                var motion = MotionVector.zero
                if list == 0 || sliceType == .b {
                    reference = (referenceCaches + H264Scratch.motionCacheCount &* list)[index]
                    motion = (motionCaches + H264Scratch.motionCacheCount &* list)[index]
                }
                tables.motion[at] = motion
                tables.reference[at] = reference
                tables.referencePicture[at] =
                    reference < 0 ? -1 : referenceIdentities[Self.listLength &* list &+ Int(reference)]
                if reference >= 0 && colocated < 0 {
                    colocated = reference
                    stillBlocks[block] = reference == 0 && motion.isStill ? 1 : 0
                }
            }
        }
    }

    /// Computes the reference indices and vector differences by 8×8 block. All blocks of a partition have the same
    /// values.
    mutating func predictMotion(differences: ElementPointer<MotionVector>, indices: ElementPointer<Int8>) {
        let final = motionCache + MotionSearch.candidates
        for i in 0..<4 {
            final[i] = motionCache[MotionCache.quadrant(i)]
            indices[i] = referenceCache[MotionCache.quadrant(i)]
            referenceCache[MotionCache.quadrant(i)] = -2
        }
        // A prediction may use only the partitions before it, so the partitions are set one at a time.
        switch kind {
        case .inter16x16:
            let prediction = predict16x16(Int(indices[0]))
            put(0, blocks: 15, prediction: prediction, differences: differences, indices: indices)
        case .inter16x8:
            for i in 0..<2 {
                let prediction = predict16x8(i, Int(indices[2 &* i]))
                put(
                    2 &* i, blocks: i == 0 ? 0b0011 : 0b1100, prediction: prediction, differences: differences,
                    indices: indices)
            }
        case .inter8x16:
            for i in 0..<2 {
                let prediction = predict8x16(i, Int(indices[i]))
                put(
                    i, blocks: i == 0 ? 0b0101 : 0b1010, prediction: prediction, differences: differences,
                    indices: indices)
            }
        default:
            for i in 0..<4 {
                let prediction = predict8x8(i, Int(indices[i]))
                put(i, blocks: 1 &<< i, prediction: prediction, differences: differences, indices: indices)
            }
        }
    }

    @inline(__always) private mutating func put(
        _ block: Int, blocks: Int, prediction: MotionVector, differences: ElementPointer<MotionVector>,
        indices: ElementPointer<Int8>
    ) {
        let motion = motionCache[MotionSearch.candidates &+ block]
        let difference = motion - prediction
        for i in 0..<4 where blocks &>> i & 1 != 0 { differences[i] = difference }
        setMotion(blocks, motion, reference: Int(indices[block]))
    }
}
