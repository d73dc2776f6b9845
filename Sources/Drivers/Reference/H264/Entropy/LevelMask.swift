extension ElementPointer where Element == Int16 {
    /// Bit i of the result: element i, of 16, is not zero.
    ///
    /// By words of four elements: the compiler takes shifts of `SIMD8<Int16>` apart into one extract for each element.
    @inline(__always) func nonZeroMask16() -> UInt32 {
        nonZeroMask4(0) | nonZeroMask4(4) << 4 | nonZeroMask4(8) << 8 | nonZeroMask4(12) << 12
    }

    /// Bit i of the result: element i, of the four from `index` on, is not zero.
    @inline(__always) private func nonZeroMask4(_ index: Int) -> UInt32 {
        let word = load(index, as: UInt64.self)
        let rest: UInt64 = 0x7FFF_7FFF_7FFF_7FFF
        // The top bit of an element is set if any of its bits is.
        let tops = (((word & rest) &+ rest) | word) & ~rest
        // The product gathers bits 0, 16, 32 and 48 in bits 48 to 51; its other terms do not meet them.
        let gathered = (tops &>> 15) &* 0x0001_0002_0004_0008
        return UInt32(truncatingIfNeeded: gathered &>> 48) & 0xF
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
