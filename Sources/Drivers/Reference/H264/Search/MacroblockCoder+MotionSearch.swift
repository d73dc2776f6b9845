// Motion search for one partition: whole samples first, then half and quarter samples.

/// A vector and its cost: distortion plus bits weighted with λ.
struct H264MotionChoice {
    var motion = MotionVector.zero
    var reference = 0
    var cost = H264MotionChoice.unusable
    /// The cost of a choice that must not be used. The sum of several such costs does not overflow.
    static let unusable = Int.max / 16

    var isUsable: Bool { cost < Self.unusable }
}

/// The permitted range of vectors in whole samples. Refinement to quarter samples may go less than one sample further.
struct SearchRange {
    let minX: Int
    let maxX: Int
    let minY: Int
    let maxY: Int

    /// Returns whether a vector in quarter samples is in the range.
    @inline(__always) func contains(_ quarterX: Int, _ quarterY: Int) -> Bool {
        quarterX >= minX &* 4 &- 3 && quarterX <= maxX &* 4 &+ 3 && quarterY >= minY &* 4 &- 3
            && quarterY <= maxY &* 4 &+ 3
    }
}

/// A partition of the macroblock: position and size in luma samples.
struct H264Partition {
    let x: Int
    let y: Int
    let width: Int
    let height: Int
}

extension MacroblockCoder {
    /// Returns the bits of ref_idx, weighted with λ.
    @inline(__always) mutating func referenceCost(_ reference: Int) -> Int {
        if referenceCount == 1 { return 0 }
        if referenceCount == 2 { return lambda }
        return lambda &* (2 &* (Int.bitWidth &- 1 &- (reference &+ 1).leadingZeroBitCount) &+ 1)
    }

    @inline(__always) mutating func motionCost(_ motionX: Int, _ motionY: Int, _ predictor: MotionVector) -> Int {
        let dx = motionX &- Int(predictor.x)
        let dy = motionY &- Int(predictor.y)
        let bits = Int(motionBits[dx < 0 ? 0 &- dx : dx]) &+ Int(motionBits[dy < 0 ? 0 &- dy : dy])
        return (lambda &* bits) &>> 4
    }

    @inline(__always) mutating func searchRange(_ partition: H264Partition, reference: Int) -> SearchRange {
        let range = SearchRange(
            minX: max(-16 &* x &- MotionSearch.reach, -MotionSearch.horizontalRange),
            maxX: min(16 &* (width &- 1 &- x) &+ MotionSearch.reach, MotionSearch.horizontalRange),
            minY: max(-16 &* y &- MotionSearch.reach, 1 &- verticalRange / 4),
            maxY: min(16 &* (height &- 1 &- y) &+ MotionSearch.reach, verticalRange / 4 &- 2))
        return isGuarded ? guarded(range, partition, reference) : range
    }

    /// Limits the range to samples that intra refresh permits. The interpolation filter reads three samples beyond the
    /// block.
    @inline(never) private mutating func guarded(_ range: SearchRange, _ partition: H264Partition, _ reference: Int)
        -> SearchRange
    {
        let limit = Int(cleanLimits[Self.listLength &* list &+ reference]) &- 3
        return SearchRange(
            minX: range.minX, maxX: refresh.isRows ? range.maxX : min(range.maxX, limit &- 16 &* x &- partition.x &- partition.width),
            minY: range.minY, maxY: refresh.isRows ? min(range.maxY, limit &- 16 &* y &- partition.y &- partition.height) : range.maxY)
    }

    /// Returns whether intra refresh permits this vector into a picture of the selected list.
    @inline(__always) mutating func mayUse(_ motion: MotionVector, reference: Int) -> Bool {
        if !isGuarded { return true }
        let range = searchRange(.whole, reference: reference)
        return Int(motion.x) &>> 2 <= range.maxX && Int(motion.y) &>> 2 <= range.maxY
    }

