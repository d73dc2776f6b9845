/// The six-tap luma interpolation filter of H.264 8.4.2.2.1, applied to whole planes.
enum HalfSamples {
    /// The number of samples outside the picture for which half samples are computed. Beyond it, they are constant in
    /// the outward direction.
    static let reach = 16

    /// Returns b₁ or h₁ of (8-241): the six-tap sum before rounding.
    @inline(__always) static func sixTap(_ a: Words, _ b: Words, _ c: Words, _ d: Words, _ e: Words, _ f: Words)
        -> Words
    {
        let outer = a &+ f
        let middle = b &+ e
        let inner = c &+ d
        return outer &+ ((inner &<< 2) &- middle) &* 5
    }

    /// Returns (x + 512) >> 10, where x is the six-tap sum of six-tap sums, in 16-bit arithmetic.
    ///
    /// If o, m and i are the sums of the outer, middle and inner pairs, then
    /// o − 5m + 20i = 16·(((o − m)/4 − m + i)/4 + i). `inner − middle` is clamped, so that nothing overflows. The
    /// clamped values lead to results far outside 0…255 in any case.
    @inline(__always) static func sixTapOfSums(
        _ a: Words, _ b: Words, _ c: Words, _ d: Words, _ e: Words, _ f: Words
    ) -> Words {
        let outer = a &+ f
        let middle = b &+ e
        let inner = c &+ d
        let slope = (inner &- middle).atMost(Words(repeating: 26000)).atLeast(Words(repeating: -26000))
        let sum = ((outer &- middle) &>> 2) &+ slope
        return ((sum &>> 2) &+ inner &+ 32) &>> 6
    }

    /// Returns the six-tap sums of two lines of words, each of which is a line of samples after the one before.
    @inline(__always) static func sixTaps(
        _ a: Words, _ b: Words, _ c: Words, _ d: Words, _ e: Words, _ f: Words, _ g: Words
    ) -> (Words, Words) {
        (sixTap(a, b, c, d, e, f), sixTap(b, c, d, e, f, g))
    }

    /// Returns the samples of six-tap sums: (8-243), (8-244).
    @inline(__always) static func rounded(_ sum: Words, _ largest: Words) -> Words {
        clipped((sum &+ 16) &>> 5, largest)
    }

    @inline(__always) static func clipped(_ values: Words, _ largest: Words) -> Words {
        values.atLeast(Words(repeating: 0)).atMost(largest)
    }
}

extension SIMD16 where Scalar == UInt8 {
    /// The bytes with even indices, as words.
    @inline(__always) var evenWords: Words { (pairs & 0xFF).signedWords }
    /// The bytes with odd indices, as words.
    @inline(__always) var oddWords: Words { (pairs &>> 8).signedWords }

    /// Makes a vector from its bytes with even and odd indices. Each word must be in 0…255.
    @inline(__always) init(even: Words, odd: Words) {
        // SAFETY: both types consist of 16 bytes without padding, and every bit pattern is valid.
        self = unsafe unsafeBitCast(even | (odd &<< 8), to: Bytes.self)
    }

    @inline(__always) private var pairs: SIMD8<UInt16> {
        // SAFETY: both types consist of 16 bytes without padding, and every bit pattern is valid.
        unsafe unsafeBitCast(self, to: SIMD8<UInt16>.self)
    }
}

/// The vertical six-tap sums of two rows, before rounding. Sums of even and odd columns are separate: the sum of column
/// x has index x / 2.
struct HalfSampleSums: Sendable {
    private let storage: ElementStorage<Int16>
    let even: (ElementPointer<Int16>, ElementPointer<Int16>)
    let odd: (ElementPointer<Int16>, ElementPointer<Int16>)
    /// The largest sample, eight times. It is in memory, because the compiler makes more instructions of a constant.
    let largest: ElementPointer<Int16>

    init(_ geometry: PlaneGeometry) {
        let margin = PlaneGeometry.margin / 2
        let count = geometry.width / 2 + 2 * margin
        storage = ElementStorage(count: 4 * count + 8, repeating: 255)
        let first = storage.elements + margin
        even = (first, first + count)
        odd = (first + 2 * count, first + 3 * count)
        largest = storage.elements + 4 * count
    }
}

