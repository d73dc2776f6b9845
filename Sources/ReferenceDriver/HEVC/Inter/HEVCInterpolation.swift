/// Fractional sample interpolation, H.265 8.5.3.3.3: blocks of a reference picture at 14 bits.
///
/// A block's rows stand `stride` apart in `Int16`s; up to four more than the width are written in each.
enum HEVCInterpolation<Sample: HEVCSample> {
    /// Elements from row to row of a block at 14 bits, and how many such a block takes.
    static var stride: Int { 64 }
    static var count: Int { 64 * 64 + 8 }
    /// Elements of scratch memory: the rows that the vertical filter takes.
    static var scratchCount: Int { (64 + 7) * stride + 8 }

    /// shift3 of 8.5.3.3.3: from samples to 14 bits.
    @inline(__always) static var shift: Int16 { Int16(truncatingIfNeeded: 14 &- Sample.bitDepth) }

    /// A luma block at (x, y), moved by `vector` in quarter samples, 8.5.3.3.3.1. Places far outside are moved in to where
    /// the margin repeats the border as well.
    static func luma(
        _ planes: HEVCPlanes<Sample>, x: Int, y: Int, _ vector: MotionVector, width: Int, height: Int, scratch: Lane<Int16>,
        to block: Lane<Int16>
    ) {
        let at = planes.luma + lumaPlace(planes, x, y, vector)
        let (fractionX, fractionY) = (Int(vector.x & 3), Int(vector.y & 3))
        if fractionX | fractionY == 0 {
            copy(at, planes.stride, width, height, block)
        } else if fractionY == 0 {
            filter(at, planes.stride, step: 1, HEVCLumaTaps(fractionX), width, height, block)
        } else if fractionX == 0 {
            filter(at, planes.stride, step: planes.stride, HEVCLumaTaps(fractionY), width, height, block)
        } else {
            let above = at - 3 &* planes.stride
            filter(above, planes.stride, step: 1, HEVCLumaTaps(fractionX), width, height &+ 7, scratch)
            filterAgain(scratch + 3 &* stride, HEVCLumaTaps(fractionY), width, height, block)
        }
    }

    /// A chroma block at (x, y) in chroma samples, moved by `vector` in eighths of them, 8.5.3.3.3.2.
    static func chroma(
        _ plane: Lane<Sample>, _ planes: HEVCPlanes<Sample>, x: Int, y: Int, _ vector: MotionVector, width: Int, height: Int,
        scratch: Lane<Int16>, to block: Lane<Int16>
    ) {
        let at = plane + chromaPlace(planes, x, y, vector)
        let (fractionX, fractionY) = (Int(vector.x & 7), Int(vector.y & 7))
        if fractionX | fractionY == 0 {
            copy(at, planes.chromaStride, width, height, block)
        } else if fractionY == 0 {
            filter(at, planes.chromaStride, step: 1, HEVCChromaTaps(fractionX), width, height, block)
        } else if fractionX == 0 {
            filter(at, planes.chromaStride, step: planes.chromaStride, HEVCChromaTaps(fractionY), width, height, block)
        } else {
            let above = at - planes.chromaStride
            filter(above, planes.chromaStride, step: 1, HEVCChromaTaps(fractionX), width, height &+ 3, scratch)
            filterAgain(scratch + stride, HEVCChromaTaps(fractionY), width, height, block)
        }
    }

    /// Where in the plane a luma block begins, whole samples. At 8 beyond the picture's border, or at 72 before it, every
    /// sample that the filters take is the border's.
    @inline(__always) static func lumaPlace(_ planes: HEVCPlanes<Sample>, _ x: Int, _ y: Int, _ vector: MotionVector)
        -> Int
    {
        let column = min(max(x &+ Int(vector.x) >> 2, -72), planes.width &+ 8)
        let row = min(max(y &+ Int(vector.y) >> 2, -72), planes.height &+ 8)
        return row &* planes.stride &+ column
    }

    @inline(__always) static func chromaPlace(_ planes: HEVCPlanes<Sample>, _ x: Int, _ y: Int, _ vector: MotionVector)
        -> Int
    {
        let column = min(max(x &+ Int(vector.x) >> 3, -36), planes.width >> 1 &+ 4)
        let row = min(max(y &+ Int(vector.y) >> 3, -36), planes.height >> 1 &+ 4)
        return row &* planes.chromaStride &+ column
    }

