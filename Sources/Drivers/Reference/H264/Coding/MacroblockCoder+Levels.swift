// Quantization with a dead zone, or level by level for the lowest cost if the preset selects that.

extension MacroblockCoder {
    /// Quantizes two 4×4 blocks in place. Coefficients before index `first` must be 0. Each element of the result is
    /// nonzero if that block has nonzero levels.
    @inline(__always) mutating func quantizePair(
        _ c: ElementPointer<Int16>, _ quantizer: H264Quantizer, from first: Int, kind: LevelModel.Kind, intra: Bool
    ) -> SIMD2<UInt64> {
        if !preset.choosesLevels { return quantizer.quantizePair(c, intra: intra) }
        return SIMD2(
            UInt64(choose4x4(c, quantizer, from: first, kind: kind, intra: intra)),
            UInt64(choose4x4(c + 4, quantizer, from: first, kind: kind, intra: intra)))
    }

    /// Quantizes the first block of a pair in place. The first element of the result is nonzero if it has nonzero
    /// levels.
    @inline(__always) mutating func quantizeSingle(_ c: ElementPointer<Int16>) -> SIMD2<UInt64> {
        if !preset.choosesLevels { return quantizer.quantizePair(c, intra: true) }
        return SIMD2(UInt64(choose4x4(c, quantizer, from: 0, kind: .luma4x4, intra: true)), 0)
    }

    private mutating func choose4x4(
        _ c: ElementPointer<Int16>, _ quantizer: H264Quantizer, from first: Int, kind: LevelModel.Kind, intra: Bool
    ) -> Int {
        chooser.quantize(
            c, quantizer.numerators4x4, scan4x4, shift: 8 &+ quantizer.period, from: first, count: 16, kind: kind,
            intra: intra)
    }

    /// Quantizes an 8×8 block in place. Returns whether it has nonzero levels.
    @inline(__always) mutating func quantize8x8(_ c: ElementPointer<Int16>, intra: Bool) -> Bool {
        if !preset.choosesLevels { return quantizer.quantize8x8(c, intra: intra) }
        return chooser.quantize(
            c, quantizer.numerators8x8, scan8x8, shift: 8 &+ quantizer.period, from: 0, count: 64, kind: .luma8x8,
            intra: intra) != 0
    }

    /// Adapts the model of levels to the coded macroblock.
    mutating func learnLevels(_ syntax: MacroblockSyntax) {
        let levels = syntax.levels
        let counts = syntax.nonZeroCounts
        let intra = kind.isIntra
        let model = chooser.model
        if transform8x8 {
            for i in 0..<4 where counts[4 &* i] != 0 {
                model.learn(
                    levels + 64 &* i, from: 0, count: 64, nonZero: Int(counts[4 &* i]), kind: .luma8x8, intra: intra)
            }
        } else {
            let isWhole = kind == .intra16x16
            for i in 0..<16 where counts[i] != 0 {
                model.learn(
                    levels + 16 &* i, from: isWhole ? 1 : 0, count: 16, nonZero: Int(counts[i]),
                    kind: isWhole ? .luma16x16AC : .luma4x4, intra: intra)
            }
        }
        for i in 0..<8 where counts[MacroblockLevels.chromaACBlock &+ i] != 0 {
            model.learn(
                levels + (MacroblockLevels.chromaAC &+ 16 &* i), from: 1, count: 16,
                nonZero: Int(counts[MacroblockLevels.chromaACBlock &+ i]), kind: .chromaAC, intra: intra)
        }
    }
}
