// Chooses intra modes: an estimate by Hadamard coefficients first, then error and bits of the best modes.

/// A list of the modes with the lowest costs, sorted by cost.
struct HEVCShortList: BitwiseCopyable {
    private var costs = SIMD8<Int32>(repeating: .max)
    private var modes = SIMD8<UInt8>(repeating: 0)
    private(set) var count = 0
    let limit: Int

    init(limit: Int) { self.limit = min(limit, 8) }

    /// The lowest cost.
    var least: Int { Int(costs[0]) }

    subscript(_ index: Int) -> Int { Int(modes[index]) }

    mutating func add(_ mode: Int, _ cost: Int) {
        let value = Int32(clamping: cost)
        var position = count
        while position > 0 && costs[position &- 1] > value { position &-= 1 }
        if position >= limit { return }
        if count < limit { count &+= 1 }
        var i = count &- 1
        while i > position {
            costs[i] = costs[i &- 1]
            modes[i] = modes[i &- 1]
            i &-= 1
        }
        costs[position] = value
        modes[position] = UInt8(truncatingIfNeeded: mode)
    }

    func contains(_ mode: Int) -> Bool {
        for i in 0..<count where Int(modes[i]) == mode { return true }
        return false
    }
}

extension HEVCUnitCoder {
    /// Returns the luma modes with the lowest estimated costs. `right` is the column of the block's right edge. For a
    /// 64×64 block the caller passes the first 32×32 block.
    mutating func likelyModes(_ x: Int, _ y: Int, log2Size: Int, right: Int, limit: Int) -> HEVCShortList {
        let probable = probableModes(x, y)
        var list = HEVCShortList(limit: limit)
        var tried: UInt64 = 0
        let allowed = allowedModes(right)
        loadIntraReferences(.luma, x, y, log2Size: log2Size)
        func tryMode(_ coder: inout HEVCUnitCoder, _ mode: Int) -> Int {
            let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: mode)
            if tried & bit != 0 || allowed & bit == 0 { return Int.max }
            tried |= bit
            let cost = coder.modeCost(x, y, log2Size: log2Size, mode: mode, probable)
            list.add(mode, cost)
            return cost
        }
        _ = tryMode(&self, 0)
        _ = tryMode(&self, 1)
        if preset.quickIntra && type != .i {
            _ = tryMode(&self, likelyAngle(x, y, log2Size: log2Size, probable, allowed: allowed))
            return list
        }
        let step = preset.allIntraModes ? 1 : 4
        var best = 26
        var least = Int.max
        var mode = 2
        while mode <= 34 {
            let cost = tryMode(&self, mode)
            if cost < least { (least, best) = (cost, mode) }
            mode &+= step
        }
        if step > 1 {
            for distance in [2, 1] {
                let center = best
                for mode in [center &- distance, center &+ distance] where mode >= 2 && mode <= 34 {
                    let cost = tryMode(&self, mode)
                    if cost < least { (least, best) = (cost, mode) }
                }
            }
            for mode in [probable.first, probable.second, probable.third, 10, 26] { _ = tryMode(&self, mode) }
        }
        return list
    }

    /// Returns the angular mode with the lowest estimated cost by plain differences: among every eighth mode, modes
    /// close to the best one, and the probable modes. Modes that are not `allowed` are left out.
    private func likelyAngle(
        _ x: Int, _ y: Int, log2Size: Int, _ probable: HEVCProbableModes, allowed: UInt64
    ) -> Int {
        let size = 1 &<< log2Size
        let original = source.luma + (y &* source.stride &+ x)
        let block = predictedBlock
        var rest = allowed
        var best = HEVCIntraMode.vertical
        var least = Int.max
        func tryMode(_ mode: Int) {
            let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: mode)
            if mode < 2 || mode > 34 || rest & bit == 0 { return }
            rest ^= bit
            intraReferences.predict(mode: mode, log2Size: log2Size, isLuma: true, to: block.luma, block.stride)
            let difference = HEVCBlockCost.sad(
                original, source.stride, block.luma, block.stride, width: size, height: size)
            let cost = difference &<< 8 &+ (modeBits(intraPrediction(mode, probable)) &* lambda) &>> 15
            if cost < least { (least, best) = (cost, mode) }
        }
        var mode = 2
        while mode <= 34 {
            tryMode(mode)
            mode &+= 8
        }
        var distance = 4
        while distance > 0 {
            let center = best
            tryMode(center &- distance)
            tryMode(center &+ distance)
            distance /= 2
        }
        tryMode(probable.first)
        tryMode(probable.second)
        return best
    }

    /// Returns the modes that a block may use, one bit for each mode. `right` is the luma column of the block's right
    /// edge. If the edge is the limit of the refreshed area, the samples above and to the right may not be refreshed.
    /// The other modes than DC, horizontal and vertical read these samples, and are not allowed.
    private func allowedModes(_ right: Int) -> UInt64 {
        let isEdge =
            isGuarded && !refresh.isRows && right == refresh.renewed &<< grid.log2CodingTreeBlock && right < width
        return isEdge ? 1 << 1 | 1 << 10 | 1 << 26 : UInt64.max
    }

    private mutating func modeCost(
        _ x: Int, _ y: Int, log2Size: Int, mode: Int, _ probable: HEVCProbableModes
    ) -> Int {
        let block = predictedBlock
        intraReferences.predict(mode: mode, log2Size: log2Size, isLuma: true, to: block.luma, block.stride)
        let difference = HEVCBlockCost.satd(
            source.luma + (y &* source.stride &+ x), source.stride, block.luma, block.stride, width: 1 &<< log2Size,
            height: 1 &<< log2Size)
        return (difference &<< 8) &+ (modeBits(intraPrediction(mode, probable)) &* lambda) &>> 15
    }

    /// Codes a unit as intra with the cheapest modes, at the end of the tree. The modes of a 64×64 block are chosen by
    /// its first 32×32 block.
    ///
    /// - Parameter limit: the maximum estimated cost of a part's luma (Hadamard coefficients and bits).
    /// - Returns: nil if the best mode of a part costs more than `limit`.
    mutating func codeIntra(
        _ x: Int, _ y: Int, log2Size: Int, partition: HEVCPartition, limit: Int = .max
    ) -> (HEVCCodingUnit, HEVCCoded)? {
        var unit = newUnit(x, y, log2Size: log2Size, mode: .intra)
        unit.partition = partition
        markIntra(unit)
        let first = predictionCount
        predictionCount &+= partition.count
        let start = nodeCount
        var bits = intraHeaderBits(unit)
        for index in 0..<partition.count {
            let part = HEVCPart(unit, index)
            let probable = probableModes(part.x, part.y)
            let size = log2Size &- (partition == .partNxN ? 1 : 0)
            let list = likelyModes(
                part.x, part.y, log2Size: min(size, 5), right: part.x &+ part.width, limit: max(preset.intraModes, 1))
            if list.least > limit { return nil }
            var best = intraPrediction(list[0], probable)
            if list.count > 1 || partition == .partNxN {
                var least = Int.max
                for position in 0..<list.count {
                    let prediction = intraPrediction(list[position], probable)
                    let cost = codeLuma(unit, index, part, log2Size: size, prediction) &+ weighed(modeBits(prediction))
                    if cost < least { (least, best) = (cost, prediction) }
                }
            }
            predictions[first &+ index] = best
            bits &+= modeBits(best)
            if partition == .partNxN {
                commitMotion(part, best, isIntra: true)
                // The next part predicts from this part's reconstruction.
                if index < 3 { _ = codeLuma(unit, index, part, log2Size: size, best) }
            }
        }
        nodeCount = start
        unit.chromaMode = UInt8(truncatingIfNeeded: likelyChromaMode(unit))
        var count = counter
        count.codeChromaMode(Int(unit.chromaMode))
        var coded = codeTransformTree(transformTask(unit, predictedBlock))
        coded.cost &+= weighed(bits &+ count.cost)
        return (unit, coded)
    }

    /// Codes a part's luma with a mode and returns its cost.
    private mutating func codeLuma(
        _ unit: HEVCCodingUnit, _ index: Int, _ part: HEVCPart, log2Size: Int, _ prediction: HEVCPredictionUnit
    ) -> Int {
        completeSnapshot()
        predictions[Int(unit.firstPrediction) &+ index] = prediction
        var task = transformTask(unit, predictedBlock)
        task.isLumaAlone = true
        let start = nodeCount
        let isSplit = unit.partition == .partNxN
        let coded = codeNode(task, part.x, part.y, log2Size: log2Size, depth: isSplit ? 1 : 0, part: index)
        nodeCount = start
        return coded.cost
    }

    /// Returns the intra_chroma_pred_mode with the lowest estimated cost (Hadamard coefficients and bits).
    private mutating func likelyChromaMode(_ unit: HEVCCodingUnit) -> Int {
        if preset.quickIntra && type != .i && !isGuarded { return 4 }
        let log2Size = min(Int(unit.log2Size) &- 1, 5)
        let (x, y) = (Int(unit.x) >> 1, Int(unit.y) >> 1)
        let luma = Int(predictions[Int(unit.firstPrediction)].intraMode)
        let block = predictedBlock
        var best = 4
        var costs = SIMD8<Int>(repeating: 0)
        for component in [HEVCComponent.cb, .cr] {
            let original = (component == .cb ? source.cb : source.cr) + (y &* source.chromaStride &+ x)
            loadIntraReferences(component, x, y, log2Size: log2Size)
            for choice in 0..<5 {
                intraReferences.predict(
                    mode: HEVCChromaMode.mode(choice, luma: luma), log2Size: log2Size, isLuma: false, to: block.cb,
                    block.chromaStride)
                costs[choice] &+=
                    HEVCBlockCost.satd(
                        original, source.chromaStride, block.cb, block.chromaStride, width: 1 &<< log2Size,
                        height: 1 &<< log2Size) &<< 8
            }
        }
        var least = Int.max
        let allowed = allowedModes(Int(unit.x) &+ 1 &<< Int(unit.log2Size))
        for choice in 0..<5 {
            let mode = UInt64(truncatingIfNeeded: HEVCChromaMode.mode(choice, luma: luma))
            if allowed &>> mode & 1 == 0 { continue }
            var count = counter
            count.codeChromaMode(choice)
            let cost = costs[choice] &+ (count.cost &* lambda) &>> 15
            if cost < least { (least, best) = (cost, choice) }
        }
        return best
    }
}
