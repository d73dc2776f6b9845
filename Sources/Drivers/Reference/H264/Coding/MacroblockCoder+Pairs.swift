// Bi-prediction: prediction from one picture of each list, and the search for such pairs of vectors.

/// The references and vectors of a partition.
struct PairMotion {
    /// The reference indices in list 0 and list 1, or −1 if a list is not used.
    var references = SIMD2<Int>(-1, -1)
    /// The vectors of list 0 (`first`) and list 1 (`second`), zero if the list is not used.
    var first = MotionVector.zero
    var second = MotionVector.zero
}

/// Motion with its cost: distortion plus bits weighted with λ.
struct PairChoice {
    var motion = PairMotion()
    var cost = H264MotionChoice.unusable
}

extension H264Partition {
    static let whole = H264Partition(x: 0, y: 0, width: 16, height: 16)

    @inline(__always) static func quarter(_ index: Int) -> H264Partition {
        H264Partition(x: (index & 1) &* 8, y: (index &>> 1) &* 8, width: 8, height: 8)
    }

    /// Returns one of the two 16×8 partitions, or of the two 8×16 partitions if `upright` is true.
    @inline(__always) static func half(_ index: Int, upright: Bool) -> H264Partition {
        upright
            ? H264Partition(x: index &* 8, y: 0, width: 8, height: 16)
            : H264Partition(x: 0, y: index &* 8, width: 16, height: 8)
    }

    /// The bits of the partition's 8×8 blocks.
    @inline(__always) var blocks: Int {
        if width == 16 { return height == 16 ? 0b1111 : (y == 0 ? 0b0011 : 0b1100) }
        if height == 16 { return x == 0 ? 0b0101 : 0b1010 }
        return 1 &<< (x / 8 &+ y / 4)
    }

    /// The number of the partition among those of its shape, and the index of its first 8×8 block.
    @inline(__always) var index: Int { width == 16 ? y / 8 : (height == 16 ? x / 8 : x / 8 &+ y / 4) }
    @inline(__always) var block: Int { x / 8 &+ y / 4 }
}

extension MacroblockCoder {
    /// Predicts a partition into `inter`.
    mutating func predict(_ partition: H264Partition, _ motion: PairMotion, chroma withChroma: Bool) {
        let stride = H264Scratch.workStride
        let luma = inter.luma + (partition.y &* stride &+ partition.x)
        let chroma = (partition.y / 2) &* stride &+ partition.x / 2
        let second = pairs
        let (secondCb, secondCr) = (pairs + H264Scratch.pairBytes, pairs + (H264Scratch.pairBytes &+ 8))
        for list in 0..<2 where motion.references[list] >= 0 {
            let planes = referencesOfLists[Self.listLength &* list &+ motion.references[list]]
            let at = position(list == 0 ? motion.first : motion.second, partition)
            let isSecond = list == 1 && motion.references[0] >= 0
            MotionCompensation.luma(
                planes, stride: self.stride, x: at.x, y: at.y, width: partition.width, height: partition.height,
                to: isSecond ? second : luma, stride)
            if isSecond {
                BlockAverage.mix(
                    luma, second, to: luma, stride, width: partition.width, height: partition.height)
            }
            if !withChroma { continue }
            MotionCompensation.chroma(
                planes, stride: self.stride, x: at.x, y: at.y, width: partition.width / 2,
                height: partition.height / 2, toCb: isSecond ? secondCb : inter.cb + chroma,
                cr: isSecond ? secondCr : inter.cr + chroma, stride)
            if isSecond {
                BlockAverage.mixChroma(
                    inter.cb + chroma, secondCb, to: inter.cb + chroma, stride, count: partition.width / 2,
                    height: partition.height / 2)
                BlockAverage.mixChroma(
                    inter.cr + chroma, secondCr, to: inter.cr + chroma, stride, count: partition.width / 2,
                    height: partition.height / 2)
            }
        }
    }

