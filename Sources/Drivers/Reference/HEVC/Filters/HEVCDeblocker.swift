/// The deblocking filter, H.265 8.7.2: all vertical edges of a picture, then all horizontal ones.
struct HEVCDeblocker<Sample: HEVCSample> {
    let bounds: HEVCFilterBounds
    let tables: HEVCPictureTables
    let planes: HEVCPlanes<Sample>
    /// cQpPicOffset: pps_cb_qp_offset and pps_cr_qp_offset.
    let cbOffset: Int
    let crOffset: Int

    private var grid: HEVCGrid { bounds.grid }

    /// Whether any slice is deblocked.
    var isNeeded: Bool { !bounds.slices.allSatisfy(\.slice_deblocking_filter_disabled_flag) }

    /// Filters the edges of one direction in a row of coding tree units. All vertical edges of the picture precede the
    /// horizontal ones. Rows may be filtered at the same time: no sample is written for two rows, and the samples that
    /// a row's horizontal edges read are not written for others.
    func filterRow(_ row: Int, vertical: Bool) {
        for column in 0..<grid.columns { filterTree(column, row, vertical: vertical) }
    }

    /// Filters the edges of one direction in a coding tree unit, including those on its left or upper border.
    private func filterTree(_ column: Int, _ row: Int, vertical: Bool) {
        let address = row * grid.columns + column
        let number = Int(bounds.slice[address])
        let slice = bounds.slices[number]
        if slice.slice_deblocking_filter_disabled_flag { return }
        let blocks = grid.codingTreeSize / 4
        let (left, top) = (column * blocks, row * blocks)
        let (right, bottom) = (min(left + blocks, grid.blockColumns), min(top + blocks, grid.blockRows))
        let before = vertical ? address - 1 : address - grid.columns
        let hasBefore = (vertical ? column : row) > 0 && bounds.deblocks(address, from: before)
        let beforeNumber = hasBefore ? Int(bounds.slice[before]) : number
        let transform = vertical ? HEVCEdges.transformLeft : HEVCEdges.transformTop
        let any = transform | (vertical ? HEVCEdges.predictionLeft : HEVCEdges.predictionTop)
        // Edges lie on the 8×8 grid.
        for y in stride(from: top, to: bottom, by: vertical ? 1 : 2) {
            for x in stride(from: left, to: right, by: vertical ? 2 : 1) {
                let block = y * grid.blockColumns + x
                let edges = tables.edges[block]
                if edges & any == 0 { continue }
                let isBorder = vertical ? x == left : y == top
                if isBorder && !hasBefore { continue }
                let other = vertical ? block - 1 : block - grid.blockColumns
                let p = Side(
                    block: other, unit: unit(vertical ? x - 1 : x, vertical ? y : y - 1),
                    slice: isBorder ? beforeNumber : number)
                let q = Side(block: block, unit: unit(x, y), slice: number)
                let strength = strength(p, q, isTransform: edges & transform != 0)
                if strength == 0 { continue }
                let qp = (Int(tables.qp[p.unit]) + Int(tables.qp[q.unit]) + 1) >> 1
                filterLuma(x * 4, y: y * 4, vertical: vertical, strength: strength, qp: qp, slice: slice)
                if strength == 2 && (vertical ? x : y) & 3 == 0 {
                    filterChroma(x * 2, y: y * 2, vertical: vertical, qp: qp, slice: slice)
                }
            }
        }
    }

    /// One side of an edge: the indices of its 4×4 block and its smallest coding block, and the number of its slice.
    private struct Side {
        var block: Int
        var unit: Int
        var slice: Int
    }

    private func unit(_ blockX: Int, _ blockY: Int) -> Int {
        let shift = grid.log2MinCodingBlock - 2
        return (blockY >> shift) * grid.minimumColumns + blockX >> shift
    }

