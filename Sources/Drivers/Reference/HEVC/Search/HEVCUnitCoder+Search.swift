// Decides the coding quadtree.

extension HEVCUnitCoder {
    /// Codes the node of the coding quadtree at (x, y) with the cheapest choice, into the tree and the tables.
    ///
    /// - Returns: the node's cost. If it is `limit` or more, the search was stopped and the result must be discarded.
    mutating func decide(_ x: Int, _ y: Int, log2Size: Int, limit: Int) -> Int {
        let size = 1 &<< log2Size
        beginGroup(x, y, log2Size: log2Size)
        let smallest = grid.log2MinCodingBlock
        if x &+ size > width || y &+ size > height {
            // The block crosses the picture's border: the split is inferred, and quarters outside of the picture are
            // not coded.
            return decideQuarters(x, y, log2Size: log2Size, limit: limit)
        }
        let maySplit = log2Size > smallest && log2Size > preset.smallestUnit
        let mayBeUnit = log2Size <= preset.largestUnit || log2Size == smallest
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
        let start = treePosition
        var cost = Int.max
        var needsNoSplit = false
        if mayBeUnit || !maySplit {
            needsNoSplit = codeUnit(x, y, log2Size: log2Size, since: start)
            cost = scratch.unitSnapshots.elements[SnapshotSlot.unit(log2Size)].cost &+ weighed(splitBits.false)
        }
        if maySplit && !needsNoSplit {
            rewind(to: start)
            completeSnapshot()
            let bits = weighed(splitBits.true)
            let split = decideQuarters(x, y, log2Size: log2Size, limit: min(limit, cost) &- bits) &+ bits
            if split < cost { return split }
        }
        let snapshot = restore(log2Size: log2Size, to: start)
        commit(snapshot.unit, hasLevels: snapshot.hasLevels)
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

    /// Codes a unit with the cheapest choice, and stores the result in the unit's slot.
    ///
    /// - Returns: whether smaller units need not be tried.
    private mutating func codeUnit(_ x: Int, _ y: Int, log2Size: Int, since start: HEVCTreePosition) -> Bool {
        scratch.unitSnapshots.elements[SnapshotSlot.unit(log2Size)].cost = Int.max
        motionEstimate = Int.max
        if type != .i && !mustBeIntra {
            if codeInter(x, y, log2Size: log2Size, since: start) { return true }
        }
        // If inter prediction needs no levels, intra prediction is rarely cheaper.
        let inter = scratch.unitSnapshots.elements[SnapshotSlot.unit(log2Size)]
        if preset.stopsWithoutLevels && inter.cost < Int.max && !inter.hasLevels { return true }
        if inter.cost == Int.max || inter.hasLevels || preset.triesAllIntra {
            tryIntra(x, y, log2Size: log2Size, since: start)
        }
        return false
    }

    /// Stores the unit that was coded last in its slot if it is the cheapest so far, and removes it from the tree.
    /// Returns whether it is the cheapest.
    @inline(__always) mutating func snapshotIfBest(
        _ unit: HEVCCodingUnit, _ coded: HEVCCoded, since start: HEVCTreePosition
    ) -> Bool {
        let isBest = coded.cost < scratch.unitSnapshots.elements[SnapshotSlot.unit(Int(unit.log2Size))].cost
        if isBest { snapshot(unit, coded, since: start) }
        rewind(to: start)
        return isBest
    }

    private mutating func tryIntra(_ x: Int, _ y: Int, log2Size: Int, since start: HEVCTreePosition) {
        var limit = Int.max
        if preset.comparesIntra && motionEstimate < Int.max {
            // The estimate of a 64×64 block covers its first quarter only, so it cannot be compared.
            if log2Size > 5 { return }
            limit = motionEstimate &* 5 / 4
        }
        guard let (whole, coded) = codeIntra(x, y, log2Size: log2Size, partition: .part2Nx2N, limit: limit) else {
            rewind(to: start)
            return
        }
        _ = snapshotIfBest(whole, coded, since: start)
        if log2Size == grid.log2MinCodingBlock && log2Size > grid.log2MinTransformBlock && log2Size == 3
            && preset.intraQuarters && coded.hasLevels,
            let (quarters, coded) = codeIntra(x, y, log2Size: log2Size, partition: .partNxN)
        {
            _ = snapshotIfBest(quarters, coded, since: start)
        }
    }
}
