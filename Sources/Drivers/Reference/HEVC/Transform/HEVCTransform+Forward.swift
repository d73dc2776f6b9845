extension HEVCTransform {
    /// Transforms a residual block. The coefficients have the scale that the decoder expects (8.6.4.2): they exceed
    /// those of an orthonormal transform by the factor 2^(15 − BitDepth − log2Size).
    ///
    /// `stride` is the distance between rows of the residual in words. `isSine` selects the DST, for 4×4 blocks only.
    /// With `isLowPass`, only the first 16 columns and rows of the coefficients of 32×32 blocks are written.
    @inline(never) package func forward(
        _ residual: ElementPointer<Int16>, stride: Int, log2Size: Int, isSine: Bool = false, isLowPass: Bool = false,
        to coefficients: ElementPointer<Int16>
    ) {
        let shift = Int32(truncatingIfNeeded: log2Size &+ bitDepth &- 9)
        if log2Size == 2 {
            let table = tables.four(isSine ? .forwardSine : .forwardCosine)
            let block = HEVCBlock4x4(
                upper: Words(lowHalf: residual.load(0), highHalf: residual.load(stride)),
                lower: Words(lowHalf: residual.load(2 &* stride), highHalf: residual.load(3 &* stride)))
            let result = block.multiplied(table, shift: shift).transposed.multiplied(table, shift: 8).transposed
            coefficients.store(0, result.upper)
            coefficients.store(8, result.lower)
            return
        }
        // The second pass adds up to 2^(log2Size − 2) values in 16 bits. The first pass shifts further to leave
        // headroom for these sums.
        let headroom = Int32(truncatingIfNeeded: log2Size &- 2)
        let size = 1 &<< log2Size
        let rows = isLowPass && log2Size == 5 ? 16 : size
        forwardPass(residual, stride, size, columns: size, rows: rows, shift: shift &+ headroom, to: first.elements)
        transpose(first.elements, size, columns: size, rows: rows, to: second.elements, size)
        let last = Int32(truncatingIfNeeded: log2Size &+ 6) &- headroom
        forwardPass(second.elements, size, size, columns: rows, rows: rows, shift: last, to: first.elements)
        transpose(first.elements, size, columns: rows, rows: rows, to: coefficients, size)
    }

    /// Transforms the first `columns` columns of a block of `size`×`size` samples (8…32) into the first `rows` rows of
    /// coefficients: all, or half of them.
    private func forwardPass(
        _ input: ElementPointer<Int16>, _ stride: Int, _ size: Int, columns: Int, rows: Int, shift: Int32,
        to output: ElementPointer<Int16>
    ) {
        let folded = self.folded.elements
        var x = 0
        while x < columns {
            let target = output + x
            fold(input + x, stride, size)
            products(
                tables.forwardOdd(size), count: size / 4, outputs: rows / 2, shift, to: target + size, 2 &* size)
            var level = size / 2
            var step = 2
            while level > 4 {
                fold(folded, 8, level)
                products(
                    tables.forwardOdd(level), count: level / 4, outputs: rows / (2 &* step), shift, to: target + step &* size,
                    2 &* step &* size)
                level /= 2
                step &*= 2
            }
            setPair(0, folded.load(0), folded.load(8))
            setPair(1, folded.load(16), folded.load(24))
            products(tables.four(.forwardCosine), count: 2, outputs: 4, shift, to: target, step &* size)
            x &+= 8
        }
    }

    /// Combines rows n and count − 1 − n of `count` rows of eight values: stores the differences in `pairs` and the
    /// sums in `folded`.
    @inline(__always) private func fold(_ rows: ElementPointer<Int16>, _ stride: Int, _ count: Int) {
        let folded = self.folded.elements
        var n = 0
        while n < count / 2 {
            let a: Words = rows.load(n &* stride)
            let b: Words = rows.load((n &+ 1) &* stride)
            let y: Words = rows.load((count &- 2 &- n) &* stride)
            let z: Words = rows.load((count &- 1 &- n) &* stride)
            setPair(n / 2, a &- z, b &- y)
            folded.store(8 &* n, a &+ z)
            folded.store(8 &* n &+ 8, b &+ y)
            n &+= 2
        }
    }

    /// Computes an even number of `outputs`: sums of `count` products of `pairs` with the table's factors, rounded,
    /// shifted and saturated to 16 bits.
    @inline(__always) private func products(
        _ table: ElementPointer<Int16>, count: Int, outputs: Int, _ shift: Int32, to target: ElementPointer<Int16>, _ stride: Int
    ) {
        let pairs = self.pairs.elements
        let round = Quads(repeating: 1 &<< (shift &- 1))
        let shifts = Quads(repeating: shift)
        var factors = table
        let pitch = count &* HEVCTransformTables.pair
        var n = 0
        while n < outputs {
            var (a, b, c, d) = (round, round, round, round)
            var (nextA, nextB, nextC, nextD) = (Quads.zero, Quads.zero, Quads.zero, Quads.zero)
            var k = 0
            while k < count {
                (a, b, c, d) = (a &+ nextA, b &+ nextB, c &+ nextC, d &+ nextD)
                let low: Words = pairs.load(16 &* k)
                let high: Words = pairs.load(16 &* k &+ 8)
                let one: Words = factors.load(8 &* k)
                let other: Words = factors.load(pitch &+ 8 &* k)
                nextA = pairProducts(low, one)
                nextB = pairProducts(high, one)
                nextC = pairProducts(low, other)
                nextD = pairProducts(high, other)
                k &+= 1
            }
            (a, b, c, d) = (a &+ nextA, b &+ nextB, c &+ nextC, d &+ nextD)
            target.store(n &* stride, saturatedWords(a &>> shifts, b &>> shifts))
            target.store((n &+ 1) &* stride, saturatedWords(c &>> shifts, d &>> shifts))
            factors = factors + 2 &* pitch
            n &+= 2
        }
    }

    /// Scales the residual of a block with transform_skip_flag, the inverse of the scaling in 8.6.4.2.
    package func forwardSkip(_ residual: ElementPointer<Int16>, stride: Int, log2Size: Int, to coefficients: ElementPointer<Int16>) {
        let size = 1 &<< log2Size
        let shift = Int32(truncatingIfNeeded: 15 &- bitDepth &- log2Size)
        for y in 0..<size {
            for x in 0..<size {
                coefficients[y &* size &+ x] = Int16(clamping: Int32(residual[y &* stride &+ x]) &<< shift)
            }
        }
    }
}
