import ReferenceDriver
import TestOracles
import Testing

/// Compares the edge filters with H.264 8.7.2.3 and 8.7.2.4 for one line of samples at a time.
struct PixelsDeblockingTests {
    /// Filters p[0…3] and q[0…3] in place; `strength` is bS.
    private func filter(
        _ p: inout [Int], _ q: inout [Int], strength: Int, alpha: Int, beta: Int, clipping: Int, chroma: Bool
    ) {
        let (p0, p1, p2, p3) = (p[0], p[1], p[2], p[3])
        let (q0, q1, q2, q3) = (q[0], q[1], q[2], q[3])
        guard strength > 0, abs(p0 - q0) < alpha, abs(p1 - p0) < beta, abs(q1 - q0) < beta else { return }
        func clip(_ limit: Int, _ v: Int) -> Int { max(-limit, min(limit, v)) }
        func byte(_ v: Int) -> Int { max(0, min(255, v)) }
        let nearP = abs(p2 - p0) < beta
        let nearQ = abs(q2 - q0) < beta
        if strength < 4 {
            let limit = chroma ? clipping + 1 : clipping + (nearP ? 1 : 0) + (nearQ ? 1 : 0)
            let delta = clip(limit, (((q0 - p0) << 2) + (p1 - q1) + 4) >> 3)
            p[0] = byte(p0 + delta)
            q[0] = byte(q0 - delta)
            if !chroma && nearP { p[1] = p1 + clip(clipping, (p2 + ((p0 + q0 + 1) >> 1) - (p1 << 1)) >> 1) }
            if !chroma && nearQ { q[1] = q1 + clip(clipping, (q2 + ((p0 + q0 + 1) >> 1) - (q1 << 1)) >> 1) }
            return
        }
        let small = abs(p0 - q0) < (alpha >> 2) + 2
        if !chroma && nearP && small {
            p[0] = (p2 + 2 * p1 + 2 * p0 + 2 * q0 + q1 + 4) >> 3
            p[1] = (p2 + p1 + p0 + q0 + 2) >> 2
            p[2] = (2 * p3 + 3 * p2 + p1 + p0 + q0 + 4) >> 3
        } else {
            p[0] = (2 * p1 + p0 + q1 + 2) >> 2
        }
        if !chroma && nearQ && small {
            q[0] = (p1 + 2 * p0 + 2 * q0 + 2 * q1 + q2 + 4) >> 3
            q[1] = (p0 + q0 + q1 + q2 + 2) >> 2
            q[2] = (2 * q3 + 3 * q2 + q1 + q0 + p0 + 4) >> 3
        } else {
            q[0] = (2 * q1 + q0 + p1 + 2) >> 2
        }
    }

    private struct Line {
        var alpha: Int
        var beta: Int
        /// The clipping value, −1 if bS is 0.
        var clipping: Int
    }

    /// Fills random samples, half of them close to each other, and random thresholds per line.
    private func fill(_ elements: ElementPointer<UInt8>, _ generator: inout SplitMix64) -> [Line] {
        let base = Int.random(in: 0...255, using: &generator)
        let spread = [1, 4, 12, 40, 255].randomElement(using: &generator)!
        for i in 0..<512 {
            elements[i] = UInt8(max(0, min(255, base + Int.random(in: -spread...spread, using: &generator))))
        }
        return (0..<8).map { _ in
            Line(
                alpha: Int.random(in: 0...255, using: &generator), beta: Int.random(in: 0...18, using: &generator),
                clipping: Int.random(in: -1...25, using: &generator))
        }
    }

    private func strength(_ lines: [Line]) -> EdgeFilter.Strength {
        func vector(_ value: (Line) -> Int) -> SIMD8<Int16> {
            var v = SIMD8<Int16>(repeating: 0)
            for i in 0..<8 { v[i] = Int16(value(lines[i])) }
            return v
        }
        return EdgeFilter.Strength(
            alpha: vector { $0.alpha }, beta: vector { $0.beta }, clipping: vector { $0.clipping })
    }

    /// Checks the samples around the edge; `across` is the step across it and `along` the step along it.
    private func check(
        _ before: [UInt8], _ elements: ElementPointer<UInt8>, _ lines: [Line], strong: Bool, edge: Int, across: Int, along: Int,
        chroma: Bool, _ what: String
    ) {
        var expected = before
        for i in 0..<8 {
            let at = edge + i * along
            // Chroma has two samples on each side; the outer samples are not read.
            let depth = chroma ? 2 : 4
            var p = (0..<4).map { $0 < depth ? Int(before[at - ($0 + 1) * across]) : 0 }
            var q = (0..<4).map { $0 < depth ? Int(before[at + $0 * across]) : 0 }
            filter(
                &p, &q, strength: strong ? 4 : (lines[i].clipping < 0 ? 0 : 1), alpha: lines[i].alpha,
                beta: lines[i].beta, clipping: lines[i].clipping, chroma: chroma)
            for d in 0..<depth {
                expected[at - (d + 1) * across] = UInt8(p[d])
                expected[at + d * across] = UInt8(q[d])
            }
        }
        let same = (0..<512).allSatisfy { elements[$0] == expected[$0] }
        #expect(same, "\(what), strong \(strong)")
    }

    @Test(arguments: [false, true]) func edgeFiltersMatchTheStandard(_ strong: Bool) {
        var generator = SplitMix64(state: 31)
        let storage = ElementStorage<UInt8>(count: 512, repeating: 0)
        let elements = storage.elements
        for _ in 0..<4000 {
            var lines = fill(elements, &generator)
            if strong { for i in lines.indices { lines[i].clipping = 0 } }
            var before = (0..<512).map { elements[$0] }
            let edge = 8 * 32 + 8
            EdgeFilter.lumaRow(elements + edge, 32, strength(lines), strong: strong)
            check(before, elements, lines, strong: strong, edge: edge, across: 32, along: 1, chroma: false, "luma row")

            before = (0..<512).map { elements[$0] }
            EdgeFilter.lumaColumn(elements + edge, 32, strength(lines), strong: strong)
            check(before, elements, lines, strong: strong, edge: edge, across: 1, along: 32, chroma: false, "luma column")

            before = (0..<512).map { elements[$0] }
            EdgeFilter.chromaRow(elements + edge, 32, strength(lines), strong: strong)
            check(before, elements, lines, strong: strong, edge: edge, across: 32, along: 1, chroma: true, "chroma row")

            // The pairs are Cb and Cr with separate thresholds.
            before = (0..<512).map { elements[$0] }
            let others = lines.reversed().map { $0 }
            EdgeFilter.chromaColumn(elements + edge, 32, cb: strength(lines), cr: strength(others), strong: strong)
            var half = before
            for i in 0..<8 {
                for x in [-4, -2, 0, 2] { half[edge + i * 32 + x] = elements[edge + i * 32 + x] }
            }
            let merged = ElementStorage<UInt8>(count: 512, repeating: 0)
            for i in 0..<512 { merged.elements[i] = half[i] }
            check(
                before, merged.elements, lines, strong: strong, edge: edge, across: 2, along: 32, chroma: true, "Cb column")
            check(half, elements, others, strong: strong, edge: edge + 1, across: 2, along: 32, chroma: true, "Cr column")
        }
    }
}
