/// The Bjøntegaard delta of the bit rate: the percentage of additional bits that one curve needs for the same
/// quality.
enum BDRate {
    struct Point {
        var bitrate: Double
        /// The quality in decibels: the PSNR, or -10 log10(1 - SSIM).
        var quality: Double
    }

    /// Returns the difference in percent. Positive values mean that `curve` needs more bits than `anchor`.
    ///
    /// Treats the logarithm of the rate as a function of the quality, interpolates it with monotone piecewise cubics
    /// (Fritsch–Carlson), and integrates over the range that both curves have.
    ///
    /// - Returns: The difference, or nil if a curve has fewer than four distinct points or the curves have no common
    ///   range.
    static func percent(of curve: [Point], against anchor: [Point]) -> Double? {
        guard let a = Spline(anchor), let b = Spline(curve) else { return nil }
        let low = max(a.low, b.low)
        let high = min(a.high, b.high)
        guard high > low else { return nil }
        let difference = (b.integral(low, high) - a.integral(low, high)) / (high - low)
        return (exponential10(difference) - 1) * 100
    }

    private struct Spline {
        private var x: [Double]
        private var y: [Double]
        private var slope: [Double]
        var low: Double { x[0] }
        var high: Double { x[x.count - 1] }

        init?(_ points: [Point]) {
            let sorted = points.filter { $0.bitrate > 0 && $0.quality.isFinite }.sorted { $0.quality < $1.quality }
            guard sorted.count >= 4, zip(sorted, sorted.dropFirst()).allSatisfy({ $0.quality < $1.quality }) else { return nil }
            x = sorted.map(\.quality)
            y = sorted.map { logarithm10($0.bitrate) }
            let count = x.count
            let widths = (0..<count - 1).map { [x] in x[$0 + 1] - x[$0] }
            let secants = (0..<count - 1).map { [y] in (y[$0 + 1] - y[$0]) / widths[$0] }
            slope = [Double](repeating: 0, count: count)
            for k in 1..<count - 1 where secants[k - 1] * secants[k] > 0 {
                let w1 = 2 * widths[k] + widths[k - 1]
                let w2 = widths[k] + 2 * widths[k - 1]
                slope[k] = (w1 + w2) / (w1 / secants[k - 1] + w2 / secants[k])
            }
            slope[0] = Self.endSlope(widths: (widths[0], widths[1]), secants: (secants[0], secants[1]))
            slope[count - 1] = Self.endSlope(
                widths: (widths[count - 2], widths[count - 3]), secants: (secants[count - 2], secants[count - 3]))
        }

        /// Returns the slope at an end of the curve, from the two pieces next to it, the outer one first.
        private static func endSlope(widths: (Double, Double), secants: (Double, Double)) -> Double {
            let ((h0, h1), (d0, d1)) = (widths, secants)
            let slope = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1)
            if slope * d0 <= 0 { return 0 }
            if d0 * d1 <= 0 && abs(slope) > abs(3 * d0) { return 3 * d0 }
            return slope
        }

        func integral(_ from: Double, _ to: Double) -> Double {
            var sum = 0.0
            for k in 0..<x.count - 1 {
                let a = max(from, x[k])
                let b = min(to, x[k + 1])
                if b > a { sum += primitive(k, b) - primitive(k, a) }
            }
            return sum
        }

        /// Returns the integral of piece k's cubic Hermite polynomial from x[k] to `at`.
        private func primitive(_ k: Int, _ at: Double) -> Double {
            let h = x[k + 1] - x[k]
            let secant = (y[k + 1] - y[k]) / h
            let c = (3 * secant - 2 * slope[k] - slope[k + 1]) / h
            let d = (slope[k] - 2 * secant + slope[k + 1]) / (h * h)
            let t = at - x[k]
            return t * (y[k] + t * (slope[k] / 2 + t * (c / 3 + t * d / 4)))
        }
    }
}