    /// Returns the position in the picture that a vector points to, in quarter samples. A vector that points beyond the
    /// planes is clamped, because the samples there are constant in the outward direction.
    @inline(__always) mutating func position(_ motion: MotionVector, _ partition: H264Partition) -> (x: Int, y: Int) {
        let outside = MotionSearch.reach &+ 1
        let motionX = min(max(Int(motion.x), 4 &* (-16 &* x &- outside)), 4 &* (16 &* (width &- 1 &- x) &+ outside))
        let motionY = min(max(Int(motion.y), 4 &* (-16 &* y &- outside)), 4 &* (16 &* (height &- 1 &- y) &+ outside))
        return ((x &* 16 &+ partition.x) &* 4 &+ motionX, (y &* 16 &+ partition.y) &* 4 &+ motionY)
    }

    /// Returns the motion in the caches of the partition whose first 8×8 block is `block`.
    @inline(__always) mutating func cachedMotion(_ block: Int) -> PairMotion {
        let index = MotionCache.quadrant(block)
        let other = H264Scratch.motionCacheCount &+ index
        return PairMotion(
            references: SIMD2(Int(referenceCaches[index]), Int(referenceCaches[other])),
            first: motionCaches[index], second: motionCaches[other])
    }

    mutating func setMotion(_ blocks: Int, _ motion: PairMotion) {
        select(1)
        setMotion(blocks, motion.second, reference: motion.references[1])
        select(0)
        setMotion(blocks, motion.first, reference: motion.references[0])
    }

    /// Returns mvpLX of the selected list.
    @inline(__always) mutating func predictor(_ partition: H264Partition, _ reference: Int) -> MotionVector {
        if partition.width == 16 {
            return partition.height == 16
                ? predict16x16(reference) : predict16x8(partition.index, reference)
        }
        return partition.height == 16
            ? predict8x16(partition.index, reference) : predict8x8(partition.index, reference)
    }

    /// Returns the distortion by the measure that the refinement of vectors uses: SATD or SAD.
    @inline(__always) mutating func distortion(_ samples: ElementPointer<UInt8>, _ partition: H264Partition) -> Int {
        let original = sourceLuma + (partition.y &* H264Scratch.sourceStride &+ partition.x)
        let stride = H264Scratch.workStride
        if preset.hadamard {
            return H264BlockCost.satd(original, samples, stride, width: partition.width, height: partition.height)
        }
        return H264BlockCost.sad(original, samples, stride, width: partition.width, height: partition.height)
    }

    // MARK: Search

    /// Returns the best vector into each list for a partition. The costs include the bits of vector and reference
    /// index.
    mutating func searchLists(_ partition: H264Partition, hints: InlineArray<2, H264MotionChoice>)
        -> InlineArray<2, H264MotionChoice>
    {
        var found = hints
        let isWhole = partition.width == 16 && partition.height == 16
        for list in 0..<2 {
            select(list)
            var best = H264MotionChoice()
            for reference in 0..<min(referenceCount, preset.references) {
                if !isWhole && reference != hints[list].reference && !preset.partitionReferences { continue }
                var count = 0
                @inline(__always) func add(_ motion: MotionVector) {
                    motionCache[MotionSearch.candidates &+ count] = motion
                    count &+= 1
                }
                if isWhole {
                    if referenceCache[MotionCache.left] >= 0 { add(motionCache[MotionCache.left]) }
                    if referenceCache[MotionCache.above] >= 0 { add(motionCache[MotionCache.above]) }
                    if referenceCache[MotionCache.aboveRight] >= 0 { add(motionCache[MotionCache.aboveRight]) }
                    add(.zero)
                    if reference > 0 { add(best.motion) }
                    // An object that moves uniformly has the opposite vector in a later picture.
                    if list == 1 && found[0].isUsable {
                        add(MotionVector(-Int(found[0].motion.x), -Int(found[0].motion.y)))
                    }
                } else {
                    add(hints[list].motion)
                }
                var choice = search(
                    partition, reference: reference, predictor: predictor(partition, reference), candidates: count)
                choice.cost &+= referenceCost(reference)
                if choice.cost < best.cost { best = choice }
            }
            found[list] = best
        }
        select(0)
        return found
    }

