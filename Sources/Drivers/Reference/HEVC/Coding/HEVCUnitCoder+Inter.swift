// Inter units: prediction blocks, their motion and its syntax.

extension HEVCPart {
    func block(_ unit: HEVCCodingUnit) -> HEVCMotionBlock {
        HEVCMotionBlock(
            x: x, y: y, width: width, height: height, index: index, partition: unit.partition, unitX: Int(unit.x),
            unitY: Int(unit.y), unitSize: 1 &<< Int(unit.log2Size))
    }
}

extension HEVCMotion {
    /// Creates motion with one list.
    init(_ vector: MotionVector, list: Int, reference: Int) {
        self.init()
        set(vector, list: list, reference: reference)
    }

    mutating func set(_ vector: MotionVector, list: Int, reference: Int) {
        if list == 0 {
            vector0 = vector
            reference0 = Int8(truncatingIfNeeded: reference)
        } else {
            vector1 = vector
            reference1 = Int8(truncatingIfNeeded: reference)
        }
    }
}

extension HEVCUnitCoder {
    @inline(__always) func planes(_ list: Int, _ reference: Int) -> HEVCPlanes<Sample> {
        references[list &* HEVCMotionReferences.perList &+ reference]
    }

    /// Predicts a part of the unit at (unitX, unitY), at the part's position in `target`.
    func predict(
        _ part: HEVCPart, _ motion: HEVCMotion, unitX: Int, unitY: Int, to target: HEVCBlockPlanes<Sample>,
        isLumaAlone: Bool = false
    ) {
        let (left, top) = (part.x &- unitX, part.y &- unitY)
        let luma = target.luma + (top &* target.stride &+ left)
        if !copyTrial(part, motion, to: luma, target.stride) { predictLuma(part, motion, to: luma, target.stride) }
        if isLumaAlone { return }
        let offset = (top >> 1) &* target.chromaStride &+ left >> 1
        predictChroma(part, motion, isCb: true, to: target.cb + offset, target.chromaStride)
        predictChroma(part, motion, isCb: false, to: target.cr + offset, target.chromaStride)
    }

    @inline(never) func predictLuma(_ part: HEVCPart, _ motion: HEVCMotion, to target: ElementPointer<Sample>, _ stride: Int) {
        let first = wide
        let second = wide + HEVCInterpolation<Sample>.count
        let temporary = wide + 2 &* HEVCInterpolation<Sample>.count
        let (width, height) = (part.width, part.height)
        if motion.usesBoth {
            HEVCInterpolation.luma(
                planes(0, Int(motion.reference0)), x: part.x, y: part.y, motion.vector0, width: width, height: height,
                scratch: temporary, to: first)
            HEVCInterpolation.luma(
                planes(1, Int(motion.reference1)), x: part.x, y: part.y, motion.vector1, width: width, height: height,
                scratch: temporary, to: second)
            HEVCInterPrediction.both(first, second, width: width, height: height, to: target, stride: stride)
            return
        }
        let list = motion.reference0 >= 0 ? 0 : 1
        let vector = motion.vector(list)
        let from = planes(list, motion.reference(list))
        if (vector.x | vector.y) & 3 == 0 {
            let offset = HEVCInterpolation.lumaOffset(from, part.x, part.y, vector)
            HEVCBlock.copy(from.luma + offset, from.stride, width: width, height: height, to: target, stride)
            return
        }
        HEVCInterpolation.lumaSamples(
            from, x: part.x, y: part.y, vector, width: width, height: height, wide: wide, to: target, stride)
    }

