internal import Glibc

/// Computes the peak signal-to-noise ratio in dB.
public enum PSNR {
    /// Returns the PSNR of two arrays of 8-bit samples with equal count; infinite if they are equal.
    public static func of(_ a: ArraySlice<UInt8>, _ b: ArraySlice<UInt8>) -> Double {
        precondition(a.count == b.count && !a.isEmpty, "PSNR compares planes of one size")
        return decibels(squaredError(a, b), count: a.count, bitDepth: 8)
    }

    /// Returns the PSNR of the luma planes of two frames of equal size and depth.
    public static func luma(_ a: PlanarFrame, _ b: PlanarFrame) -> Double { of(a, b, a.luma, b.luma) }

    /// Returns the PSNR of both chroma planes of two frames of equal size and depth.
    public static func chroma(_ a: PlanarFrame, _ b: PlanarFrame) -> Double { of(a, b, a.chroma, b.chroma) }

    /// Returns the PSNR of all samples of two frames of equal size and depth.
    public static func all(_ a: PlanarFrame, _ b: PlanarFrame) -> Double { of(a, b, a.bytes[...], b.bytes[...]) }

    private static func of(
        _ a: PlanarFrame, _ b: PlanarFrame, _ x: ArraySlice<UInt8>, _ y: ArraySlice<UInt8>
    ) -> Double {
        precondition(a.bitDepth == b.bitDepth, "PSNR compares samples of one depth")
        if a.bitDepth == 8 { return of(x, y) }
        precondition(x.count == y.count && !x.isEmpty, "PSNR compares planes of one size")
        return decibels(wideSquaredError(x, y), count: x.count / 2, bitDepth: a.bitDepth)
    }

    private static func decibels(_ sum: Int, count: Int, bitDepth: Int) -> Double {
        let peak = Double(1 << bitDepth - 1)
        return sum == 0 ? .infinity : 10 * log10(peak * peak * Double(count) / Double(sum))
    }

    /// Returns the sum of squared differences of 8-bit samples.
    public static func squaredError(_ a: ArraySlice<UInt8>, _ b: ArraySlice<UInt8>) -> Int {
        var sum = 0
        for (x, y) in zip(a, b) {
            let difference = Int(x) - Int(y)
            sum += difference * difference
        }
        return sum
    }

    /// Returns the sum of squared differences of two-byte samples.
    private static func wideSquaredError(_ a: ArraySlice<UInt8>, _ b: ArraySlice<UInt8>) -> Int {
        var sum = 0
        for offset in stride(from: 0, to: a.count, by: 2) {
            let (i, j) = (a.startIndex + offset, b.startIndex + offset)
            let difference = Int(a[i]) - Int(b[j]) + (Int(a[i + 1]) - Int(b[j + 1])) << 8
            sum += difference * difference
        }
        return sum
    }
}