    /// Returns the cheapest of list 0, list 1 and both for a partition. `bits` are the bits of its type with one list
    /// and with two lists.
    mutating func choosePair(
        _ partition: H264Partition, _ found: InlineArray<2, H264MotionChoice>, bits: (one: Int, both: Int)
    ) -> PairChoice {
        var best = PairChoice()
        for list in 0..<2 where found[list].isUsable {
            let cost = found[list].cost &+ lambda &* bits.one
            if cost >= best.cost { continue }
            best.cost = cost
            best.motion = PairMotion()
            best.motion.references[list] = found[list].reference
            if list == 0 { best.motion.first = found[0].motion } else { best.motion.second = found[1].motion }
        }
        guard found[0].isUsable && found[1].isUsable else { return best }
        let both = refinePair(partition, found, limit: best.cost &- lambda &* bits.both)
        if both.cost &+ lambda &* bits.both < best.cost {
            best = both
            best.cost &+= lambda &* bits.both
        }
        return best
    }

    /// Refines the vectors of the two lists in turn until the averaged prediction improves no further, or the preset's
    /// number of rounds is reached.
    private mutating func refinePair(
        _ partition: H264Partition, _ found: InlineArray<2, H264MotionChoice>, limit: Int
    ) -> PairChoice {
        var motions = [found[0].motion, found[1].motion] as InlineArray<2, MotionVector>
        var predictors = motions
        var fixedCost = 0
        let blocks =
            [pairs + H264Scratch.pairBytes, pairs + 2 &* H264Scratch.pairBytes] as InlineArray<2, ElementPointer<UInt8>>
        for list in 0..<2 {
            select(list)
            predictors[list] = predictor(partition, found[list].reference)
            fixedCost &+= referenceCost(found[list].reference)
            fetch(partition, found[list].reference, motions[list], to: blocks[list])
        }
        let mean = pairs
        let stride = H264Scratch.workStride
        let (w, h) = (partition.width, partition.height)
        var bits = [0, 0] as InlineArray<2, Int>
        for list in 0..<2 {
            bits[list] = motionCost(Int(motions[list].x), Int(motions[list].y), predictors[list])
        }
        BlockAverage.mix(blocks[0], blocks[1], to: mean, stride, width: w, height: h)
        var best = distortion(mean, partition) &+ bits[0] &+ bits[1] &+ fixedCost
        // If the pair is much worse than one list alone, refinement is useless.
        let rounds = best > limit &+ limit &>> 2 ? 0 : preset.pairRounds
        let trialBlock = pairs + 3 &* H264Scratch.pairBytes
        var idle = 0
        for turn in 0..<2 &* rounds {
            if idle == 2 { break }
            let list = turn & 1
            select(list)
            let reference = found[list].reference
            let range = searchRange(partition, reference: reference)
            let center = motions[list]
            for i in 0..<8 {
                // The four sides come first, then the four corners.
                let (dx, dy) = i < 4 ? MotionSearch.diamond(i) : (i & 1 &* 2 &- 1, i & 2 &- 1)
                if i >= 4 && preset.pairRounds < 3 { break }
                let (toX, toY) = (Int(center.x) &+ dx, Int(center.y) &+ dy)
                if !range.contains(toX, toY) { continue }
                let cost = motionCost(toX, toY, predictors[list])
                let others = cost &+ bits[1 &- list] &+ fixedCost
                if others >= best { continue }
                fetch(partition, reference, MotionVector(toX, toY), to: trialBlock)
                BlockAverage.mix(blocks[1 &- list], trialBlock, to: mean, stride, width: w, height: h)
                let sum = distortion(mean, partition) &+ others
                if sum < best {
                    best = sum
                    motions[list] = MotionVector(toX, toY)
                    bits[list] = cost
                }
            }
            if motions[list] == center {
                idle &+= 1
            } else {
                idle = 0
                fetch(partition, reference, motions[list], to: blocks[list])
            }
        }
        select(0)
        return PairChoice(
            motion: PairMotion(
                references: SIMD2(found[0].reference, found[1].reference), first: motions[0], second: motions[1]),
            cost: best)
    }

    /// Predicts the luma of a partition from the selected list.
    @inline(__always) private mutating func fetch(
        _ partition: H264Partition, _ reference: Int, _ motion: MotionVector, to block: ElementPointer<UInt8>
    ) {
        MotionCompensation.luma(
            references[reference], stride: stride, x: (x &* 16 &+ partition.x) &* 4 &+ Int(motion.x),
            y: (y &* 16 &+ partition.y) &* 4 &+ Int(motion.y), width: partition.width, height: partition.height,
            to: block, H264Scratch.workStride)
    }
}
