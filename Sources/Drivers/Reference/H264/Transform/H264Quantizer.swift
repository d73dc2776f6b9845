/// The factors for quantizing and scaling at one QP, in the layout of `ForwardTransform`.
package struct H264Quantizer: BitwiseCopyable, Sendable {
    /// QP / 6.
    let period: Int
    /// The limit below which a 4×4 block has no levels: if the sum of absolute differences of an inter block is
    /// smaller, all levels of its 4×4 transform are 0.
    package let zeroLevelSAD4x4: Int
    /// Multipliers of the two 4×4 blocks of a pair.
    package let numerators4x4: ElementPointer<UInt16>
    /// Scale << QP / 6, for the two 4×4 blocks of a pair.
    let scales4x4: ElementPointer<Int16>
    package let numerators8x8: ElementPointer<UInt16>
    /// Scale << max(0, QP / 6 − 2).
    let scales8x8: ElementPointer<Int16>
    /// The rounding offsets that are added to a coefficient's magnitude: first those of inter blocks, then those of
    /// intra blocks.
    let roundings4x4: ElementPointer<UInt16>
    let roundings8x8: ElementPointer<UInt16>

    @inline(__always) static func rounding(_ elements: ElementPointer<UInt16>, count: Int, intra: Bool) -> ElementPointer<UInt16> {
        elements + (intra ? count : 0)
    }

    /// The multiplier of a DC coefficient (for a shift of 15 + QP / 6) and its scale, which includes the factor
    /// 2^(QP / 6).
    @inline(__always) var numeratorDC: Int { Int(numerators4x4[0]) / 2 }
    @inline(__always) var scaleDC: Int { Int(scales4x4[0]) }

    /// Quantizes a pair in place. Each element of the result is nonzero if that block, the first or the second, has
    /// nonzero levels.
    @inline(__always) package func quantizePair(_ c: ElementPointer<Int16>, intra: Bool) -> SIMD2<UInt64> {
        let rounding = Self.rounding(roundings4x4, count: 32, intra: intra)
        var any = Words(repeating: 0)
        var i = 0
        let shift = Words(repeating: Int16(truncatingIfNeeded: period))
        while i < 32 {
            any |= Self.quantize(c + i, numerators4x4 + i, rounding + i, shift)
            i &+= 8
        }
        // SAFETY: both types consist of 16 bytes without padding, and every bit pattern is valid.
        return unsafe unsafeBitCast(any, to: SIMD2<UInt64>.self)
    }

    /// Quantizes an 8×8 block in place. Returns whether it has nonzero levels.
    @inline(never) package func quantize8x8(_ c: ElementPointer<Int16>, intra: Bool) -> Bool {
        let rounding = Self.rounding(roundings8x8, count: 64, intra: intra)
        var any = Words(repeating: 0)
        var i = 0
        let shift = Words(repeating: Int16(truncatingIfNeeded: period))
        while i < 64 {
            any |= Self.quantize(c + i, numerators8x8 + i, rounding + i, shift)
            i &+= 8
        }
        // SAFETY: both types consist of 16 bytes without padding, and every bit pattern is valid.
        let bits = unsafe unsafeBitCast(any, to: SIMD2<UInt64>.self)
        return bits.x | bits.y != 0
    }

    /// The largest magnitude of a level. CAVLC's escape codes of the profiles below High cannot represent larger
    /// levels.
    static let largestLevel = 2047

    @inline(__always) private static func quantize(
        _ c: ElementPointer<Int16>, _ numerators: ElementPointer<UInt16>, _ roundings: ElementPointer<UInt16>, _ shift: Words
    ) -> Words {
        let value: Words = c.load(0)
        let sign = value &>> 15
        let magnitude = ((value ^ sign) &- sign).unsignedWords &+ roundings.load(0)
        let level = (magnitude.multipliedHigh(numerators.load(0)).signedWords &>> shift).atMost(
            Words(repeating: Int16(largestLevel)))
        c.store(0, (level ^ sign) &- sign)
        return level
    }

    /// Scales the levels of a pair in place, H.264 8.5.12.1 with flat scaling matrices.
    @inline(__always) package func scalePair(_ c: ElementPointer<Int16>) {
        var i = 0
        while i < 32 {
            c.store(i, c.load(i, as: Words.self) &* scales4x4.load(i))
            i &+= 8
        }
    }

    /// Scales the levels of an 8×8 block in place, H.264 8.5.13.1 with flat scaling matrices.
    @inline(never) package func scale8x8(_ c: ElementPointer<Int16>) {
        if period >= 2 {
            var i = 0
            while i < 64 {
                c.store(i, c.load(i, as: Words.self) &* scales8x8.load(i))
                i &+= 8
            }
            return
        }
        let shift = Int32(2 &- period)
        let half = Int32(1) &<< (shift &- 1)
        for i in 0..<64 {
            c[i] = Int16(truncatingIfNeeded: (Int32(c[i]) &* Int32(scales8x8[i]) &+ half) &>> shift)
        }
    }

    /// Returns the level of one DC coefficient: luma DC after its Hadamard transform, or chroma DC. The shift is
    /// 16 + QP / 6.
    @inline(__always) package func quantizeDC(_ value: Int, intra: Bool) -> Int {
        let shift = 16 &+ period
        let rounding = (1 &<< shift) / (intra ? 3 : 6)
        let magnitude = value < 0 ? 0 &- value : value
        let level = Swift.min((magnitude &* numeratorDC &+ rounding) &>> shift, Self.largestLevel)
        return value < 0 ? 0 &- level : level
    }
}

