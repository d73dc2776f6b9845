// Vector operations that the kernels share. All vectors have 128 bits, because these operations compile to single
// instructions of the baseline instruction set. Wider vectors are split into function calls.

typealias Bytes = SIMD16<UInt8>
typealias HalfBytes = SIMD8<UInt8>
typealias Words = SIMD8<Int16>

extension SIMD8 where Scalar == UInt8 {
    // Returns the bytes as words. The standard library's conversions remain function calls in large functions; this
    // compiles to one instruction.
    @inline(__always) var words: Words {
        Words(
            Int16(self[0]), Int16(self[1]), Int16(self[2]), Int16(self[3]), Int16(self[4]), Int16(self[5]),
            Int16(self[6]), Int16(self[7]))
    }
}

extension SIMD8 where Scalar == Int16 {
    /// The values clipped to 0…255.
    @inline(__always) var clippedBytes: HalfBytes {
        atLeast(Words(repeating: 0)).atMost(Words(repeating: 255)).bytes
    }

    /// The values as bytes. Each must be in 0…255.
    @inline(__always) var bytes: HalfBytes {
        HalfBytes(
            UInt8(truncatingIfNeeded: self[0]), UInt8(truncatingIfNeeded: self[1]),
            UInt8(truncatingIfNeeded: self[2]), UInt8(truncatingIfNeeded: self[3]),
            UInt8(truncatingIfNeeded: self[4]), UInt8(truncatingIfNeeded: self[5]),
            UInt8(truncatingIfNeeded: self[6]), UInt8(truncatingIfNeeded: self[7]))
    }

    @inline(__always) func atMost(_ other: Words) -> Words { replacing(with: other, where: self .> other) }
    @inline(__always) func atLeast(_ other: Words) -> Words { replacing(with: other, where: self .< other) }

    @inline(__always) var magnitude: Words {
        let sign = self &>> 15
        return (self ^ sign) &- sign
    }

    /// The sum of the eight words as unsigned values (0…65535).
    @inline(__always) var unsignedSum: Int {
        let wide = unsignedWords.widened
        let four = wide.lowHalf &+ wide.highHalf
        let two = four.lowHalf &+ four.highHalf
        return Int(two.x &+ two.y)
    }
}

extension SIMD8 where Scalar == Int16 {
    /// The same bits as unsigned words.
    @inline(__always) var unsignedWords: SIMD8<UInt16> {
        // SAFETY: both types consist of eight 16-bit integers without padding, and every bit pattern is valid.
        unsafe unsafeBitCast(self, to: SIMD8<UInt16>.self)
    }
}

extension SIMD8 where Scalar == UInt16 {
    /// The same bits as signed words.
    @inline(__always) var signedWords: Words {
        // SAFETY: both types consist of eight 16-bit integers without padding, and every bit pattern is valid.
        unsafe unsafeBitCast(self, to: Words.self)
    }

    @inline(__always) var widened: SIMD8<UInt32> {
        SIMD8<UInt32>(
            UInt32(self[0]), UInt32(self[1]), UInt32(self[2]), UInt32(self[3]), UInt32(self[4]), UInt32(self[5]),
            UInt32(self[6]), UInt32(self[7]))
    }

    /// Returns the high 16 bits of each product.
    @inline(__always) func multipliedHigh(_ other: SIMD8<UInt16>) -> SIMD8<UInt16> {
        let product = (widened &* other.widened) &>> 16
        return SIMD8<UInt16>(
            UInt16(truncatingIfNeeded: product[0]), UInt16(truncatingIfNeeded: product[1]),
            UInt16(truncatingIfNeeded: product[2]), UInt16(truncatingIfNeeded: product[3]),
            UInt16(truncatingIfNeeded: product[4]), UInt16(truncatingIfNeeded: product[5]),
            UInt16(truncatingIfNeeded: product[6]), UInt16(truncatingIfNeeded: product[7]))
    }
}

extension SIMD16 where Scalar == UInt8 {
    /// Returns (a + b + 1) >> 1 for each pair of bytes.
    @inline(__always) func average(_ other: Bytes) -> Bytes {
        (self | other) &- (((self ^ other) &>> 1) & 0x7F)
    }
}

extension SIMD8 where Scalar == UInt8 {
    /// Returns (a + b + 1) >> 1 for each pair of bytes.
    @inline(__always) func average(_ other: HalfBytes) -> HalfBytes {
        (self | other) &- (((self ^ other) &>> 1) & 0x7F)
    }
}

/// Interleaves two vectors: a0 b0 a1 b1 …. Returns the low and the high half of the result.
@inline(__always) func zip(_ a: Words, _ b: Words) -> (Words, Words) {
    var both = SIMD16<Int16>()
    both.evenHalf = a
    both.oddHalf = b
    return (both.lowHalf, both.highHalf)
}

