import VideoBase

/// Sums of squared differences of samples.
enum SquaredDifference {
    /// Returns the sums for two rows of `count` bytes: of the bytes at even indexes, and of those at odd indexes.
    // SAFETY: the caller provides `count` bytes on both sides. Vector loads stay inside them.
    @unsafe static func pairs(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, count: Int) -> (even: UInt64, odd: UInt64) {
        var index = 0
        var even: UInt64 = 0
        var odd: UInt64 = 0
        while index + 16 <= count {
            // Each step adds two squares of at most 255² to a vector element, so a block of 16384 steps stays below
            // 2³².
            let blockEnd = min(count - 15, index + 16 * 16384)
            var evens = SIMD4<UInt32>(repeating: 0)
            var odds = SIMD4<UInt32>(repeating: 0)
            while index < blockEnd {
                let left = unsafe a.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
                let right = unsafe b.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
                // |a − b| has 8 bits and its square 16.
                let difference =
                    left.replacing(with: right, where: left .< right)
                    &- right.replacing(with: left, where: left .< right)
                let words = unsafe unsafeBitCast(difference, to: SIMD8<UInt16>.self)
                let low = words & 0xFF
                let high = words &>> 8
                let evenSquares = unsafe unsafeBitCast(low &* low, to: SIMD4<UInt32>.self)
                let oddSquares = unsafe unsafeBitCast(high &* high, to: SIMD4<UInt32>.self)
                evens &+= (evenSquares & 0xFFFF) &+ (evenSquares &>> 16)
                odds &+= (oddSquares & 0xFFFF) &+ (oddSquares &>> 16)
                index += 16
            }
            even += UInt64(evens[0]) + UInt64(evens[1]) + UInt64(evens[2]) + UInt64(evens[3])
            odd += UInt64(odds[0]) + UInt64(odds[1]) + UInt64(odds[2]) + UInt64(odds[3])
        }
        while index < count {
            let difference =
                unsafe Int(a.load(fromByteOffset: index, as: UInt8.self))
                - Int(b.load(fromByteOffset: index, as: UInt8.self))
            if index % 2 == 0 {
                even += UInt64(difference * difference)
            } else {
                odd += UInt64(difference * difference)
            }
            index += 1
        }
        return (even, odd)
    }

    /// Returns the sum for two rows of `count` bytes.
    @unsafe static func row(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, count: Int) -> UInt64 {
        let (even, odd) = unsafe pairs(a, b, count: count)
        return even + odd
    }

    /// Returns the sum for two rows of `count` samples of more than 8 bits.
    @unsafe static func row(
        _ a: UnsafePointer<UInt16>, as left: DeepSamples, against b: UnsafePointer<UInt16>, as right: DeepSamples, count: Int
    ) -> UInt64 {
        var sum: UInt64 = 0
        for index in 0..<count {
            let difference = unsafe Int32(a[index &* left.step] &>> left.shift) &- Int32(b[index &* right.step] &>> right.shift)
            sum &+= UInt64(UInt32(bitPattern: difference &* difference))
        }
        return sum
    }
}

/// The samples of a component of a 10-bit 4:2:0 picture.
@safe struct DeepSamples {
    private let base: UnsafeRawPointer
    private let pitch: Int
    /// The step from one sample to the next.
    let step: Int
    /// The number of zero bits below the sample's bits.
    let shift: UInt16

    // SAFETY: the picture is valid during the call that uses this value.
    init(_ planes: PixelPlanes, _ component: Int) {
        let isInterleaved = unsafe planes.format == .p010
        let plane = isInterleaved ? min(component, 1) : component
        let first = isInterleaved && component > 0 ? component - 1 : 0
        unsafe base = UnsafeRawPointer(planes.base(plane)) + first * 2
        pitch = unsafe planes.pitch(plane)
        step = isInterleaved && component > 0 ? 2 : 1
        shift = isInterleaved ? 6 : 0
    }

    @unsafe func row(_ row: Int) -> UnsafePointer<UInt16> {
        unsafe (base + row * pitch).assumingMemoryBound(to: UInt16.self)
    }
}
