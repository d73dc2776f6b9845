@testable import ReferenceDriver
import TestOracles
import Testing

/// Compares deblocking with a plain implementation of H.265 8.7.2, edge by edge and line by line.
struct HEVCDeblockingTests {
    private static let beta = [
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 22, 24, 26,
        28, 30, 32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62, 64,
    ]
    private static let tc = [
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4,
        4, 5, 5, 6, 6, 7, 8, 9, 10, 11, 13, 14, 16, 18, 20, 22, 24,
    ]
    private static let chromaQP = [29, 30, 31, 32, 33, 33, 34, 34, 35, 35, 36, 36, 37]

    private func clip(_ value: Int, _ low: Int, _ high: Int) -> Int { min(max(value, low), high) }

    /// Returns the boundary strength (8.7.2.4) between two 4×4 blocks, given by their luma samples.
    private func strength<Sample: HEVCSample>(
        _ picture: HEVCFilterPicture<Sample>, _ p: (Int, Int), _ q: (Int, Int), isTransform: Bool
    ) -> Int {
        let tables = picture.tables
        func unit(_ at: (Int, Int)) -> Int { at.1 / 8 * picture.grid.minimumColumns + at.0 / 8 }
        func block(_ at: (Int, Int)) -> Int { at.1 / 4 * picture.grid.blockColumns + at.0 / 4 }
        if tables.mode[unit(p)] == .intra || tables.mode[unit(q)] == .intra { return 2 }
        if isTransform && (tables.edges[block(p)] & 16 != 0 || tables.edges[block(q)] & 16 != 0) { return 1 }
        func motions(_ at: (Int, Int)) -> [(ObjectIdentifier, MotionVector)] {
            let motion = tables.motion[block(at)]
            let slice = picture.slice(at.0, at.1)
            var used: [(ObjectIdentifier, MotionVector)] = []
            if motion.reference0 >= 0 {
                used.append((ObjectIdentifier(slice.list0[Int(motion.reference0)].picture), motion.vector0))
            }
            if motion.reference1 >= 0 {
                used.append((ObjectIdentifier(slice.list1[Int(motion.reference1)].picture), motion.vector1))
            }
            return used
        }
        func far(_ a: MotionVector, _ b: MotionVector) -> Bool {
            abs(Int(a.x) - Int(b.x)) >= 4 || abs(Int(a.y) - Int(b.y)) >= 4
        }
        let (a, b) = (motions(p), motions(q))
        if a.count != b.count { return 1 }
        if a.count == 1 { return a[0].0 != b[0].0 || far(a[0].1, b[0].1) ? 1 : 0 }
        if Set(a.map(\.0)) != Set(b.map(\.0)) { return 1 }
        if a[0].0 == a[1].0 {
            // If both vectors refer to the same picture, either pairing may be near.
            let straight = far(a[0].1, b[0].1) || far(a[1].1, b[1].1)
            let crossed = far(a[0].1, b[1].1) || far(a[1].1, b[0].1)
            return straight && crossed ? 1 : 0
        }
        let other = a[0].0 == b[0].0 ? b : [b[1], b[0]]
        return far(a[0].1, other[0].1) || far(a[1].1, other[1].1) ? 1 : 0
    }

