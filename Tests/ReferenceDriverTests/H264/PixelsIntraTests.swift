import ReferenceDriver
import TestOracles
import Testing

/// Compares intra prediction modes with the formulas of H.264 8.3, sample by sample.
struct PixelsIntraTests {
    private let edges = ElementStorage<UInt8>(count: IntraEdges.byteCount, repeating: 0)
    private let block = ElementStorage<UInt8>(count: 1024, repeating: 0)
    private let scratch = ElementStorage<UInt8>(count: 128, repeating: 0)

    /// Returns predNxN[x, y] for neighbors p(x, −1) and p(−1, y); 8.3.1.2 and 8.3.2.2 share their formulas.
    private func expected(
        _ size: Int, _ mode: Int, _ x: Int, _ y: Int, left: Bool, top: Bool, _ p: (Int, Int) -> Int
    ) -> Int {
        func three(_ a: Int, _ b: Int, _ c: Int) -> Int { (a + 2 * b + c + 2) >> 2 }
        func two(_ a: Int, _ b: Int) -> Int { (a + b + 1) >> 1 }
        let last = size - 1
        switch mode {
        case 0: return p(x, -1)
        case 1: return p(-1, y)
        case 3:
            if x == last && y == last { return (p(2 * size - 2, -1) + 3 * p(2 * size - 1, -1) + 2) >> 2 }
            return three(p(x + y, -1), p(x + y + 1, -1), p(x + y + 2, -1))
        case 4:
            if x > y { return three(p(x - y - 2, -1), p(x - y - 1, -1), p(x - y, -1)) }
            if x < y { return three(p(-1, y - x - 2), p(-1, y - x - 1), p(-1, y - x)) }
            return three(p(0, -1), p(-1, -1), p(-1, 0))
        case 5:
            let z = 2 * x - y
            if z >= 0 && z % 2 == 0 { return two(p(x - (y >> 1) - 1, -1), p(x - (y >> 1), -1)) }
            if z >= 0 { return three(p(x - (y >> 1) - 2, -1), p(x - (y >> 1) - 1, -1), p(x - (y >> 1), -1)) }
            if z == -1 { return three(p(-1, 0), p(-1, -1), p(0, -1)) }
            return three(p(-1, y - 2 * x - 1), p(-1, y - 2 * x - 2), p(-1, y - 2 * x - 3))
        case 6:
            let z = 2 * y - x
            if z >= 0 && z % 2 == 0 { return two(p(-1, y - (x >> 1) - 1), p(-1, y - (x >> 1))) }
            if z >= 0 { return three(p(-1, y - (x >> 1) - 2), p(-1, y - (x >> 1) - 1), p(-1, y - (x >> 1))) }
            if z == -1 { return three(p(-1, 0), p(-1, -1), p(0, -1)) }
            return three(p(x - 2 * y - 1, -1), p(x - 2 * y - 2, -1), p(x - 2 * y - 3, -1))
        case 7:
            let i = x + (y >> 1)
            return y % 2 == 0 ? two(p(i, -1), p(i + 1, -1)) : three(p(i, -1), p(i + 1, -1), p(i + 2, -1))
        case 8:
            let z = x + 2 * y
            let i = y + (x >> 1)
            if z > 2 * last - 1 { return p(-1, last) }
            if z == 2 * last - 1 { return (p(-1, last - 1) + 3 * p(-1, last) + 2) >> 2 }
            return z % 2 == 0 ? two(p(-1, i), p(-1, i + 1)) : three(p(-1, i), p(-1, i + 1), p(-1, i + 2))
        default:
            let side = left ? (0..<size).reduce(0) { $0 + p(-1, $1) } : 0
            let above = top ? (0..<size).reduce(0) { $0 + p($1, -1) } : 0
            if left && top { return (side + above + size) / (2 * size) }
            return left || top ? (side + above + size / 2) / size : 128
        }
    }

    @Test(arguments: [4, 8]) func directionalModesMatchTheStandard(_ size: Int) {
        var generator = SplitMix64(state: 21)
        let edges = IntraEdges(edges.elements)
        for round in 0..<100 {
            for i in -1...(3 * size + 1) {
                edges.samples[i] =
                    round % 3 == 0
                    ? (Bool.random(using: &generator) ? 255 : 0) : UInt8.random(in: 0...255, using: &generator)
            }
            edges.samples[-1] = edges.samples[0]
            edges.samples[3 * size + 1] = edges.samples[3 * size]
            edges.derive(vectors: size == 4 ? 1 : 2)
            func p(_ x: Int, _ y: Int) -> Int { Int(edges.samples[y < 0 ? size + 1 + x : (x < 0 ? size - 1 - y : 0)]) }
            for mode in 0..<9 {
                for (left, top) in mode == 2
                    ? [(true, true), (true, false), (false, true), (false, false)] : [(true, true)]
                {
                    if size == 4 {
                        IntraDirectional.predict4x4(
                            mode: mode, edges, left: left, top: top, to: block.elements, 32, scratch: scratch.elements)
                    } else {
                        IntraDirectional.predict8x8(
                            mode: mode, edges, left: left, top: top, to: block.elements, 32, scratch: scratch.elements)
                    }
                    var wrong = 0
                    for y in 0..<size {
                        for x in 0..<size
                        where Int(block.elements[y * 32 + x])
                            != expected(size, mode, x, y, left: left, top: top, p)
                        { wrong += 1 }
                    }
                    #expect(wrong == 0, "mode \(mode)")
                }
            }
        }
    }

