// Chooses how inter units are coded: skipped and merged motion first, then explicit motion.

extension HEVCUnitCoder {
    /// Returns whether a unit may predict its motion while intra refresh is in progress. A decoder that starts with the
    /// current pass lacks the data outside of the refreshed area. There, neither the neighbors' motion nor the
    /// collocated picture's motion may be used.
    private func mayPredictMotion(_ x: Int, _ y: Int, size: Int) -> Bool {
        guard isGuarded else { return true }
        let end = (refresh.isRows ? y : x) &+ size
        if end >= refresh.renewed &<< grid.log2CodingTreeBlock { return refresh.isRows && slice.collocated == nil }
        guard let collocated = slice.collocated else { return true }
        return end < Int(limit(collocated.renewal))
    }

    /// Codes a unit as inter with the cheapest choice, and stores the result in the unit's slot.
    ///
    /// - Returns: whether no other choice needs to be tried.
    mutating func codeInter(_ x: Int, _ y: Int, log2Size: Int, since start: HEVCTreePosition) -> Bool {
        guard mayPredictMotion(x, y, size: 1 &<< log2Size) else { return false }
        if tryMerged(x, y, log2Size: log2Size, since: start) { return true }
        tryPartition(.part2Nx2N, x, y, log2Size: log2Size, since: start)
        guard preset.partitions && log2Size > 3 || preset.asymmetric else { return false }
        let snapshot = scratch.unitSnapshots.elements[SnapshotSlot.unit(log2Size)]
        if !snapshot.hasLevels { return false }
        tryPartition(.part2NxN, x, y, log2Size: log2Size, since: start)
        tryPartition(.partNx2N, x, y, log2Size: log2Size, since: start)
        if preset.asymmetric && amp_enabled_flag && log2Size > grid.log2MinCodingBlock {
            let partition = scratch.unitSnapshots.elements[SnapshotSlot.unit(log2Size)].unit.partition
            if partition == .part2NxN {
                tryPartition(.part2NxnU, x, y, log2Size: log2Size, since: start)
                tryPartition(.part2NxnD, x, y, log2Size: log2Size, since: start)
            } else if partition == .partNx2N {
                tryPartition(.partnLx2N, x, y, log2Size: log2Size, since: start)
                tryPartition(.partnRx2N, x, y, log2Size: log2Size, since: start)
            }
        }
        return false
    }

    /// Tries the merge candidate with the lowest estimated cost, as a skipped unit and with levels. Returns whether no
    /// other choice needs to be tried.
    private mutating func tryMerged(_ x: Int, _ y: Int, log2Size: Int, since start: HEVCTreePosition) -> Bool {
        var unit = newUnit(x, y, log2Size: log2Size, mode: .skip)
        let part = HEVCPart(unit, 0)
        let count = min(preset.mergeCandidates, slice.mergeCandidates)
        let (best, estimate) = bestMerge(part, unit, count: count)
        mergeEstimate = estimate
        guard best >= 0 else { return false }
        var prediction = HEVCPredictionUnit()
        prediction.mergeIndex = Int8(truncatingIfNeeded: best)
        prediction.motion = candidates[best]
        predictions[predictionCount] = prediction
        predictionCount &+= 1
        predict(part, prediction.motion, unitX: x, unitY: y, to: predictedBlock)
        var count2 = counter
        count2.codeMergeIndex(best, count: slice.mergeCandidates)
        let errors = predictionErrors(x, y, log2Size: log2Size)
        let skipCost = errors.wrappedSum() &<< 8 &+ weighed(interHeaderBits(unit) &+ count2.cost)
        // Codes the unit with levels, for comparison.
        unit.mode = .inter
        unit.hasTransformTree = true
        plainErrors = errors
        var coded = codeTransformTree(transformTask(unit, predictedBlock))
        plainErrors = nil
        coded.cost &+= weighed(interHeaderBits(unit) &+ predictionBits(prediction, unit))
        let isSkipped = !coded.hasLevels || skipCost <= coded.cost
        let hadLevels = coded.hasLevels
        if hadLevels || !preset.skipsEarly { estimateMotion(x, y, log2Size: log2Size, found: estimate) }
        if isSkipped {
            unit.mode = .skip
            unit.hasTransformTree = false
            if hadLevels { put(predictedBlock, x, y, log2Size: log2Size) }
            nodeCount = start.nodes
            coded = HEVCCoded(cost: skipCost, hasLevels: false)
        }
        _ = snapshotIfBest(unit, coded, since: start)
        return isSkipped && (!hadLevels || preset.stopsWithoutLevels) && preset.skipsEarly
    }