    /// Returns bS, H.265 8.7.2.4.
    private func strength(_ p: Side, _ q: Side, isTransform: Bool) -> Int {
        if tables.mode[p.unit] == .intra || tables.mode[q.unit] == .intra { return 2 }
        if isTransform && (tables.edges[p.block] | tables.edges[q.block]) & HEVCEdges.coded != 0 { return 1 }
        let (a, b) = (tables.motion[p.block], tables.motion[q.block])
        let a0 = bounds.picture(slice: p.slice, list: 0, a.reference0)
        let a1 = bounds.picture(slice: p.slice, list: 1, a.reference1)
        let b0 = bounds.picture(slice: q.slice, list: 0, b.reference0)
        let b1 = bounds.picture(slice: q.slice, list: 1, b.reference1)
        // Both sides must use the same pictures, each the same number of times; −1 stands for no picture. Vectors of
        // unused lists are zero.
        let straight = a0 == b0 && a1 == b1
        let crossed = a0 == b1 && a1 == b0
        if !straight && !crossed { return 1 }
        let straightFar = far(a.vector0, b.vector0) || far(a.vector1, b.vector1)
        let crossedFar = far(a.vector0, b.vector1) || far(a.vector1, b.vector0)
        if straight && crossed { return straightFar && crossedFar ? 1 : 0 }
        return (straight ? straightFar : crossedFar) ? 1 : 0
    }

    /// Returns whether two vectors differ by at least one whole sample in a component.
    private func far(_ a: MotionVector, _ b: MotionVector) -> Bool {
        abs(Int(a.x) - Int(b.x)) >= 4 || abs(Int(a.y) - Int(b.y)) >= 4
    }

    /// Filters four lines across a luma edge, H.265 8.7.2.5.3, 8.7.2.5.6 and 8.7.2.5.7.
    private func filterLuma(
        _ x: Int, y: Int, vertical: Bool, strength: Int, qp: Int, slice: HEVCSliceFilters
    ) {
        let shift = Sample.bitDepth - 8
        let beta = Int(HEVCDeblockingTables.beta[min(max(qp + slice.betaOffset, 0), 51)]) << shift
        let tcIndex = min(max(qp + 2 * (strength - 1) + slice.tcOffset, 0), 53)
        let tc = Int(HEVCDeblockingTables.tc[tcIndex]) << shift
        let base = planes.luma + (y * planes.stride + x)
        let across = vertical ? 1 : planes.stride
        let along = vertical ? planes.stride : 1
        let first = EdgeLine(base, across)
        let last = EdgeLine(base + 3 * along, across)
        let dp = first.bendP + last.bendP
        let dq = first.bendQ + last.bendQ
        if dp + dq >= beta { return }
        if tc == 0 { return }
        let isStrong =
            first.isFlat(2 * (first.bendP + first.bendQ), beta, tc) && last.isFlat(2 * (last.bendP + last.bendQ), beta, tc)
        if isStrong {
            for line in 0..<4 { EdgeLine(base + line * along, across).storeStrong(base + line * along, across, tc) }
            return
        }
        let side = (beta + beta >> 1) >> 3
        for line in 0..<4 {
            EdgeLine(base + line * along, across)
                .storeNormal(base + line * along, across, tc, innerP: dp < side, innerQ: dq < side)
        }
    }

    /// Filters two lines across a chroma edge in both planes, H.265 8.7.2.5.5 and 8.7.2.5.8; (x, y) is in chroma
    /// samples.
    private func filterChroma(_ x: Int, y: Int, vertical: Bool, qp: Int, slice: HEVCSliceFilters) {
        let across = vertical ? 1 : planes.chromaStride
        let along = vertical ? planes.chromaStride : 1
        for (plane, offset) in [(planes.cb, cbOffset), (planes.cr, crOffset)] {
            let index = min(max(HEVCDeblockingTables.chromaQP(qp + offset) + 2 + slice.tcOffset, 0), 53)
            let tc = Int(HEVCDeblockingTables.tc[index]) << (Sample.bitDepth - 8)
            if tc == 0 { continue }
            for line in 0..<2 {
                let at = plane + (y * planes.chromaStride + x + line * along)
                let (p1, p0, q0, q1) = (Int(at[-2 * across]), Int(at[-across]), Int(at[0]), Int(at[across]))
                let delta = min(max(((q0 - p0) << 2 + p1 - q1 + 4) >> 3, -tc), tc)
                at[-across] = clipped(p0 + delta)
                at[0] = clipped(q0 - delta)
            }
        }
    }

