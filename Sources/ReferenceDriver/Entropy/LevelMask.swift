extension Lane where Element == Int16 {
    /// Bit i of the result: element i, of 16, is not zero.
    @inline(__always) func nonZeroMask16() -> UInt32 {
        // Of x and −x one has its top bit set unless both are 0: shifts, because comparing becomes a loop.
        let low = load(0, as: Words.self)
        let high = load(8, as: Words.self)
        let lowBits = ((low | (Words.zero &- low)) &>> 15) & Words(1, 2, 4, 8, 16, 32, 64, 128)
        let highBits =
            ((high | (Words.zero &- high)) &>> 15) & Words(256, 512, 1024, 2048, 4096, 8192, 16384, .min)
        // SAFETY: both types are 16 plain bytes.
        let pair = unsafe unsafeBitCast(lowBits | highBits, to: SIMD2<UInt64>.self)
        let four = pair.x | pair.y
        let two = UInt32(truncatingIfNeeded: four | four &>> 32)
        return (two | two &>> 16) & 0xFFFF
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