    /// Returns the index of the merge candidate with the lowest estimated cost, and that cost (differences and bits).
    /// The index is −1 if no candidate may be used.
    private mutating func bestMerge(_ part: HEVCPart, _ unit: HEVCCodingUnit, count: Int) -> (index: Int, cost: Int) {
        motionPredictor.merge(part.block(unit), into: candidates, last: count &- 1)
        var best = -1
        var least = Int.max
        for index in 0..<count {
            let motion = candidates[index]
            var isKnown = false
            for other in 0..<index where candidates[other].equals(motion) { isKnown = true }
            if isKnown || !mayUse(motion, part) { continue }
            var difference: Int
            if motion.usesBoth {
                predictLuma(part, motion, to: trialBlock.luma, trialBlock.stride)
                difference = self.difference(part, trialBlock.luma, trialBlock.stride)
            } else {
                let list = motion.reference0 >= 0 ? 0 : 1
                difference = self.difference(
                    part, list: list, reference: motion.reference(list), motion.vector(list))
            }
            var bits = counter
            bits.codeMergeIndex(index, count: slice.mergeCandidates)
            let cost = difference &<< 8 &+ (bits.cost &* lambda) &>> 15
            if cost < least { (least, best) = (cost, index) }
        }
        return (best, least)
    }

    /// Updates `motionEstimate` with the cost of the prediction in `predictedBlock`. `found` is the cost that the
    /// search computed; it is used if the search already compares Hadamard coefficients.
    private mutating func estimateMotion(_ x: Int, _ y: Int, log2Size: Int, found: Int) {
        guard preset.comparesIntra else { return }
        var cost = found
        if !preset.hadamard {
            let size = 1 &<< log2Size
            cost =
                HEVCBlockCost.satd(
                    source.luma + (y &* source.stride &+ x), source.stride, predictedBlock.luma, predictedBlock.stride,
                    width: size, height: size) &<< 8
        }
        motionEstimate = min(motionEstimate, cost)
    }

    /// Returns the squared errors of the prediction in `predictedBlock`: of luma, Cb and Cr.
    private func predictionErrors(_ x: Int, _ y: Int, log2Size: Int) -> SIMD4<Int> {
        let size = 1 &<< log2Size
        let chroma = (y >> 1) &* source.chromaStride &+ x >> 1
        let block = predictedBlock
        return SIMD4(
            HEVCBlock.squares(
                source.luma + (y &* source.stride &+ x), source.stride, block.luma, block.stride, width: size,
                height: size),
            HEVCBlock.squares(
                source.cb + chroma, source.chromaStride, block.cb, block.chromaStride, width: size / 2, height: size / 2
            ),
            HEVCBlock.squares(
                source.cr + chroma, source.chromaStride, block.cr, block.chromaStride, width: size / 2, height: size / 2
            ), 0)
    }

