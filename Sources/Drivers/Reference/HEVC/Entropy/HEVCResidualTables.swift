/// The scans and contexts of transform blocks, arranged for coding. One instance is shared in the process.
final class HEVCResidualTables: Sendable {
    static let shared = HEVCResidualTables()

    /// The positions in a sub-block as x | y << 2 by scan index, 16 for each scanIdx: ScanOrder[2], H.265 6.5.3 to
    /// 6.5.5.
    let positions = ElementStorage<UInt8>(count: 48, repeating: 0)
    /// Converts eight bits of a mask in raster order to bits by scan index. For each scanIdx, 256 entries for rows 0
    /// and 1 are followed by 256 entries for rows 2 and 3.
    let masks = ElementStorage<UInt16>(count: 3 * 512, repeating: 0)
    /// The sub-blocks of a block as x | y << 3 in scan order, 64 for each row that `subBlockRow` returns.
    let subBlocks = ElementStorage<UInt8>(count: 64 * 8, repeating: 0)
    /// The contexts of sig_coeff_flag by scan index, 16 for each row that `significantRow` returns, 9.3.4.2.5.
    let significant = ElementStorage<UInt8>(count: 16 * 54, repeating: 0)

    /// Returns the row of `subBlocks`: the diagonal scan of each size first, then the other scans of 8×8 blocks.
    @inline(__always) static func subBlockRow(log2Size: Int, scan: Int) -> Int {
        scan == 0 ? log2Size &- 2 : 3 &+ scan
    }

    /// Returns the first of a block's rows of `significant`. 4×4 blocks have one row. Other blocks have eight: the last
    /// four are for the sub-block with the DC coefficient. In each four, the row index is the sum of 1 if the sub-block
    /// to the right is coded and 2 if the one below is coded.
    @inline(__always) static func significantRow(log2Size: Int, isChroma: Bool, scan: Int) -> Int {
        if log2Size == 2 { return 48 &+ scan &+ (isChroma ? 3 : 0) }
        if isChroma { return log2Size == 3 ? 32 : 40 }
        if log2Size > 3 { return 24 }
        return 8 &* scan
    }

    private init() {
        for scan in 0..<3 {
            let order = Self.order(log2: 2, scan: scan)
            for (index, (x, y)) in order.enumerated() {
                positions.elements[16 * scan + index] = UInt8(x | y << 2)
                let bit = x | y << 2
                for mask in 0..<256 where mask >> (bit & 7) & 1 != 0 {
                    masks.elements[512 * scan + bit / 8 * 256 + mask] |= 1 << UInt16(index)
                }
            }
            for log2Size in 2...5 where scan == 0 || log2Size == 3 {
                let row = Self.subBlockRow(log2Size: log2Size, scan: scan)
                for (index, (x, y)) in Self.order(log2: log2Size - 2, scan: scan).enumerated() {
                    subBlocks.elements[64 * row + index] = UInt8(x | y << 3)
                }
            }
            for isChroma in [false, true] {
                for log2Size in 2...5 where scan == 0 || log2Size <= (isChroma ? 2 : 3) {
                    let first = Self.significantRow(log2Size: log2Size, isChroma: isChroma, scan: scan)
                    for row in 0..<(log2Size == 2 ? 1 : 8) {
                        for (index, (x, y)) in order.enumerated() {
                            let context = Self.significantContext(
                                x, y, log2Size: log2Size, isChroma: isChroma, scan: scan, neighbors: row & 3,
                                isFirst: row >= 4)
                            significant.elements[16 * (first + row) + index] = UInt8(HEVCContexts.significant + context)
                        }
                    }
                }
            }
        }
    }

    /// Returns the positions (x, y) in a square of side 1 << log2 in scan order: up-right diagonal, horizontal or
    /// vertical.
    private static func order(log2: Int, scan: Int) -> [(Int, Int)] {
        let size = 1 << log2
        switch scan {
        case 0:
            return (0..<(2 * size - 1)).flatMap { sum in
                (0..<size).filter { (0..<size).contains(sum - $0) }.map { ($0, sum - $0) }
            }
        case 1: return (0..<(size * size)).map { ($0 % size, $0 / size) }
        default: return (0..<(size * size)).map { ($0 / size, $0 % size) }
        }
    }

    /// Returns ctxInc of 9.3.4.2.5 for the position (x, y) in the sub-block.
    private static func significantContext(
        _ x: Int, _ y: Int, log2Size: Int, isChroma: Bool, scan: Int, neighbors: Int, isFirst: Bool
    ) -> Int {
        var context: Int
        if log2Size == 2 {
            // ctxIdxMap of table 9-50. The last entry is never used: the flag of that position is never coded.
            context = [0, 1, 4, 5, 2, 3, 4, 5, 6, 6, 8, 8, 7, 7, 8, 8][x + 4 * y]
        } else if isFirst && x + y == 0 {
            context = 0
        } else {
            context =
                switch neighbors {
                case 0: x + y == 0 ? 2 : x + y < 3 ? 1 : 0
                case 1: y == 0 ? 2 : y == 1 ? 1 : 0
                case 2: x == 0 ? 2 : x == 1 ? 1 : 0
                default: 2
                }
            if isChroma {
                context += log2Size == 3 ? 9 : 12
            } else {
                if !isFirst { context += 3 }
                context += log2Size == 3 ? (scan == 0 ? 9 : 15) : 21
            }
        }
        return isChroma ? 27 + context : context
    }
}
