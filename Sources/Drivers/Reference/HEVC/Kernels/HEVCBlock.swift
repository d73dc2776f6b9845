/// Sums, differences and copies of blocks of samples. Widths are multiples of 4; each plane has its own stride in
/// samples.
package enum HEVCBlock {
    /// Computes the residual: source minus prediction.
    @inline(never)
    @_specialize(where Sample == UInt8)
    @_specialize(where Sample == UInt16)
    package static func residual<Sample: HEVCSample>(
        _ source: ElementPointer<Sample>, _ sourceStride: Int, minus prediction: ElementPointer<Sample>, _ predictionStride: Int,
        width: Int, height: Int, to residual: ElementPointer<Int16>, _ stride: Int
    ) {
        for y in 0..<height {
            let a = source + y &* sourceStride
            let b = prediction + y &* predictionStride
            let r = residual + y &* stride
            var x = 0
            while x &+ 8 <= width {
                r.store(x, a.words(x) &- b.words(x))
                x &+= 8
            }
            if x < width { r.store(x, (a.fourWords(x) &- b.fourWords(x)).lowHalf) }
        }
    }

    /// Adds the residual to the prediction and clips the result. The destination may be the prediction's memory.
    @inline(never)
    @_specialize(where Sample == UInt8)
    @_specialize(where Sample == UInt16)
    package static func add<Sample: HEVCSample>(
        _ residual: ElementPointer<Int16>, _ stride: Int, to prediction: ElementPointer<Sample>, _ predictionStride: Int,
        width: Int, height: Int, into destination: ElementPointer<Sample>, _ destinationStride: Int
    ) {
        // The residual is clipped to ± the largest sample value first, so that the sum fits 16 bits. This does not
        // change the result.
        let most = Sample.largestWord
        let least = 0 &- most
        for y in 0..<height {
            let r = residual + y &* stride
            let p = prediction + y &* predictionStride
            let d = destination + y &* destinationStride
            var x = 0
            while x &+ 8 <= width {
                d.storeClipped(x, p.words(x) &+ r.load(x, as: Words.self).atMost(most).atLeast(least))
                x &+= 8
            }
            if x < width {
                let four = Words(lowHalf: r.load(x, as: SIMD4<Int16>.self), highHalf: .zero)
                d.storeFourClipped(x, p.fourWords(x) &+ four.atMost(most).atLeast(least))
            }
        }
    }

    @inline(never)
    @_specialize(where Sample == UInt8)
    @_specialize(where Sample == UInt16)
    package static func copy<Sample: HEVCSample>(
        _ source: ElementPointer<Sample>, _ sourceStride: Int, width: Int, height: Int, to destination: ElementPointer<Sample>,
        _ destinationStride: Int
    ) {
        for y in 0..<height {
            let s = source + y &* sourceStride
            let d = destination + y &* destinationStride
            var x = 0
            if Sample.bitDepth == 8 {
                while x &+ 16 <= width {
                    d.store(x, s.load(x, as: Bytes.self))
                    x &+= 16
                }
                while x < width {
                    d.store(x, s.load(x, as: UInt32.self))
                    x &+= 4
                }
            } else {
                while x &+ 8 <= width {
                    d.store(x, s.load(x, as: Words.self))
                    x &+= 8
                }
                if x < width { d.store(x, s.load(x, as: UInt64.self)) }
            }
        }
    }

    /// Returns the sum of squared differences.
    @inline(never)
    @_specialize(where Sample == UInt8)
    @_specialize(where Sample == UInt16)
    package static func squares<Sample: HEVCSample>(
        _ a: ElementPointer<Sample>, _ aStride: Int, _ b: ElementPointer<Sample>, _ bStride: Int, width: Int, height: Int
    ) -> Int {
        if Sample.bitDepth == 8 && width & 7 == 0 {
            return byteSquares(a, aStride, b, bStride, width: width, height: height)
        }
        var total = 0
        for y in 0..<height {
            let p = a + y &* aStride
            let q = b + y &* bStride
            // The sum of a row of 64 squared 10-bit differences fits 32 bits; the sum of a block may not.
            var sum = Quads.zero
            var next = Quads.zero
            var x = 0
            while x &+ 8 <= width {
                sum = sum &+ next
                let d = p.words(x) &- q.words(x)
                next = pairProducts(d, d)
                x &+= 8
            }
            sum = sum &+ next
            if x < width {
                let d = p.fourWords(x) &- q.fourWords(x)
                next = pairProducts(d, d)
                sum = sum &+ next
            }
            total &+= Int(sum.wrappedTotal)
        }
        return total
    }

    /// Returns the sum of squared differences of 8-bit samples. The width is a multiple of 8. The sum of up to 64×64
    /// squares fits 32 bits.
    @inline(__always) private static func byteSquares<Sample: HEVCSample>(
        _ a: ElementPointer<Sample>, _ aStride: Int, _ b: ElementPointer<Sample>, _ bStride: Int, width: Int, height: Int
    ) -> Int {
        var (low, high) = (Quads.zero, Quads.zero)
        var (nextLow, nextHigh) = (Quads.zero, Quads.zero)
        var p = a
        var q = b
        for _ in 0..<height {
            var x = 0
            while x &+ 16 <= width {
                (low, high) = (low &+ nextLow, high &+ nextHigh)
                let first = p.words(x) &- q.words(x)
                let second = p.words(x &+ 8) &- q.words(x &+ 8)
                nextLow = pairProducts(first, first)
                nextHigh = pairProducts(second, second)
                x &+= 16
            }
            if x < width {
                low = low &+ nextLow
                let last = p.words(x) &- q.words(x)
                nextLow = pairProducts(last, last)
            }
            p = p + aStride
            q = q + bStride
        }
        return Int((low &+ nextLow &+ high &+ nextHigh).wrappedTotal)
    }
}
