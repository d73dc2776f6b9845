import ReferenceDriver
import TestOracles
import Testing

/// Compares the HEVC quantizer with a plain implementation of H.265 8.6.1 and 8.6.3.
struct HEVCQuantizerTests {
    static let levelScale = [40, 45, 51, 57, 64, 72]

    /// Scales a level by (8-309) with m = 16.
    private func scaled(_ level: Int, qp: Int, log2: Int, depth: Int) -> Int {
        let qP = qp + 6 * (depth - 8)
        let shift = depth + log2 - 5
        let value = (level * 16 * Self.levelScale[qP % 6] << (qP / 6) + 1 << (shift - 1)) >> shift
        return min(max(value, -32768), 32767)
    }

    @Test(arguments: [8, 10], [2, 3, 4, 5]) func scalingMatchesTheStandard(_ depth: Int, _ log2: Int) {
        let size = 1 << log2
        var generator = SplitMix64(state: 7)
        let levels = ElementStorage<Int16>(count: 1024, repeating: 0)
        let coefficients = ElementStorage<Int16>(count: 1024, repeating: 0)
        for qp in -6 * (depth - 8)...51 {
            let quantizer = HEVCQuantizer(qp: qp, bitDepth: depth)
            for round in 0..<6 {
                let limit = [1, 20, 32767][round % 3]
                for i in 0..<size * size {
                    levels.elements[i] = Int16(Int.random(in: -limit - 1...limit, using: &generator))
                }
                quantizer.scale(
                    levels.elements, log2Size: log2, extent: HEVCExtent(columns: size, rows: size), to: coefficients.elements)
                var wrong = 0
                for i in 0..<size * size {
                    let expected = scaled(Int(levels.elements[i]), qp: qp, log2: log2, depth: depth)
                    if Int(coefficients.elements[i]) != expected { wrong += 1 }
                }
                #expect(wrong == 0, "QP \(qp)")
            }
        }
    }

    /// The division is rounded as requested; the extent and the count are those of the levels.
    @Test(arguments: [8, 10], [2, 3, 4, 5]) func quantizationDividesByTheStep(_ depth: Int, _ log2: Int) {
        let size = 1 << log2
        var generator = SplitMix64(state: 8)
        let coefficients = ElementStorage<Int16>(count: 1024, repeating: 0)
        let levels = ElementStorage<Int16>(count: 1024, repeating: 0)
        for qp in -6 * (depth - 8)...51 {
            let quantizer = HEVCQuantizer(qp: qp, bitDepth: depth)
            let qP = qp + 6 * (depth - 8)
            // The scaled value of one level, not rounded.
            let step = Double(16 * Self.levelScale[qP % 6] << (qP / 6)) / Double(1 << (depth + log2 - 5))
            for round in 0..<8 {
                let rounding = [43, 85, 128, 10][round % 4]
                let corner = HEVCExtent(
                    columns: Int.random(in: 1...size, using: &generator),
                    rows: Int.random(in: 1...size, using: &generator))
                let limit = round < 2 ? 32767 : min(32767, Int(step * 3))
                for y in 0..<size {
                    for x in 0..<size {
                        let inside = round < 4 || (x < corner.columns && y < corner.rows)
                        coefficients.elements[y * size + x] =
                            inside ? Int16(Int.random(in: -limit - 1...limit, using: &generator)) : 0
                    }
                }
                let result = quantizer.quantize(
                    coefficients.elements, log2Size: log2, rounding: rounding, to: levels.elements)
                var wrong = 0
                var count = 0
                var extent = HEVCExtent(columns: 0, rows: 0)
                for y in 0..<size {
                    for x in 0..<size {
                        let level = Int(levels.elements[y * size + x])
                        let exact = Double(coefficients.elements[y * size + x]) / step
                        let magnitude = min(abs(exact) + Double(rounding) / 256, 32767.5)
                        if abs(abs(Double(level)) + 0.5 - magnitude) > 0.51 + abs(exact) / 8192 { wrong += 1 }
                        if level != 0 && (level < 0) != (exact < 0) { wrong += 1 }
                        if level == 0 { continue }
                        count += 1
                        extent.columns = max(extent.columns, x + 1)
                        extent.rows = max(extent.rows, y + 1)
                    }
                }
                #expect(wrong == 0, "QP \(qp) round \(round)")
                #expect(result == HEVCQuantized(count: count, extent: extent))
            }
        }
    }

    /// Compares with Table 8-10 row by row.
    @Test func chromaQPsMatchTheTable() {
        let bent = [29, 30, 31, 32, 33, 33, 34, 34, 35, 35, 36, 36, 37, 37]
        for depth in [8, 10] {
            for qp in -6 * (depth - 8)...51 {
                for offset in -12...12 {
                    let index = min(max(qp + offset, -6 * (depth - 8)), 57)
                    let expected = index < 30 ? index : (index <= 43 ? bent[index - 30] : index - 6)
                    #expect(HEVCQuantizer.chromaQP(qp, offset: offset, bitDepth: depth) == expected)
                }
            }
        }
    }
}