    /// Tries a unit with one or two parts. Each part has explicit motion, or merged motion if there are two.
    private mutating func tryPartition(
        _ partition: HEVCPartition, _ x: Int, _ y: Int, log2Size: Int, since start: HEVCTreePosition
    ) {
        var unit = newUnit(x, y, log2Size: log2Size, mode: .inter)
        unit.partition = partition
        let first = predictionCount
        predictionCount &+= partition.count
        var bits = interHeaderBits(unit)
        var estimate = 0
        for index in 0..<partition.count {
            let part = HEVCPart(unit, index)
            var (prediction, cost) = searchPart(part, unit)
            if partition != .part2Nx2N {
                let count = min(preset.mergeCandidates, slice.mergeCandidates)
                let (merged, mergedCost) = bestMerge(part, unit, count: count)
                if merged >= 0 && mergedCost < cost {
                    cost = mergedCost
                    prediction = HEVCPredictionUnit()
                    prediction.mergeIndex = Int8(truncatingIfNeeded: merged)
                    prediction.motion = candidates[merged]
                }
            }
            if cost >= Int.max / 4 {
                rewind(to: start)
                return
            }
            if preset.skipsWorseMotion && cost >= mergeEstimate
                || preset.skipsEqualMotion && isMergedMotion(prediction.motion, log2Size: log2Size)
            {
                rewind(to: start)
                return
            }
            estimate &+= cost
            predictions[first &+ index] = prediction
            bits &+= predictionBits(prediction, unit)
            if partition != .part2Nx2N { commitMotion(part, prediction, isIntra: false) }
            predict(part, prediction.motion, unitX: x, unitY: y, to: predictedBlock)
        }
        var coded = codeTransformTree(transformTask(unit, predictedBlock))
        var flag = counter
        flag.codeRootFlag(coded.hasLevels)
        unit.hasTransformTree = coded.hasLevels
        if !coded.hasLevels {
            nodeCount = Int(unit.firstNode)
            coded.cost = predictionErrors(x, y, log2Size: log2Size).wrappedSum() &<< 8
        }
        coded.cost &+= weighed(bits &+ flag.cost)
        _ = snapshotIfBest(unit, coded, since: start)
        // Without levels, no intra unit is compared.
        if preset.triesAllIntra || scratch.unitSnapshots.elements[SnapshotSlot.unit(log2Size)].hasLevels {
            estimateMotion(x, y, log2Size: log2Size, found: estimate)
        }
    }

    /// Returns whether the unit of a size that is the cheapest so far is merged with `motion`.
    private func isMergedMotion(_ motion: HEVCMotion, log2Size: Int) -> Bool {
        let slot = SnapshotSlot.unit(log2Size)
        if scratch.unitSnapshots.elements[slot].cost == Int.max { return false }
        let prediction = scratch.predictionSnapshots.elements[4 &* slot]
        return prediction.mergeIndex >= 0 && prediction.motion.equals(motion)
    }

    /// Searches a part's best explicit motion, from one list or both. Returns the prediction unit and its estimated
    /// cost.
    private mutating func searchPart(_ part: HEVCPart, _ unit: HEVCCodingUnit) -> (HEVCPredictionUnit, Int) {
        let block = part.block(unit)
        let around = motionPredictor.availability.neighbors(block)
        var best = SIMD2<Int>(repeating: Int.max / 4)
        var choices = (HEVCMotionChoice(), HEVCMotionChoice())
        for list in 0..<(type == .b ? 2 : 1) {
            let count = min(preset.references, list == 0 ? referenceCounts.x : referenceCounts.y)
            for reference in 0..<count {
                let pair = motionPredictor.predictors(block, around, list: list, reference: reference)
                let task = motionTask(part, list: list, reference: reference, pair)
                if task.isEmpty { continue }
                var others = HEVCVectorList()
                others.add(.zero)
                let index = list &* HEVCMotionReferences.perList &+ reference
                others.add(latestVectors[index])
                if list == 1, let first = sameInList0(reference) { others.add(latestVectors[first]) }
                var choice = search(task, others)
                latestVectors[index] = choice.vector
                var bits = counter
                bits.codeReference(reference, count: list == 0 ? referenceCounts.x : referenceCounts.y)
                if type == .b {
                    bits.codeDirection(
                        uses0: list == 0, uses1: list == 1, depth: grid.log2CodingTreeBlock &- Int(unit.log2Size),
                        hasBoth: part.width &+ part.height != 12)
                }
                choice.cost &+= (bits.cost &* lambda) &>> 15
                if choice.cost < best[list] {
                    best[list] = choice.cost
                    if list == 0 { choices.0 = choice } else { choices.1 = choice }
                }
            }
        }
        let single = best.y < best.x ? choices.1 : choices.0
        guard single.isUsable else { return (HEVCPredictionUnit(), Int.max / 4) }
        var motion = HEVCMotion(single.vector, list: single.list, reference: single.reference)
        var cost = single.cost
        if type == .b && preset.pairRounds >= 0 && part.width &+ part.height != 12 && choices.0.isUsable
            && choices.1.isUsable
        {
            let (pair, pairCost) = searchPair(
                part, unit: unit, block: block, around: around, first: choices.0, second: choices.1)
            if pairCost < cost { (motion, cost) = (pair, pairCost) }
        }
        return (difference(motion, block, around), cost)
    }

