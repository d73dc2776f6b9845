// Removes lone levels that cost more bits than their error is worth; a cheap substitute for the choice of levels.

extension HEVCUnitCoder {
    /// The least mean magnitudes of one or two levels that are alone in a sub-block, in 256ths of a quantization step.
    private static var leastOfOne: Int { 270 }
    private static var leastOfTwo: Int { 230 }

    /// Removes the levels of sub-blocks that contain one or two levels of magnitude 1 with small coefficients. The
    /// first sub-block is not changed.
    func thinLevels(_ block: HEVCBlockTask<Sample>, _ quantized: inout HEVCQuantized) {
        let log2Size = block.log2Size
        let size = 1 &<< log2Size
        let quantizer = quantizer(block.component)
        let limits = (
            one: quantizer.least(log2Size: log2Size, rounding: 256 &- Self.leastOfOne),
            two: 2 &* quantizer.least(log2Size: log2Size, rounding: 256 &- Self.leastOfTwo)
        )
        var (columns, rows) = (0, 0)
        var y = 0
        while y < quantized.extent.rows {
            var x = 0
            while x < quantized.extent.columns {
                let offset = y &* size &+ x
                let mask = (block.levels + offset).nonZeroMask4x4(stride: size)
                if mask != 0 {
                    let removed =
                        offset == 0 ? 0 : thin(block.levels + offset, offset, mask: mask, size: size, limits: limits)
                    quantized.count &-= removed
                    if removed == 0 {
                        rows = max(rows, y &+ (63 &- mask.leadingZeroBitCount) &>> 2 &+ 1)
                        let two = mask | mask &>> 8
                        columns = max(columns, x &+ 64 &- ((two | two &>> 4) & 15).leadingZeroBitCount)
                    }
                }
                x &+= 4
            }
            y &+= 4
        }
        quantized.extent = HEVCExtent(columns: columns, rows: rows)
    }

    /// Removes the one or two levels of a sub-block if they are small enough. Returns how many were removed.
    @inline(__always) private func thin(
        _ levels: ElementPointer<Int16>, _ offset: Int, mask: Int, size: Int, limits: (one: Int, two: Int)
    ) -> Int {
        let others = mask & (mask &- 1)
        if others & (others &- 1) != 0 { return 0 }
        let coefficients = coefficients + offset
        let first = place(mask, size)
        if others == 0 {
            if abs(Int(coefficients[first])) >= limits.one || abs(Int(levels[first])) > 1 { return 0 }
            levels[first] = 0
            return 1
        }
        let second = place(others, size)
        if abs(Int(coefficients[first])) &+ abs(Int(coefficients[second])) >= limits.two
            || abs(Int(levels[first])) &+ abs(Int(levels[second])) > 2
        {
            return 0
        }
        levels[first] = 0
        levels[second] = 0
        return 2
    }

    /// Returns the offset of the first level in a sub-block's mask.
    @inline(__always) private func place(_ mask: Int, _ size: Int) -> Int {
        let bit = mask.trailingZeroBitCount
        return (bit &>> 2) &* size &+ bit & 3
    }
}