    /// Filters one line across an edge, samples p3 p2 p1 p0 q0 q1 q2 q3 (8.7.2.5.7).
    private func filtered(
        _ s: [Int], strong: Bool, tc: Int, dEp: Bool, dEq: Bool, most: Int
    ) -> [Int] {
        let (p3, p2, p1, p0, q0, q1, q2, q3) = (s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7])
        if strong {
            return [
                p3, clip((2 * p3 + 3 * p2 + p1 + p0 + q0 + 4) >> 3, p2 - 2 * tc, p2 + 2 * tc),
                clip((p2 + p1 + p0 + q0 + 2) >> 2, p1 - 2 * tc, p1 + 2 * tc),
                clip((p2 + 2 * p1 + 2 * p0 + 2 * q0 + q1 + 4) >> 3, p0 - 2 * tc, p0 + 2 * tc),
                clip((p1 + 2 * p0 + 2 * q0 + 2 * q1 + q2 + 4) >> 3, q0 - 2 * tc, q0 + 2 * tc),
                clip((p0 + q0 + q1 + q2 + 2) >> 2, q1 - 2 * tc, q1 + 2 * tc),
                clip((p0 + q0 + q1 + 3 * q2 + 2 * q3 + 4) >> 3, q2 - 2 * tc, q2 + 2 * tc), q3,
            ]
        }
        let raw = (9 * (q0 - p0) - 3 * (q1 - p1) + 8) >> 4
        if abs(raw) >= tc * 10 { return s }
        let delta = clip(raw, -tc, tc)
        var result = s
        result[3] = clip(p0 + delta, 0, most)
        result[4] = clip(q0 - delta, 0, most)
        if dEp {
            let change = ((((p2 + p0 + 1) >> 1) - p1 + delta) >> 1)
            result[2] = clip(p1 + clip(change, -(tc >> 1), tc >> 1), 0, most)
        }
        if dEq {
            let change = ((((q2 + q0 + 1) >> 1) - q1 - delta) >> 1)
            result[5] = clip(q1 + clip(change, -(tc >> 1), tc >> 1), 0, most)
        }
        return result
    }

    /// The number of times of each case: strong, normal, unfiltered, chroma.
    private struct CaseCounts {
        var strong = 0
        var normal = 0
        var none = 0
        var chroma = 0
    }

    private func deblock<Sample: HEVCSample>(
        _ picture: HEVCFilterPicture<Sample>, cb: Int, cr: Int, _ counts: inout CaseCounts
    ) -> [[[Int]]] {
        let grid = picture.grid
        let tables = picture.tables
        let depth = Sample.bitDepth
        let most = (1 << depth) - 1
        var planes = (0..<3).map { picture.samples($0) }
        for vertical in [true, false] {
            func at(_ plane: Int, _ x: Int, _ y: Int, _ along: Int, _ across: Int) -> (Int, Int) {
                vertical ? (x + across, y + along) : (x + along, y + across)
            }
            for y in stride(from: 0, to: grid.height, by: vertical ? 4 : 8) {
                for x in stride(from: 0, to: grid.width, by: vertical ? 8 : 4) {
                    if (vertical ? x : y) == 0 { continue }
                    let flags = tables.edges[y / 4 * grid.blockColumns + x / 4]
                    let isTransform = flags & (vertical ? 1 : 2) != 0
                    let isPrediction = flags & (vertical ? 4 : 8) != 0
                    if !isTransform && !isPrediction { continue }
                    let q = (x, y)
                    let p = vertical ? (x - 1, y) : (x, y - 1)
                    let slice = picture.slice(x, y)
                    if slice.slice_deblocking_filter_disabled_flag { continue }
                    let (treeP, treeQ) = (picture.tree(p.0, p.1), picture.tree(x, y))
                    if tables.slice[treeP] != tables.slice[treeQ] && !slice.slice_loop_filter_across_slices_enabled_flag {
                        continue
                    }
                    let tiles = picture.job.tiles.tileID
                    if tiles[treeP] != tiles[treeQ] && !picture.job.loop_filter_across_tiles_enabled_flag { continue }
                    let bS = strength(picture, p, q, isTransform: isTransform)
                    if bS == 0 { continue }
                    func qp(_ at: (Int, Int)) -> Int { Int(tables.qp[at.1 / 8 * grid.minimumColumns + at.0 / 8]) }
                    let qPL = (qp(q) + qp(p) + 1) >> 1
                    let beta = Self.beta[clip(qPL + slice.betaOffset, 0, 51)] * (1 << (depth - 8))
                    let tc = Self.tc[clip(qPL + 2 * (bS - 1) + slice.tcOffset, 0, 53)] * (1 << (depth - 8))
                    func line(_ k: Int) -> [Int] {
                        (-4..<4).map {
                            let c = at(0, x, y, k, $0); return planes[0][c.1][c.0]
                        }
                    }
                    func bend(_ s: [Int], _ i: Int, _ step: Int) -> Int {
                        abs(s[i + 2 * step] - 2 * s[i + step] + s[i])
                    }
                    let (first, last) = (line(0), line(3))
                    let (dp0, dp3) = (bend(first, 3, -1), bend(last, 3, -1))
                    let (dq0, dq3) = (bend(first, 4, 1), bend(last, 4, 1))
                    if dp0 + dq0 + dp3 + dq3 < beta {
                        func flat(_ s: [Int], _ dpq: Int) -> Bool {
                            dpq < beta >> 2 && abs(s[0] - s[3]) + abs(s[4] - s[7]) < beta >> 3
                                && abs(s[3] - s[4]) < (5 * tc + 1) >> 1
                        }
                        let strong = flat(first, 2 * (dp0 + dq0)) && flat(last, 2 * (dp3 + dq3))
                        let side = (beta + (beta >> 1)) >> 3
                        if strong { counts.strong += 1 } else { counts.normal += 1 }
                        for k in 0..<4 {
                            let new = filtered(
                                line(k), strong: strong, tc: tc, dEp: dp0 + dp3 < side, dEq: dq0 + dq3 < side,
                                most: most)
                            for i in 0..<8 {
                                let c = at(0, x, y, k, i - 4)
                                planes[0][c.1][c.0] = new[i]
                            }
                        }
                    } else {
                        counts.none += 1
                    }
                    if bS < 2 || (vertical ? x : y) % 16 != 0 { continue }
                    counts.chroma += 1
                    for (plane, offset) in [(1, cb), (2, cr)] {
                        let index = qPL + offset
                        let qPC = index < 30 ? index : (index < 43 ? Self.chromaQP[index - 30] : index - 6)
                        let tc = Self.tc[clip(qPC + 2 + slice.tcOffset, 0, 53)] * (1 << (depth - 8))
                        for k in 0..<2 {
                            let c = (-2..<2).map { at(plane, x / 2, y / 2, k, $0) }
                            let s = c.map { planes[plane][$0.1][$0.0] }
                            let delta = clip(((((s[2] - s[1]) << 2) + s[0] - s[3] + 4) >> 3), -tc, tc)
                            planes[plane][c[1].1][c[1].0] = clip(s[1] + delta, 0, most)
                            planes[plane][c[2].1][c[2].0] = clip(s[2] - delta, 0, most)
                        }
                    }
                }
            }
        }
        return planes
    }

    private func check<Sample: HEVCSample>(_ type: Sample.Type) {
        var generator = SplitMix64(state: UInt64(Sample.bitDepth))
        var counts = CaseCounts()
        for (width, height) in [(16, 16), (64, 64), (72, 40), (136, 88), (200, 72)] {
            for log2Tree in 4...6 {
                for round in 0..<3 {
                    let picture = HEVCFilterPicture<Sample>(
                        width: width, height: height, log2Tree: log2Tree, &generator)
                    let cb = Int.random(in: -12...12, using: &generator)
                    let cr = Int.random(in: -12...12, using: &generator)
                    let expected = deblock(picture, cb: cb, cr: cr, &counts)
                    let deblocker = HEVCDeblocker<Sample>(
                        bounds: picture.bounds, tables: picture.tables, planes: picture.planes, cbOffset: cb,
                        crOffset: cr
                    )
                    // The order of the rows is irrelevant.
                    for vertical in [true, false] {
                        for row in (0..<picture.bounds.grid.rows).reversed() {
                            deblocker.filterRow(row, vertical: vertical)
                        }
                    }
                    for plane in 0..<3 {
                        #expect(
                            picture.samples(plane) == expected[plane],
                            "plane \(plane) of \(width)×\(height), trees of \(1 << log2Tree), round \(round)")
                    }
                }
            }
        }
        // The pictures cover every case.
        #expect(counts.strong > 100 && counts.normal > 100 && counts.none > 100 && counts.chroma > 100, "\(counts)")
    }

    @Test func byteSamplesMatchTheStandard() { check(UInt8.self) }
    @Test func wordSamplesMatchTheStandard() { check(UInt16.self) }
}
