extension HEVCTransform {
    /// Computes the residual r from scaled coefficients d as a decoder does: H.265 8.6.4.2 and the bdShift of 8.6.2.
    ///
    /// Coefficients outside `extent` are not read and count as zeros. `stride` is the distance between rows of the
    /// residual in words. `isSine` selects the DST, for 4×4 blocks only.
    @inline(never) package func inverse(
        _ coefficients: ElementPointer<Int16>, log2Size: Int, isSine: Bool = false, extent: HEVCExtent,
        to residual: ElementPointer<Int16>, stride: Int
    ) {
        let shift = Int32(truncatingIfNeeded: 20 &- bitDepth)
        let size = 1 &<< log2Size
        if extent.columns <= 1 && extent.rows <= 1 && !isSine {
            let column = Swift.min(Swift.max((64 &* Int32(coefficients[0]) &+ 64) &>> 7, -32768), 32767)
            let value = (64 &* column &+ (1 &<< (shift &- 1))) &>> shift
            fill(Int16(truncatingIfNeeded: value), size, residual, stride)
            return
        }
        if log2Size == 2 {
            let table = tables.four(isSine ? .inverseSine : .inverseCosine)
            let block = HEVCBlock4x4(upper: coefficients.load(0), lower: coefficients.load(8))
            let result = block.multiplied(table, shift: 7).transposed.multiplied(table, shift: shift).transposed
            residual.store(0, result.upper.lowHalf)
            residual.store(stride, result.upper.highHalf)
            residual.store(2 &* stride, result.lower.lowHalf)
            residual.store(3 &* stride, result.lower.highHalf)
            return
        }
        let columns = (extent.columns &+ 7) & ~7
        inversePass(coefficients, size, columns: columns, rows: extent.rows, shift: 7, to: first.elements)
        transpose(first.elements, size, columns: columns, rows: size, to: second.elements, size)
        inversePass(second.elements, size, columns: size, rows: extent.columns, shift: shift, to: first.elements)
        transpose(first.elements, size, columns: size, rows: size, to: residual, stride)
    }

    private func fill(_ value: Int16, _ size: Int, _ residual: ElementPointer<Int16>, _ stride: Int) {
        let words = Words(repeating: value)
        for y in 0..<size {
            if size == 4 {
                residual.store(y &* stride, words.lowHalf)
                continue
            }
            var x = 0
            while x < size {
                residual.store(y &* stride &+ x, words)
                x &+= 8
            }
        }
    }

    /// Applies the inverse transform to the first `columns` (a multiple of 8) columns of a block of `size`×`size`
    /// (8…32). Only the first `rows` rows are read; the others are zero.
    private func inversePass(
        _ input: ElementPointer<Int16>, _ size: Int, columns: Int, rows: Int, shift: Int32, to output: ElementPointer<Int16>
    ) {
        let outputs = self.outputs.elements
        let round = Quads(repeating: 1 &<< (shift &- 1))
        let shifts = Quads(repeating: shift)
        let half = size / 2
        var x = 0
        while x < columns {
            let column = input + x
            setPair(0, column.load(0), half < rows ? column.load(half &* size) : Words(repeating: 0))
            products(tables.inverseBase, count: 1, of: 1, outputs: 2)
            let sums = self.sums.elements
            for i in 0..<4 { outputs.store(4 &* i, round &+ sums.load(4 &* i, as: Quads.self)) }
            // Each turn doubles the number of outputs. It combines the outputs of the even rows so far with the sums of
            // the next odd rows.
            var level = 4
            var step = size / 4
            while level < size {
                odd(column, size: size, level: level, step: step, rows: rows)
                for n in 0..<level / 2 {
                    for i in 0..<2 {
                        let even: Quads = outputs.load(8 &* n &+ 4 &* i)
                        let sum: Quads = sums.load(8 &* n &+ 4 &* i)
                        outputs.store(8 &* n &+ 4 &* i, even &+ sum)
                        outputs.store(8 &* (level &- 1 &- n) &+ 4 &* i, even &- sum)
                    }
                }
                level &*= 2
                step /= 2
            }
            odd(column, size: size, level: size, step: 1, rows: rows)
            let target = output + x
            for n in 0..<half {
                let low: Quads = outputs.load(8 &* n)
                let high: Quads = outputs.load(8 &* n &+ 4)
                let sumLow: Quads = sums.load(8 &* n)
                let sumHigh: Quads = sums.load(8 &* n &+ 4)
                target.store(
                    n &* size, saturatedWords((low &+ sumLow) &>> shifts, (high &+ sumHigh) &>> shifts))
                target.store(
                    (size &- 1 &- n) &* size,
                    saturatedWords((low &- sumLow) &>> shifts, (high &- sumHigh) &>> shifts))
            }
            x &+= 8
        }
    }

    /// Stores in `sums` the contribution of the odd rows of a `level`-point transform. These are odd multiples of
    /// `step` as rows of the block.
    @inline(__always) private func odd(_ column: ElementPointer<Int16>, size: Int, level: Int, step: Int, rows: Int) {
        let present = (rows &- 1) / step
        let count = Swift.min(level / 4, (present &+ 3) / 4)
        for p in 0..<count {
            let one = (4 &* p &+ 1) &* step
            let other = (4 &* p &+ 3) &* step
            setPair(
                p, column.load(one &* size), other < rows ? column.load(other &* size) : Words(repeating: 0))
        }
        products(tables.inverseOdd(level), count: count, of: level / 4, outputs: level / 2)
    }

    /// Stores in `sums` an even number of `outputs`: sums of the first `count` products of `pairs` with the table's
    /// factors. The table has `of` pairs for each output.
    @inline(__always) private func products(_ table: ElementPointer<Int16>, count: Int, of: Int, outputs: Int) {
        let pairs = self.pairs.elements
        let sums = self.sums.elements
        var factors = table
        let pitch = of &* HEVCTransformTables.pair
        var n = 0
        while n < outputs {
            var (a, b, c, d) = (Quads.zero, Quads.zero, Quads.zero, Quads.zero)
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
            sums.store(8 &* n, a &+ nextA)
            sums.store(8 &* n &+ 4, b &+ nextB)
            sums.store(8 &* n &+ 8, c &+ nextC)
            sums.store(8 &* n &+ 12, d &+ nextD)
            factors = factors + 2 &* pitch
            n &+= 2
        }
    }

    /// Computes the residual r from the scaled coefficients d of a block with transform_skip_flag: 8.6.4.2 and the
    /// bdShift of 8.6.2.
    package func inverseSkip(_ coefficients: ElementPointer<Int16>, log2Size: Int, to residual: ElementPointer<Int16>, stride: Int) {
        let size = 1 &<< log2Size
        let tsShift = Int32(truncatingIfNeeded: 5 &+ log2Size)
        let shift = Int32(truncatingIfNeeded: 20 &- bitDepth)
        for y in 0..<size {
            for x in 0..<size {
                let value = Int32(coefficients[y &* size &+ x]) &<< tsShift
                residual[y &* stride &+ x] = Int16(truncatingIfNeeded: (value &+ (1 &<< (shift &- 1))) &>> shift)
            }
        }
    }
}
