// Adds coded units to the tree and to the tables.

/// A position in the tree, and the state that depends on the units before it.
struct HEVCTreePosition: BitwiseCopyable {
    let units: Int
    let predictions: Int
    let nodes: Int
    let group: HEVCQuantizationGroup
}

extension HEVCUnitCoder {
    @inline(__always) var treePosition: HEVCTreePosition {
        HEVCTreePosition(units: unitCount, predictions: predictionCount, nodes: nodeCount, group: group)
    }

    /// Removes all units after `position`.
    @inline(__always) mutating func rewind(to position: HEVCTreePosition) {
        unitCount = position.units
        predictionCount = position.predictions
        nodeCount = position.nodes
        set(position.group)
    }

    @inline(__always) mutating func set(_ group: HEVCQuantizationGroup) {
        let changesTarget = group.target != self.group.target
        self.group = group
        if changesTarget { setQP(group.target) }
    }

    /// Returns a unit whose prediction units and nodes begin at the end of the tree's.
    @inline(__always) func newUnit(_ x: Int, _ y: Int, log2Size: Int, mode: HEVCPredictionMode) -> HEVCCodingUnit {
        var unit = HEVCCodingUnit()
        unit.x = Int32(truncatingIfNeeded: x)
        unit.y = Int32(truncatingIfNeeded: y)
        unit.log2Size = UInt8(truncatingIfNeeded: log2Size)
        unit.mode = mode
        unit.firstPrediction = UInt16(truncatingIfNeeded: predictionCount)
        unit.firstNode = UInt16(truncatingIfNeeded: nodeCount)
        return unit
    }

    /// Appends a coded unit to the tree and stores its properties in the tables. Its prediction units and nodes are in
    /// the tree already.
    mutating func commit(_ coded: HEVCCodingUnit, hasLevels: Bool) {
        var unit = coded
        setQP(of: &unit, hasLevels: hasLevels)
        units[unitCount] = unit
        unitCount &+= 1
        let x = Int(unit.x)
        let y = Int(unit.y)
        let log2Size = Int(unit.log2Size)
        let smallest = grid.log2MinCodingBlock
        let count = 1 &<< (log2Size &- smallest)
        for row in 0..<count {
            let first = ((y >> smallest) &+ row) &* minimumColumns &+ x >> smallest
            for index in first..<first &+ count {
                tables.mode[index] = unit.mode
                tables.log2Size[index] = unit.log2Size
                tables.qp[index] = unit.qp
            }
        }
        commitPredictions(unit)
        commitEdges(unit, hasLevels: hasLevels)
    }

    private mutating func commitPredictions(_ unit: HEVCCodingUnit) {
        let first = Int(unit.firstPrediction)
        for index in 0..<unit.partition.count {
            let part = HEVCPart(unit, index)
            let prediction = predictions[first &+ index]
            commitMotion(part, prediction, isIntra: unit.mode == .intra)
        }
    }

    /// Stores the properties of a prediction unit that later units, and later parts of the same unit, use.
    mutating func commitMotion(_ part: HEVCPart, _ prediction: HEVCPredictionUnit, isIntra: Bool) {
        let columns = part.width >> 2
        for row in 0..<part.height >> 2 {
            let first = ((part.y >> 2) &+ row) &* blockColumns &+ part.x >> 2
            for block in first..<first &+ columns {
                tables.motion[block] = isIntra ? HEVCMotion() : prediction.motion
                tables.intraMode[block] = isIntra ? prediction.intraMode : 1
            }
        }
    }

    private mutating func commitEdges(_ unit: HEVCCodingUnit, hasLevels: Bool) {
        let x = Int(unit.x) >> 2
        let y = Int(unit.y) >> 2
        let size = 1 &<< (Int(unit.log2Size) &- 2)
        let edges = tables.edges
        for row in 0..<size { (edges + ((y &+ row) &* blockColumns &+ x)).fill(0, count: size) }
        mark(
            x, y, size, size, left: HEVCEdges.transformLeft | HEVCEdges.predictionLeft,
            top: HEVCEdges.transformTop | HEVCEdges.predictionTop)
        if unit.mode != .intra {
            for index in 1..<max(1, unit.partition.count) {
                let part = HEVCPart(unit, index)
                mark(
                    part.x >> 2, part.y >> 2, part.width >> 2, part.height >> 2,
                    left: HEVCEdges.predictionLeft, top: HEVCEdges.predictionTop)
            }
        }
        if hasLevels || unit.mode == .intra {
            var node = Int(unit.firstNode)
            markNodes(&node, x, y, size)
        }
    }

    private func markNodes(_ node: inout Int, _ x: Int, _ y: Int, _ size: Int) {
        let entry = nodes[node]
        node &+= 1
        if entry.isSplit {
            let half = size >> 1
            markNodes(&node, x, y, half)
            markNodes(&node, x &+ half, y, half)
            markNodes(&node, x, y &+ half, half)
            markNodes(&node, x &+ half, y &+ half, half)
            return
        }
        mark(x, y, size, size, left: HEVCEdges.transformLeft, top: HEVCEdges.transformTop)
        guard entry.luma else { return }
        for row in 0..<size {
            let first = (y &+ row) &* blockColumns &+ x
            for block in first..<first &+ size { tables.edges[block] |= HEVCEdges.coded }
        }
    }

    /// Marks the left and upper border of a rectangle of 4×4 blocks.
    @inline(__always) private func mark(
        _ x: Int, _ y: Int, _ columns: Int, _ rows: Int, left: UInt8, top: UInt8
    ) {
        let first = y &* blockColumns &+ x
        for column in 0..<columns { tables.edges[first &+ column] |= top }
        for row in 0..<rows { tables.edges[first &+ row &* blockColumns] |= left }
    }
}

/// The luma area of a prediction unit, H.265 table 7-10 and 8.5.3.1.
struct HEVCPart: BitwiseCopyable {
    let x: Int
    let y: Int
    let width: Int
    let height: Int
    /// partIdx.
    let index: Int

    init(_ unit: HEVCCodingUnit, _ index: Int) {
        let size = 1 &<< Int(unit.log2Size)
        let half = size >> 1
        let quarter = size >> 2
        let isSecond = index > 0
        var (left, top, width, height) = (0, 0, size, size)
        switch unit.partition {
        case .part2Nx2N: break
        case .part2NxN: (top, height) = (isSecond ? half : 0, half)
        case .partNx2N: (left, width) = (isSecond ? half : 0, half)
        case .partNxN: (left, top, width, height) = (index & 1 > 0 ? half : 0, index > 1 ? half : 0, half, half)
        case .part2NxnU: (top, height) = isSecond ? (quarter, size &- quarter) : (0, quarter)
        case .part2NxnD: (top, height) = isSecond ? (size &- quarter, quarter) : (0, size &- quarter)
        case .partnLx2N: (left, width) = isSecond ? (quarter, size &- quarter) : (0, quarter)
        case .partnRx2N: (left, width) = isSecond ? (size &- quarter, quarter) : (0, size &- quarter)
        }
        x = Int(unit.x) &+ left
        y = Int(unit.y) &+ top
        self.width = width
        self.height = height
        self.index = index
    }
}