    /// Returns the index in `latestVectors` of the list 0 reference that is the same picture as reference `reference`
    /// of list 1; nil if there is none.
    private func sameInList0(_ reference: Int) -> Int? {
        let poc = slice.list1[reference].poc
        for index in 0..<min(preset.references, referenceCounts.x) where slice.list0[index].poc == poc { return index }
        return nil
    }

    /// Refines the vectors of both lists alternately; one is fixed while the other moves.
    private mutating func searchPair(
        _ part: HEVCPart, unit: HEVCCodingUnit, block: HEVCMotionBlock, around: HEVCMotionNeighbors,
        first: HEVCMotionChoice, second: HEVCMotionChoice
    ) -> (HEVCMotion, Int) {
        var motion = HEVCMotion(first.vector, list: 0, reference: first.reference)
        motion.set(second.vector, list: 1, reference: second.reference)
        let tasks = [first, second].map { choice in
            motionTask(
                part, list: choice.list, reference: choice.reference,
                motionPredictor.predictors(block, around, list: choice.list, reference: choice.reference))
        }
        if mvd_l1_zero_flag { motion.vector1 = tasks[1].predictors.0 }
        if !mayUse(motion, part) { return (motion, Int.max / 4) }
        var bits = counter
        bits.codeDirection(
            uses0: true, uses1: true, depth: grid.log2CodingTreeBlock &- Int(unit.log2Size), hasBoth: true)
        bits.codeReference(first.reference, count: referenceCounts.x)
        bits.codeReference(second.reference, count: referenceCounts.y)
        let fixed = (bits.cost &* lambda) &>> 15
        var cost = Int.max / 4
        var moving = mvd_l1_zero_flag ? 0 : 1
        for round in 0...max(0, preset.pairRounds) {
            var task = tasks[moving]
            let other = tasks[1 &- moving]
            let still = motion.vector(1 &- moving)
            HEVCInterpolation.luma(
                other.planes, x: part.x, y: part.y, still, width: part.width, height: part.height,
                scratch: wide + 2 &* HEVCInterpolation<Sample>.count, to: pairBlock)
            task.pair = pairBlock
            let rest = moving == 0 && mvd_l1_zero_flag ? 0 : vectorCost(Int(still.x), Int(still.y), other)
            let vector = motion.vector(moving)
            var choice = HEVCMotionChoice(vector: vector, list: moving, reference: task.reference)
            if round == 0 && preset.pairRounds == 0 {
                choice.cost =
                    vectorDistortion(task, Int(vector.x), Int(vector.y))
                    &+ vectorCost(Int(vector.x), Int(vector.y), task)
            } else {
                choice = refine(task, Int(vector.x), Int(vector.y), wholeCost: Int.max)
            }
            let total = choice.cost &+ rest &+ fixed
            if total >= cost { break }
            cost = total
            motion.set(choice.vector, list: moving, reference: task.reference)
            if mvd_l1_zero_flag || round &+ 1 >= preset.pairRounds { break }
            moving = 1 &- moving
        }
        return (motion, cost)
    }
}
