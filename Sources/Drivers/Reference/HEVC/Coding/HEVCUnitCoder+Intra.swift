// Intra units: modes and their syntax, H.265 8.4.2.

/// candModeList of H.265 8.4.2.
struct HEVCProbableModes: BitwiseCopyable {
    let first: Int
    let second: Int
    let third: Int

    /// Derives the list from the modes of the left and the upper neighbor, H.265 (8-25) and following.
    init(left: Int, above: Int) {
        if left == above {
            if left < 2 {
                (first, second, third) = (0, 1, 26)
            } else {
                (first, second, third) = (left, 2 &+ (left &+ 29) % 32, 2 &+ (left &- 1) % 32)
            }
        } else {
            (first, second) = (left, above)
            third = left != 0 && above != 0 ? 0 : left != 1 && above != 1 ? 1 : 26
        }
    }

    /// Returns mpm_idx, or −1, and rem_intra_luma_pred_mode of a mode.
    func syntax(_ mode: Int) -> (index: Int, remaining: Int) {
        if mode == first { return (0, 0) }
        if mode == second { return (1, 0) }
        if mode == third { return (2, 0) }
        let below = (first < mode ? 1 : 0) &+ (second < mode ? 1 : 0) &+ (third < mode ? 1 : 0)
        return (-1, mode &- below)
    }
}

extension HEVCUnitCoder {
    /// Returns whether the block at (x, y) is available, H.265 6.4.1. A block in the current coding tree unit must
    /// precede the current block in z-scan order; this is not checked.
    @inline(__always) func isAvailable(_ x: Int, _ y: Int) -> Bool {
        guard x >= 0 && y >= 0 && x < width && y < height else { return false }
        let other = (y >> grid.log2CodingTreeBlock) &* grid.columns &+ x >> grid.log2CodingTreeBlock
        return other == address
            || tables.slice[other] == sliceNumber && tileOfTree[other] == tileOfTree[address]
    }

    /// Loads the neighboring samples of a block; (x, y) is in samples of its plane.
    @inline(__always) func loadIntraReferences(_ component: HEVCComponent, _ x: Int, _ y: Int, log2Size: Int) {
        let isLuma = component == .luma
        let scale = isLuma ? 0 : 1
        let neighbors = HEVCIntraNeighbors(
            x: x &<< scale, y: y &<< scale, size: 1 &<< (log2Size &+ scale), grid, tables, tiles: tileOfTree,
            isConstrained: constrainedIntra && type != .i)
        let stride = isLuma ? planes.stride : planes.chromaStride
        let plane = isLuma ? planes.luma : component == .cb ? planes.cb : planes.cr
        intraReferences.load(
            plane + (y &* stride &+ x), stride: stride, log2Size: log2Size, isLuma: isLuma, neighbors,
            strongSmoothing: strongSmoothing)
    }

    @inline(__always) func predictIntra(
        _ component: HEVCComponent, _ x: Int, _ y: Int, log2Size: Int, mode: Int, to target: ElementPointer<Sample>,
        _ stride: Int
    ) {
        loadIntraReferences(component, x, y, log2Size: log2Size)
        intraReferences.predict(
            mode: mode, log2Size: log2Size, isLuma: component == .luma, to: target, stride)
    }

    /// Marks a unit as intra in the tables before it is coded. Constrained intra prediction reads the modes of units,
    /// including the current one.
    func markIntra(_ unit: HEVCCodingUnit) {
        guard constrainedIntra else { return }
        let smallest = grid.log2MinCodingBlock
        let count = 1 &<< (Int(unit.log2Size) &- smallest)
        for row in 0..<count {
            let first = ((Int(unit.y) >> smallest) &+ row) &* minimumColumns &+ Int(unit.x) >> smallest
            for index in first..<first &+ count { tables.mode[index] = .intra }
        }
    }

    func probableModes(_ x: Int, _ y: Int) -> HEVCProbableModes {
        let block = (y >> 2) &* blockColumns &+ x >> 2
        let left = isAvailable(x &- 1, y) ? Int(tables.intraMode[block &- 1]) : 1
        let above = y & levelMask > 0 ? Int(tables.intraMode[block &- blockColumns]) : 1
        return HEVCProbableModes(left: left, above: above)
    }

    func intraPrediction(_ mode: Int, _ probable: HEVCProbableModes) -> HEVCPredictionUnit {
        let (index, remaining) = probable.syntax(mode)
        var prediction = HEVCPredictionUnit()
        prediction.intraMode = UInt8(truncatingIfNeeded: mode)
        prediction.mpmIndex = Int8(truncatingIfNeeded: index)
        prediction.remainingMode = UInt8(truncatingIfNeeded: remaining)
        return prediction
    }

    /// Returns the cost of a luma mode in 1/32768 bits.
    func modeBits(_ prediction: HEVCPredictionUnit) -> Int {
        var count = counter
        count.codePreviousMode(prediction.mpmIndex >= 0)
        if prediction.mpmIndex >= 0 {
            count.codeMPMIndex(Int(prediction.mpmIndex))
        } else {
            count.codeRemainingMode(Int(prediction.remainingMode))
        }
        return count.cost
    }

    /// Returns the cost of an intra unit's syntax before its modes, in 1/32768 bits.
    func intraHeaderBits(_ unit: HEVCCodingUnit) -> Int {
        var count = counter
        if type != .i {
            count.codeSkip(false, increment: skipIncrement(Int(unit.x), Int(unit.y)))
            count.codeMode(isIntra: true)
        }
        if Int(unit.log2Size) == grid.log2MinCodingBlock { count.codeIntraPartition(unit.partition) }
        return count.cost
    }

    /// Returns the number of neighbors, left and above, that are skipped.
    func skipIncrement(_ x: Int, _ y: Int) -> Int {
        let smallest = grid.log2MinCodingBlock
        let unit = (y >> smallest) &* minimumColumns &+ x >> smallest
        return (isAvailable(x &- 1, y) && tables.mode[unit &- 1] == .skip ? 1 : 0)
            &+ (isAvailable(x, y &- 1) && tables.mode[unit &- minimumColumns] == .skip ? 1 : 0)
    }

    /// Returns the number of neighbors, left and above, that are smaller.
    func splitIncrement(_ x: Int, _ y: Int, log2Size: Int) -> Int {
        let smallest = grid.log2MinCodingBlock
        let unit = (y >> smallest) &* minimumColumns &+ x >> smallest
        return (isAvailable(x &- 1, y) && Int(tables.log2Size[unit &- 1]) < log2Size ? 1 : 0)
            &+ (isAvailable(x, y &- 1) && Int(tables.log2Size[unit &- minimumColumns]) < log2Size ? 1 : 0)
    }
}