    @inline(never) private func predictChroma(
        _ part: HEVCPart, _ motion: HEVCMotion, isCb: Bool, to target: ElementPointer<Sample>, _ stride: Int
    ) {
        let first = wide
        let second = wide + HEVCInterpolation<Sample>.count
        let temporary = wide + 2 &* HEVCInterpolation<Sample>.count
        let (width, height) = (part.width >> 1, part.height >> 1)
        func interpolate(_ list: Int, _ block: ElementPointer<Int16>) {
            let from = planes(list, motion.reference(list))
            HEVCInterpolation.chroma(
                isCb ? from.cb : from.cr, from, x: part.x >> 1, y: part.y >> 1, motion.vector(list), width: width,
                height: height, scratch: temporary, to: block)
        }
        if motion.usesBoth {
            interpolate(0, first)
            interpolate(1, second)
            HEVCInterPrediction.both(first, second, width: width, height: height, to: target, stride: stride)
        } else {
            let list = motion.reference0 >= 0 ? 0 : 1
            let from = planes(list, motion.reference(list))
            HEVCInterpolation.chromaSamples(
                isCb ? from.cb : from.cr, from, x: part.x >> 1, y: part.y >> 1, motion.vector(list), width: width,
                height: height, wide: wide, to: target, stride)
        }
    }

    /// Returns a prediction unit for motion that is not merged, with the differences from its predictors. With
    /// mvd_l1_zero_flag, the list 1 vector of a bi-predicted block must equal one of its predictors.
    func difference(_ motion: HEVCMotion, _ block: HEVCMotionBlock, _ around: HEVCMotionNeighbors)
        -> HEVCPredictionUnit
    {
        var prediction = HEVCPredictionUnit()
        prediction.motion = motion
        if motion.reference0 >= 0 {
            let pair = motionPredictor.predictors(block, around, list: 0, reference: Int(motion.reference0))
            (prediction.difference0, prediction.predictor0) = difference(motion.vector0, pair)
        }
        if motion.reference1 >= 0 {
            let pair = motionPredictor.predictors(block, around, list: 1, reference: Int(motion.reference1))
            (prediction.difference1, prediction.predictor1) = difference(motion.vector1, pair)
        }
        return prediction
    }

    @inline(__always) private func difference(
        _ vector: MotionVector, _ pair: (MotionVector, MotionVector)
    ) -> (MotionVector, UInt8) {
        let first = MotionVector(x: vector.x &- pair.0.x, y: vector.y &- pair.0.y)
        let second = MotionVector(x: vector.x &- pair.1.x, y: vector.y &- pair.1.y)
        func size(_ v: MotionVector) -> Int { abs(Int(v.x)) &+ abs(Int(v.y)) }
        return size(second) < size(first) ? (second, 1) : (first, 0)
    }

    /// Returns the cost of a prediction unit in 1/32768 bits.
    func predictionBits(_ prediction: HEVCPredictionUnit, _ unit: HEVCCodingUnit) -> Int {
        var count = counter
        count.codeMergeFlag(prediction.mergeIndex >= 0)
        if prediction.mergeIndex >= 0 {
            count.codeMergeIndex(Int(prediction.mergeIndex), count: slice.mergeCandidates)
            return count.cost
        }
        let motion = prediction.motion
        if type == .b {
            count.codeDirection(
                uses0: motion.reference0 >= 0, uses1: motion.reference1 >= 0,
                depth: grid.log2CodingTreeBlock &- Int(unit.log2Size),
                hasBoth: unit.log2Size > 3 || unit.partition == .part2Nx2N)
        }
        if motion.reference0 >= 0 {
            count.codeReference(Int(motion.reference0), count: referenceCounts.x)
            count.codeDifference(prediction.difference0)
            count.codePredictor(Int(prediction.predictor0))
        }
        if motion.reference1 >= 0 {
            count.codeReference(Int(motion.reference1), count: referenceCounts.y)
            if !(mvd_l1_zero_flag && motion.reference0 >= 0) { count.codeDifference(prediction.difference1) }
            count.codePredictor(Int(prediction.predictor1))
        }
        return count.cost
    }

