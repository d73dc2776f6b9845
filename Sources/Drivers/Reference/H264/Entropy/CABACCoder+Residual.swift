/// Writes residual(), H.264 7.3.5.3, with residual_block_cabac of 7.3.5.3.3.
extension CABACCoder {
    /// A ctxBlockCat of table 9-42, with the first contexts of its syntax elements and the number of levels, table
    /// 9-40.
    private struct Category {
        var flag: Int
        var significant: Int
        var last: Int
        var magnitude: Int
        var capacity: Int
        /// The limit of ctxIdxInc, relative to its start, for the bins after the first of levels above 1.
        var largestLimit = 4

        static let lumaDC = Category(flag: 85, significant: 105, last: 166, magnitude: 227, capacity: 16)
        static let lumaAC = Category(flag: 89, significant: 120, last: 181, magnitude: 237, capacity: 15)
        static let luma4x4 = Category(flag: 93, significant: 134, last: 195, magnitude: 247, capacity: 16)
        static let chromaDC = Category(
            flag: 97, significant: 149, last: 210, magnitude: 257, capacity: 4, largestLimit: 3)
        static let chromaAC = Category(flag: 101, significant: 152, last: 213, magnitude: 266, capacity: 15)
    }

    /// Writes the residual and sets coded_block_flag in `grid`. `neighbors` are the DC flags of the left and the upper
    /// macroblock. Returns the DC flags of this macroblock.
    mutating func writeResidual(
        _ macroblock: borrowing MacroblockSyntax, transform8x8: Bool, neighbors: (UInt8, UInt8), grid: BlockCountGrid
    ) -> UInt8 {
        let levels = macroblock.levels
        let counts = macroblock.nonZeroCounts
        let pattern = macroblock.codedBlockPattern
        var flags: UInt8 = 0
        let intra16x16 = macroblock.kind == .intra16x16
        if intra16x16 {
            let mask = (levels + MacroblockLevels.lumaDC).nonZeroMask16()
            arithmetic.encode(
                Category.lumaDC.flag + Int(neighbors.0 & 1) + 2 * Int(neighbors.1 & 1), mask != 0 ? 1 : 0)
            if mask != 0 {
                flags = 1
                writeLevels(levels + MacroblockLevels.lumaDC, mask: mask, .lumaDC)
            }
        }
        for quadrant in 0..<4 where pattern & 1 << quadrant != 0 {
            if transform8x8 {
                // coded_block_flag of an 8×8 block is not coded and counts as 1.
                writeLevels8x8(levels + 64 * quadrant)
                grid.setLuma8x8(quadrant, 1)
                continue
            }
            for block in (4 * quadrant)..<(4 * quadrant + 4) {
                var mask: UInt32 = 0
                if counts[block] != 0 { mask = (levels + 16 * block).nonZeroMask16() }
                let gridIndex = BlockCountGrid.luma(block)
                if intra16x16 {
                    writeBlock(levels + (16 * block + 1), mask: mask >> 1, .lumaAC, gridIndex, grid)
                } else {
                    writeBlock(levels + 16 * block, mask: mask, .luma4x4, gridIndex, grid)
                }
            }
        }
        guard pattern >> 4 != 0 else { return flags }
        for plane in 0..<2 {
            let source = levels + (MacroblockLevels.chromaDC + 4 * plane)
            var mask: UInt32 = 0
            for index in 0..<4 where source[index] != 0 { mask |= 1 << UInt32(index) }
            let bit = UInt8(plane + 1)
            let context = Int(neighbors.0 >> bit & 1) + 2 * Int(neighbors.1 >> bit & 1)
            arithmetic.encode(Category.chromaDC.flag + context, mask != 0 ? 1 : 0)
            if mask != 0 {
                flags |= 1 << bit
                writeLevels(source, mask: mask, .chromaDC)
            }
        }
        guard pattern >> 4 == 2 else { return flags }
        for block in 0..<8 {
            let source = levels + (MacroblockLevels.chromaAC + 16 * block)
            var mask: UInt32 = 0
            if counts[MacroblockLevels.chromaACBlock + block] != 0 { mask = source.nonZeroMask16() }
            writeBlock(source + 1, mask: mask >> 1, .chromaAC, BlockCountGrid.chroma(block), grid)
        }
        return flags
    }

    @inline(__always) private mutating func writeBlock(
        _ levels: ElementPointer<Int16>, mask: UInt32, _ category: Category, _ gridIndex: Int, _ grid: BlockCountGrid
    ) {
        arithmetic.encode(category.flag + grid.flagContext(gridIndex), mask != 0 ? 1 : 0)
        guard mask != 0 else { return }
        grid[gridIndex] = 1
        writeLevels(levels, mask: mask, category)
    }

