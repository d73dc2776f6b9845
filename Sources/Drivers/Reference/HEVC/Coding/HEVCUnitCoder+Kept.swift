/// Places for what was coded best, by the size of its block.
enum BestUnitCache {
    static func unit(_ log2Size: Int) -> Int { log2Size &- 3 }
    /// Transform blocks of 4×4 are never kept.
    static func transform(_ log2Size: Int) -> Int { 4 &+ log2Size &- 3 }
}

extension HEVCUnitCoder {
    private func kept(_ slot: Int) -> HEVCBlockPlanes<Sample> {
        HEVCBlockPlanes(scratch.keptSamples.elements + slot &* HEVCScratch<Sample>.samples)
    }

    /// Copies a block of all planes away.
    func keepSamples(_ x: Int, _ y: Int, log2Size: Int, slot: Int) {
        let size = 1 &<< log2Size
        let place = kept(slot)
        let chroma = (y >> 1) &* planes.chromaStride &+ x >> 1
        HEVCBlock.copy(
            planes.luma + (y &* planes.stride &+ x), planes.stride, width: size, height: size, to: place.luma,
            place.stride)
        HEVCBlock.copy(
            planes.cb + chroma, planes.chromaStride, width: size / 2, height: size / 2, to: place.cb, place.chromaStride
        )
        HEVCBlock.copy(
            planes.cr + chroma, planes.chromaStride, width: size / 2, height: size / 2, to: place.cr, place.chromaStride
        )
    }

    func restoreSamples(_ x: Int, _ y: Int, log2Size: Int, slot: Int) {
        put(kept(slot), x, y, log2Size: log2Size)
    }

    /// Copies a block of all planes into the picture.
    func put(_ place: HEVCBlockPlanes<Sample>, _ x: Int, _ y: Int, log2Size: Int) {
        let size = 1 &<< log2Size
        let chroma = (y >> 1) &* planes.chromaStride &+ x >> 1
        HEVCBlock.copy(
            place.luma, place.stride, width: size, height: size, to: planes.luma + (y &* planes.stride &+ x),
            planes.stride)
        HEVCBlock.copy(
            place.cb, place.chromaStride, width: size / 2, height: size / 2, to: planes.cb + chroma, planes.chromaStride
        )
        HEVCBlock.copy(
            place.cr, place.chromaStride, width: size / 2, height: size / 2, to: planes.cr + chroma, planes.chromaStride
        )
    }

    /// A block's levels are all that stands at its place in z-order.
    func keepLevels(_ x: Int, _ y: Int, log2Size: Int, slot: Int) {
        let place = scratch.keptLevels.elements + slot &* HEVCLevels.count
        copyLevels(x, y, log2Size: log2Size) { elements, first, count, offset in
            (place + offset).copy(from: elements + first, count: count)
        }
    }

    func restoreLevels(_ x: Int, _ y: Int, log2Size: Int, slot: Int) {
        let place = scratch.keptLevels.elements + slot &* HEVCLevels.count
        copyLevels(x, y, log2Size: log2Size) { elements, first, count, offset in
            (elements + first).copy(from: place + offset, count: count)
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

    /// Keeps the unit that was coded last, before it is committed, with what stands of it in the tree from `place` on.
    mutating func keep(_ unit: HEVCCodingUnit, _ coded: HEVCCoded, since place: HEVCTreePlace) {
        let log2Size = Int(unit.log2Size)
        let slot = BestUnitCache.unit(log2Size)
        var kept = HEVCKeptUnit()
        kept.unit = unit
        kept.nodeCount = nodeCount &- place.nodes
        kept.predictionCount = predictionCount &- place.predictions
        kept.hasLevels = coded.hasLevels
        kept.cost = coded.cost
        scratch.keptUnits.elements[slot] = kept
        (scratch.keptPredictions.elements + 4 &* slot).copy(
            from: predictions + place.predictions, count: kept.predictionCount)
        (scratch.keptNodes.elements + HEVCCodingTree.nodeLimit &* slot).copy(
            from: nodes + place.nodes, count: kept.nodeCount)
        keepSamples(Int(unit.x), Int(unit.y), log2Size: log2Size, slot: slot)
        if coded.hasLevels { keepLevels(Int(unit.x), Int(unit.y), log2Size: log2Size, slot: slot) }
    }

    /// Puts the kept unit of a size back to `place`.
    mutating func restore(log2Size: Int, to place: HEVCTreePlace) -> HEVCKeptUnit {
        go(to: place)
        let slot = BestUnitCache.unit(log2Size)
        let kept = scratch.keptUnits.elements[slot]
        (predictions + place.predictions).copy(
            from: scratch.keptPredictions.elements + 4 &* slot, count: kept.predictionCount)
        (nodes + place.nodes).copy(
            from: scratch.keptNodes.elements + HEVCCodingTree.nodeLimit &* slot, count: kept.nodeCount)
        predictionCount = place.predictions &+ kept.predictionCount
        nodeCount = place.nodes &+ kept.nodeCount
        let (x, y) = (Int(kept.unit.x), Int(kept.unit.y))
        restoreSamples(x, y, log2Size: log2Size, slot: slot)
        if kept.hasLevels { restoreLevels(x, y, log2Size: log2Size, slot: slot) }
        return kept
    }
}