/// The quantizers of all QPs.
package final class QuantizerTables: Sendable {
    private let words: ElementStorage<UInt16>
    private let signedWords: ElementStorage<Int16>
    private let zeroLevelSADs: [Int]
    private static let perQP = 32 + 64 + 2 * 32 + 2 * 64
    private static let signedPerQP = 32 + 64

    /// `interRounding` and `intraRounding` are rounding offsets in 64ths of a quantizer step.
    package init(interRounding: Int = 22, intraRounding: Int = 21) {
        words = ElementStorage(count: 52 * Self.perQP, repeating: 0)
        signedWords = ElementStorage(count: 52 * Self.signedPerQP, repeating: 0)
        zeroLevelSADs = (0..<52).map { Self.zeroLevelSAD($0, rounding: interRounding) }
        for qp in 0..<52 {
            let (period, remainder) = (qp / 6, qp % 6)
            let q = self[qp]
            func rounding(_ part: Int, _ shift: Int, _ numerator: Int) -> UInt16 {
                UInt16((part << (shift + period)) / (64 * numerator))
            }
            for row in 0..<4 {
                for column in 0..<4 {
                    let numerator = H264TransformTables.numerator4x4(remainder, row, column)
                    let scale = H264TransformTables.scale4x4[remainder][H264TransformTables.class4x4(row, column)]
                    for i in [column * 8 + row, column * 8 + row + 4] {
                        q.numerators4x4[i] = UInt16(2 * numerator)
                        q.scales4x4[i] = Int16(scale << period)
                        q.roundings4x4[i] = rounding(interRounding, 15, numerator)
                        q.roundings4x4[32 + i] = rounding(intraRounding, 15, numerator)
                    }
                }
            }
            for row in 0..<8 {
                for column in 0..<8 {
                    let numerator = H264TransformTables.numerator8x8(remainder, row, column)
                    let i = column * 8 + row
                    q.numerators8x8[i] = UInt16(numerator)
                    let scale = H264TransformTables.scale8x8[remainder][H264TransformTables.class8x8(row, column)]
                    q.scales8x8[i] = Int16(scale << max(0, period - 2))
                    q.roundings8x8[i] = rounding(interRounding, 16, numerator)
                    q.roundings8x8[64 + i] = rounding(intraRounding, 16, numerator)
                }
            }
        }
    }

    /// Computes `H264Quantizer.zeroLevelSAD4x4`. The magnitude of a coefficient of class 0, 1 or 2 is at most 1, 4 or 2
    /// times the sum of absolute differences.
    private static func zeroLevelSAD(_ qp: Int, rounding: Int) -> Int {
        [(0, 0, 1), (1, 1, 4), (0, 1, 2)].map { row, column, gain in
            let numerator = H264TransformTables.numerator4x4(qp % 6, row, column)
            return ((64 - rounding) << (15 + qp / 6)) / (64 * numerator * gain)
        }.min()!
    }

    package subscript(_ qp: Int) -> H264Quantizer {
        let base = words.elements + qp * Self.perQP
        let signed = signedWords.elements + qp * Self.signedPerQP
        return H264Quantizer(
            period: qp / 6, zeroLevelSAD4x4: zeroLevelSADs[qp], numerators4x4: base, scales4x4: signed,
            numerators8x8: base + 32, scales8x8: signed + 32,
            roundings4x4: base + 96, roundings8x8: base + 160)
    }
}
