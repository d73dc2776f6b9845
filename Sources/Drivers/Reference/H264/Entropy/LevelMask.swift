extension ElementPointer where Element == Int16 {
    /// Returns a mask in which bit i is set if element i of 16 is not zero.
    ///
    /// It works on words of four elements, because the compiler splits shifts of `SIMD8<Int16>` into one extract
    /// instruction per element.
    @inline(__always) func nonZeroMask16() -> UInt32 {
        nonZeroMask4(0) | nonZeroMask4(4) << 4 | nonZeroMask4(8) << 8 | nonZeroMask4(12) << 12
    }

    /// Returns a mask of four elements from `index` on: bit i is set if element `index` + i is not zero.
    @inline(__always) private func nonZeroMask4(_ index: Int) -> UInt32 {
        let word = load(index, as: UInt64.self)
        let rest: UInt64 = 0x7FFF_7FFF_7FFF_7FFF
        // The top bit of each element is set if any of its bits is set.
        let tops = (((word & rest) &+ rest) | word) & ~rest
        // The product moves bits 0, 16, 32 and 48 to bits 48…51. Its other terms do not overlap with these.
        let gathered = (tops &>> 15) &* 0x0001_0002_0004_0008
        return UInt32(truncatingIfNeeded: gathered &>> 48) & 0xF
    }

    /// Returns a mask in which bit i is set if element i of 64 is not zero.
    @inline(__always) func nonZeroMask64() -> UInt64 {
        UInt64(nonZeroMask16()) | UInt64((self + 16).nonZeroMask16()) << 16
            | UInt64((self + 32).nonZeroMask16()) << 32 | UInt64((self + 48).nonZeroMask16()) << 48
    }
}

extension MacroblockKind {
    /// The bits of the 8×8 quadrants that are the first of a macroblock partition or sub-macroblock.
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
