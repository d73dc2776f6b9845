extension HEVCUnitCoder {
    /// Returns the leading columns and rows that contain a block's levels.
    func extent(_ block: HEVCBlockTask<Sample>) -> HEVCExtent {
        let size = 1 &<< block.log2Size
        var extent = HEVCExtent(columns: 0, rows: 0)
        for y in 0..<size {
            for x in 0..<size where block.levels[y &* size &+ x] != 0 {
                extent.columns = max(extent.columns, x &+ 1)
                extent.rows = max(extent.rows, y &+ 1)
            }
        }
        return extent
    }

    /// Adapts the levels for sign data hiding, H.265 7.3.8.11. The parity of the sum of a sub-block's magnitudes must
    /// equal the sign of its first level (1 for negative). Only sub-blocks whose first and last level are more than
    /// three scan positions apart are affected. If the parity is wrong, the level whose change by one causes the least
    /// error is changed.
    func hideSigns(_ block: HEVCBlockTask<Sample>) {
        let quantizer = quantizer(block.component)
        let size = 1 &<< block.log2Size
        let scanPositions = HEVCResidualTables.shared.positions.elements + 16 &* block.scan
        let shift = 14 &+ quantizer.period &+ quantizer.excess(block.log2Size)
        for top in stride(from: 0, to: size, by: 4) {
            for left in stride(from: 0, to: size, by: 4) {
                func offset(_ n: Int) -> Int {
                    let position = Int(scanPositions[n])
                    return (top &+ position >> 2) &* size &+ left &+ position & 3
                }
                var (first, last, sum) = (16, -1, 0)
                for n in 0..<16 {
                    let level = Int(block.levels[offset(n)])
                    if level == 0 { continue }
                    first = min(first, n)
                    last = n
                    sum &+= abs(level)
                }
                if last &- first <= 3 { continue }
                if sum & 1 == (block.levels[offset(first)] < 0 ? 1 : 0) { continue }
                var (best, change, least) = (first, 1, Int.max)
                for n in first...last {
                    let level = Int(block.levels[offset(n)])
                    let exact = abs(Int(coefficients[offset(n)])) &* quantizer.inverse
                    let rest = exact &- abs(level) &<< shift
                    // A level of ±1 is never changed to 0, so that no position and no hidden sign changes.
                    if rest < 0 && abs(level) > 1 && rest < least {
                        (best, change, least) = (n, -1, rest)
                    } else if rest >= 0 && abs(level) < 32767 && 0 &- rest < least {
                        (best, change, least) = (n, 1, 0 &- rest)
                    }
                }
                let level = Int(block.levels[offset(best)])
                if least == Int.max { change = abs(level) > 1 ? -1 : 1 }
                let isNegative = level == 0 ? coefficients[offset(best)] < 0 : level < 0
                block.levels[offset(best)] = Int16(truncatingIfNeeded: level &+ (isNegative ? -change : change))
            }
        }
    }
}