    private func clipped(_ value: Int) -> Sample {
        Sample(truncatingIfNeeded: min(max(value, 0), (1 << Sample.bitDepth) - 1))
    }
}

/// The samples of one line across a luma edge.
private struct EdgeLine<Sample: HEVCSample> {
    let p3, p2, p1, p0, q0, q1, q2, q3: Int

    @inline(__always) init(_ at: ElementPointer<Sample>, _ across: Int) {
        p3 = Int(at[-4 &* across])
        p2 = Int(at[-3 &* across])
        p1 = Int(at[-2 &* across])
        p0 = Int(at[-across])
        q0 = Int(at[0])
        q1 = Int(at[across])
        q2 = Int(at[2 &* across])
        q3 = Int(at[3 &* across])
    }

    var bendP: Int { abs(p2 - 2 * p1 + p0) }
    var bendQ: Int { abs(q2 - 2 * q1 + q0) }

    /// Returns dSam, H.265 8.7.2.5.6.
    func isFlat(_ bend: Int, _ beta: Int, _ tc: Int) -> Bool {
        bend < beta >> 2 && abs(p3 - p0) + abs(q0 - q3) < beta >> 3 && abs(p0 - q0) < (5 * tc + 1) >> 1
    }

    @inline(__always) func storeStrong(_ at: ElementPointer<Sample>, _ across: Int, _ tc: Int) {
        func near(_ value: Int, _ old: Int) -> Sample {
            Sample(truncatingIfNeeded: min(max(value, old - 2 * tc), old + 2 * tc))
        }
        at[-across] = near((p2 + 2 * p1 + 2 * p0 + 2 * q0 + q1 + 4) >> 3, p0)
        at[-2 &* across] = near((p2 + p1 + p0 + q0 + 2) >> 2, p1)
        at[-3 &* across] = near((2 * p3 + 3 * p2 + p1 + p0 + q0 + 4) >> 3, p2)
        at[0] = near((p1 + 2 * p0 + 2 * q0 + 2 * q1 + q2 + 4) >> 3, q0)
        at[across] = near((p0 + q0 + q1 + q2 + 2) >> 2, q1)
        at[2 &* across] = near((p0 + q0 + q1 + 3 * q2 + 2 * q3 + 4) >> 3, q2)
    }

    @inline(__always) func storeNormal(_ at: ElementPointer<Sample>, _ across: Int, _ tc: Int, innerP: Bool, innerQ: Bool) {
        func clipped(_ value: Int) -> Sample {
            Sample(truncatingIfNeeded: min(max(value, 0), (1 << Sample.bitDepth) - 1))
        }
        var delta = (9 * (q0 - p0) - 3 * (q1 - p1) + 8) >> 4
        if abs(delta) >= tc * 10 { return }
        delta = min(max(delta, -tc), tc)
        at[-across] = clipped(p0 + delta)
        at[0] = clipped(q0 - delta)
        let half = tc >> 1
        if innerP {
            let change = ((p2 + p0 + 1) >> 1 - p1 + delta) >> 1
            at[-2 &* across] = clipped(p1 + min(max(change, -half), half))
        }
        if innerQ {
            let change = ((q2 + q0 + 1) >> 1 - q1 - delta) >> 1
            at[across] = clipped(q1 + min(max(change, -half), half))
        }
    }
}

/// H.265 tables 8-12 and, for 4:2:0, 8-10.
enum HEVCDeblockingTables {
    static let beta: InlineArray<52, UInt8> = [
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 22, 24, 26,
        28, 30, 32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62, 64,
    ]
    static let tc: InlineArray<54, UInt8> = [
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4,
        4, 5, 5, 6, 6, 7, 8, 9, 10, 11, 13, 14, 16, 18, 20, 22, 24,
    ]
    private static let chroma: InlineArray<14, UInt8> = [29, 30, 31, 32, 33, 33, 34, 34, 35, 35, 36, 36, 37, 37]

    /// Returns QpC for qPi, H.265 table 8-10.
    static func chromaQP(_ index: Int) -> Int {
        index < 30 ? index : index >= 43 ? index - 6 : Int(chroma[index - 30])
    }
}
