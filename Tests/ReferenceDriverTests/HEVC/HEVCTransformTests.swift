import ReferenceDriver
import TestOracles
import Testing

/// Compares the HEVC transforms with H.265 8.6.4.2 as a plain matrix product.
struct HEVCTransformTests {
    static let depths = [8, 10]
    /// The transMatrix of 16 points; those of 8 and 4 are the first halves of its even rows.
    static let matrix16 = [
        [64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64],
        [90, 87, 80, 70, 57, 43, 25, 9, -9, -25, -43, -57, -70, -80, -87, -90],
        [89, 75, 50, 18, -18, -50, -75, -89, -89, -75, -50, -18, 18, 50, 75, 89],
        [87, 57, 9, -43, -80, -90, -70, -25, 25, 70, 90, 80, 43, -9, -57, -87],
        [83, 36, -36, -83, -83, -36, 36, 83, 83, 36, -36, -83, -83, -36, 36, 83],
        [80, 9, -70, -87, -25, 57, 90, 43, -43, -90, -57, 25, 87, 70, -9, -80],
        [75, -18, -89, -50, 50, 89, 18, -75, -75, 18, 89, 50, -50, -89, -18, 75],
        [70, -43, -87, 9, 90, 25, -80, -57, 57, 80, -25, -90, -9, 87, 43, -70],
        [64, -64, -64, 64, 64, -64, -64, 64, 64, -64, -64, 64, 64, -64, -64, 64],
        [57, -80, -25, 90, -9, -87, 43, 70, -70, -43, 87, 9, -90, 25, 80, -57],
        [50, -89, 18, 75, -75, -18, 89, -50, -50, 89, -18, -75, 75, 18, -89, 50],
        [43, -90, 57, 25, -87, 70, 9, -80, 80, -9, -70, 87, -25, -57, 90, -43],
        [36, -83, 83, -36, -36, 83, -83, 36, 36, -83, 83, -36, -36, 83, -83, 36],
        [25, -70, 90, -80, 43, 9, -57, 87, -87, 57, -9, -43, 80, -90, 70, -25],
        [18, -50, 75, -89, 89, -75, 50, -18, -18, 50, -75, 89, -89, 75, -50, 18],
        [9, -25, 43, -57, 70, -80, 87, -90, 90, -87, 80, -70, 57, -43, 25, -9],
    ]
    /// The magnitudes of the cosines in the odd rows of 32 points.
    static let odd32 = [90, 90, 88, 85, 82, 78, 73, 67, 61, 54, 46, 38, 31, 22, 13, 4]
    static let sine = [[29, 55, 74, 84], [74, 74, 0, -74], [84, -29, -74, 55], [55, -84, 74, -29]]

    static func matrix(_ size: Int, sine isSine: Bool = false) -> [[Int]] {
        if isSine { return sine }
        if size == 32 {
            return (0..<32).map { row in
                (0..<32).map { column in
                    if row % 2 == 0 { return matrix16[row / 2][column < 16 ? column : 31 - column] }
                    // Row 1 is read at odd multiples of its step, folded at quarter turns.
                    let step = row * (2 * column + 1) % 128
                    let quarter = step / 32
                    let inside = quarter % 2 == 0 ? step % 32 : 32 - step % 32
                    return (quarter == 1 || quarter == 2 ? -1 : 1) * odd32[inside / 2]
                }
            }
        }
        return (0..<size).map { row in (0..<size).map { matrix16[row * 16 / size][$0] } }
    }

    static func product(_ a: [[Int]], _ b: [[Int]]) -> [[Int]] {
        a.map { row in b[0].indices.map { j in row.indices.reduce(0) { $0 + row[$1] * b[$1][j] } } }
    }

    static func transposed(_ a: [[Int]]) -> [[Int]] { a[0].indices.map { j in a.map { $0[j] } } }

    /// Implements 8.6.4.2 and the shift of 8.6.2: columns first. Values that exceed 16 bits are far beyond any sample.
    static func inverse(_ d: [[Int]], _ m: [[Int]], bitDepth: Int) -> [[Int]] {
        let columns = product(transposed(m), d).map { $0.map { min(max(($0 + 64) >> 7, -32768), 32767) } }
        let shift = 20 - bitDepth
        return product(columns, m).map { $0.map { min(max(($0 + (1 << (shift - 1))) >> shift, -32768), 32767) } }
    }

    /// The rows are cosines, so orthogonal that only these numbers are possible.
    @Test func matrixOf32IsOrthogonal() {
        let m = Self.matrix(32)
        let products = Self.product(m, Self.transposed(m))
        for i in 0..<32 {
            for j in 0..<32 {
                #expect(abs(products[i][j] - (i == j ? 32 * 64 * 64 : 0)) < 500)
                #expect(HEVCTransformMatrix.cosine(size: 32, row: i, column: j) == m[i][j])
            }
        }
    }

    enum Content: CaseIterable { case extremes, random, small, single }

    private func content(_ kind: Content, limit: Int, _ generator: inout SplitMix64) -> Int {
        switch kind {
        case .extremes: Bool.random(using: &generator) ? limit : -limit - 1
        case .random: Int.random(in: -limit - 1...limit, using: &generator)
        case .small: Int.random(in: -9...9, using: &generator)
        case .single: Int.random(in: 0..<40, using: &generator) == 0 ? limit : 0
        }
    }

