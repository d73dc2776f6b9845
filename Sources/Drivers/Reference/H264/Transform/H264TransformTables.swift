/// The constants of H.264 8.5, and the quantizer multipliers derived from them.
package enum H264TransformTables {
    /// normAdjust4x4 of (8-315) by QP % 6, for the positions (even, even), (odd, odd) and others.
    static let scale4x4: [[Int]] = [
        [10, 16, 13], [11, 18, 14], [13, 20, 16], [14, 23, 18], [16, 25, 20], [18, 29, 23],
    ]

    /// normAdjust8x8 of (8-318) by QP % 6, in the order of the cases of that formula.
    static let scale8x8: [[Int]] = [
        [20, 18, 32, 19, 25, 24], [22, 19, 35, 21, 28, 26], [26, 23, 42, 24, 33, 31],
        [28, 25, 45, 26, 35, 33], [32, 28, 51, 30, 40, 38], [36, 32, 58, 34, 46, 43],
    ]

    /// Returns the case of (8-315) for a position.
    static func class4x4(_ row: Int, _ column: Int) -> Int {
        row % 2 == 0 && column % 2 == 0 ? 0 : (row % 2 == 1 && column % 2 == 1 ? 1 : 2)
    }

    /// Returns the case of (8-318) for a position.
    static func class8x8(_ row: Int, _ column: Int) -> Int {
        switch (row % 4, column % 4) {
        case (0, 0): 0
        case (1, 1), (1, 3), (3, 1), (3, 3): 1
        case (2, 2): 2
        case (0, 1), (0, 3), (1, 0), (3, 0): 3
        case (0, 2), (2, 0): 4
        default: 5
        }
    }

    /// The squared norms of the rows of the forward transforms.
    private static let rowNorms4x4: [Double] = [4, 10, 4, 10]
    private static let rowNorms8x8: [Double] = [8, 9.03125, 5, 9.03125, 8, 9.03125, 5, 9.03125]
    /// The scale of the inverse transform's rows relative to the forward transform's: the odd rows are halved.
    private static let inverseRowScale4x4: [Double] = [1, 0.5, 1, 0.5]

    /// Returns the multiplier of a coefficient: level = coefficient · multiplier >> (15 + QP / 6), before rounding.
    /// With the scale of (8-315) and the division by 64 in the inverse transform, quantizing and scaling together are
    /// the identity.
    static func numerator4x4(_ remainder: Int, _ row: Int, _ column: Int) -> Int {
        let norm = rowNorms4x4[row] * rowNorms4x4[column] * inverseRowScale4x4[row] * inverseRowScale4x4[column]
        return Int((32768 * 64 / (norm * Double(scale4x4[remainder][class4x4(row, column)]))).rounded())
    }

    /// Returns the multiplier of a coefficient: level = coefficient · multiplier >> (16 + QP / 6), before rounding.
    static func numerator8x8(_ remainder: Int, _ row: Int, _ column: Int) -> Int {
        let norm = rowNorms8x8[row] * rowNorms8x8[column]
        return Int((65536 * 256 / (norm * Double(scale8x8[remainder][class8x8(row, column)]))).rounded())
    }

    /// Returns QP_C for QP_Y and chroma_qp_index_offset, table 8-15.
    package static func chromaQP(_ qp: Int, offset: Int) -> Int {
        let index = max(0, min(51, qp + offset))
        let table = [29, 30, 31, 32, 32, 33, 34, 34, 35, 35, 36, 36, 37, 37, 37, 38, 38, 38, 39, 39, 39, 39]
        return index < 30 ? index : table[index - 30]
    }

    /// Zig-zag scans of frame macroblocks, 8.5.6 and 8.5.7, as raster indices (row · size + column).
    static let zigzag4x4 = zigzag(size: 4)
    static let zigzag8x8 = zigzag(size: 8)

    /// Returns the zig-zag scan, which alternates between up-right and down-left diagonals and starts to the right.
    private static func zigzag(size: Int) -> [Int] {
        var scan: [Int] = []
        for diagonal in 0..<2 * size - 1 {
            let rows = max(0, diagonal - size + 1)...min(diagonal, size - 1)
            let upwards = diagonal % 2 == 0
            for row in upwards ? Array(rows.reversed()) : Array(rows) {
                scan.append(row * size + diagonal - row)
            }
        }
        return scan
    }
}
