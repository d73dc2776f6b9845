/// The coefficients of the interpolation filters, H.265 tables 8-11 and 8-12, in the layout that the filters read:
/// first each pair of taps four times, then each tap eight times.
final class HEVCInterpolationTaps: Sendable {
    static let shared = HEVCInterpolationTaps()

    private static let lumaFilters: [[Int16]] = [
        [0, 0, 0, 64, 0, 0, 0, 0], [-1, 4, -10, 58, 17, -5, 1, 0], [-1, 4, -11, 40, 40, -11, 4, -1],
        [0, 1, -5, 17, 58, -10, 4, -1],
    ]
    private static let chromaFilters: [[Int16]] = [
        [0, 64, 0, 0], [-2, 58, 10, -2], [-4, 54, 16, -2], [-6, 46, 28, -4], [-4, 36, 36, -4], [-4, 28, 46, -6],
        [-2, 16, 54, -4], [-2, 10, 58, -2],
    ]
    private static let lumaWords = 96
    private static let chromaWords = 48
    private let storage = ElementStorage<Int16>(count: 4 * lumaWords + 8 * chromaWords, repeating: 0)

    private init() {
        func put(_ filter: [Int16], _ elements: ElementPointer<Int16>) {
            for (tap, value) in filter.enumerated() {
                for i in 0..<4 { elements[tap / 2 * 8 + 2 * i + tap % 2] = value }
                for i in 0..<8 { elements[filter.count * 4 + tap * 8 + i] = value }
            }
        }
        for (fraction, filter) in Self.lumaFilters.enumerated() { put(filter, luma(fraction).pairs) }
        for (fraction, filter) in Self.chromaFilters.enumerated() { put(filter, chroma(fraction).pairs) }
    }

    /// Returns the luma filter for a fraction in quarter samples.
    @inline(__always) func luma(_ fraction: Int) -> HEVCTaps {
        HEVCTaps(pairs: storage.elements + fraction &* Self.lumaWords, count: 8)
    }

    /// Returns the chroma filter for a fraction in eighths of a sample.
    @inline(__always) func chroma(_ fraction: Int) -> HEVCTaps {
        HEVCTaps(pairs: storage.elements + (4 &* Self.lumaWords &+ fraction &* Self.chromaWords), count: 4)
    }
}

/// One filter: eight taps for the positions −3…4, or four taps for −1…2.
struct HEVCTaps: BitwiseCopyable {
    let pairs: ElementPointer<Int16>
    let count: Int

    @inline(__always) var first: Int { 1 &- count / 2 }
    @inline(__always) func tap(_ index: Int) -> Words { pairs.load(4 &* count &+ 8 &* index) }
}

/// The taps of one filter, each in all elements of a vector; t4 to t7 are only used if there are eight taps. Loops load
/// them once, because the optimizer cannot know that the samples they write are not taps.
struct HEVCTapVectors {
    let t0, t1, t2, t3, t4, t5, t6, t7: Words
    let isLong: Bool

    @inline(__always) init(_ taps: HEVCTaps) {
        isLong = taps.count == 8
        (t0, t1, t2, t3) = (taps.tap(0), taps.tap(1), taps.tap(2), taps.tap(3))
        let far = isLong ? 4 : 0
        (t4, t5, t6, t7) = (taps.tap(far), taps.tap(far &+ 1), taps.tap(far &+ 2), taps.tap(far &+ 3))
    }
}
