/// The six-tap luma interpolation filter of H.264 8.4.2.2.1, applied to whole planes.
enum HalfSamples {
    /// The number of samples outside the picture for which half samples are computed. Beyond it, they are constant in
    /// the outward direction.
    static let reach = 16

    /// Returns b₁ or h₁ of (8-241): the six-tap sum before rounding.
    @inline(__always) static func sixTap(_ a: Words, _ b: Words, _ c: Words, _ d: Words, _ e: Words, _ f: Words)
        -> Words
    {
        let outer = a &+ f
        let middle = b &+ e
        let inner = c &+ d
        return outer &+ ((inner &<< 2) &- middle) &* 5
    }

    /// Returns (x + 512) >> 10, where x is the six-tap sum of six-tap sums, in 16-bit arithmetic.
    ///
    /// If o, m and i are the sums of the outer, middle and inner pairs, then
    /// o − 5m + 20i = 16·(((o − m)/4 − m + i)/4 + i). `inner − middle` is clamped, so that nothing overflows. The
    /// clamped values lead to results far outside 0…255 in any case.
    @inline(__always) static func sixTapOfSums(
        _ a: Words, _ b: Words, _ c: Words, _ d: Words, _ e: Words, _ f: Words
    ) -> Words {
        let outer = a &+ f
        let middle = b &+ e
        let inner = c &+ d
        let slope = (inner &- middle).atMost(Words(repeating: 26000)).atLeast(Words(repeating: -26000))
        let sum = ((outer &- middle) &>> 2) &+ slope
        return ((sum &>> 2) &+ inner &+ 32) &>> 6
    }
}

extension ReferencePlanes {
    /// Computes the three half-sample planes from the extended luma plane, up to `HalfSamples.reach` samples outside
    /// the picture.
    func interpolateHalfSamples(_ geometry: PlaneGeometry) {
        let reach = HalfSamples.reach
        let sums = ElementStorage<Int16>(count: geometry.width + 2 * reach + 32, repeating: 0)
        for y in -reach..<geometry.height + reach {
            interpolateRow(y, geometry, sums.elements + (reach + 8))
        }
    }

    /// Computes one row of the three planes. `sums` receives the vertical sums of the row before rounding, from
    /// x = −reach − 8 on.
    @inline(__always) func interpolateRow(_ y: Int, _ geometry: PlaneGeometry, _ sums: ElementPointer<Int16>) {
        let reach = HalfSamples.reach
        let stride = geometry.stride
        let row = luma + y * stride
        let rightRow = right + y * stride
        let belowRow = below + y * stride
        let bothRow = both + y * stride
        var x = -reach - 8
        while x < geometry.width + reach + 8 {
            let column = row + x
            let sum = HalfSamples.sixTap(
                (column - 2 * stride).load(0, as: HalfBytes.self).words,
                (column - stride).load(0, as: HalfBytes.self).words,
                column.load(0, as: HalfBytes.self).words,
                (column + stride).load(0, as: HalfBytes.self).words,
                (column + 2 * stride).load(0, as: HalfBytes.self).words,
                (column + 3 * stride).load(0, as: HalfBytes.self).words)
            sums.store(x, sum)
            belowRow.store(x, ((sum &+ 16) &>> 5).clippedBytes)
            x += 8
        }
        x = -reach
        while x < geometry.width + reach {
            let column = row + x
            let sum = HalfSamples.sixTap(
                column.load(-2, as: HalfBytes.self).words, column.load(-1, as: HalfBytes.self).words,
                column.load(0, as: HalfBytes.self).words, column.load(1, as: HalfBytes.self).words,
                column.load(2, as: HalfBytes.self).words, column.load(3, as: HalfBytes.self).words)
            rightRow.store(x, ((sum &+ 16) &>> 5).clippedBytes)
            let both = HalfSamples.sixTapOfSums(
                sums.load(x - 2), sums.load(x - 1), sums.load(x), sums.load(x + 1), sums.load(x + 2), sums.load(x + 3))
            bothRow.store(x, both.clippedBytes)
            x += 8
        }
    }
}
