// Vector operations of the HEVC kernels in addition to those of `Vectors.swift`. They are 128 bits wide, and each takes
// one or two instructions of the baseline instruction set.

typealias Quads = SIMD4<Int32>

extension HEVCSample {
    /// The largest sample value: (1 << BitDepth) − 1.
    @inline(__always) static var largest: Int { (1 &<< bitDepth) &- 1 }

    /// The largest sample value in all eight elements. The type is not written as `Words`, which has another meaning
    /// inside an integer type.
    @inline(__always) static var largestWord: SIMD8<Int16> {
        SIMD8<Int16>(repeating: Int16(truncatingIfNeeded: largest))
    }
}

extension ElementPointer where Element: HEVCSample {
    /// Loads eight samples.
    @inline(__always) func words(_ index: Int) -> Words {
        if Element.bitDepth == 8 { return load(index, as: HalfBytes.self).words }
        return load(index, as: Words.self)
    }

    /// Loads four samples, followed by four zeros.
    @inline(__always) func fourWords(_ index: Int) -> Words {
        if Element.bitDepth == 8 {
            let four: SIMD4<UInt8> = load(index)
            return HalfBytes(lowHalf: four, highHalf: .zero).words
        }
        return Words(lowHalf: load(index, as: SIMD4<Int16>.self), highHalf: .zero)
    }

    /// Stores eight values, clipped to the range of samples.
    @inline(__always) func storeClipped(_ index: Int, _ words: Words) {
        if Element.bitDepth == 8 {
            store(index, words.clippedBytes)
        } else {
            store(index, words.atLeast(Words(repeating: 0)).atMost(Element.largestWord))
        }
    }

    /// Stores the first four values, clipped to the range of samples.
    @inline(__always) func storeFourClipped(_ index: Int, _ words: Words) {
        if Element.bitDepth == 8 {
            store(index, words.clippedBytes.lowHalf)
        } else {
            store(index, words.atLeast(Words(repeating: 0)).atMost(Element.largestWord).lowHalf)
        }
    }

    /// Stores eight values, which must be in the range of samples.
    @inline(__always) func storeWords(_ index: Int, _ words: Words) {
        if Element.bitDepth == 8 { store(index, words.bytes) } else { store(index, words) }
    }

    /// Stores the first four values, which must be in the range of samples.
    @inline(__always) func storeFourWords(_ index: Int, _ words: Words) {
        if Element.bitDepth == 8 { store(index, words.bytes.lowHalf) } else { store(index, words.lowHalf) }
    }
}

/// Returns a0·b0 + a1·b1, a2·b2 + a3·b3, … This is one instruction, but only if the result is not added to an
/// accumulator in the same loop iteration: the optimizer would merge the additions and not use the instruction. Loops
/// therefore keep the sums of one iteration and add them in the next one.
@inline(__always) func pairProducts(_ a: Words, _ b: Words) -> Quads {
    let evenA = Quads(Int32(a[0]), Int32(a[2]), Int32(a[4]), Int32(a[6]))
    let evenB = Quads(Int32(b[0]), Int32(b[2]), Int32(b[4]), Int32(b[6]))
    let oddA = Quads(Int32(a[1]), Int32(a[3]), Int32(a[5]), Int32(a[7]))
    let oddB = Quads(Int32(b[1]), Int32(b[3]), Int32(b[5]), Int32(b[7]))
    return evenA &* evenB &+ oddA &* oddB
}

/// Returns the eight values, saturated to 16 bits.
@inline(__always) func saturatedWords(_ a: Quads, _ b: Quads) -> Words {
    let both = SIMD8<Int32>(lowHalf: a, highHalf: b)
    let most = SIMD8<Int32>(repeating: 32767)
    let least = SIMD8<Int32>(repeating: -32768)
    let high = both.replacing(with: most, where: both .> most)
    let v = high.replacing(with: least, where: high .< least)
    return Words(
        Int16(truncatingIfNeeded: v[0]), Int16(truncatingIfNeeded: v[1]), Int16(truncatingIfNeeded: v[2]),
        Int16(truncatingIfNeeded: v[3]), Int16(truncatingIfNeeded: v[4]), Int16(truncatingIfNeeded: v[5]),
        Int16(truncatingIfNeeded: v[6]), Int16(truncatingIfNeeded: v[7]))
}

extension SIMD8 where Scalar == Int16 {
    /// The first four values, and the last four, sign-extended.
    @inline(__always) var lowQuads: Quads { Quads(Int32(self[0]), Int32(self[1]), Int32(self[2]), Int32(self[3])) }
    @inline(__always) var highQuads: Quads { Quads(Int32(self[4]), Int32(self[5]), Int32(self[6]), Int32(self[7])) }

    /// Whether any value is not 0.
    @inline(__always) var isAnySet: Bool {
        // SAFETY: both types have 16 bytes without padding, and every bit pattern is a valid value of both.
        let bits = unsafe unsafeBitCast(self, to: SIMD2<UInt64>.self)
        return bits.x | bits.y != 0
    }
}

extension SIMD4 where Scalar == Int32 {
    @inline(__always) var wrappedTotal: Int32 {
        let two = lowHalf &+ highHalf
        return two.x &+ two.y
    }
}
