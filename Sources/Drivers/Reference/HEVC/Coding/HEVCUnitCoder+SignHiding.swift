extension HEVCUnitCoder {
    /// Where a block's levels stand.
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

    /// Makes the levels' sums say the first levels' signs, H.265 7.3.8.11: in each sub-block whose levels lie more than
    /// three places apart, the level is changed by one that strays least from its coefficient.
    func hideSigns(_ block: HEVCBlockTask<Sample>) {
        let quantizer = quantizer(block.component)
        let size = 1 &<< block.log2Size
        let places = HEVCResidualTables.shared.positions.elements + 16 &* block.scan
        let shift = 14 &+ quantizer.period &+ quantizer.excess(block.log2Size)
        for top in stride(from: 0, to: size, by: 4) {
            for left in stride(from: 0, to: size, by: 4) {
                func place(_ n: Int) -> Int {
                    let position = Int(places[n])
                    return (top &+ position >> 2) &* size &+ left &+ position & 3
                }
                var (first, last, sum) = (16, -1, 0)
                for n in 0..<16 {
                    let level = Int(block.levels[place(n)])
                    if level == 0 { continue }
                    first = min(first, n)
                    last = n
                    sum &+= abs(level)
                }
                if last &- first <= 3 { continue }
                if sum & 1 == (block.levels[place(first)] < 0 ? 1 : 0) { continue }
                var (best, change, least) = (first, 1, Int.max)
                for n in first...last {
                    let level = Int(block.levels[place(n)])
                    let wanted = abs(Int(coefficients[place(n)])) &* quantizer.inverse
                    let rest = wanted &- abs(level) &<< shift
                    // The first level keeps its sign, and none goes away.
                    if rest < 0 && abs(level) > 1 && rest < least {
                        (best, change, least) = (n, -1, rest)
                    } else if rest >= 0 && abs(level) < 32767 && 0 &- rest < least {
                        (best, change, least) = (n, 1, 0 &- rest)
                    }
                }
                let level = Int(block.levels[place(best)])
                if least == Int.max { change = abs(level) > 1 ? -1 : 1 }
                let isNegative = level == 0 ? coefficients[place(best)] < 0 : level < 0
                block.levels[place(best)] = Int16(truncatingIfNeeded: level &+ (isNegative ? -change : change))
            }
        }
    }
}
