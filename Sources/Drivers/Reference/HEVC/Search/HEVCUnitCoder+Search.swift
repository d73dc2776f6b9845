// The coding quadtree.

extension HEVCUnitCoder {
    /// Codes the node of the coding quadtree at (x, y) in the best way that is found, into the tree and the tables.
    ///
    /// - Returns: its cost; `limit` or more where it came to more than that, and then what was coded is of no use.
    mutating func decide(_ x: Int, _ y: Int, log2Size: Int, limit: Int) -> Int {
        let size = 1 &<< log2Size
        beginGroup(x, y, log2Size: log2Size)
        let smallest = grid.log2MinCodingBlock
        if x &+ size > width || y &+ size > height {
            // What is cut off is not coded, and the split is not said, unless only the smallest fit.
            return decideQuarters(x, y, log2Size: log2Size, limit: limit)
        }
        let maySplit = log2Size > smallest && log2Size > preset.smallestUnit
        let mayStand = log2Size <= preset.largestUnit || log2Size == smallest
        var splitBits = (false: 0, true: 0)
        if log2Size > smallest {
            let increment = splitIncrement(x, y, log2Size: log2Size)
            var count = counter
            count.codeSplit(false, increment: increment)
            splitBits.false = count.cost
            count = counter
            count.codeSplit(true, increment: increment)
            splitBits.true = count.cost
        }
        let start = place
        var cost = Int.max
        var standsAlone = false
        if mayStand || !maySplit {
            standsAlone = codeUnit(x, y, log2Size: log2Size, since: start)
            cost = scratch.keptUnits.elements[BestUnitCache.unit(log2Size)].cost &+ weighed(splitBits.false)
        }
        if maySplit && !standsAlone {
            go(to: start)
            let bits = weighed(splitBits.true)
            let split = decideQuarters(x, y, log2Size: log2Size, limit: min(limit, cost) &- bits) &+ bits
            if split < cost { return split }
        }
        let kept = restore(log2Size: log2Size, to: start)
        commit(kept.unit, hasLevels: kept.hasLevels)
        return cost
    }

    private mutating func decideQuarters(_ x: Int, _ y: Int, log2Size: Int, limit: Int) -> Int {
        let half = 1 &<< (log2Size &- 1)
        var cost = 0
        for quarter in 0..<4 {
            let (left, top) = (x &+ (quarter & 1) &* half, y &+ (quarter >> 1) &* half)
            if left >= width || top >= height { continue }
            cost &+= decide(left, top, log2Size: log2Size &- 1, limit: limit &- cost)
            if cost >= limit { return limit }
        }
        return cost
    }

    /// Codes a unit in the best way that is found, and keeps it in its slot.
    ///
    /// - Returns: smaller units need not be tried.
    private mutating func codeUnit(_ x: Int, _ y: Int, log2Size: Int, since start: HEVCTreePlace) -> Bool {
        scratch.keptUnits.elements[BestUnitCache.unit(log2Size)].cost = Int.max
        motionEstimate = Int.max
        if type != .i && !mustBeIntra {
            if codeInter(x, y, log2Size: log2Size, since: start) { return true }
        }
        // What needs no levels is hardly better without motion.
        let inter = scratch.keptUnits.elements[BestUnitCache.unit(log2Size)]
        if inter.cost == Int.max || inter.hasLevels || preset.triesAllIntra {
            tryIntra(x, y, log2Size: log2Size, since: start)
        }
        return false
    }

    /// Keeps the unit coded last where it is the best so far.
    @inline(__always) mutating func keepIfBest(
        _ unit: HEVCCodingUnit, _ coded: HEVCCoded, since start: HEVCTreePlace
    ) -> Bool {
        let isBest = coded.cost < scratch.keptUnits.elements[BestUnitCache.unit(Int(unit.log2Size))].cost
        if isBest { keep(unit, coded, since: start) }
        go(to: start)
        return isBest
    }

    private mutating func tryIntra(_ x: Int, _ y: Int, log2Size: Int, since start: HEVCTreePlace) {
        var limit = Int.max
        if preset.comparesIntra && motionEstimate < Int.max {
            // Modes of 64×64 are looked at by their first quarter alone.
            if log2Size > 5 { return }
            limit = motionEstimate &* 5 / 4
        }
        guard let (whole, coded) = codeIntra(x, y, log2Size: log2Size, partition: .part2Nx2N, limit: limit) else {
            go(to: start)
            return
        }
        _ = keepIfBest(whole, coded, since: start)
        if log2Size == grid.log2MinCodingBlock && log2Size > grid.log2MinTransformBlock && log2Size == 3
            && preset.intraQuarters && coded.hasLevels,
            let (quarters, coded) = codeIntra(x, y, log2Size: log2Size, partition: .partNxN)
        {
            _ = keepIfBest(quarters, coded, since: start)
        }
    }
}
