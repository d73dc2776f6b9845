import ReferenceDriver
import TestOracles
import Testing

/// Compares transforms and quantizers with a plain implementation of H.264 8.5.
struct PixelsTransformTests {
    private let source = ElementStorage<UInt8>(count: 512, repeating: 0)
    private let block = ElementStorage<UInt8>(count: 1024, repeating: 0)
    private let coefficients = ElementStorage<Int16>(count: 64, repeating: 0)
    private let quantizers = QuantizerTables()

    private func multiply(_ a: [[Double]], _ b: [[Double]]) -> [[Double]] {
        a.map { row in b[0].indices.map { j in row.indices.reduce(0) { $0 + row[$1] * b[$1][j] } } }
    }

    private func transpose(_ a: [[Double]]) -> [[Double]] { a[0].indices.map { j in a.map { $0[j] } } }

    private let core4: [[Double]] = [[1, 1, 1, 1], [2, 1, -1, -2], [1, -1, -1, 1], [1, -2, 2, -1]]
    private let core8: [[Double]] = [
        [8, 8, 8, 8, 8, 8, 8, 8], [12, 10, 6, 3, -3, -6, -10, -12], [8, 4, -4, -8, -8, -4, 4, 8],
        [10, -3, -12, -6, 6, 12, 3, -10], [8, -8, -8, 8, 8, -8, -8, 8], [6, -12, 3, 10, -10, -3, 12, -6],
        [4, -8, 8, -4, -4, 8, -8, 4], [3, -6, 10, -12, 12, -10, 6, -3],
    ].map { $0.map { $0 / 8 } }

    /// Fills source and prediction, with sharp content if `extreme`.
    private func fill(_ generator: inout SplitMix64, extreme: Bool) {
        for i in 0..<source.count { source.elements[i] = sample(&generator, extreme) }
        for i in 0..<block.count { block.elements[i] = sample(&generator, extreme) }
    }

    private func sample(_ generator: inout SplitMix64, _ extreme: Bool) -> UInt8 {
        extreme ? (Bool.random(using: &generator) ? 255 : 0) : UInt8.random(in: 0...255, using: &generator)
    }

    private func difference(_ size: Int, column: Int = 0) -> [[Double]] {
        (0..<size).map { y in
            (0..<size).map { x in
                Double(source.elements[y * H264Scratch.sourceStride + x + column])
                    - Double(block.elements[y * H264Scratch.workStride + x + column])
            }
        }
    }

    @Test func forward4x4IsTheCoreTransform() {
        var generator = SplitMix64(state: 1)
        for round in 0..<200 {
            fill(&generator, extreme: round % 2 == 0)
            ForwardTransform.pair(source.elements, block.elements, H264Scratch.workStride, to: coefficients.elements)
            for half in 0..<2 {
                let expected = multiply(multiply(core4, difference(4, column: 4 * half)), transpose(core4))
                for row in 0..<4 {
                    for column in 0..<4 {
                        #expect(Double(coefficients.elements[column * 8 + row + 4 * half]) == expected[row][column])
                    }
                }
            }
        }
    }

    /// The integer 8×8 transform rounds halves, so it stays within a few units of the exact one.
    @Test func forward8x8IsCloseToTheCoreTransform() {
        var generator = SplitMix64(state: 2)
        for round in 0..<200 {
            fill(&generator, extreme: round % 2 == 0)
            ForwardTransform.block8x8(
                source.elements, block.elements, H264Scratch.workStride, to: coefficients.elements)
            let expected = multiply(multiply(core8, difference(8)), transpose(core8))
            for row in 0..<8 {
                for column in 0..<8 {
                    #expect(abs(Double(coefficients.elements[column * 8 + row]) - expected[row][column]) < 12)
                }
            }
        }
    }

    private func inverse4(_ d: [Int]) -> [Int] {
        let e = d[0] + d[2]
        let f = d[0] - d[2]
        let g = (d[1] >> 1) - d[3]
        let h = d[1] + (d[3] >> 1)
        return [e + h, f + g, f - g, e - h]
    }