    /// Writes a block of up to 16 levels. `mask` has the bits of the nonzero levels, of which there is at least one.
    @inline(never) private mutating func writeLevels(_ levels: ElementPointer<Int16>, mask: UInt32, _ category: Category) {
        // A local copy, so that the coder's fields stay in registers.
        var coder = arithmetic
        let last = 31 &- mask.leadingZeroBitCount
        let end = min(last, category.capacity &- 2)
        var index = 0
        while index <= end {
            let bin = Int(mask &>> UInt32(truncatingIfNeeded: index)) & 1
            coder.encodeInline(category.significant &+ index, bin)
            if bin != 0 { coder.encodeInline(category.last &+ index, index == last ? 1 : 0) }
            index &+= 1
        }
        Self.writeMagnitudes(
            &coder, levels, mask: UInt64(mask), start: category.magnitude, largestLimit: category.largestLimit)
        arithmetic = coder
    }

    /// Writes an 8×8 block of 64 levels, ctxBlockCat 5. Writes nothing if all levels are 0.
    @inline(never) private mutating func writeLevels8x8(_ levels: ElementPointer<Int16>) {
        let mask = levels.nonZeroMask64()
        guard mask != 0 else { return }
        var coder = arithmetic
        let offsets = offsets8x8
        let last = 63 &- mask.leadingZeroBitCount
        let end = min(last, 62)
        var index = 0
        while index <= end {
            let bin = Int(truncatingIfNeeded: mask &>> UInt64(truncatingIfNeeded: index)) & 1
            coder.encodeInline(402 &+ Int(offsets[index]), bin)
            if bin != 0 { coder.encodeInline(417 &+ Int(offsets[64 &+ index]), index == last ? 1 : 0) }
            index &+= 1
        }
        Self.writeMagnitudes(&coder, levels, mask: mask, start: 426, largestLimit: 4)
        arithmetic = coder
    }

    /// Writes coeff_abs_level_minus1 (UEG0 with uCoff 14) and coeff_sign_flag from the highest frequency to the lowest.
    @inline(__always) private static func writeMagnitudes(
        _ coder: inout ArithmeticEncoder, _ levels: ElementPointer<Int16>, mask: UInt64, start: Int, largestLimit: Int
    ) {
        var rest = mask
        // ctxIdxInc of the first bin is 1…4 until a level is larger than 1, and 0 afterwards. ctxIdxInc of the other
        // bins is 5 or more.
        var firstContext = start &+ 1
        var largerContext = start &+ 5
        let firstLimit = start &+ 4
        let largerLimit = start &+ 5 &+ largestLimit
        while rest != 0 {
            let index = 63 &- rest.leadingZeroBitCount
            rest ^= 1 &<< UInt64(truncatingIfNeeded: index)
            let level = Int(levels[index])
            let magnitude = abs(level)
            let sign: UInt32 = level < 0 ? 1 : 0
            if magnitude == 1 {
                coder.encodeInline(firstContext, 0)
                if firstContext != start { firstContext = min(firstContext &+ 1, firstLimit) }
            } else {
                coder.encodeInline(firstContext, 1)
                firstContext = start
                var count = min(magnitude, 15) &- 2
                while count > 0 {
                    coder.encodeInline(largerContext, 1)
                    count &-= 1
                }
                if magnitude < 15 {
                    coder.encodeInline(largerContext, 0)
                } else {
                    // The coder is passed by value, so that it stays in registers.
                    coder = coder.withExpGolombBypass(magnitude &- 15, order: 0)
                }
                largerContext = min(largerContext &+ 1, largerLimit)
            }
            coder.encodeBypass(sign, 1)
        }
    }
}

extension ArithmeticEncoder {
    /// Returns a copy of the coder in which `encodeExpGolombBypass` was called.
    @inline(never) func withExpGolombBypass(_ value: Int, order: Int) -> ArithmeticEncoder {
        var coder = self
        coder.encodeExpGolombBypass(value, order: order)
        return coder
    }

    /// Encodes the suffix of UEGk, 9.3.2.3: a k-th order Exp-Golomb code in bypass bins.
    mutating func encodeExpGolombBypass(_ value: Int, order: Int) {
        // The position of the top bit of value + (1 << order) determines the number of ones in the prefix. A zero ends
        // the prefix.
        let offset = UInt32(truncatingIfNeeded: value &+ 1 &<< order)
        let size = 31 &- offset.leadingZeroBitCount
        let ones = size &- order
        if ones > 15 {
            encodeBypass(0xFFFF >> UInt32(truncatingIfNeeded: 16 &- (ones &- 15)), ones &- 15)
            encodeBypass(0xFFFE, 16)
        } else {
            encodeBypass((1 &<< UInt32(truncatingIfNeeded: ones &+ 1)) &- 2, ones &+ 1)
        }
        encodeBypass(offset & (1 &<< UInt32(truncatingIfNeeded: size) &- 1), size)
    }
}
