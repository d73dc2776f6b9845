/// A quantization group, H.265 8.6.1.
struct HEVCQuantizationGroup: BitwiseCopyable, Sendable {
    /// qPY_PRED.
    var predicted = 26
    /// QP_Y of the group's units from the first one with levels on.
    var target = 26
    /// IsCuQpDeltaCoded.
    var isCoded = false
    /// QP_Y of the unit coded last: qPY_PREV of the next group.
    var last = 26
}

extension HEVCUnitCoder {
    /// Begins a quantization group at a node of the coding quadtree, if one begins there: the node has the group's size
    /// or is larger.
    @inline(__always) mutating func beginGroup(_ x: Int, _ y: Int, log2Size: Int) {
        if hasQPDelta && log2Size >= log2Group { beginQuantizationGroup(x, y, log2Size: log2Size) }
    }

    @inline(never) private mutating func beginQuantizationGroup(_ x: Int, _ y: Int, log2Size: Int) {
        let mask = grid.codingTreeSize &- 1
        let left = x & mask > 0 ? qpOfUnit(x &- 1, y) : group.last
        let above = y & mask > 0 ? qpOfUnit(x, y &- 1) : group.last
        group.predicted = (left &+ above &+ 1) >> 1
        group.isCoded = false
        guard let areaQPs else { return }
        var sum = 0
        var count = 0
        let size = 1 &<< log2Size
        var row = y >> 4
        while row << 4 < min(y &+ size, height) {
            var column = x >> 4
            while column << 4 < min(x &+ size, width) {
                sum &+= Int(areaQPs[row &* grid.areaColumns &+ column])
                count &+= 1
                column &+= 1
            }
            row &+= 1
        }
        // Rounds to the nearest integer. The term 64 keeps the dividend of negative means positive.
        let target = (2 &* sum &+ count &+ 128 &* count) / (2 &* count) &- 64
        if target != group.target {
            group.target = target
            setQP(target)
        }
    }

    @inline(__always) private func qpOfUnit(_ x: Int, _ y: Int) -> Int {
        Int(tables.qp[(y >> grid.log2MinCodingBlock) &* minimumColumns &+ x >> grid.log2MinCodingBlock])
    }

    /// Sets QP_Y and CuQpDeltaVal of a coded unit, H.265 (8-283).
    @inline(__always) mutating func setQP(of unit: inout HEVCCodingUnit, hasLevels: Bool) {
        if hasLevels && hasQPDelta && !group.isCoded { group.isCoded = true }
        let qp = group.isCoded || !hasQPDelta ? group.target : group.predicted
        unit.qp = Int8(truncatingIfNeeded: qp)
        let range = 52 &+ qpOffset
        var delta = group.target &- group.predicted
        // Wrap the difference into −(26 + QpBdOffset / 2)…25 + QpBdOffset / 2.
        if delta > 25 &+ qpOffset / 2 { delta &-= range }
        if delta < -26 &- qpOffset / 2 { delta &+= range }
        unit.qpDelta = Int8(truncatingIfNeeded: delta)
        group.last = qp
    }
}