    /// Searches `partition` in a reference picture. The search starts from `predictor` and from the first `candidates`
    /// vectors in `motionCache` at index `MotionSearch.candidates`. The returned cost includes the bits of the vector
    /// but not those of the reference index.
    mutating func search(
        _ partition: H264Partition, reference: Int, predictor: MotionVector, candidates: Int
    ) -> H264MotionChoice {
        let planes = references[reference]
        let original = sourceLuma + (partition.y &* H264Scratch.sourceStride &+ partition.x)
        let width = partition.width
        let height = partition.height
        let range = searchRange(partition, reference: reference)
        let (minX, maxX, minY, maxY) = (range.minX, range.maxX, range.minY, range.maxY)
        if isGuarded && (maxX < minX || maxY < minY) { return H264MotionChoice() }
        let origin = planes.luma + ((y &* 16 &+ partition.y) &* stride &+ x &* 16 &+ partition.x)
        let stride = self.stride

        var bestX = min(max((Int(predictor.x) &+ 2) &>> 2, minX), maxX)
        var bestY = min(max((Int(predictor.y) &+ 2) &>> 2, minY), maxY)
        var best = Int.max
        /// Returns the cost of a vector, or a cost of at least `best` if it is not lower.
        @inline(__always) func at(_ candidateX: Int, _ candidateY: Int) -> Int {
            let bits = motionCost(candidateX &* 4, candidateY &* 4, predictor)
            if bits >= best { return bits }
            return bits
                &+ H264BlockCost.sad(
                    original, origin + (candidateY &* stride &+ candidateX), stride, width: width, height: height)
        }
        best = at(bestX, bestY)
        let (firstX, firstY) = (bestX, bestY)
        for i in 0..<candidates {
            let candidate = motionCache[MotionSearch.candidates &+ i]
            let candidateX = min(max((Int(candidate.x) &+ 2) &>> 2, minX), maxX)
            let candidateY = min(max((Int(candidate.y) &+ 2) &>> 2, minY), maxY)
            if candidateX == bestX && candidateY == bestY || candidateX == firstX && candidateY == firstY { continue }
            let cost = at(candidateX, candidateY)
            if cost < best {
                best = cost
                bestX = candidateX
                bestY = candidateY
            }
        }
        // Search with a large hexagon, two samples per step.
        var round = 0
        while round < preset.hexagons {
            round &+= 1
            let (centerX, centerY) = (bestX, bestY)
            if centerX &- 2 < minX || centerX &+ 2 > maxX || centerY &- 2 < minY || centerY &+ 2 > maxY { break }
            for i in 0..<6 {
                let offset = MotionSearch.hexagon(i)
                let cost = at(centerX &+ offset.x, centerY &+ offset.y)
                if cost < best {
                    best = cost
                    bestX = centerX &+ offset.x
                    bestY = centerY &+ offset.y
                }
            }
            if bestX == centerX && bestY == centerY { break }
        }
        round = 0
        var cameFrom = -1
        while round < preset.diamonds {
            round &+= 1
            let (centerX, centerY) = (bestX, bestY)
            if centerX <= minX || centerX >= maxX || centerY <= minY || centerY >= maxY { break }
            var direction = -1
            for i in 0..<4 where i != cameFrom {
                let offset = MotionSearch.diamond(i)
                let cost = at(centerX &+ offset.x, centerY &+ offset.y)
                if cost < best {
                    best = cost
                    bestX = centerX &+ offset.x
                    bestY = centerY &+ offset.y
                    direction = i
                }
            }
            if direction < 0 { break }
            cameFrom = direction ^ 1
        }
        return refine(
            partition, planes, original, predictor: predictor, startX: bestX &* 4, startY: bestY &* 4,
            minX: minX &* 4 &- 3, maxX: maxX &* 4 &+ 3, minY: minY &* 4 &- 3, maxY: maxY &* 4 &+ 3,
            wholeCost: best, reference: reference)
    }

