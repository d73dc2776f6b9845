/// Zig-zag scans from the layout of `ForwardTransform` to the order of the entropy coders.
package enum Scan {
    /// The index in the transposed layout of the n-th coefficient in zig-zag order of a 4×4 block.
    package static let positions4x4 = H264TransformTables.zigzag4x4.map { $0 % 4 * 8 + $0 / 4 }
    /// The index in the transposed layout of the n-th coefficient in zig-zag order of an 8×8 block.
    package static let positions8x8 = H264TransformTables.zigzag8x8.map { $0 % 8 * 8 + $0 / 8 }

    /// Writes the levels of a 4×4 block in scan order. Returns the number of nonzero levels.
    @inline(__always) static func block4x4(_ c: ElementPointer<Int16>, to levels: ElementPointer<Int16>) -> Int {
        let low = Words(c[0], c[8], c[1], c[2], c[9], c[16], c[24], c[17])
        let high = Words(c[10], c[3], c[11], c[18], c[25], c[26], c[19], c[27])
        levels.store(0, low)
        levels.store(8, high)
        return nonZero(low, high)
    }

    /// Returns the number of nonzero levels among 16.
    @inline(__always) static func nonZero(_ low: Words, _ high: Words) -> Int {
        let one = Words(repeating: 1)
        let flags = low.magnitude.atMost(one) &+ high.magnitude.atMost(one)
        // SAFETY: both types consist of 16 bytes without padding, and every bit pattern is valid.
        // The multiplication adds the four counts in the top word. Each count is at most 4, so there is no carry.
        let pair = unsafe unsafeBitCast(flags, to: SIMD2<UInt64>.self)
        return Int(((pair.x &+ pair.y) &* 0x0001_0001_0001_0001) &>> 48)
    }

    /// Writes the levels of an 8×8 block in scan order. Returns the number of nonzero levels.
    @inline(never) static func block8x8(_ c: ElementPointer<Int16>, _ positions: ElementPointer<UInt8>, to levels: ElementPointer<Int16>) -> Int {
        var count = 0
        var i = 0
        while i < 64 {
            let level = c[Int(positions[i])]
            levels[i] = level
            count &+= level != 0 ? 1 : 0
            i &+= 1
        }
        return count
    }

    /// Returns a score of the levels from index `first` to `count`. A block with a low score is not worth its bits, and
    /// its levels are dropped.
    ///
    /// The score is 9 if any level is not ±1. Otherwise each ±1 adds up to 3, and less the more zeros are before it.
    @inline(never) package static func score(_ levels: ElementPointer<Int16>, from first: Int, count: Int) -> Int {
        let isLong = count > 16
        var bits = levels.load(0, as: Words.self).magnitude | levels.load(8, as: Words.self).magnitude
        if isLong {
            for i in 2..<8 { bits |= levels.load(8 &* i, as: Words.self).magnitude }
        }
        // SAFETY: both types consist of 16 bytes without padding, and every bit pattern is valid.
        let pair = unsafe unsafeBitCast(bits, to: SIMD2<UInt64>.self)
        // A magnitude above 1 has a bit above the lowest.
        if (pair.x | pair.y) & 0xFFFE_FFFE_FFFE_FFFE != 0 { return 9 }
        var rest = (isLong ? levels.nonZeroMask64() : UInt64(levels.nonZeroMask16())) &>> UInt64(truncatingIfNeeded: first)
        // Two bits for each run of zeros: what a level after it adds.
        let points: UInt64 = isLong ? 0x0000_5555_55AA_AAFF : 0x56B
        var score = 0
        while rest != 0 {
            let run = rest.trailingZeroBitCount
            if run < 32 { score &+= Int(truncatingIfNeeded: points &>> UInt64(truncatingIfNeeded: 2 &* run)) & 3 }
            rest = (rest &>> UInt64(truncatingIfNeeded: run)) &>> 1
        }
        return score
    }
}
