/// Fractional sample interpolation, H.265 8.5.3.3.3: computes blocks of a reference picture with 14-bit values.
///
/// Rows of a block are `stride` elements of `Int16` apart. They are written in groups of eight elements, so up to six
/// elements beyond the width are overwritten.
enum HEVCInterpolation<Sample: HEVCSample> {
    /// The distance between rows of a 14-bit block, and the size of its memory, in elements.
    static var stride: Int { 64 }
    static var count: Int { 64 * 64 + 8 }
    /// The number of elements of scratch memory: the rows that the vertical filter reads, and eight columns of
    /// interleaved row pairs.
    static var scratchCount: Int { rowsCount + 72 * 16 }
    static var rowsCount: Int { 72 * stride + 8 }

    /// shift3 of 8.5.3.3.3: the left shift from samples to 14-bit values.
    @inline(__always) static var shift: Int16 { Int16(truncatingIfNeeded: 14 &- Sample.bitDepth) }

    /// Interpolates the luma block at (x, y), displaced by `vector` in quarter samples, 8.5.3.3.3.1. Positions far
    /// outside of the picture are clamped. This changes no sample, because the margin repeats the border.
    static func luma(
        _ planes: HEVCPlanes<Sample>, x: Int, y: Int, _ vector: MotionVector, width: Int, height: Int,
        scratch: ElementPointer<Int16>,
        to block: ElementPointer<Int16>
    ) {
        let at = planes.luma + lumaOffset(planes, x, y, vector)
        let taps = HEVCInterpolationTaps.shared
        let (fractionX, fractionY) = (Int(vector.x & 3), Int(vector.y & 3))
        if fractionX | fractionY == 0 {
            copy(at, fromStride: planes.stride, width: width, height: height, block: block)
        } else if fractionY == 0 {
            filterAlong(
                at, fromStride: planes.stride, taps: taps.luma(fractionX), width: width, height: height, block: block)
        } else if fractionX == 0 {
            filterDown(
                at, fromStride: planes.stride, taps: taps.luma(fractionY), width: width, height: height,
                scratch: scratch, block: block)
        } else {
            let above = at - 3 &* planes.stride
            filterAlong(
                above, fromStride: planes.stride, taps: taps.luma(fractionX), width: width, height: height &+ 7,
                block: scratch)
            filterDownAgain(scratch, taps: taps.luma(fractionY), width: width, height: height, block: block)
        }
    }

    /// Interpolates the chroma block at (x, y), in chroma samples, displaced by `vector` in eighths of a chroma sample,
    /// 8.5.3.3.3.2.
    static func chroma(
        _ plane: ElementPointer<Sample>, _ planes: HEVCPlanes<Sample>, x: Int, y: Int, _ vector: MotionVector, width: Int,
        height: Int,
        scratch: ElementPointer<Int16>, to block: ElementPointer<Int16>
    ) {
        let at = plane + chromaOffset(planes, x, y, vector)
        let taps = HEVCInterpolationTaps.shared
        let (fractionX, fractionY) = (Int(vector.x & 7), Int(vector.y & 7))
        if fractionX | fractionY == 0 {
            copy(at, fromStride: planes.chromaStride, width: width, height: height, block: block)
        } else if fractionY == 0 {
            filterAlong(
                at, fromStride: planes.chromaStride, taps: taps.chroma(fractionX), width: width, height: height,
                block: block)
        } else if fractionX == 0 {
            filterDown(
                at, fromStride: planes.chromaStride, taps: taps.chroma(fractionY), width: width, height: height,
                scratch: scratch, block: block)
        } else {
            let above = at - planes.chromaStride
            filterAlong(
                above, fromStride: planes.chromaStride, taps: taps.chroma(fractionX), width: width, height: height &+ 3,
                block: scratch)
            filterDownAgain(scratch, taps: taps.chroma(fractionY), width: width, height: height, block: block)
        }
    }

