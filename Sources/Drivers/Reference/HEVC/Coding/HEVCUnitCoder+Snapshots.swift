/// The slots for the best results, by the size of the block.
enum SnapshotSlot {
    /// Returns the slot for a coding unit.
    static func unit(_ log2Size: Int) -> Int { log2Size &- 3 }
    /// Returns the slot for a transform block. 4×4 transform blocks are never stored.
    static func transform(_ log2Size: Int) -> Int { 4 &+ log2Size &- 3 }
}

extension HEVCUnitCoder {
    private func snapshot(at slot: Int) -> HEVCBlockPlanes<Sample> {
        HEVCBlockPlanes(scratch.sampleSnapshots.elements + slot &* HEVCScratch<Sample>.samples)
    }

    /// Stores a block of the reconstruction, all planes, in a slot.
    func snapshotSamples(_ x: Int, _ y: Int, log2Size: Int, slot: Int) {
        let size = 1 &<< log2Size
        let block = snapshot(at: slot)
        let chroma = (y >> 1) &* planes.chromaStride &+ x >> 1
        HEVCBlock.copy(
            planes.luma + (y &* planes.stride &+ x), planes.stride, width: size, height: size, to: block.luma,
            block.stride)
        HEVCBlock.copy(
            planes.cb + chroma, planes.chromaStride, width: size / 2, height: size / 2, to: block.cb, block.chromaStride
        )
        HEVCBlock.copy(
            planes.cr + chroma, planes.chromaStride, width: size / 2, height: size / 2, to: block.cr, block.chromaStride
        )
    }

    func restoreSamples(_ x: Int, _ y: Int, log2Size: Int, slot: Int) {
        put(snapshot(at: slot), x, y, log2Size: log2Size)
    }

    /// Copies a block, all planes, into the reconstruction.
    func put(_ block: HEVCBlockPlanes<Sample>, _ x: Int, _ y: Int, log2Size: Int) {
        let size = 1 &<< log2Size
        let chroma = (y >> 1) &* planes.chromaStride &+ x >> 1
        HEVCBlock.copy(
            block.luma, block.stride, width: size, height: size, to: planes.luma + (y &* planes.stride &+ x),
            planes.stride)
        HEVCBlock.copy(
            block.cb, block.chromaStride, width: size / 2, height: size / 2, to: planes.cb + chroma, planes.chromaStride
        )
        HEVCBlock.copy(
            block.cr, block.chromaStride, width: size / 2, height: size / 2, to: planes.cr + chroma, planes.chromaStride
        )
    }

    /// Stores the levels of the block at (x, y), which are contiguous in z-scan order, in a slot.
    func snapshotLevels(_ x: Int, _ y: Int, log2Size: Int, slot: Int) {
        let stored = scratch.levelSnapshots.elements + slot &* HEVCLevels.count
        copyLevels(x, y, log2Size: log2Size) { elements, first, count, offset in
            (stored + offset).copy(from: elements + first, count: count)
        }
    }

    func restoreLevels(_ x: Int, _ y: Int, log2Size: Int, slot: Int) {
        let stored = scratch.levelSnapshots.elements + slot &* HEVCLevels.count
        copyLevels(x, y, log2Size: log2Size) { elements, first, count, offset in
            (elements + first).copy(from: stored + offset, count: count)
        }
    }

    @inline(__always) private func copyLevels(
        _ x: Int, _ y: Int, log2Size: Int, _ copy: (ElementPointer<Int16>, Int, Int, Int) -> Void
    ) {
        let (column, row) = (x & levelMask, y & levelMask)
        let count = 1 &<< (2 &* log2Size)
        copy(levels, HEVCLevels.luma(x: column, y: row), count, 0)
        copy(levels, HEVCLevels.chroma(HEVCLevels.cb, x: column, y: row), count / 4, HEVCLevels.cb)
        copy(levels, HEVCLevels.chroma(HEVCLevels.cr, x: column, y: row), count / 4, HEVCLevels.cr)
    }

    /// Stores the unit that was coded last, before it is committed, with its prediction units and nodes from `start`
    /// on.
    mutating func snapshot(_ unit: HEVCCodingUnit, _ coded: HEVCCoded, since start: HEVCTreePosition) {
        let log2Size = Int(unit.log2Size)
        let slot = SnapshotSlot.unit(log2Size)
        var snapshot = HEVCUnitSnapshot()
        snapshot.unit = unit
        snapshot.nodeCount = nodeCount &- start.nodes
        snapshot.predictionCount = predictionCount &- start.predictions
        snapshot.hasLevels = coded.hasLevels
        snapshot.cost = coded.cost
        scratch.unitSnapshots.elements[slot] = snapshot
        (scratch.predictionSnapshots.elements + 4 &* slot).copy(
            from: predictions + start.predictions, count: snapshot.predictionCount)
        (scratch.nodeSnapshots.elements + HEVCCodingTree.nodeLimit &* slot).copy(
            from: nodes + start.nodes, count: snapshot.nodeCount)
        pendingSize = log2Size
    }

    /// Stores the samples and levels of the unit that was stored last, if they are still in place only. Must be called
    /// before they are overwritten.
    @inline(__always) mutating func completeSnapshot() {
        if pendingSize > 0 { storePending() }
    }

    @inline(never) private mutating func storePending() {
        let slot = SnapshotSlot.unit(pendingSize)
        let snapshot = scratch.unitSnapshots.elements[slot]
        let (x, y) = (Int(snapshot.unit.x), Int(snapshot.unit.y))
        snapshotSamples(x, y, log2Size: pendingSize, slot: slot)
        if snapshot.hasLevels { snapshotLevels(x, y, log2Size: pendingSize, slot: slot) }
        pendingSize = 0
    }

    /// Restores the stored unit of a size at `start` of the tree, and returns it.
    mutating func restore(log2Size: Int, to start: HEVCTreePosition) -> HEVCUnitSnapshot {
        rewind(to: start)
        let slot = SnapshotSlot.unit(log2Size)
        let snapshot = scratch.unitSnapshots.elements[slot]
        (predictions + start.predictions).copy(
            from: scratch.predictionSnapshots.elements + 4 &* slot, count: snapshot.predictionCount)
        (nodes + start.nodes).copy(
            from: scratch.nodeSnapshots.elements + HEVCCodingTree.nodeLimit &* slot, count: snapshot.nodeCount)
        predictionCount = start.predictions &+ snapshot.predictionCount
        nodeCount = start.nodes &+ snapshot.nodeCount
        if pendingSize == log2Size {
            pendingSize = 0
            return snapshot
        }
        let (x, y) = (Int(snapshot.unit.x), Int(snapshot.unit.y))
        restoreSamples(x, y, log2Size: log2Size, slot: slot)
        if snapshot.hasLevels { restoreLevels(x, y, log2Size: log2Size, slot: slot) }
        return snapshot
    }
}