/// Interleaves pairs of values: a0 a1 b0 b1 a2 a3 …. Returns the low and the high half of the result.
@inline(__always) func zipPairs(_ a: Words, _ b: Words) -> (Words, Words) {
    // SAFETY: all these types consist of 16 bytes without padding, and every bit pattern is valid.
    let (x, y) = unsafe (unsafeBitCast(a, to: SIMD4<UInt32>.self), unsafeBitCast(b, to: SIMD4<UInt32>.self))
    var both = SIMD8<UInt32>()
    both.evenHalf = x
    both.oddHalf = y
    return unsafe (unsafeBitCast(both.lowHalf, to: Words.self), unsafeBitCast(both.highHalf, to: Words.self))
}

/// Returns the low halves of two vectors in one vector, and their high halves in another.
@inline(__always) func zipHalves(_ a: Words, _ b: Words) -> (Words, Words) {
    (Words(lowHalf: a.lowHalf, highHalf: b.lowHalf), Words(lowHalf: a.highHalf, highHalf: b.highHalf))
}

/// Interleaves two vectors of bytes: a0 b0 a1 b1 ….
@inline(__always) func zip(_ a: HalfBytes, _ b: HalfBytes) -> Bytes {
    var both = Bytes()
    both.evenHalf = a
    both.oddHalf = b
    return both
}

/// Four rows of two 4×4 blocks side by side. `transposed` transposes each block separately.
struct BlockPair {
    var r0: Words
    var r1: Words
    var r2: Words
    var r3: Words

    @inline(__always) init(_ r0: Words, _ r1: Words, _ r2: Words, _ r3: Words) {
        self.r0 = r0
        self.r1 = r1
        self.r2 = r2
        self.r3 = r3
    }

    @inline(__always) init(_ elements: ElementPointer<Int16>) {
        r0 = elements.load(0)
        r1 = elements.load(8)
        r2 = elements.load(16)
        r3 = elements.load(24)
    }

    @inline(__always) func store(_ elements: ElementPointer<Int16>) {
        elements.store(0, r0)
        elements.store(8, r1)
        elements.store(16, r2)
        elements.store(24, r3)
    }

    @inline(__always) var transposed: BlockPair {
        let (a01, b01) = zip(r0, r1)
        let (a23, b23) = zip(r2, r3)
        let (aLow, aHigh) = zipPairs(a01, a23)
        let (bLow, bHigh) = zipPairs(b01, b23)
        let (c0, c1) = zipHalves(aLow, bLow)
        let (c2, c3) = zipHalves(aHigh, bHigh)
        return BlockPair(c0, c1, c2, c3)
    }
}

/// Eight rows of eight values.
struct Block8x8 {
    var r0: Words
    var r1: Words
    var r2: Words
    var r3: Words
    var r4: Words
    var r5: Words
    var r6: Words
    var r7: Words

    @inline(__always) init(
        _ r0: Words, _ r1: Words, _ r2: Words, _ r3: Words, _ r4: Words, _ r5: Words, _ r6: Words, _ r7: Words
    ) {
        self.r0 = r0
        self.r1 = r1
        self.r2 = r2
        self.r3 = r3
        self.r4 = r4
        self.r5 = r5
        self.r6 = r6
        self.r7 = r7
    }

    @inline(__always) init(_ elements: ElementPointer<Int16>) {
        self.init(
            elements.load(0), elements.load(8), elements.load(16), elements.load(24),
            elements.load(32), elements.load(40), elements.load(48), elements.load(56))
    }

    @inline(__always) func store(_ elements: ElementPointer<Int16>) {
        elements.store(0, r0)
        elements.store(8, r1)
        elements.store(16, r2)
        elements.store(24, r3)
        elements.store(32, r4)
        elements.store(40, r5)
        elements.store(48, r6)
        elements.store(56, r7)
    }

    @inline(__always) var transposed: Block8x8 {
        let (a0, a1) = zip(r0, r1)
        let (b0, b1) = zip(r2, r3)
        let (c0, c1) = zip(r4, r5)
        let (d0, d1) = zip(r6, r7)
        let (e0, e1) = zipPairs(a0, b0)
        let (e2, e3) = zipPairs(a1, b1)
        let (f0, f1) = zipPairs(c0, d0)
        let (f2, f3) = zipPairs(c1, d1)
        let (g0, g1) = zipHalves(e0, f0)
        let (g2, g3) = zipHalves(e1, f1)
        let (g4, g5) = zipHalves(e2, f2)
        let (g6, g7) = zipHalves(e3, f3)
        return Block8x8(g0, g1, g2, g3, g4, g5, g6, g7)
    }
}