    /// Returns the offset in the plane, in whole samples, where a displaced luma block begins. At 8 samples after the
    /// picture's border, or 72 before it, the filters only read repeated border samples.
    @inline(__always) static func lumaOffset(_ planes: HEVCPlanes<Sample>, _ x: Int, _ y: Int, _ vector: MotionVector)
        -> Int
    {
        lumaRow(planes, y, vector) &* planes.stride &+ lumaColumn(planes, x, vector)
    }

    @inline(__always) static func lumaColumn(_ planes: HEVCPlanes<Sample>, _ x: Int, _ vector: MotionVector) -> Int {
        min(max(x &+ Int(vector.x) >> 2, -72), planes.width &+ 8)
    }

    @inline(__always) static func lumaRow(_ planes: HEVCPlanes<Sample>, _ y: Int, _ vector: MotionVector) -> Int {
        min(max(y &+ Int(vector.y) >> 2, -72), planes.height &+ 8)
    }

    /// Returns the offset in the plane, in whole samples, where a displaced chroma block begins.
    @inline(__always) static func chromaOffset(_ planes: HEVCPlanes<Sample>, _ x: Int, _ y: Int, _ vector: MotionVector)
        -> Int
    {
        let column = min(max(x &+ Int(vector.x) >> 3, -36), planes.width >> 1 &+ 4)
        let row = min(max(y &+ Int(vector.y) >> 3, -36), planes.height >> 1 &+ 4)
        return row &* planes.chromaStride &+ column
    }

    @inline(never) private static func copy(
        _ from: ElementPointer<Sample>, fromStride: Int, width: Int, height: Int, block: ElementPointer<Int16>
    ) {
        for y in 0..<height {
            let row = from + y &* fromStride
            let to = block + y &* stride
            var x = 0
            while x < width {
                to.store(x, row.words(x) &<< Words(repeating: shift))
                x &+= 8
            }
        }
    }

    /// Returns the filter's sums for eight samples; for 8-bit samples only. The sums fit 16 bits, since the magnitudes
    /// of the taps add up to at most 112. `at` points to the sample of the first tap, `step` is the distance to the
    /// next tap's sample.
    @inline(__always) static func products(_ at: ElementPointer<Sample>, _ step: Int, _ taps: HEVCTapVectors) -> Words {
        let near =
            at.words(0) &* taps.t0 &+ at.words(step) &* taps.t1 &+ at.words(2 &* step) &* taps.t2
            &+ at.words(3 &* step) &* taps.t3
        if !taps.isLong { return near }
        let far =
            at.words(4 &* step) &* taps.t4 &+ at.words(5 &* step) &* taps.t5 &+ at.words(6 &* step) &* taps.t6
            &+ at.words(7 &* step) &* taps.t7
        return near &+ far
    }

    /// Filters samples horizontally.
    static func filterAlong(
        _ from: ElementPointer<Sample>, fromStride: Int, taps: HEVCTaps, width: Int, height: Int,
        block: ElementPointer<Int16>
    ) {
        filter(
            from + taps.first, fromStride: fromStride, step: 1, taps: taps, width: width, height: height, block: block)
    }

    /// Filters samples in either direction. `from` points to the sample of the first tap, `step` is the distance to the
    /// next tap's sample. One function serves both directions: if the optimizer can see that the loads overlap, it
    /// splits the vectors.
    @inline(never) private static func filter(
        _ from: ElementPointer<Sample>, fromStride: Int, step: Int, taps: HEVCTaps, width: Int, height: Int,
        block: ElementPointer<Int16>
    ) {
        let pairs = taps.count / 2
        let vectors = HEVCTapVectors(taps)
        let shifts = Quads(repeating: Int32(truncatingIfNeeded: Sample.bitDepth &- 8))
        for y in 0..<height {
            let row = from + y &* fromStride
            let to = block + y &* stride
            var x = 0
            while x < width {
                if Sample.bitDepth == 8 {
                    to.store(x, products(row + x, step, vectors))
                } else {
                    // Each iteration adds the products of the previous one: see `pairProducts`.
                    var (low, high) = (Quads.zero, Quads.zero)
                    var (nextLow, nextHigh) = (Quads.zero, Quads.zero)
                    var at = x
                    var k = 0
                    while k < pairs {
                        (low, high) = (low &+ nextLow, high &+ nextHigh)
                        let pair: Words = taps.pairs.load(8 &* k)
                        let (a, b) = zip(row.words(at), row.words(at &+ step))
                        nextLow = pairProducts(a, pair)
                        nextHigh = pairProducts(b, pair)
                        at &+= 2 &* step
                        k &+= 1
                    }
                    to.store(x, saturatedWords((low &+ nextLow) &>> shifts, (high &+ nextHigh) &>> shifts))
                }
                x &+= 8
            }
        }
    }

