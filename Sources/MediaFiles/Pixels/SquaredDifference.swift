/// Sums of squared differences of 8-bit samples.
enum SquaredDifference {
    /// Of two rows of `count` bytes.
    // SAFETY: the caller lends `count` bytes on both sides; vector loads stay inside.
    @unsafe static func row(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, count: Int) -> UInt64 {
        var index = 0
        var total: UInt64 = 0
        while index + 16 <= count {
            // 32-bit lanes take 16384 squares of 255 and more: a block of 4096 vectors is far from overflow.
            let blockEnd = min(count - 15, index + 16 * 4096)
            var low = SIMD8<UInt32>(repeating: 0)
            var high = SIMD8<UInt32>(repeating: 0)
            while index < blockEnd {
                let left = unsafe a.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
                let right = unsafe b.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
                // |a − b| fits 8 bits and its square 16.
                let difference = pointwiseMax(left, right) &- pointwiseMin(left, right)
                let wide = SIMD16<UInt16>(truncatingIfNeeded: difference)
                let square = wide &* wide
                low &+= SIMD8<UInt32>(truncatingIfNeeded: square.lowHalf)
                high &+= SIMD8<UInt32>(truncatingIfNeeded: square.highHalf)
                index += 16
            }
            total += UInt64((low &+ high).wrappedSum())
        }
        while index < count {
            let difference = unsafe Int(a.load(fromByteOffset: index, as: UInt8.self))
                - Int(b.load(fromByteOffset: index, as: UInt8.self))
            total += UInt64(difference * difference)
            index += 1
        }
        return total
    }

    /// Of bytes a `step` apart on side `a` against a `step` apart on side `b`: chroma, interleaved or not.
    @unsafe static func strided(
        _ a: UnsafeRawPointer, step aStep: Int, _ b: UnsafeRawPointer, step bStep: Int, count: Int
    ) -> UInt64 {
        var total: UInt64 = 0
        for index in 0..<count {
            let difference = unsafe Int(a.load(fromByteOffset: index * aStep, as: UInt8.self))
                - Int(b.load(fromByteOffset: index * bStep, as: UInt8.self))
            total &+= UInt64(difference * difference)
        }
        return total
    }
}