    private func surround(_ generator: inout SplitMix64, _ round: Int) -> ElementPointer<UInt8> {
        for i in 0..<block.count {
            block.elements[i] =
                round % 3 == 0
                ? (Bool.random(using: &generator) ? 255 : 0) : UInt8.random(in: 0...255, using: &generator)
        }
        return block.elements + 40
    }

    /// Returns a sample of the plane mode, (8-121) and (8-142); `scale` is 5 or 34.
    private func plane(_ size: Int, _ x: Int, _ y: Int, scale: Int, _ p: (Int, Int) -> Int) -> Int {
        let half = size / 2
        let h = (0..<half).reduce(0) { $0 + ($1 + 1) * (p(half + $1, -1) - p(half - 2 - $1, -1)) }
        let v = (0..<half).reduce(0) { $0 + ($1 + 1) * (p(-1, half + $1) - p(-1, half - 2 - $1)) }
        let (b, c) = ((scale * h + 32) >> 6, (scale * v + 32) >> 6)
        let a = 16 * (p(-1, size - 1) + p(size - 1, -1))
        return max(0, min(255, (a + b * (x - half + 1) + c * (y - half + 1) + 16) >> 5))
    }

    private let availability = [(true, true), (true, false), (false, true), (false, false)]

    @Test func modesOf16x16MatchTheStandard() {
        var generator = SplitMix64(state: 22)
        let to = ElementStorage<UInt8>(count: 1024, repeating: 0)
        for round in 0..<100 {
            let around = surround(&generator, round)
            func p(_ x: Int, _ y: Int) -> Int { Int(around[y * 32 + x]) }
            for mode in 0..<4 {
                for (left, top) in mode == 2 ? availability : [(true, true)] {
                    IntraPlanar.predict16x16(mode: mode, around: around, left: left, top: top, to: to.elements)
                    var wrong = 0
                    for y in 0..<16 {
                        for x in 0..<16 {
                            let value =
                                mode == 3
                                ? plane(16, x, y, scale: 5, p)
                                : expected(16, mode, x, y, left: left, top: top, p)
                            if Int(to.elements[y * 32 + x]) != value { wrong += 1 }
                        }
                    }
                    #expect(wrong == 0, "mode \(mode)")
                }
            }
        }
    }

    @Test func chromaModesMatchTheStandard() {
        var generator = SplitMix64(state: 23)
        let to = ElementStorage<UInt8>(count: 1024, repeating: 0)
        for round in 0..<100 {
            let around = surround(&generator, round)
            func p(_ x: Int, _ y: Int) -> Int { Int(around[y * 32 + x]) }
            func dc(_ x: Int, _ y: Int, left: Bool, top: Bool) -> Int {
                let (column, row) = (x / 4 * 4, y / 4 * 4)
                let above = (0..<4).reduce(0) { $0 + p(column + $1, -1) }
                let side = (0..<4).reduce(0) { $0 + p(-1, row + $1) }
                if column == row {
                    if left && top { return (above + side + 4) >> 3 }
                    return left ? (side + 2) >> 2 : (top ? (above + 2) >> 2 : 128)
                }
                if column > 0 { return top ? (above + 2) >> 2 : (left ? (side + 2) >> 2 : 128) }
                return left ? (side + 2) >> 2 : (top ? (above + 2) >> 2 : 128)
            }
            for mode in 0..<4 {
                for (left, top) in mode == 0 ? availability : [(true, true)] {
                    IntraPlanar.predictChroma(mode: mode, around: around, left: left, top: top, to: to.elements)
                    var wrong = 0
                    for y in 0..<8 {
                        for x in 0..<8 {
                            let value =
                                switch mode {
                                case 0: dc(x, y, left: left, top: top)
                                case 1: p(-1, y)
                                case 2: p(x, -1)
                                default: plane(8, x, y, scale: 34, p)
                                }
                            if Int(to.elements[y * 32 + x]) != value { wrong += 1 }
                        }
                    }
                    #expect(wrong == 0, "mode \(mode), left \(left), top \(top)")
                }
            }
        }
    }
}