    /// Applies the one-dimensional steps of 8.5.13.
    private func inverse8(_ d: [Int]) -> [Int] {
        let a0 = d[0] + d[4]
        let a1 = -d[3] + d[5] - d[7] - (d[7] >> 1)
        let a2 = d[0] - d[4]
        let a3 = d[1] + d[7] - d[3] - (d[3] >> 1)
        let a4 = (d[2] >> 1) - d[6]
        let a5 = -d[1] + d[7] + d[5] + (d[5] >> 1)
        let a6 = d[2] + (d[6] >> 1)
        let a7 = d[3] + d[5] + d[1] + (d[1] >> 1)
        let b = [
            a0 + a6, a1 + (a7 >> 2), a2 + a4, a3 + (a5 >> 2), a2 - a4, (a3 >> 2) - a5, a0 - a6, a7 - (a1 >> 2),
        ]
        return [b[0] + b[7], b[2] + b[5], b[4] + b[3], b[6] + b[1], b[6] - b[1], b[4] - b[3], b[2] - b[5], b[0] - b[7]]
    }

    private func inverse(_ d: [[Int]]) -> [[Int]] {
        let step = d.count == 4 ? inverse4 : inverse8
        let rows = d.map(step)
        let columns = rows[0].indices.map { x in step(rows.map { $0[x] }) }
        return d.indices.map { y in d.indices.map { x in (columns[x][y] + 32) >> 6 } }
    }

    /// Random scaled coefficients are transformed rows first, as in the standard; the order affects the rounding.
    @Test(arguments: [4, 8]) func inverseMatchesTheStandard(_ size: Int) {
        var generator = SplitMix64(state: 3)
        for round in 0..<400 {
            fill(&generator, extreme: round % 2 == 0)
            let before = (0..<block.count).map { Int(block.elements[$0]) }
            var d: [[[Int]]] = []
            for half in 0..<(size == 4 ? 2 : 1) {
                let limit = [3, 40, 700][round % 3]
                d.append(
                    (0..<size).map { _ in (0..<size).map { _ in Int.random(in: -limit...limit, using: &generator) } })
                for row in 0..<size {
                    for column in 0..<size {
                        coefficients.elements[column * 8 + row + 4 * half] = Int16(d[half][row][column])
                    }
                }
            }
            if size == 4 {
                InverseTransform.addPair(coefficients.elements, to: block.elements, H264Scratch.workStride)
            } else {
                InverseTransform.add8x8(coefficients.elements, to: block.elements, H264Scratch.workStride)
            }
            for half in d.indices {
                let residual = inverse(d[half])
                for row in 0..<size {
                    for column in 0..<size {
                        let at = row * H264Scratch.workStride + column + 4 * half
                        #expect(Int(block.elements[at]) == max(0, min(255, before[at] + residual[row][column])))
                    }
                }
            }
        }
    }

    /// Every H.264 encoder derives these multipliers from the standard's scales.
    @Test func numeratorsMatchTheStandardsScales() {
        let known = [
            (13107, 5243, 8066), (11916, 4660, 7490), (10082, 4194, 6554), (9362, 3647, 5825), (8192, 3355, 5243),
            (7282, 2893, 4559),
        ]
        for qp in 0..<52 {
            let numerators = quantizers[qp].numerators4x4
            #expect(Int(numerators[0]) == 2 * known[qp % 6].0)
            #expect(Int(numerators[9]) == 2 * known[qp % 6].1)
            #expect(Int(numerators[1]) == 2 * known[qp % 6].2)
            #expect(Int(numerators[8]) == 2 * known[qp % 6].2)
        }
        let first = [13107, 11428, 20972, 12222, 16777, 15481]
        for (i, position) in [0, 9, 18, 1, 2, 10].enumerated() {
            #expect(Int(quantizers[0].numerators8x8[position]) == first[i])
        }
    }

