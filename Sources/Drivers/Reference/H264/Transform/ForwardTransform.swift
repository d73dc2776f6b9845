/// Forward core transforms of the difference between source and prediction.
///
/// Coefficients are stored transposed, in the layout of `BlockPair` and `Block8x8`: the coefficient of row v and column
/// h has index h · 8 + v. In the second block of a pair, the index is 4 larger.
package enum ForwardTransform {
    @inline(__always) private static func pass(_ p: BlockPair) -> BlockPair {
        let s03 = p.r0 &+ p.r3
        let s12 = p.r1 &+ p.r2
        let d03 = p.r0 &- p.r3
        let d12 = p.r1 &- p.r2
        return BlockPair(s03 &+ s12, d03 &+ d03 &+ d12, s03 &- s12, d03 &- d12 &- d12)
    }

    @inline(__always) static func transform(_ p: BlockPair) -> BlockPair { pass(pass(p).transposed) }

    @inline(__always) private static func difference(_ a: ElementPointer<UInt8>, _ b: ElementPointer<UInt8>) -> Words {
        a.load(0, as: HalfBytes.self).words &- b.load(0, as: HalfBytes.self).words
    }

    /// Transforms two 4×4 blocks side by side. Writes 32 coefficients.
    @inline(__always) package static func pair(
        _ source: ElementPointer<UInt8>, _ prediction: ElementPointer<UInt8>, _ stride: Int, to coefficients: ElementPointer<Int16>
    ) {
        transform(
            BlockPair(
                difference(source, prediction),
                difference(source + H264Scratch.sourceStride, prediction + stride),
                difference(source + 2 &* H264Scratch.sourceStride, prediction + 2 &* stride),
                difference(source + 3 &* H264Scratch.sourceStride, prediction + 3 &* stride))
        ).store(coefficients)
    }

    /// Transforms one 4×4 block. Writes its coefficients as those of the first block of a pair, and zeros for the
    /// second block.
    @inline(__always) static func single(
        _ source: ElementPointer<UInt8>, _ prediction: ElementPointer<UInt8>, _ stride: Int, to coefficients: ElementPointer<Int16>
    ) {
        @inline(__always) func row(_ y: Int) -> Words {
            let p: UInt32 = (source + y &* H264Scratch.sourceStride).load(0)
            let q: UInt32 = (prediction + y &* stride).load(0)
            return SIMD2<UInt32>(p, 0).sampleWords &- SIMD2<UInt32>(q, 0).sampleWords
        }
        transform(BlockPair(row(0), row(1), row(2), row(3))).store(coefficients)
    }

    @inline(__always) private static func pass(_ r: Block8x8) -> Block8x8 {
        let s07 = r.r0 &+ r.r7
        let s16 = r.r1 &+ r.r6
        let s25 = r.r2 &+ r.r5
        let s34 = r.r3 &+ r.r4
        let a0 = s07 &+ s34
        let a1 = s16 &+ s25
        let a2 = s07 &- s34
        let a3 = s16 &- s25
        let d07 = r.r0 &- r.r7
        let d16 = r.r1 &- r.r6
        let d25 = r.r2 &- r.r5
        let d34 = r.r3 &- r.r4
        let a4 = d16 &+ d25 &+ (d07 &+ (d07 &>> 1))
        let a5 = d07 &- d34 &- (d25 &+ (d25 &>> 1))
        let a6 = d07 &+ d34 &- (d16 &+ (d16 &>> 1))
        let a7 = d16 &- d25 &+ (d34 &+ (d34 &>> 1))
        return Block8x8(
            a0 &+ a1, a4 &+ (a7 &>> 2), a2 &+ (a3 &>> 1), a5 &+ (a6 &>> 2),
            a0 &- a1, a6 &- (a5 &>> 2), (a2 &>> 1) &- a3, (a4 &>> 2) &- a7)
    }

    /// Transforms one 8×8 block. Writes 64 coefficients.
    @inline(never) package static func block8x8(
        _ source: ElementPointer<UInt8>, _ prediction: ElementPointer<UInt8>, _ stride: Int, to coefficients: ElementPointer<Int16>
    ) {
        @inline(__always) func row(_ y: Int) -> Words {
            difference(source + y &* H264Scratch.sourceStride, prediction + y &* stride)
        }
        pass(pass(Block8x8(row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7))).transposed)
            .store(coefficients)
    }

    /// Applies the Hadamard transform to 16 DC coefficients in raster order, in place, and halves the results with
    /// (x + 1) >> 1. This is the forward counterpart of H.264 8.5.10.
    static func lumaDC(_ dc: ElementPointer<Int16>) {
        hadamard4x4(dc) { ($0 &+ 1) &>> 1 }
    }

    /// Applies the transform of H.264 (8-320), rows and columns of ±1, without its scaling. `round` converts each
    /// result.
    @inline(__always) static func hadamard4x4(_ dc: ElementPointer<Int16>, _ round: (Int32) -> Int32) {
        var first: (SIMD4<Int32>, SIMD4<Int32>, SIMD4<Int32>, SIMD4<Int32>) = (
            row(dc, 0), row(dc, 4), row(dc, 8), row(dc, 12)
        )
        for _ in 0..<2 {
            let (a, b, c, d) = first
            let e = a &+ d
            let f = b &+ c
            let g = a &- d
            let h = b &- c
            let (p, q, r, s) = (e &+ f, g &+ h, e &- f, g &- h)
            first = (
                SIMD4(p.x, q.x, r.x, s.x), SIMD4(p.y, q.y, r.y, s.y),
                SIMD4(p.z, q.z, r.z, s.z), SIMD4(p.w, q.w, r.w, s.w)
            )
        }
        for x in 0..<4 {
            dc[x] = Int16(truncatingIfNeeded: round(first.0[x]))
            dc[4 + x] = Int16(truncatingIfNeeded: round(first.1[x]))
            dc[8 + x] = Int16(truncatingIfNeeded: round(first.2[x]))
            dc[12 + x] = Int16(truncatingIfNeeded: round(first.3[x]))
        }
    }

    @inline(__always) private static func row(_ dc: ElementPointer<Int16>, _ index: Int) -> SIMD4<Int32> {
        SIMD4<Int32>(truncatingIfNeeded: dc.load(index, as: SIMD4<Int16>.self))
    }
}
