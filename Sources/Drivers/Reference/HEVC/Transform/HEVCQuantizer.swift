/// The result of quantizing a block.
package struct HEVCQuantized: Equatable, BitwiseCopyable, Sendable {
    /// The number of levels that are not 0.
    package var count: Int
    /// The leading columns and rows that contain these levels; 0 if all levels are 0.
    package var extent: HEVCExtent

    package init(count: Int, extent: HEVCExtent) {
        self.count = count
        self.extent = extent
    }
}

/// Scales and quantizes blocks at one QP with flat scaling factors (m = 16), H.265 8.6.3.
package struct HEVCQuantizer: BitwiseCopyable, Sendable {
    /// qP of H.265 8.6.3: QP + QpBdOffset.
    package let qp: Int
    package let bitDepth: Int
    /// qP / 6, levelScale[qP % 6], and the quantizer's factor 2^20 / levelScale[qP % 6].
    let period: Int
    let scale: Int
    let inverse: Int

    /// The rounding offset that is added before truncation, in 256ths of a quantization step, for intra and inter
    /// coding units.
    package static let intraRounding = 85
    package static let interRounding = 43

    /// Initializes the factors for `qp`, which is Qp′ without QpBdOffset: −QpBdOffset…51.
    package init(qp: Int, bitDepth: Int) {
        self.qp = qp + 6 * (bitDepth - 8)
        self.bitDepth = bitDepth
        period = self.qp / 6
        scale = Self.levelScale[self.qp % 6]
        inverse = Self.quantizerScale[self.qp % 6]
    }

    private static let levelScale = SIMD8<Int>(40, 45, 51, 57, 64, 72, 0, 0)
    /// 2^20 / levelScale, rounded.
    private static let quantizerScale = SIMD8<Int>(26214, 23302, 20560, 18396, 16384, 14564, 0, 0)

    /// Returns QpC of H.265 (8-258), (8-259) and table 8-10, without QpBdOffset. `qp` is QpY; `offset` is the sum of
    /// the offsets in the picture parameter set and the slice header.
    package static func chromaQP(_ qp: Int, offset: Int, bitDepth: Int) -> Int {
        mappedChromaQP(Swift.min(Swift.max(qp + offset, -6 * (bitDepth - 8)), 57))
    }

    /// Maps qPi to QpC, H.265 table 8-10 for ChromaArrayType 1.
    @inline(__always) static func mappedChromaQP(_ index: Int) -> Int {
        if index < 30 { return index }
        if index > 43 { return index &- 6 }
        let mapped = SIMD16<Int8>(29, 30, 31, 32, 33, 33, 34, 34, 35, 35, 36, 36, 37, 37, 0, 0)
        return Int(mapped[index &- 30])
    }

    /// Returns the base-2 logarithm of the factor by which this transform's coefficients exceed those of an orthonormal
    /// transform.
    @inline(__always) func excess(_ log2Size: Int) -> Int { 15 &- bitDepth &- log2Size }

    /// Scales levels to coefficients d, H.265 (8-309). Writes only inside `extent`, with the columns rounded up to a
    /// multiple of 8; 4×4 blocks are written completely.
    @inline(never) package func scale(
        _ levels: ElementPointer<Int16>, log2Size: Int, extent: HEVCExtent, to coefficients: ElementPointer<Int16>
    ) {
        // The result is (level · m · levelScale << (qP / 6) + rounding) >> bdShift. The factor m = 16 and the left
        // shift are taken out of bdShift.
        let shift = bitDepth &+ log2Size &- 9 &- period
        let factors = Self.factors(shift < 0 ? scale &<< (0 &- shift) : scale)
        let round = Quads(repeating: shift > 0 ? 1 &<< Int32(truncatingIfNeeded: shift &- 1) : 0)
        let shifts = Quads(repeating: Int32(truncatingIfNeeded: Swift.max(shift, 0)))
        @inline(__always) func scaled(_ offset: Int) {
            let words: Words = levels.load(offset)
            let (low, high) = zip(words, words)
            coefficients.store(
                offset,
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

    /// Quantizes the coefficients of a block. `rounding` is added before truncation, in 256ths of a step. With
    /// `isLowPass`, 32×32 blocks only have the coefficients that a low-pass `HEVCTransform.forward` writes.
    @inline(never) package func quantize(
        _ coefficients: ElementPointer<Int16>, log2Size: Int, rounding: Int, isLowPass: Bool = false,
        to levels: ElementPointer<Int16>
    ) -> HEVCQuantized {
        let step = HEVCStep(self, log2Size: log2Size, rounding: rounding)
        // Most vectors of coefficients are below the threshold.
        let below = Words(repeating: Int16(truncatingIfNeeded: least(log2Size: log2Size, rounding: rounding) &- 1))
        var counts = Words(repeating: 0)
        var columns = 0
        var rows = 0
        if log2Size == 2 {
            let upper = step.quantized(coefficients.load(0), to: levels)
            let lower = step.quantized(coefficients.load(8), to: levels + 8)
            counts = upper.atMost(Words(repeating: 1)) &+ lower.atMost(Words(repeating: 1))
            let both = upper | lower
            columns = HEVCExtent.last(Words(lowHalf: both.lowHalf | both.highHalf, highHalf: .zero))
            let upperRows = HEVCExtent.last(upper)
            let lowerRows = HEVCExtent.last(lower)
            rows = lowerRows > 4 ? 4 : (lowerRows > 0 ? 3 : (upperRows > 4 ? 2 : (upperRows > 0 ? 1 : 0)))
        } else {
            var size = 1 &<< log2Size
            if isLowPass && log2Size == 5 {
                levels.fill(0, count: 1024)
                size = 16
            }
            var x = 0
            while x < size {
                var seen = Words(repeating: 0)
                for y in 0..<size {
                    let offset = y &<< log2Size &+ x
                    let value = coefficients.load(offset, as: Words.self).atLeast(Words(repeating: -32767))
                    // Zero where the magnitude is at most `below`.
                    let excess = value.magnitude.atLeast(below) ^ below
                    if !excess.isAnySet {
                        levels.store(offset, Words.zero)
                        continue
                    }
                    let level = step.quantized(value, to: levels + offset)
                    counts = counts &+ level.atMost(Words(repeating: 1))
                    rows = Swift.max(rows, y &+ 1)
                    seen |= level
                }
                let last = HEVCExtent.last(seen)
                if last > 0 { columns = x &+ last }
                x &+= 8
            }
        }
        return HEVCQuantized(count: counts.unsignedSum, extent: HEVCExtent(columns: columns, rows: rows))
    }

    /// Returns the least magnitude of a coefficient whose level is not 0; 32767 if there is none that is less.
    @inline(__always) func least(log2Size: Int, rounding: Int) -> Int {
        let shift = 14 &+ period &+ excess(log2Size)
        let rest = (1 &<< shift) &- rounding &<< (shift &- 8)
        return Swift.min((rest &+ inverse &- 1) / inverse, 32767)
    }

    /// Returns whether a residual with a squared error has no level that is not 0: no coefficient of an orthonormal
    /// transform exceeds the square root of the error. The transform deviates from that by less than the margin here.
    @inline(__always) func leavesNothing(_ error: Int, log2Size: Int, rounding: Int) -> Bool {
        let least = Swift.max(least(log2Size: log2Size, rounding: rounding) &- 8, 0)
        return (error &<< (2 &* excess(log2Size))) &* 17 < least &* least &* 16
    }

    /// Splits a factor into two summands, so that `pairProducts` of a repeated value with them gives the 32-bit
    /// product. There is no cheaper 32-bit multiplication.
    @inline(__always) private static func factors(_ factor: Int) -> Words {
        let first = Int16(truncatingIfNeeded: factor &>> 1)
        let second = Int16(truncatingIfNeeded: factor &- factor &>> 1)
        return Words(first, second, first, second, first, second, first, second)
    }
}

/// The values with which coefficients of one block size are quantized.
private struct HEVCStep {
    let factor: SIMD8<UInt16>
    let round: Quads
    let shift: Int32

    @inline(__always) init(_ quantizer: HEVCQuantizer, log2Size: Int, rounding: Int) {
        let shift = 14 &+ quantizer.period &+ quantizer.excess(log2Size)
        self.shift = Int32(truncatingIfNeeded: shift)
        round = Quads(repeating: Int32(truncatingIfNeeded: rounding &<< (shift &- 8)))
        factor = SIMD8<UInt16>(repeating: UInt16(truncatingIfNeeded: quantizer.inverse))
    }

    /// Quantizes eight coefficients of at least −32767, stores their levels and returns the levels' magnitudes.
    @inline(__always) func quantized(_ coefficients: Words, to levels: ElementPointer<Int16>) -> Words {
        let value = coefficients.atLeast(Words(repeating: -32767))
        let sign = value &>> 15
        let magnitude = ((value ^ sign) &- sign).unsignedWords
        // The low and high halves of the 32-bit products.
        let (low, high) = zip((magnitude &* factor).signedWords, magnitude.multipliedHigh(factor).signedWords)
        // SAFETY: all these types consist of 16 bytes without padding, and every bit pattern is valid.
        let (first, second) = unsafe (unsafeBitCast(low, to: Quads.self), unsafeBitCast(high, to: Quads.self))
        // One shift for all elements is one instruction; different shifts are not.
        let shifts = Quads(repeating: shift)
        let level = saturatedWords((first &+ round) &>> shifts, (second &+ round) &>> shifts)
        levels.store(0, (level ^ sign) &- sign)
        return level
    }
}

extension HEVCExtent {
    /// Returns the index of the last value that is not 0, plus 1; 0 if all are 0. The values must not be negative.
    @inline(__always) static func last(_ words: Words) -> Int {
        // SAFETY: both types have 16 bytes without padding, and every bit pattern is a valid value of both.
        let bits = unsafe unsafeBitCast(words, to: SIMD2<UInt64>.self)
        if bits.y != 0 { return 8 &- bits.y.leadingZeroBitCount / 16 }
        return 4 &- bits.x.leadingZeroBitCount / 16
    }
}