    /// At every QP, coding and decoding a block loses no more than the quantizer's step allows.
    @Test func roundTripsStayWithinAStep() {
        var generator = SplitMix64(state: 4)
        for qp in 0..<52 {
            let quantizer = quantizers[qp]
            // Qstep is 0.625 at QP 0 and doubles every 6.
            var step = 0.625 * [1, 1.1, 1.3, 1.4, 1.6, 1.8][qp % 6]
            for _ in 0..<(qp / 6) { step *= 2 }
            for round in 0..<40 {
                fill(&generator, extreme: false)
                // The prediction error is smooth, so that nothing is clipped at ±2047.
                for i in 0..<source.count { source.elements[i] = UInt8(100 + Int(source.elements[i]) % 60) }
                for i in 0..<block.count { block.elements[i] = UInt8(100 + Int(block.elements[i]) % 60) }
                let intra = round % 2 == 0
                let large = round % 4 < 2
                if large {
                    ForwardTransform.block8x8(
                        source.elements, block.elements, H264Scratch.workStride, to: coefficients.elements)
                    _ = quantizer.quantize8x8(coefficients.elements, intra: intra)
                    quantizer.scale8x8(coefficients.elements)
                    InverseTransform.add8x8(coefficients.elements, to: block.elements, H264Scratch.workStride)
                } else {
                    ForwardTransform.pair(
                        source.elements, block.elements, H264Scratch.workStride, to: coefficients.elements)
                    _ = quantizer.quantizePair(coefficients.elements, intra: intra)
                    quantizer.scalePair(coefficients.elements)
                    InverseTransform.addPair(coefficients.elements, to: block.elements, H264Scratch.workStride)
                }
                var squares = 0.0
                let rows = large ? 8 : 4
                for y in 0..<rows {
                    for x in 0..<8 {
                        let error =
                            Double(source.elements[y * H264Scratch.sourceStride + x])
                            - Double(block.elements[y * H264Scratch.workStride + x])
                        squares += error * error
                    }
                }
                // A coefficient differs by at most a step minus its dead zone; the transform preserves squares.
                let root = (squares / Double(8 * rows)).squareRoot()
                #expect(root <= 0.85 * step + 0.6, "QP \(qp), \(large ? 8 : 4)×: \(root) with a step of \(step)")
            }
        }
    }

    @Test func chromaQPFollowsTheTable() {
        let bent = [29, 30, 31, 32, 32, 33, 34, 34, 35, 35, 36, 36, 37, 37, 37, 38, 38, 38, 39, 39, 39, 39]
        for qp in 0...51 {
            for offset in -12...12 {
                let index = max(0, min(51, qp + offset))
                #expect(H264TransformTables.chromaQP(qp, offset: offset) == (index < 30 ? index : bent[index - 30]))
            }
        }
    }

    @Test func scanOrdersAreZigzag() {
        #expect(
            Scan.positions4x4.map { $0 % 8 * 4 + $0 / 8 } == [0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15])
        let raster = Scan.positions8x8.map { $0 % 8 * 8 + $0 / 8 }
        #expect(raster.prefix(12) == [0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25])
        #expect(raster.suffix(6) == [61, 54, 47, 55, 62, 63])
        #expect(Set(raster).count == 64)
    }

    /// Compares the scores with a loop over the levels.
    @Test func scoresMatchPlainLoops() {
        var generator = SplitMix64(state: 31)
        let levels = ElementStorage<Int16>(count: 64, repeating: 0)
        for round in 0..<4000 {
            let isLong = round % 2 == 0
            let first = !isLong && round % 4 == 1 ? 1 : 0
            let values: [Int16] = round % 5 == 0 ? [0, 0, 1, -1, 2, -32768, 32767] : [0, 0, 0, 0, 0, 0, 1, -1]
            for i in 0..<64 { levels.elements[i] = i < first ? 0 : values.randomElement(using: &generator)! }
            if round % 7 == 0 { for i in 0..<50 { levels.elements[i] = 0 } }
            let count = isLong ? 64 : 16
            var expected = 0
            var run = 0
            for i in first..<count {
                switch levels.elements[i] {
                case 0: run += 1
                case 1, -1:
                    expected += (isLong ? [4, 12, 24] : [1, 3, 6]).count { run < $0 }
                    run = 0
                default: expected = 9 << 16
                }
            }
            #expect(Scan.score(levels.elements, from: first, count: count) == (expected >= 9 << 16 ? 9 : expected))
        }
    }
}
