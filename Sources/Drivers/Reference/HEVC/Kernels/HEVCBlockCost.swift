/// The cost of the difference between a source block and its prediction. Sides are multiples of 4. With 10 bits the
/// costs are four times those of the same picture with 8 bits.
package enum HEVCBlockCost {
    /// Returns the sum of absolute differences of a strip. The width is a constant after inlining.
    @inline(__always) private static func bytes<Sample: HEVCSample>(
        _ a: ElementPointer<Sample>, _ aStride: Int, _ b: ElementPointer<Sample>, _ bStride: Int, width: Int, height: Int
    ) -> Int {
        var sum: Int32 = 0
        var y = 0
        while y < height {
            // The compiler unrolls only loops with constant counts. It then adds the vectors of four rows at once.
            for i in 0..<4 {
                let p = a + (y &+ i) &* aStride
                let q = b + (y &+ i) &* bStride
                for x in 0..<width {
                    let d = Int32(truncatingIfNeeded: p[x]) &- Int32(truncatingIfNeeded: q[x])
                    sum = sum &+ (d < 0 ? 0 &- d : d)
                }
            }
            y &+= 4
        }
        return Int(sum)
    }

    /// Returns the sum of absolute differences.
    @inline(never)
    @_specialize(where Sample == UInt8)
    @_specialize(where Sample == UInt16)
    package static func sad<Sample: HEVCSample>(
        _ a: ElementPointer<Sample>, _ aStride: Int, _ b: ElementPointer<Sample>, _ bStride: Int, width: Int, height: Int
    ) -> Int {
        var total = 0
        var x = 0
        if Sample.bitDepth == 8 {
            while x &+ 16 <= width {
                total &+= bytes(a + x, aStride, b + x, bStride, width: 16, height: height)
                x &+= 16
            }
            if x &+ 8 <= width {
                total &+= bytes(a + x, aStride, b + x, bStride, width: 8, height: height)
                x &+= 8
            }
            if x < width { total &+= bytes(a + x, aStride, b + x, bStride, width: 4, height: height) }
            return total
        }
        while x < width {
            // The sum of 64 10-bit differences of one column fits unsigned 16 bits.
            var sum = Words(repeating: 0)
            let isWide = x &+ 8 <= width
            for y in 0..<height {
                let p = a + (y &* aStride &+ x)
                let q = b + (y &* bStride &+ x)
                sum = sum &+ (isWide ? p.words(0) &- q.words(0) : p.fourWords(0) &- q.fourWords(0)).magnitude
            }
            total &+= sum.unsignedSum
            x &+= 8
        }
        return total
    }

    @inline(__always) private static func hadamard(_ p: BlockPair) -> BlockPair {
        let a = p.r0 &+ p.r2
        let b = p.r1 &+ p.r3
        let c = p.r0 &- p.r2
        let d = p.r1 &- p.r3
        return BlockPair(a &+ b, c &+ d, a &- b, c &- d)
    }

    /// Returns half the sum of absolute 4×4 Hadamard coefficients of two adjacent blocks of differences, as eight
    /// partial sums.
    @inline(__always) private static func transformed(_ rows: BlockPair) -> Words {
        let t = hadamard(rows).transposed
        // Combines the last butterfly with the absolute values: |x + y| + |x − y| = 2·max(|x|, |y|).
        let a = t.r0 &+ t.r2
        let b = t.r1 &+ t.r3
        let c = t.r0 &- t.r2
        let d = t.r1 &- t.r3
        return a.magnitude.atLeast(b.magnitude) &+ c.magnitude.atLeast(d.magnitude)
    }

    /// Returns the SATD: half the sum of absolute 4×4 Hadamard coefficients.
    @inline(never)
    @_specialize(where Sample == UInt8)
    @_specialize(where Sample == UInt16)
    package static func satd<Sample: HEVCSample>(
        _ a: ElementPointer<Sample>, _ aStride: Int, _ b: ElementPointer<Sample>, _ bStride: Int, width: Int, height: Int
    ) -> Int {
        var total = 0
        var x = 0
        while x &+ 8 <= width {
            // The partial sums of sixteen rows fit unsigned 16 bits, with 10-bit samples too.
            var y = 0
            while y < height {
                var part = Words(repeating: 0)
                let end = Swift.min(y &+ 16, height)
                while y < end {
                    let p = a + (y &* aStride &+ x)
                    let q = b + (y &* bStride &+ x)
                    part =
                        part
                        &+ transformed(
                            BlockPair(
                                p.words(0) &- q.words(0), p.words(aStride) &- q.words(bStride),
                                p.words(2 &* aStride) &- q.words(2 &* bStride),
                                p.words(3 &* aStride) &- q.words(3 &* bStride)))
                    y &+= 4
                }
                total &+= part.unsignedSum
            }
            x &+= 8
        }
        if x < width {
            var y = 0
            while y < height {
                let p = a + (y &* aStride &+ x)
                let q = b + (y &* bStride &+ x)
                total &+=
                    transformed(
                        BlockPair(
                            p.fourWords(0) &- q.fourWords(0), p.fourWords(aStride) &- q.fourWords(bStride),
                            p.fourWords(2 &* aStride) &- q.fourWords(2 &* bStride),
                            p.fourWords(3 &* aStride) &- q.fourWords(3 &* bStride))
                    ).unsignedSum
                y &+= 4
            }
        }
        return total
    }
}
