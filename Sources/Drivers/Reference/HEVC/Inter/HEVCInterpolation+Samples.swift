// Interpolation of samples from one reference, without 14-bit values in memory.

extension HEVCInterpolation {
    /// Predicts the luma block at (x, y), displaced by `vector`, from one reference. The result is that of `luma` and
    /// `HEVCInterPrediction.one`.
    static func lumaSamples(
        _ planes: HEVCPlanes<Sample>, x: Int, y: Int, _ vector: MotionVector, width: Int, height: Int,
        wide: ElementPointer<Int16>, to samples: ElementPointer<Sample>, _ stride: Int
    ) {
        let scratch = wide + 2 &* count
        let (fractionX, fractionY) = (Int(vector.x & 3), Int(vector.y & 3))
        if Sample.bitDepth > 8 || width & 7 != 0 || fractionX | fractionY == 0 {
            luma(planes, x: x, y: y, vector, width: width, height: height, scratch: scratch, to: wide)
            HEVCInterPrediction.one(wide, width: width, height: height, to: samples, stride: stride)
            return
        }
        let taps = HEVCInterpolationTaps.shared
        predict(
            planes.luma + lumaOffset(planes, x, y, vector), planes.stride, fractionX == 0 ? nil : taps.luma(fractionX),
            fractionY == 0 ? nil : taps.luma(fractionY), width, height, scratch, samples, stride)
    }

    /// Predicts the chroma block at (x, y), in chroma samples, from one reference.
    static func chromaSamples(
        _ plane: ElementPointer<Sample>, _ planes: HEVCPlanes<Sample>, x: Int, y: Int, _ vector: MotionVector,
        width: Int, height: Int, wide: ElementPointer<Int16>, to samples: ElementPointer<Sample>, _ stride: Int
    ) {
        let scratch = wide + 2 &* count
        let (fractionX, fractionY) = (Int(vector.x & 7), Int(vector.y & 7))
        if Sample.bitDepth > 8 || width & 7 != 0 || fractionX | fractionY == 0 {
            chroma(plane, planes, x: x, y: y, vector, width: width, height: height, scratch: scratch, to: wide)
            HEVCInterPrediction.one(wide, width: width, height: height, to: samples, stride: stride)
            return
        }
        let taps = HEVCInterpolationTaps.shared
        predict(
            plane + chromaOffset(planes, x, y, vector), planes.chromaStride,
            fractionX == 0 ? nil : taps.chroma(fractionX), fractionY == 0 ? nil : taps.chroma(fractionY), width, height,
            scratch, samples, stride)
    }

    /// Filters in one or both directions.
    private static func predict(
        _ at: ElementPointer<Sample>, _ fromStride: Int, _ along: HEVCTaps?, _ down: HEVCTaps?, _ width: Int,
        _ height: Int, _ scratch: ElementPointer<Int16>, _ samples: ElementPointer<Sample>, _ stride: Int
    ) {
        guard let down else {
            if let along {
                filterSamples(
                    at + along.first, fromStride, step: 1, along, width: width, height: height, to: samples, stride)
            }
            return
        }
        guard let along else {
            filterSamples(
                at + down.first &* fromStride, fromStride, step: fromStride, down, width: width, height: height,
                to: samples, stride)
            return
        }
        filterAlong(
            at + down.first &* fromStride, fromStride: fromStride, taps: along, width: width,
            height: height &+ down.count &- 1, block: scratch)
        filterRows(scratch, down, width: width, height: height, to: samples, stride)
    }

    /// Filters 8-bit samples in one direction. The width is rounded up to a multiple of 8.
    @inline(never) private static func filterSamples(
        _ from: ElementPointer<Sample>, _ fromStride: Int, step: Int, _ taps: HEVCTaps, width: Int, height: Int,
        to samples: ElementPointer<Sample>, _ stride: Int
    ) {
        let vectors = HEVCTapVectors(taps)
        for y in 0..<height {
            let row = from + y &* fromStride
            let to = samples + y &* stride
            var x = 0
            while x < width {
                // Clipped before the shift, which takes fewer instructions than after it.
                let sums = (products(row + x, step, vectors) &+ 32).atLeast(Words.zero).atMost(Words(repeating: 16383))
                to.storeWords(x, (sums.unsignedWords &>> 6).signedWords)
                x &+= 8
            }
        }
    }

    /// Stores eight samples from rounded sums of the second stage, with the shifts by 6 of both stages. The result fits
    /// 16 bits. A shift by 16 shows this to the optimizer, so that narrowing is one instruction.
    @inline(__always) private static func storeRow(_ samples: ElementPointer<Sample>, _ low: Quads, _ high: Quads) {
        samples.storeClipped(0, saturatedWords((low &<< 4) &>> 16, (high &<< 4) &>> 16))
    }

    /// Computes eight columns with eight taps from interleaved rows. Each iteration adds the products of the previous
    /// one: see `pairProducts`.
    @inline(__always) private static func sumEight(
        _ pairs: ElementPointer<Int16>, _ taps: HEVCTaps, height: Int, to samples: ElementPointer<Sample>, _ stride: Int
    ) {
        let round = Quads(repeating: 2048)
        let t0: Words = taps.pairs.load(0)
        let t1: Words = taps.pairs.load(8)
        let t2: Words = taps.pairs.load(16)
        let t3: Words = taps.pairs.load(24)
        var (a0, a1, a2, a3) = (Quads.zero, Quads.zero, Quads.zero, Quads.zero)
        var (b0, b1, b2, b3) = (Quads.zero, Quads.zero, Quads.zero, Quads.zero)
        var row = pairs
        var target = samples
        for y in 0...height {
            if y > 0 {
                storeRow(target, a0 &+ a1 &+ a2 &+ a3 &+ round, b0 &+ b1 &+ b2 &+ b3 &+ round)
                target = target + stride
                if y == height { return }
            }
            a0 = pairProducts(row.load(0), t0)
            b0 = pairProducts(row.load(8), t0)
            a1 = pairProducts(row.load(32), t1)
            b1 = pairProducts(row.load(40), t1)
            a2 = pairProducts(row.load(64), t2)
            b2 = pairProducts(row.load(72), t2)
            a3 = pairProducts(row.load(96), t3)
            b3 = pairProducts(row.load(104), t3)
            row = row + 16
        }
    }

    /// Filters vertically the rows that were filtered horizontally before; for 8-bit samples. `scratch` begins with the
    /// row of the first tap.
    @inline(never) static func filterRows(
        _ scratch: ElementPointer<Int16>, _ taps: HEVCTaps, width: Int, height: Int, to samples: ElementPointer<Sample>,
        _ stride: Int
    ) {
        let pairs = scratch + rowsCount
        let round = Quads(repeating: 2048)
        var x = 0
        while x < width {
            var above: Words = scratch.load(x)
            var y = 0
            while y < height &+ taps.count &- 2 {
                let below: Words = scratch.load((y &+ 1) &* Self.stride &+ x)
                let (low, high) = zip(above, below)
                pairs.store(16 &* y, low)
                pairs.store(16 &* y &+ 8, high)
                above = below
                y &+= 1
            }
            if taps.count == 8 {
                sumEight(pairs, taps, height: height, to: samples + x, stride)
                x &+= 8
                continue
            }
            for y in 0..<height {
                let (low, high) = pairSums(pairs + 16 &* y, taps)
                storeRow(samples + (y &* stride &+ x), low &+ round, high &+ round)
            }
            x &+= 8
        }
    }
}
