/// Writes residual(), H.264 7.3.5.3, with residual_block_cavlc of 7.3.5.3.2 (codes of 9.2).
extension CAVLCCoder {
    /// The index in `coeffToken` of the table for chroma DC.
    private static let chromaDCTokens = 4 * 68

    mutating func writeResidual(_ macroblock: borrowing MacroblockSyntax, grid: BlockCountGrid, transform8x8: Bool) {
        let levels = macroblock.levels
        let counts = macroblock.nonZeroCounts
        let pattern = macroblock.codedBlockPattern
        let intra16x16 = macroblock.kind == .intra16x16
        if intra16x16 {
            let mask = (levels + MacroblockLevels.lumaDC).nonZeroMask16()
            _ = writeBlock(
                levels + MacroblockLevels.lumaDC, mask: mask, capacity: 16,
                tokens: tokens(grid, BlockCountGrid.luma(0)))
        }
        for quadrant in 0..<4 where pattern & 1 << quadrant != 0 {
            if transform8x8 {
                interleave(levels + 64 * quadrant)
            }
            for part in 0..<4 {
                let block = 4 * quadrant + part
                let gridIndex = BlockCountGrid.luma(block)
                let source = transform8x8 ? blockScratch + 16 * part : levels + 16 * block
                var mask: UInt32 = 0
                if transform8x8 || counts[block] != 0 { mask = source.nonZeroMask16() }
                let count: Int
                if intra16x16 {
                    count = writeBlock(source + 1, mask: mask >> 1, capacity: 15, tokens: tokens(grid, gridIndex))
                } else {
                    count = writeBlock(source, mask: mask, capacity: 16, tokens: tokens(grid, gridIndex))
                }
                grid[gridIndex] = UInt8(truncatingIfNeeded: count)
            }
        }
        guard pattern >> 4 != 0 else { return }
        for plane in 0..<2 {
            let source = levels + MacroblockLevels.chromaDC + 4 * plane
            var mask: UInt32 = 0
            for index in 0..<4 where source[index] != 0 { mask |= 1 << UInt32(index) }
            _ = writeBlock(source, mask: mask, capacity: 4, tokens: coeffToken + Self.chromaDCTokens)
        }
        guard pattern >> 4 == 2 else { return }
        for block in 0..<8 {
            let gridIndex = BlockCountGrid.chroma(block)
            let source = levels + MacroblockLevels.chromaAC + 16 * block
            var mask: UInt32 = 0
            if counts[MacroblockLevels.chromaACBlock + block] != 0 { mask = source.nonZeroMask16() }
            let count = writeBlock(source + 1, mask: mask >> 1, capacity: 15, tokens: tokens(grid, gridIndex))
            grid[gridIndex] = UInt8(truncatingIfNeeded: count)
        }
    }

    @inline(__always) private func tokens(_ grid: BlockCountGrid, _ gridIndex: Int) -> ElementPointer<UInt16> {
        coeffToken + Int(coeffTokenStart[grid.predictedCount(gridIndex)])
    }

    /// Splits the levels of an 8×8 block into four blocks in `blockScratch`. Each block takes every fourth level.
    @inline(__always) private func interleave(_ levels: ElementPointer<Int16>) {
        for part in 0..<4 {
            let (first, second) = zip(
                levels.load(16 &* part, as: Words.self), levels.load(16 &* part &+ 8, as: Words.self))
            let (low, high) = zip(first, second)
            blockScratch.store(4 &* part, low.lowHalf)
            blockScratch.store(4 &* part &+ 16, low.highHalf)
            blockScratch.store(4 &* part &+ 32, high.lowHalf)
            blockScratch.store(4 &* part &+ 48, high.highHalf)
        }
    }

    /// Writes a block of `capacity` levels. `mask` has the bits of the nonzero levels. Returns the number of nonzero
    /// levels.
    @inline(__always) private mutating func writeBlock(
        _ levels: ElementPointer<Int16>, mask: UInt32, capacity: Int, tokens: ElementPointer<UInt16>
    ) -> Int {
        if mask == 0 {
            sink.put(packed: tokens[0])
            return 0
        }
        return writeLevels(levels, mask: mask, capacity: capacity, tokens: tokens)
    }