extension ReferencePlanes {
    /// Computes the rows `y` and `y` + 1 of the three half-sample planes from the extended luma plane, up to
    /// `HalfSamples.reach` samples outside the picture. `sums` is temporary memory.
    func interpolateRows(_ y: Int, _ geometry: PlaneGeometry, _ sums: HalfSampleSums) {
        let row = y * geometry.stride
        interpolateBelow(row, geometry, sums)
        interpolateRight(row, geometry, sums.even.0, sums.odd.0, sums.largest)
        interpolateRight(row + geometry.stride, geometry, sums.even.1, sums.odd.1, sums.largest)
    }

    /// Computes plane h of two rows, and the vertical sums.
    @inline(never) private func interpolateBelow(_ row: Int, _ geometry: PlaneGeometry, _ sums: HalfSampleSums) {
        let stride = geometry.stride
        let source = luma + row
        let target = below + row
        let (even, odd) = (sums.even, sums.odd)
        let largest: Words = sums.largest.load(0)
        var x = 0 &- PlaneGeometry.margin
        let end = geometry.width &+ PlaneGeometry.margin
        while x < end {
            let column = source + x
            @inline(__always) func line(_ y: Int) -> Bytes { column.load(y &* stride) }
            let (a, b, c, d, e, f, g) = (line(-2), line(-1), line(0), line(1), line(2), line(3), line(4))
            let first = HalfSamples.sixTaps(
                a.evenWords, b.evenWords, c.evenWords, d.evenWords, e.evenWords, f.evenWords, g.evenWords)
            let second = HalfSamples.sixTaps(
                a.oddWords, b.oddWords, c.oddWords, d.oddWords, e.oddWords, f.oddWords, g.oddWords)
            let half = x &>> 1
            even.0.store(half, first.0)
            even.1.store(half, first.1)
            odd.0.store(half, second.0)
            odd.1.store(half, second.1)
            target.store(x, Bytes(even: HalfSamples.rounded(first.0, largest), odd: HalfSamples.rounded(second.0, largest)))
            target.store(stride &+ x, Bytes(even: HalfSamples.rounded(first.1, largest), odd: HalfSamples.rounded(second.1, largest)))
            x &+= 16
        }
    }

    /// Computes the planes b and j of a row from the samples and from the vertical sums.
    @inline(never) private func interpolateRight(
        _ row: Int, _ geometry: PlaneGeometry, _ even: ElementPointer<Int16>, _ odd: ElementPointer<Int16>,
        _ largest: ElementPointer<Int16>
    ) {
        let largest: Words = largest.load(0)
        let reach = HalfSamples.reach
        let source = luma + row
        let target = right + row
        let center = both + row
        var x = 0 &- reach
        let end = geometry.width &+ reach
        while x < end {
            @inline(__always) func samples(_ offset: Int) -> Bytes { source.load(x &+ offset) }
            let (a, b, c, d) = (samples(-2), samples(0), samples(2), samples(4))
            let first = HalfSamples.sixTap(a.evenWords, a.oddWords, b.evenWords, b.oddWords, c.evenWords, c.oddWords)
            let second = HalfSamples.sixTap(a.oddWords, b.evenWords, b.oddWords, c.evenWords, c.oddWords, d.evenWords)
            target.store(x, Bytes(even: HalfSamples.rounded(first, largest), odd: HalfSamples.rounded(second, largest)))
            let half = x &>> 1
            @inline(__always) func sums(_ sums: ElementPointer<Int16>, _ offset: Int) -> Words {
                sums.load(half &+ offset)
            }
            let third = HalfSamples.sixTapOfSums(
                sums(even, -1), sums(odd, -1), sums(even, 0), sums(odd, 0), sums(even, 1), sums(odd, 1))
            let fourth = HalfSamples.sixTapOfSums(
                sums(odd, -1), sums(even, 0), sums(odd, 0), sums(even, 1), sums(odd, 1), sums(even, 2))
            center.store(x, Bytes(even: HalfSamples.clipped(third, largest), odd: HalfSamples.clipped(fourth, largest)))
            x &+= 16
        }
    }
}
