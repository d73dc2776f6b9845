/// Inverse transforms of H.264 8.5.12 and 8.5.13.
///
/// The input is scaled coefficients in the layout of `ForwardTransform`. The residual is added to the prediction in
/// place.
package enum InverseTransform {
    @inline(__always) private static func pass(_ p: BlockPair) -> BlockPair {
        let e0 = p.r0 &+ p.r2
        let e1 = p.r0 &- p.r2
        let e2 = (p.r1 &>> 1) &- p.r3
        let e3 = p.r1 &+ (p.r3 &>> 1)
        return BlockPair(e0 &+ e3, e1 &+ e2, e1 &- e2, e0 &- e3)
    }

    @inline(__always) private static func residual(_ coefficients: ElementPointer<Int16>) -> BlockPair {
        pass(pass(BlockPair(coefficients)).transposed)
    }

    /// Adds the residuals of two 4×4 blocks side by side.
    @inline(__always) package static func addPair(_ coefficients: ElementPointer<Int16>, to samples: ElementPointer<UInt8>, _ stride: Int) {
        let r = residual(coefficients)
        add(r.r0, samples)
        add(r.r1, samples + stride)
        add(r.r2, samples + 2 &* stride)
        add(r.r3, samples + 3 &* stride)
    }

    /// Adds the residual of the first 4×4 block of a pair.
    @inline(__always) package static func addSingle(_ coefficients: ElementPointer<Int16>, to samples: ElementPointer<UInt8>, _ stride: Int) {
        let r = residual(coefficients)
        @inline(__always) func addRow(_ words: Words, _ elements: ElementPointer<UInt8>) {
            let four: UInt32 = elements.load(0)
            let sum = SIMD2<UInt32>(four, 0).sampleWords &+ ((words &+ 32) &>> 6)
            elements.store(0, sum.clippedBytes.lowHalf)
        }
        addRow(r.r0, samples)
        addRow(r.r1, samples + stride)
        addRow(r.r2, samples + 2 &* stride)
        addRow(r.r3, samples + 3 &* stride)
    }

    @inline(__always) private static func add(_ words: Words, _ elements: ElementPointer<UInt8>) {
        let sum = elements.load(0, as: HalfBytes.self).words &+ ((words &+ 32) &>> 6)
        elements.store(0, sum.clippedBytes)
    }

    @inline(__always) private static func pass(_ r: Block8x8) -> Block8x8 {
        let a0 = r.r0 &+ r.r4
        let a1 = r.r5 &- r.r3 &- r.r7 &- (r.r7 &>> 1)
        let a2 = r.r0 &- r.r4
        let a3 = r.r1 &+ r.r7 &- r.r3 &- (r.r3 &>> 1)
        let a4 = (r.r2 &>> 1) &- r.r6
        let a5 = r.r7 &- r.r1 &+ r.r5 &+ (r.r5 &>> 1)
        let a6 = r.r2 &+ (r.r6 &>> 1)
        let a7 = r.r3 &+ r.r5 &+ r.r1 &+ (r.r1 &>> 1)
        let b0 = a0 &+ a6
        let b1 = a1 &+ (a7 &>> 2)
        let b2 = a2 &+ a4
        let b3 = a3 &+ (a5 &>> 2)
        let b4 = a2 &- a4
        let b5 = (a3 &>> 2) &- a5
        let b6 = a0 &- a6
        let b7 = a7 &- (a1 &>> 2)
        return Block8x8(b0 &+ b7, b2 &+ b5, b4 &+ b3, b6 &+ b1, b6 &- b1, b4 &- b3, b2 &- b5, b0 &- b7)
    }

    /// Adds the residual of one 8×8 block.
    @inline(never) package static func add8x8(_ coefficients: ElementPointer<Int16>, to samples: ElementPointer<UInt8>, _ stride: Int) {
        let r = pass(pass(Block8x8(coefficients)).transposed)
        add(r.r0, samples)
        add(r.r1, samples + stride)
        add(r.r2, samples + 2 &* stride)
        add(r.r3, samples + 3 &* stride)
        add(r.r4, samples + 4 &* stride)
        add(r.r5, samples + 5 &* stride)
        add(r.r6, samples + 6 &* stride)
        add(r.r7, samples + 7 &* stride)
    }
}