    /// Returns the cost of the samples at a quarter-sample vector, without the bits of the vector.
    @inline(__always) private mutating func fractionalCost(
        _ partition: H264Partition, planes: ReferencePlanes, original: ElementPointer<UInt8>, motionX: Int,
        motionY: Int
    ) -> Int {
        let source = MotionCompensation.LumaPlanes(
            planes, stride: stride, x: (x &* 16 &+ partition.x) &* 4 &+ motionX,
            y: (y &* 16 &+ partition.y) &* 4 &+ motionY)
        var samples = source.first
        var samplesStride = stride
        if source.averaged {
            if !preset.hadamard && partition.width == 16 {
                return H264BlockCost.sad16(
                    original, average: source.first, source.second, stride, height: partition.height)
            }
            samples = trial
            samplesStride = H264Scratch.workStride
            MotionCompensation.average(
                source, stride: stride, destination: samples, destinationStride: samplesStride, width: partition.width,
                height: partition.height)
        }
        if preset.hadamard {
            return H264BlockCost.satd(
                original, samples, samplesStride, width: partition.width, height: partition.height)
        }
        return H264BlockCost.sad(original, samples, samplesStride, width: partition.width, height: partition.height)
    }

    @inline(__always) private mutating func refine(
        _ partition: H264Partition, _ planes: ReferencePlanes, _ original: ElementPointer<UInt8>,
        predictor: MotionVector,
        startX: Int, startY: Int, minX: Int, maxX: Int, minY: Int, maxY: Int, wholeCost: Int, reference: Int
    ) -> H264MotionChoice {
        var bestX = startX
        var bestY = startY
        var best = wholeCost
        if preset.hadamard {
            best =
                fractionalCost(partition, planes: planes, original: original, motionX: bestX, motionY: bestY)
                &+ motionCost(bestX, bestY, predictor)
        }
        // The predicted vector is tried too, because its difference costs almost no bits.
        let predictedX = Int(predictor.x)
        let predictedY = Int(predictor.y)
        if (predictedX | predictedY) & 3 != 0 && predictedX >= minX && predictedX <= maxX && predictedY >= minY
            && predictedY <= maxY
        {
            let cost =
                fractionalCost(partition, planes: planes, original: original, motionX: predictedX, motionY: predictedY)
                &+ motionCost(predictedX, predictedY, predictor)
            if cost < best {
                best = cost
                bestX = predictedX
                bestY = predictedY
            }
        }
        var step = 2
        while step > 0 {
            var rounds = step == 2 ? preset.halfSteps : preset.quarterSteps
            var cameFrom = -1
            while rounds > 0 {
                rounds &-= 1
                let (centerX, centerY) = (bestX, bestY)
                if centerX &- step < minX || centerX &+ step > maxX || centerY &- step < minY
                    || centerY &+ step > maxY
                {
                    break
                }
                var direction = -1
                for i in 0..<4 where i != cameFrom {
                    let offset = MotionSearch.diamond(i)
                    let candidateX = centerX &+ offset.x &* step
                    let candidateY = centerY &+ offset.y &* step
                    let bits = motionCost(candidateX, candidateY, predictor)
                    if bits >= best { continue }
                    let cost =
                        fractionalCost(
                            partition, planes: planes, original: original, motionX: candidateX, motionY: candidateY)
                        &+ bits
                    if cost < best {
                        best = cost
                        bestX = candidateX
                        bestY = candidateY
                        direction = i
                    }
                }
                if direction < 0 { break }
                cameFrom = direction ^ 1
            }
            step &>>= 1
        }
        return H264MotionChoice(motion: MotionVector(bestX, bestY), reference: reference, cost: best)
    }
}

/// Constants of the search in macroblocks.
extension MotionSearch {
    /// The number of whole samples that a macroblock may be outside the picture. It is one less than the margins of the
    /// planes permit, because refinement goes up to one sample further.
    static let reach = 23
    static let horizontalRange = 2040
    /// The index in `motionCache` of the candidates for the search.
    static let candidates = 16
    /// The index in `motionCache` and `referenceCache` of temporary vector differences and reference indices.
    static let differences = 32
}