    /// Filters samples vertically.
    @inline(never) private static func filterDown(
        _ from: ElementPointer<Sample>, fromStride: Int, taps: HEVCTaps, width: Int, height: Int,
        scratch: ElementPointer<Int16>, block: ElementPointer<Int16>
    ) {
        let top = from + taps.first &* fromStride
        if Sample.bitDepth == 8 || height < 8 {
            filter(
                top, fromStride: fromStride, step: fromStride, taps: taps, width: width, height: height, block: block)
            return
        }
        let pairs = scratch + rowsCount
        var x = 0
        while x < width {
            var above = top.words(x)
            var y = 0
            while y < height &+ taps.count &- 2 {
                let below = top.words((y &+ 1) &* fromStride &+ x)
                let (low, high) = zip(above, below)
                pairs.store(16 &* y, low)
                pairs.store(16 &* y &+ 8, high)
                above = below
                y &+= 1
            }
            sumPairs(pairs, taps, shift: Int32(truncatingIfNeeded: Sample.bitDepth &- 8), height, block + x)
            x &+= 8
        }
    }

    /// Filters vertically the rows that were filtered horizontally before. `scratch` begins with the row of the first
    /// tap.
    @inline(never) private static func filterDownAgain(
        _ scratch: ElementPointer<Int16>, taps: HEVCTaps, width: Int, height: Int, block: ElementPointer<Int16>
    ) {
        let pairs = scratch + rowsCount
        var x = 0
        while x < width {
            var above: Words = scratch.load(x)
            var y = 0
            while y < height &+ taps.count &- 2 {
                let below: Words = scratch.load((y &+ 1) &* stride &+ x)
                let (low, high) = zip(above, below)
                pairs.store(16 &* y, low)
                pairs.store(16 &* y &+ 8, high)
                above = below
                y &+= 1
            }
            sumPairs(pairs, taps, shift: 6, height, block + x)
            x &+= 8
        }
    }

    /// Returns the filter's sums for eight columns. `rows` begins with the row of the first tap, and each row is interleaved
    /// with the next one.
    @inline(__always) static func pairSums(_ rows: ElementPointer<Int16>, _ taps: HEVCTaps) -> (low: Quads, high: Quads) {
        var (low, high) = (Quads.zero, Quads.zero)
        var (nextLow, nextHigh) = (Quads.zero, Quads.zero)
        var k = 0
        while k < taps.count / 2 {
            (low, high) = (low &+ nextLow, high &+ nextHigh)
            let pair: Words = taps.pairs.load(8 &* k)
            nextLow = pairProducts(rows.load(32 &* k), pair)
            nextHigh = pairProducts(rows.load(32 &* k &+ 8), pair)
            k &+= 1
        }
        return (low &+ nextLow, high &+ nextHigh)
    }

    /// Computes eight columns from rows that are each interleaved with the next row.
    @inline(__always) private static func sumPairs(
        _ rows: ElementPointer<Int16>, _ taps: HEVCTaps, shift: Int32, _ height: Int, _ block: ElementPointer<Int16>
    ) {
        let shifts = Quads(repeating: shift)
        for y in 0..<height {
            let (low, high) = pairSums(rows + 16 &* y, taps)
            block.store(y &* stride, saturatedWords(low &>> shifts, high &>> shifts))
        }
    }
}
