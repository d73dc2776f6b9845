// The choice of levels by error and bits (rate-distortion optimized quantization).

/// The costs for the choice of a block's levels, by scan index.
struct HEVCLevelCosts {
    static let count = 32 * 32
    /// The cost of the chosen level (error and bits) minus the error of level 0, in 256ths of a squared sample.
    let levels: ElementPointer<Float>
    /// The part of that cost that sig_coeff_flag causes.
    let flags: ElementPointer<Float>
    /// The cost of coded_sub_block_flag, by sub-block in scan order.
    let subBlocks: ElementPointer<Float>

    init(_ memory: ElementPointer<Float>) {
        levels = memory
        flags = memory + Self.count
        subBlocks = memory + 2 * Self.count
    }

    static let memoryCount = 2 * count + 64
}

/// The context state for the levels of one sub-block, updated as in 9.3.4.2.6 and 9.3.3.11.
private struct HEVCLevelState {
    var increment = 1
    var count = 0
    var hasAboveOne = false
    var rice = 0

    /// Returns the cost of a level that is not 0 in 1/32768 bits, including its sign.
    @inline(__always) func bits(_ level: Int, _ aboveOne: Int, _ aboveTwo: Int, _ counter: HEVCBinCount) -> Int {
        var count = counter
        count.codeBypass(0, 1)
        var base = 1
        if self.count < 8 {
            count.codeInline(aboveOne &+ increment, level > 1 ? 1 : 0)
            base = 2
            if !hasAboveOne {
                if level > 1 { count.codeInline(aboveTwo, level > 2 ? 1 : 0) }
                base = 3
            }
        }
        // The first level above 1 also has coeff_abs_level_greater2_flag.
        if level >= base { HEVCResidualCoder.codeRemaining(level &- base, rice, &count) }
        return count.cost
    }

    @inline(__always) mutating func update(_ level: Int) {
        let base = count >= 8 ? 1 : hasAboveOne ? 2 : 3
        if level >= base && level > 3 &<< rice { rice = min(rice &+ 1, 4) }
        if count < 8 {
            if level > 1 {
                increment = 0
                hasAboveOne = true
            } else if increment != 0 {
                increment = min(increment &+ 1, 3)
            }
        }
        count &+= 1
    }
}

extension HEVCUnitCoder {
    /// Chooses for each coefficient the nearest level, one less, or 0, by error and by bits with the current contexts.
    /// Also clears sub-blocks, and ends the block earlier, if that is cheaper.
    ///
    /// - Parameter block: on input, its levels are the nearest ones to the coefficients.
    @inline(never) func chooseLevels(_ block: HEVCBlockTask<Sample>) -> HEVCQuantized {
        let log2Size = block.log2Size
        let size = 1 &<< log2Size
        let isChroma = block.component != .luma
        let quantizer = quantizer(block.component)
        let tables = HEVCResidualTables.shared
        let order = tables.subBlocks.elements + 64 &* HEVCResidualTables.subBlockRow(log2Size: log2Size, scan: block.scan)
        let scanPositions = tables.positions.elements + 16 &* block.scan
        let rows =
            tables.significant.elements
            + 16 &* HEVCResidualTables.significantRow(log2Size: log2Size, isChroma: isChroma, scan: block.scan)
        let costs = HEVCLevelCosts(scratch.levelCosts.elements)
        let counter = counter
        let weight = Float(squareLambda) / 32768
        let shift = 14 &+ quantizer.period &+ quantizer.excess(log2Size)
        let step = Float(1 &<< shift)
        let unit = Float(quantizer.inverse &<< quantizer.excess(log2Size))
        let scale = 256 / (unit * unit)

        @inline(__always) func corner(_ index: Int) -> Int {
            let location = Int(order[index])
            return (location & 7) &<< 2 &+ (location &>> 3) &<< (log2Size &+ 2)
        }
        @inline(__always) func offset(_ n: Int) -> Int {
            let position = Int(scanPositions[n])
            return position & 3 &+ (position &>> 2) &<< log2Size
        }
        @inline(__always) func flagCost(_ context: Int, _ bin: Int) -> Float {
            var count = counter
            count.codeInline(context, bin)
            return Float(count.cost) * weight
        }

        var first = 1 &<< (2 &* log2Size &- 4) &- 1
        while first > 0 && (block.levels + corner(first)).nonZeroMask4x4(stride: size) == 0 { first &-= 1 }

        var coded: UInt64 = 0
        var wasAboveOne = false
        var hasBegun = false
        var total: Float = 0
        var index = first
        while index >= 0 {
            let location = Int(order[index])
            let levels = block.levels + corner(index)
            let values = coefficients + corner(index)
            let around = coded &>> UInt64(truncatingIfNeeded: location)
            let right = location & 7 == 7 ? 0 : Int(truncatingIfNeeded: around &>> 1) & 1
            let neighbors = right | Int(truncatingIfNeeded: around &>> 7) & 2
            let row = log2Size == 2 ? rows : rows + 16 &* (neighbors &+ (index == 0 ? 4 : 0))
            let set = (index == 0 || isChroma ? 0 : 2) &+ (wasAboveOne ? 1 : 0)
            let aboveOne = HEVCContexts.aboveOne &+ 4 &* set &+ (isChroma ? 16 : 0)
            let aboveTwo = HEVCContexts.aboveTwo &+ set &+ (isChroma ? 4 : 0)
            let mayBeCleared = hasBegun && index > 0
            var state = HEVCLevelState()
            var sum: Float = 0
            var n = 15
            while n >= 0 {
                let at = index &<< 4 &+ n
                let level = Int(levels[offset(n)])
                let nearest = abs(level)
                let isInferred = !hasBegun || mayBeCleared && n == 0 && state.count == 0
                let context = Int(row[n])
                let none = isInferred ? 0 : flagCost(context, 0)
                costs.levels[at] = none
                costs.flags[at] = 0
                if nearest > 0 {
                    let flag = isInferred ? 0 : flagCost(context, 1)
                    let value = Float(abs(Int(values[offset(n)])) &* quantizer.inverse)
                    @inline(__always) func cost(_ level: Int) -> Float {
                        let scaled = Float(level) * step
                        return scaled * (scaled - 2 * value) * scale + flag
                            + Float(state.bits(level, aboveOne, aboveTwo, counter)) * weight
                    }
                    var best = nearest
                    var least = cost(nearest)
                    if nearest > 1 {
                        let less = cost(nearest &- 1)
                        if less < least { (best, least) = (nearest &- 1, less) }
                    }
                    if nearest < 3 && hasBegun && none < least { (best, least) = (0, none) }
                    costs.levels[at] = least
                    levels[offset(n)] = Int16(truncatingIfNeeded: level < 0 ? 0 &- best : best)
                    if best > 0 {
                        costs.flags[at] = flag
                        state.update(best)
                        hasBegun = true
                    }
                }
                sum += costs.levels[at]
                n &-= 1
            }
            costs.subBlocks[index] = 0
            if mayBeCleared {
                let context = HEVCContexts.codedSubBlock &+ (isChroma ? 2 : 0) &+ (neighbors != 0 ? 1 : 0)
                let without = flagCost(context, 0)
                let with = flagCost(context, 1)
                if state.count == 0 || without <= sum + with {
                    for n in 0..<16 {
                        levels[offset(n)] = 0
                        costs.levels[index &<< 4 &+ n] = 0
                        costs.flags[index &<< 4 &+ n] = 0
                    }
                    state = HEVCLevelState()
                    sum = 0
                    costs.subBlocks[index] = without
                } else {
                    costs.subBlocks[index] = with
                }
            }
            if state.count > 0 {
                coded |= 1 &<< UInt64(truncatingIfNeeded: location)
                wasAboveOne = state.hasAboveOne
            }
            total += sum + costs.subBlocks[index]
            index &-= 1
        }
        return chooseLastLevel(block, costs, first: first, total: total, weight: weight)
    }