    @inline(never) private static func copy(
        _ from: Lane<Sample>, _ fromStride: Int, _ width: Int, _ height: Int, _ block: Lane<Int16>
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

    /// From samples, along a row (`step` 1) or a column.
    @inline(never) private static func filter<Taps: HEVCTaps>(
        _ from: Lane<Sample>, _ fromStride: Int, step: Int, _ taps: Taps, _ width: Int, _ height: Int, _ block: Lane<Int16>
    ) {
        for y in 0..<height {
            let row = from + y &* fromStride
            let to = block + y &* stride
            var x = 0
            while x < width {
                let at = row + x
                if Sample.bitDepth == 8 {
                    // Sixteen bits hold every sum: the taps' magnitudes add up to 112.
                    to.store(x, taps.words { at.words($0 &* step) })
                } else {
                    to.store(x, taps.wideWords(shift: Int32(truncatingIfNeeded: Sample.bitDepth &- 8)) { at.words($0 &* step) })
                }
                x &+= 8
            }
        }
    }

    /// From rows that were filtered along already, down the columns.
    @inline(never) private static func filterAgain<Taps: HEVCTaps>(
        _ from: Lane<Int16>, _ taps: Taps, _ width: Int, _ height: Int, _ block: Lane<Int16>
    ) {
        for y in 0..<height {
            let row = from + y &* stride
            let to = block + y &* stride
            var x = 0
            while x < width {
                let at = row + x
                to.store(x, taps.wideWords(shift: 6) { at.load($0 &* stride) })
                x &+= 8
            }
        }
    }
}

/// The coefficients of an interpolation filter.
protocol HEVCTaps {
    /// Eight sums, which sixteen bits hold, of samples at places relative to the one filtered.
    func words(_ samples: (Int) -> Words) -> Words
    /// Eight sums of 32 bits, shifted down.
    func wideWords(shift: Int32, _ samples: (Int) -> Words) -> Words
}

/// Eight taps, H.265 table 8-11; places −3…4.
struct HEVCLumaTaps: HEVCTaps {
    private let c: Words

    init(_ fraction: Int) {
        c =
            fraction == 1
            ? Words(-1, 4, -10, 58, 17, -5, 1, 0)
            : fraction == 2 ? Words(-1, 4, -11, 40, 40, -11, 4, -1) : Words(0, 1, -5, 17, 58, -10, 4, -1)
    }

    @inline(__always) func words(_ samples: (Int) -> Words) -> Words {
        let a = samples(-3) &* c[0] &+ samples(-2) &* c[1] &+ samples(-1) &* c[2] &+ samples(0) &* c[3]
        return a &+ samples(1) &* c[4] &+ samples(2) &* c[5] &+ samples(3) &* c[6] &+ samples(4) &* c[7]
    }

    @inline(__always) func wideWords(shift: Int32, _ samples: (Int) -> Words) -> Words {
        let a = TapPair(samples(-3), samples(-2), c[0], c[1])
        let b = TapPair(samples(-1), samples(0), c[2], c[3])
        let d = TapPair(samples(1), samples(2), c[4], c[5])
        let e = TapPair(samples(3), samples(4), c[6], c[7])
        return narrowed(a.low &+ b.low &+ (d.low &+ e.low), a.high &+ b.high &+ (d.high &+ e.high), shift)
    }
}

/// Four taps, H.265 table 8-12; places −1…2.
struct HEVCChromaTaps: HEVCTaps {
    private let c: SIMD4<Int16>

    init(_ fraction: Int) {
        // The filters of 5…7 eighths are those of 3…1 turned round.
        let mirrored = min(fraction, 8 - fraction)
        let c =
            switch mirrored {
            case 1: SIMD4<Int16>(-2, 58, 10, -2)
            case 2: SIMD4<Int16>(-4, 54, 16, -2)
            case 3: SIMD4<Int16>(-6, 46, 28, -4)
            default: SIMD4<Int16>(-4, 36, 36, -4)
            }
        self.c = mirrored == fraction ? c : SIMD4(c.w, c.z, c.y, c.x)
    }

    @inline(__always) func words(_ samples: (Int) -> Words) -> Words {
        samples(-1) &* c[0] &+ samples(0) &* c[1] &+ samples(1) &* c[2] &+ samples(2) &* c[3]
    }

    @inline(__always) func wideWords(shift: Int32, _ samples: (Int) -> Words) -> Words {
        let a = TapPair(samples(-1), samples(0), c[0], c[1])
        let b = TapPair(samples(1), samples(2), c[2], c[3])
        return narrowed(a.low &+ b.low, a.high &+ b.high, shift)
    }
}

/// Eight sums of two products.
private struct TapPair {
    let low: Quads
    let high: Quads

    @inline(__always) init(_ a: Words, _ b: Words, _ first: Int16, _ second: Int16) {
        let (low, high) = zip(a, b)
        let taps = Words(first, second, first, second, first, second, first, second)
        self.low = pairProducts(low, taps)
        self.high = pairProducts(high, taps)
    }
}

@inline(__always) private func narrowed(_ low: Quads, _ high: Quads, _ shift: Int32) -> Words {
    saturatedWords(low &>> Quads(repeating: shift), high &>> Quads(repeating: shift))
}