    /// Returns the cost of a unit's syntax before its prediction units, in 1/32768 bits.
    func interHeaderBits(_ unit: HEVCCodingUnit) -> Int {
        var count = counter
        let isSkipped = unit.mode == .skip
        count.codeSkip(isSkipped, increment: skipIncrement(Int(unit.x), Int(unit.y)))
        if !isSkipped {
            count.codeMode(isIntra: false)
            count.codeInterPartition(
                unit.partition, log2Size: Int(unit.log2Size), isSmallest: Int(unit.log2Size) == grid.log2MinCodingBlock,
                amp_enabled_flag: amp_enabled_flag)
        }
        return count.cost
    }

    // MARK: Decisions of a chooser

    mutating func codeChosenInter(
        _ x: Int, _ y: Int, log2Size: Int, isSkipped: Bool, _ chooser: any HEVCChooser
    ) {
        var unit = newUnit(x, y, log2Size: log2Size, mode: isSkipped ? .skip : .inter)
        if !isSkipped {
            var partitions = [HEVCPartition.part2Nx2N, .part2NxN, .partNx2N]
            if log2Size > grid.log2MinCodingBlock {
                if amp_enabled_flag { partitions += [.part2NxnU, .part2NxnD, .partnLx2N, .partnRx2N] }
            } else if log2Size > 3 {
                partitions.append(.partNxN)
            }
            unit.partition = partitions[chooser.choose(.partition, partitions.count)]
        }
        let first = predictionCount
        predictionCount &+= unit.partition.count
        for index in 0..<unit.partition.count {
            let part = HEVCPart(unit, index)
            let block = part.block(unit)
            var prediction = HEVCPredictionUnit()
            if isSkipped || chooser.choose(.merges, 3) == 0 {
                let merged = chooser.choose(.mergeIndex, slice.mergeCandidates)
                motionPredictor.merge(block, into: candidates, last: merged)
                prediction.mergeIndex = Int8(truncatingIfNeeded: merged)
                prediction.motion = candidates[merged]
            } else {
                prediction = chosenMotion(part, block, chooser)
            }
            predictions[first &+ index] = prediction
            commitMotion(part, prediction, isIntra: false)
            predict(part, prediction.motion, unitX: x, unitY: y, to: predictedBlock)
        }
        var coded = HEVCCoded()
        if !isSkipped && chooser.choose(.rootFlag, 3) > 0 {
            coded = codeTransformTree(transformTask(unit, predictedBlock))
        }
        unit.hasTransformTree = coded.hasLevels
        if !coded.hasLevels {
            put(predictedBlock, x, y, log2Size: log2Size)
            // A merged 2N×2N unit without levels must be coded as skipped.
            if unit.partition == .part2Nx2N && predictions[first].mergeIndex >= 0 { unit.mode = .skip }
            nodeCount = Int(unit.firstNode)
        }
        commit(unit, hasLevels: coded.hasLevels)
    }

    private func chosenMotion(
        _ part: HEVCPart, _ block: HEVCMotionBlock, _ chooser: any HEVCChooser
    ) -> HEVCPredictionUnit {
        let around = motionPredictor.availability.neighbors(block)
        var direction = 0
        if type == .b { direction = chooser.choose(.direction, part.width &+ part.height == 12 ? 2 : 3) }
        var motion = HEVCMotion()
        for list in 0..<2 where direction == list || direction == 2 {
            let reference = chooser.choose(.reference, list == 0 ? referenceCounts.x : referenceCounts.y)
            let pair = motionPredictor.predictors(block, around, list: list, reference: reference)
            var vector = chooser.choose(.predictor, 2) == 0 ? pair.0 : pair.1
            if !(mvd_l1_zero_flag && direction == 2 && list == 1) {
                let reach = [1, 4, 64, 2000, 65536][chooser.choose(.vector, 5)]
                vector = MotionVector(
                    x: vector.x &+ Int16(truncatingIfNeeded: chooser.choose(.vector, reach) &- reach / 2),
                    y: vector.y &+ Int16(truncatingIfNeeded: chooser.choose(.vector, reach) &- reach / 2))
            }
            motion.set(vector, list: list, reference: reference)
        }
        return difference(motion, block, around)
    }
}
