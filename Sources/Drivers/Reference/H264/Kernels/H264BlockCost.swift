/// Differences between a block of the source (with rows `H264Scratch.sourceStride` apart) and another block.
///
/// The compiler turns the loops over constant widths into instructions for sums of absolute differences and
/// multiply-add.
package enum H264BlockCost {
    @inline(__always) private static func absolute(
        _ a: ElementPointer<UInt8>, _ b: ElementPointer<UInt8>, _ stride: Int, width: Int, height: Int
    ) -> Int {
        var sum: Int32 = 0
        for y in 0..<height {
            let p = a + y &* H264Scratch.sourceStride
            let q = b + y &* stride
            for x in 0..<width {
                let d = Int32(p[x]) &- Int32(q[x])
                sum = sum &+ (d < 0 ? 0 &- d : d)
            }
        }
        return Int(sum)
    }

    /// Returns the sum of absolute differences of a 16×`height` block. `height` must be a multiple of 4.
    @inline(never) package static func sad16(
        _ a: ElementPointer<UInt8>, _ b: ElementPointer<UInt8>, _ stride: Int, height: Int
    ) -> Int {
        var sum: Int32 = 0
        var y = 0
        while y < height {
            // The compiler unrolls only loops with constant counts.
            for i in 0..<4 {
                let p = a + (y &+ i) &* H264Scratch.sourceStride
                let q = b + (y &+ i) &* stride
                for x in 0..<16 {
                    let d = Int32(p[x]) &- Int32(q[x])
                    sum = sum &+ (d < 0 ? 0 &- d : d)
                }
            }
            y &+= 4
        }
        return Int(sum)
    }

    /// Returns the sum of absolute differences of an 8×`height` block.
    @inline(never) package static func sad8(_ a: ElementPointer<UInt8>, _ b: ElementPointer<UInt8>, _ stride: Int, height: Int) -> Int {
        absolute(a, b, stride, width: 8, height: height)
    }

    /// Returns the sum of absolute differences of two 4×4 blocks side by side.
    @inline(__always) static func sad8x4(_ a: ElementPointer<UInt8>, _ b: ElementPointer<UInt8>, _ stride: Int) -> Int {
        absolute(a, b, stride, width: 8, height: 4)
    }

    @inline(__always) static func sad(
        _ a: ElementPointer<UInt8>, _ b: ElementPointer<UInt8>, _ stride: Int, width: Int, height: Int
    ) -> Int {
        width == 16 ? sad16(a, b, stride, height: height) : sad8(a, b, stride, height: height)
    }

    /// Returns the sum of absolute differences between a 16×`height` block and the average of two blocks. `height` must
    /// be a multiple of 4.
    @inline(never) package static func sad16(
        _ a: ElementPointer<UInt8>, average first: ElementPointer<UInt8>, _ second: ElementPointer<UInt8>,
        _ stride: Int, height: Int
    ) -> Int {
        var sum: Int32 = 0
        var y = 0
        while y < height {
            for i in 0..<4 {
                let row = (y &+ i) &* stride
                let source: Bytes = a.load((y &+ i) &* H264Scratch.sourceStride)
                let average = first.load(row, as: Bytes.self).average(second.load(row))
                for x in 0..<16 {
                    let d = Int32(source[x]) &- Int32(average[x])
                    sum = sum &+ (d < 0 ? 0 &- d : d)
                }
            }
            y &+= 4
        }
        return Int(sum)
    }

    /// Returns the sum of squared differences of a `width`×`height` block. `width` must be a multiple of 8.
    @inline(never) package static func squares(
        _ a: ElementPointer<UInt8>, _ b: ElementPointer<UInt8>, _ stride: Int, width: Int, height: Int
    ) -> Int {
        var sum: Int32 = 0
        var x0 = 0
        while x0 < width {
            for y in 0..<height {
                let d = difference(a + (y &* H264Scratch.sourceStride &+ x0), b + (y &* stride &+ x0))
                for x in 0..<8 { sum = sum &+ Int32(d[x]) &* Int32(d[x]) }
            }
            x0 &+= 8
        }
        return Int(sum)
    }

    @inline(__always) private static func difference(_ a: ElementPointer<UInt8>, _ b: ElementPointer<UInt8>) -> Words {
        a.load(0, as: HalfBytes.self).words &- b.load(0, as: HalfBytes.self).words
    }

    @inline(__always) private static func hadamard(_ p: BlockPair) -> BlockPair {
        let a = p.r0 &+ p.r2
        let b = p.r1 &+ p.r3
        let c = p.r0 &- p.r2
        let d = p.r1 &- p.r3
        return BlockPair(a &+ b, c &+ d, a &- b, c &- d)
    }

    /// Returns half the sum of absolute 4×4 Hadamard coefficients of two blocks side by side, as eight partial sums.
    @inline(__always) private static func transformed8x4(_ a: ElementPointer<UInt8>, _ b: ElementPointer<UInt8>, _ stride: Int) -> Words {
        let rows = BlockPair(
            difference(a, b),
            difference(a + H264Scratch.sourceStride, b + stride),
            difference(a + 2 &* H264Scratch.sourceStride, b + 2 &* stride),
            difference(a + 3 &* H264Scratch.sourceStride, b + 3 &* stride))
        let t = hadamard(rows).transposed
        // Combines the last butterfly with the absolute values: |x + y| + |x − y| = 2·max(|x|, |y|).
        let a = t.r0 &+ t.r2
        let b = t.r1 &+ t.r3
        let c = t.r0 &- t.r2
        let d = t.r1 &- t.r3
        return a.magnitude.atLeast(b.magnitude) &+ c.magnitude.atLeast(d.magnitude)
    }

    /// Returns the SATD of a `width`×`height` block: half the sum of absolute 4×4 Hadamard coefficients. `width` must
    /// be a multiple of 8, `height` of 4.
    @inline(never) package static func satd(
        _ a: ElementPointer<UInt8>, _ b: ElementPointer<UInt8>, _ stride: Int, width: Int, height: Int
    ) -> Int {
        var sum = 0
        var x = 0
        while x < width {
            var part = Words(repeating: 0)
            var y = 0
            while y < height {
                part = part &+ transformed8x4(a + (y &* H264Scratch.sourceStride &+ x), b + (y &* stride &+ x), stride)
                y &+= 4
            }
            sum &+= part.unsignedSum
            x &+= 8
        }
        return sum
    }

    /// Returns the SATD of a 16×16 block, or a number of at least `limit` if the SATD is not lower. If `repeats`, the
    /// first four rows of `b` are also the other rows.
    @inline(never) package static func satd16x16(
        _ a: ElementPointer<UInt8>, _ b: ElementPointer<UInt8>, _ stride: Int, repeats: Bool = false, below limit: Int
    ) -> Int {
        var sum = 0
        var y = 0
        while y < 16 {
            let p = a + y &* H264Scratch.sourceStride
            let q = repeats ? b : b + y &* stride
            sum &+= (transformed8x4(p, q, stride) &+ transformed8x4(p + 8, q + 8, stride)).unsignedSum
            if sum >= limit { break }
            y &+= 4
        }
        return sum
    }

    /// Returns the SATD of one 4×4 block.
    @inline(never) package static func satd4x4(_ a: ElementPointer<UInt8>, _ b: ElementPointer<UInt8>, _ stride: Int) -> Int {
        @inline(__always) func row(_ y: Int) -> Words {
            // Only four samples are loaded in each row, because those on the right belong to other blocks.
            let p: UInt32 = (a + y &* H264Scratch.sourceStride).load(0)
            let q: UInt32 = (b + y &* stride).load(0)
            return SIMD2<UInt32>(p, 0).sampleWords &- SIMD2<UInt32>(q, 0).sampleWords
        }
        let t = hadamard(BlockPair(row(0), row(1), row(2), row(3))).transposed
        let s = t.r0 &+ t.r2
        let u = t.r1 &+ t.r3
        let v = t.r0 &- t.r2
        let w = t.r1 &- t.r3
        return (s.magnitude.atLeast(u.magnitude) &+ v.magnitude.atLeast(w.magnitude)).unsignedSum
    }

    /// Returns whether four 8×8 Hadamard transforms of a 16×16 block have a lower cost than `limit`: the sum of
    /// `satd8x8`.
    @inline(__always) static func isSATD8x8(
        _ a: ElementPointer<UInt8>, _ b: ElementPointer<UInt8>, _ stride: Int, below limit: Int
    ) -> Bool {
        var sum = 0
        for i in 0..<4 {
            let (column, row) = ((i & 1) &* 8, (i &>> 1) &* 8)
            sum &+= satd8x8(
                a + (row &* H264Scratch.sourceStride &+ column), b + (row &* stride &+ column), stride)
            if sum >= limit { return false }
        }
        return true
    }

    /// Returns a quarter of the sum of absolute 8×8 Hadamard coefficients, which is comparable with `satd` of the same
    /// block.
    @inline(never) package static func satd8x8(_ a: ElementPointer<UInt8>, _ b: ElementPointer<UInt8>, _ stride: Int) -> Int {
        @inline(__always) func row(_ y: Int) -> Words { difference(a + y &* H264Scratch.sourceStride, b + y &* stride) }
        @inline(__always) func butterflies(_ r: Block8x8) -> Block8x8 {
            let a0 = r.r0 &+ r.r4
            let a1 = r.r1 &+ r.r5
            let a2 = r.r2 &+ r.r6
            let a3 = r.r3 &+ r.r7
            let b0 = r.r0 &- r.r4
            let b1 = r.r1 &- r.r5
            let b2 = r.r2 &- r.r6
            let b3 = r.r3 &- r.r7
            let c0 = a0 &+ a2
            let c1 = a1 &+ a3
            let c2 = a0 &- a2
            let c3 = a1 &- a3
            let d0 = b0 &+ b2
            let d1 = b1 &+ b3
            let d2 = b0 &- b2
            let d3 = b1 &- b3
            return Block8x8(c0 &+ c1, c0 &- c1, c2 &+ c3, c2 &- c3, d0 &+ d1, d0 &- d1, d2 &+ d3, d2 &- d3)
        }
        let t = butterflies(
            butterflies(Block8x8(row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7))).transposed)
        // Each coefficient fits in 16 bits, and so does the sum of two magnitudes as an unsigned value.
        let sum =
            (t.r0.magnitude &+ t.r1.magnitude).unsignedSum &+ (t.r2.magnitude &+ t.r3.magnitude).unsignedSum
            &+ (t.r4.magnitude &+ t.r5.magnitude).unsignedSum &+ (t.r6.magnitude &+ t.r7.magnitude).unsignedSum
        return (sum &+ 2) &>> 2
    }
}

extension SIMD2 where Scalar == UInt32 {
    /// The eight bytes as words.
    @inline(__always) var sampleWords: Words {
        // SAFETY: both types consist of eight bytes without padding, and every bit pattern is valid.
        unsafe unsafeBitCast(self, to: HalfBytes.self).words
    }
}
