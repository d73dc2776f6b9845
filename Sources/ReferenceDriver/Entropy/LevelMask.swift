extension Lane where Element == Int16 {
    /// Bit i of the result: element i, of 16, is not zero.
    @inline(__always) func nonZeroMask16() -> UInt32 {
        let levels = load(0, as: SIMD16<Int16>.self)
        let powers = SIMD16<UInt16>(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
        return UInt32(SIMD16<UInt16>.zero.replacing(with: powers, where: levels .!= 0).wrappedSum())
    }

    /// Bit i of the result: element i, of 64, is not zero.
    @inline(__always) func nonZeroMask64() -> UInt64 {
        UInt64(nonZeroMask16()) | UInt64((self + 16).nonZeroMask16()) << 16
            | UInt64((self + 32).nonZeroMask16()) << 32 | UInt64((self + 48).nonZeroMask16()) << 48
    }
}

extension MacroblockKind {
    /// Bit q: 8×8 quadrant q is the first of a macroblock partition or sub-macroblock.
    @inline(__always) var partitionQuadrants: Int {
        switch self {
        case .inter16x16: 0b0001
        case .inter16x8: 0b0101
        case .inter8x16: 0b0011
        case .inter8x8: 0b1111
        default: 0
        }
    }
}