    @inline(never) private mutating func writeLevels(
        _ levels: ElementPointer<Int16>, mask: UInt32, capacity: Int, tokens: ElementPointer<UInt16>
    ) -> Int {
        // A local copy, so that the sink's fields stay in registers.
        var bits = sink
        // Collects the levels and their positions, from the highest frequency to the lowest.
        var rest = mask
        var count = 0
        var trailingOnes = 0
        var onlyOnes = true
        var signs: UInt32 = 0
        while rest != 0 {
            let position = 31 &- rest.leadingZeroBitCount
            rest ^= 1 &<< UInt32(truncatingIfNeeded: position)
            let level = levels[position]
            levelScratch[count] = level
            positionScratch[count] = Int16(truncatingIfNeeded: position)
            count &+= 1
            onlyOnes = onlyOnes && (level == 1 || level == -1) && trailingOnes < 3
            if onlyOnes {
                trailingOnes &+= 1
                signs = signs &<< 1 | (level < 0 ? 1 : 0)
            }
        }
        bits.put(packed: tokens[4 &* count &+ trailingOnes])
        bits.put(signs, trailingOnes)

        var suffixLength = count > 10 && trailingOnes < 3 ? 1 : 0
        // If there are fewer than three trailing ones, the next level is not ±1, and its code is 2 lower.
        var discount = trailingOnes < 3 ? 2 : 0
        var index = trailingOnes
        while index < count {
            let level = Int(levelScratch[index])
            let magnitude = abs(level)
            putLevel(&bits, code: 2 &* magnitude &- (level < 0 ? 1 : 2) &- discount, suffixLength)
            discount = 0
            if suffixLength == 0 { suffixLength = 1 }
            if magnitude > 3 &<< (suffixLength &- 1) && suffixLength < 6 { suffixLength &+= 1 }
            index &+= 1
        }

        var zerosLeft = Int(positionScratch[0]) &+ 1 &- count
        if count < capacity {
            let codes = capacity == 4 ? totalZerosChromaDC : totalZeros
            bits.put(packed: codes[16 &* (count &- 1) &+ zerosLeft])
        }
        index = 0
        while zerosLeft > 0 && index &+ 1 < count {
            let run = Int(positionScratch[index]) &- Int(positionScratch[index &+ 1]) &- 1
            bits.put(packed: runBefore[16 &* (min(zerosLeft, 7) &- 1) &+ run])
            zerosLeft &-= run
            index &+= 1
        }
        sink = bits
        return count
    }

    /// Writes level_prefix and level_suffix for levelCode `code`, the inverse of 9.2.2.1.
    @inline(__always) private func putLevel(_ bits: inout SliceBitSink, code: Int, _ suffixLength: Int) {
        if suffixLength == 0 {
            if code < 14 {
                bits.put(1, code &+ 1)
                return
            }
            if code < 30 {
                bits.put(UInt32(truncatingIfNeeded: 16 &+ code &- 14), 19)
                return
            }
        } else if code < 15 &<< suffixLength {
            let suffix = code & (1 &<< suffixLength &- 1)
            bits.put(
                UInt32(truncatingIfNeeded: 1 &<< suffixLength | suffix), code &>> suffixLength &+ 1 &+ suffixLength)
            return
        }
        let escape = code &- 15 &<< suffixLength &- (suffixLength == 0 ? 15 : 0)
        if escape < 4096 {
            bits.put(UInt32(truncatingIfNeeded: 4096 | escape), 28)
        } else {
            // level_prefix above 15 does not exist in profiles below High. The prefix and its suffix grow together.
            let value = UInt32(truncatingIfNeeded: escape &+ 4096)
            let suffixSize = 31 &- value.leadingZeroBitCount
            bits.put(0, suffixSize &+ 3)
            bits.put(value, suffixSize &+ 1)
        }
    }
}