    /// Finds the cheapest position of the last level, and clears the levels after it.
    private func chooseLastLevel(
        _ block: HEVCBlockTask<Sample>, _ costs: HEVCLevelCosts, first: Int, total: Float, weight: Float
    ) -> HEVCQuantized {
        let log2Size = block.log2Size
        let tables = HEVCResidualTables.shared
        let order = tables.subBlocks.elements + 64 &* HEVCResidualTables.subBlockRow(log2Size: log2Size, scan: block.scan)
        let scanPositions = tables.positions.elements + 16 &* block.scan
        let counter = counter
        let task = HEVCResidualBlock(
            levels: block.levels, log2Size: log2Size, isChroma: block.component != .luma, scan: block.scan)
        @inline(__always) func position(_ at: Int) -> (x: Int, y: Int) {
            let location = Int(order[at &>> 4])
            let position = Int(scanPositions[at & 15])
            return ((location & 7) &<< 2 | position & 3, (location &>> 3) &<< 2 | position &>> 2)
        }
        var rest = total
        // A block without levels is not considered here; the caller compares it.
        var least = Float.greatestFiniteMagnitude
        var last = -1
        var at = first &<< 4 &+ 15
        search: while at >= 0 {
            if at & 15 == 15 { rest -= costs.subBlocks[at &>> 4] }
            rest -= costs.levels[at]
            let (x, y) = position(at)
            let level = block.levels[y &<< log2Size &+ x]
            if level != 0 {
                var count = counter
                residualCoder.codeLast(x: x, y: y, task, &count)
                let cost = rest + costs.levels[at] - costs.flags[at] + Float(count.cost) * weight
                if cost < least { (least, last) = (cost, at) }
                if level > 1 || level < -1 { break search }
            }
            at &-= 1
        }
        var result = HEVCQuantized(count: 0, extent: HEVCExtent(columns: 0, rows: 0))
        at = first &<< 4 &+ 15
        while at >= 0 {
            let (x, y) = position(at)
            let offset = y &<< log2Size &+ x
            if at > last {
                block.levels[offset] = 0
            } else if block.levels[offset] != 0 {
                result.count &+= 1
                result.extent.columns = max(result.extent.columns, x &+ 1)
                result.extent.rows = max(result.extent.rows, y &+ 1)
            }
            at &-= 1
        }
        return result
    }
}