    @Test(arguments: depths, [2, 3, 4, 5]) func inverseMatchesTheStandard(_ depth: Int, _ log2: Int) {
        let size = 1 << log2
        var generator = SplitMix64(state: UInt64(depth * 8 + log2))
        let transform = HEVCTransform(bitDepth: depth)
        let coefficients = ElementStorage<Int16>(count: 1024, repeating: 0)
        let residual = ElementStorage<Int16>(count: 40 * 32, repeating: 0)
        for isSine in log2 == 2 ? [false, true] : [false] {
            let m = Self.matrix(size, sine: isSine)
            for round in 0..<160 {
                let kind = Content.allCases[round % 4]
                let limit = round % 8 < 4 ? 32767 : 2000
                // All extents of the small sizes occur, and the corners of the large ones.
                let extent =
                    round < 8
                    ? HEVCExtent(columns: size, rows: size)
                    : HEVCExtent(
                        columns: Int.random(in: 1...size, using: &generator),
                        rows: Int.random(in: 1...size, using: &generator))
                let d = (0..<size).map { y in
                    (0..<size).map { x in
                        x < extent.columns && y < extent.rows ? content(kind, limit: limit, &generator) : 0
                    }
                }
                for y in 0..<size { for x in 0..<size { coefficients.elements[y * size + x] = Int16(d[y][x]) } }
                transform.inverse(
                    coefficients.elements, log2Size: log2, isSine: isSine, extent: extent, to: residual.elements, stride: 40)
                let expected = Self.inverse(d, m, bitDepth: depth)
                let found = (0..<size).map { y in (0..<size).map { Int(residual.elements[y * 40 + $0]) } }
                #expect(found == expected, "\(size) \(kind) \(extent) round \(round)")
            }
        }
    }

    /// The forward transform may round differently: it stays within a few units of the exact one.
    @Test(arguments: depths, [2, 3, 4, 5]) func forwardIsTheMatrixProduct(_ depth: Int, _ log2: Int) {
        let size = 1 << log2
        var generator = SplitMix64(state: UInt64(depth * 16 + log2))
        let transform = HEVCTransform(bitDepth: depth)
        let coefficients = ElementStorage<Int16>(count: 1024, repeating: 0)
        let residual = ElementStorage<Int16>(count: 40 * 32, repeating: 0)
        let most = (1 << depth) - 1
        for isSine in log2 == 2 ? [false, true] : [false] {
            let m = Self.matrix(size, sine: isSine)
            for round in 0..<100 {
                let frequency = (
                    Int.random(in: 0..<size, using: &generator), Int.random(in: 0..<size, using: &generator)
                )
                let r = (0..<size).map { y in
                    (0..<size).map { x in
                        switch round % 4 {
                        case 0: m[frequency.0][y] * m[frequency.1][x] < 0 ? -most : most
                        case 1: round % 8 == 1 ? most : -most
                        case 2: Int.random(in: -most...most, using: &generator)
                        default: Int.random(in: -4...4, using: &generator)
                        }
                    }
                }
                for y in 0..<size { for x in 0..<size { residual.elements[y * 40 + x] = Int16(r[y][x]) } }
                transform.forward(
                    residual.elements, stride: 40, log2Size: log2, isSine: isSine, to: coefficients.elements)
                let exact = Self.product(Self.product(m, r), Self.transposed(m))
                let scale = Double(1 << (depth - 9 + 2 * log2 + 6))
                var worst = 0.0
                for y in 0..<size {
                    for x in 0..<size {
                        worst = max(worst, abs(Double(coefficients.elements[y * size + x]) - Double(exact[y][x]) / scale))
                    }
                }
                #expect(worst < 4, "\(size) round \(round)")
            }
        }
    }

    @Test(arguments: depths, [2, 3, 4, 5]) func skippedTransformsAreReversible(_ depth: Int, _ log2: Int) {
        let transform = HEVCTransform(bitDepth: depth)
        let size = 1 << log2
        var generator = SplitMix64(state: 5)
        let residual = ElementStorage<Int16>(count: 1024, repeating: 0)
        let coefficients = ElementStorage<Int16>(count: 1024, repeating: 0)
        let most = Int16(1 << depth) - 1
        for i in 0..<size * size { residual.elements[i] = Int16.random(in: -most...most, using: &generator) }
        transform.forwardSkip(residual.elements, stride: size, log2Size: log2, to: coefficients.elements)
        let before = (0..<size * size).map { residual.elements[$0] }
        transform.inverseSkip(coefficients.elements, log2Size: log2, to: residual.elements, stride: size)
        #expect((0..<size * size).map { residual.elements[$0] } == before)
        // The expected value of one coefficient is by 8.6.4.2: tsShift is 5 + Log2(nTbS).
        coefficients.elements[0] = 321
        transform.inverseSkip(coefficients.elements, log2Size: log2, to: residual.elements, stride: size)
        #expect(Int(residual.elements[0]) == (321 << (5 + log2) + 1 << (19 - depth)) >> (20 - depth))
    }
}
