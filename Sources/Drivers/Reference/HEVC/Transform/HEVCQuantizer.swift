/// What quantising a block left.
package struct HEVCQuantized: Equatable, BitwiseCopyable, Sendable {
    /// Levels that are not 0.
    package var count: Int
    /// The columns and rows that they stand in; 0 where there are none.
    package var extent: HEVCExtent

    package init(count: Int, extent: HEVCExtent) {
        self.count = count
        self.extent = extent
    }
}

/// Scaling and quantising at one QP with flat scaling factors (m = 16), H.265 8.6.3.
package struct HEVCQuantizer: BitwiseCopyable, Sendable {
    /// qP, which is QP plus QpBdOffset.
    package let qp: Int
    package let bitDepth: Int
    /// qP / 6, levelScale[qP % 6], and what quantises where that scales.
    let period: Int
    let scale: Int
    let inverse: Int

    /// A level is rounded up from this part of a step on, less than it in 256ths: in blocks of intra and of inter
    /// units.
    package static let intraRounding = 85
    package static let interRounding = 43

    /// `qp`: Qp′ without QpBdOffset, −QpBdOffset…51.
    package init(qp: Int, bitDepth: Int) {
        self.qp = qp + 6 * (bitDepth - 8)
        self.bitDepth = bitDepth
        period = self.qp / 6
        scale = Self.levelScale[self.qp % 6]
        inverse = Self.quantizerScale[self.qp % 6]
    }

    private static let levelScale = SIMD8<Int>(40, 45, 51, 57, 64, 72, 0, 0)
    /// 2^20 / levelScale.
    private static let quantizerScale = SIMD8<Int>(26214, 23302, 20560, 18396, 16384, 14564, 0, 0)

    /// QpC of (8-258) and on with table 8-10, without QpBdOffset: `qp` is QpY, `offset` the sum of the picture's and
    /// the slice's offsets.
    package static func chromaQP(_ qp: Int, offset: Int, bitDepth: Int) -> Int {
        bentQP(Swift.min(Swift.max(qp + offset, -6 * (bitDepth - 8)), 57))
    }

    /// Table 8-10 for ChromaArrayType 1.
    @inline(__always) static func bentQP(_ index: Int) -> Int {
        if index < 30 { return index }
        if index > 43 { return index &- 6 }
        let bent = SIMD16<Int8>(29, 30, 31, 32, 33, 33, 34, 34, 35, 35, 36, 36, 37, 37, 0, 0)
        return Int(bent[index &- 30])
    }

    /// Bits by which a coefficient of a block exceeds the orthonormal transform's of its samples.
    @inline(__always) func excess(_ log2Size: Int) -> Int { 15 &- bitDepth &- log2Size }

    /// The scaled coefficients d of levels, (8-309). Outside `extent`, up to whole eights of columns, nothing is
    /// written.
    @inline(never) package func scale(
        _ levels: ElementPointer<Int16>, log2Size: Int, extent: HEVCExtent, to coefficients: ElementPointer<Int16>
    ) {
        // level · m · levelScale << (qP / 6), rounded and shifted by bdShift: the sixteens and periods taken out of it.
        let shift = bitDepth &+ log2Size &- 9 &- period
        let factors = Self.factors(shift < 0 ? scale &<< (0 &- shift) : scale)
        let round = Quads(repeating: shift > 0 ? 1 &<< Int32(truncatingIfNeeded: shift &- 1) : 0)
        let shifts = Quads(repeating: Int32(truncatingIfNeeded: Swift.max(shift, 0)))
        @inline(__always) func scaled(_ place: Int) {
            let words: Words = levels.load(place)
            let (low, high) = zip(words, words)
            coefficients.store(
                place,
                saturatedWords(
                    (pairProducts(low, factors) &+ round) &>> shifts, (pairProducts(high, factors) &+ round) &>> shifts)
            )
        }
        if log2Size == 2 {
            scaled(0)
            scaled(8)
            return
        }
        for y in 0..<extent.rows {
            var x = 0
            while x < extent.columns {
                scaled(y &<< log2Size &+ x)
                x &+= 8
            }
        }
    }

    /// Quantises all coefficients of a block. `rounding`: the part of a step, in 256ths, that is added before cutting.
    @inline(never) package func quantize(
        _ coefficients: ElementPointer<Int16>, log2Size: Int, rounding: Int, to levels: ElementPointer<Int16>
    ) -> HEVCQuantized {
        let shift = 14 &+ period &+ excess(log2Size)
        let shifts = Quads(repeating: Int32(truncatingIfNeeded: shift))
        let round = Quads(repeating: Int32(truncatingIfNeeded: rounding &<< (shift &- 8)))
        let factors = Self.factors(inverse)
        var counts = Words(repeating: 0)
        var columns = 0
        var rows = 0
        if log2Size == 2 {
            let upper = Self.quantized(coefficients, levels, factors, round, shifts)
            let lower = Self.quantized(coefficients + 8, levels + 8, factors, round, shifts)
            counts = upper.atMost(Words(repeating: 1)) &+ lower.atMost(Words(repeating: 1))
            let both = upper | lower
            columns = HEVCExtent.last(Words(lowHalf: both.lowHalf | both.highHalf, highHalf: .zero))
            let upperRows = HEVCExtent.last(upper)
            let lowerRows = HEVCExtent.last(lower)
            rows = lowerRows > 4 ? 4 : (lowerRows > 0 ? 3 : (upperRows > 4 ? 2 : (upperRows > 0 ? 1 : 0)))
        } else {
            let size = 1 &<< log2Size
            var x = 0
            while x < size {
                var seen = Words(repeating: 0)
                for y in 0..<size {
                    let place = y &<< log2Size &+ x
                    let level = Self.quantized(coefficients + place, levels + place, factors, round, shifts)
                    counts = counts &+ level.atMost(Words(repeating: 1))
                    if level.isAnySet { rows = Swift.max(rows, y &+ 1) }
                    seen |= level
                }
                let last = HEVCExtent.last(seen)
                if last > 0 { columns = x &+ last }
                x &+= 8
            }
        }
        return HEVCQuantized(count: counts.unsignedSum, extent: HEVCExtent(columns: columns, rows: rows))
    }

    /// Eight levels' magnitudes; the levels are stored.
    @inline(__always) private static func quantized(
        _ coefficients: ElementPointer<Int16>, _ levels: ElementPointer<Int16>, _ factors: Words, _ round: Quads, _ shifts: Quads
    ) -> Words {
        let value = coefficients.load(0, as: Words.self).atLeast(Words(repeating: -32767))
        let sign = value &>> 15
        let magnitude = (value ^ sign) &- sign
        let (low, high) = zip(magnitude, magnitude)
        let level = saturatedWords(
            (pairProducts(low, factors) &+ round) &>> shifts, (pairProducts(high, factors) &+ round) &>> shifts)
        levels.store(0, (level ^ sign) &- sign)
        return level
    }

    /// A factor in two parts, by which `pairProducts` multiplies a value that stands twice: there is no cheaper product
    /// of 32 bits.
    @inline(__always) private static func factors(_ factor: Int) -> Words {
        let first = Int16(truncatingIfNeeded: factor &>> 1)
        let second = Int16(truncatingIfNeeded: factor &- factor &>> 1)
        return Words(first, second, first, second, first, second, first, second)
    }
}

extension HEVCExtent {
    /// One more than the place of the last value that is not 0, of values of 0 and more.
    @inline(__always) static func last(_ words: Words) -> Int {
        // SAFETY: both types are 16 plain bytes.
        let bits = unsafe unsafeBitCast(words, to: SIMD2<UInt64>.self)
        if bits.y != 0 { return 8 &- bits.y.leadingZeroBitCount / 16 }
        return 4 &- bits.x.leadingZeroBitCount / 16
    }
}
