internal import Glibc

/// The Bjøntegaard delta rate: the percentage of additional bits that an encoder needs for the same quality.
public enum BDRate {
    /// A measured point of a curve.
    public struct Point: Sendable, Hashable {
        /// The rate in any unit, the same in both curves.
        public var rate: Double
        /// The PSNR in dB.
        public var psnr: Double

        /// Creates a point.
        public init(rate: Double, psnr: Double) {
            self.rate = rate
            self.psnr = psnr
        }
    }

    /// Returns the rate in percent that `test` needs in addition to `anchor`; negative if it needs less.
    ///
    /// The result is the average over the PSNR range that both curves cover, with a monotone piecewise cubic for the
    /// log rate over PSNR.
    ///
    /// - Returns: The percentage, or nil if a curve has fewer than two points or does not ascend, or if the ranges do
    ///   not overlap.
    public static func percent(of test: [Point], against anchor: [Point]) -> Double? {
        guard let a = Curve(anchor), let b = Curve(test) else { return nil }
        let low = max(a.x.first!, b.x.first!)
        let high = min(a.x.last!, b.x.last!)
        guard high > low else { return nil }
        let mean = (b.integral(from: low, to: high) - a.integral(from: low, to: high)) / (high - low)
        return (pow(10, mean) - 1) * 100
    }

    /// log10(rate) over PSNR: the monotone cubic of Fritsch and Carlson, with the slopes of Fritsch and Butland.
    private struct Curve {
        let x: [Double]
        let y: [Double]
        let slopes: [Double]

        init?(_ points: [Point]) {
            let sorted = points.sorted { $0.psnr < $1.psnr }
            guard sorted.count >= 2, sorted.allSatisfy({ $0.rate > 0 }) else { return nil }
            guard zip(sorted, sorted.dropFirst()).allSatisfy({ $0.psnr < $1.psnr && $0.rate < $1.rate }) else {
                return nil
            }
            let x = sorted.map(\.psnr)
            let y = sorted.map { log10($0.rate) }
            let h = zip(x, x.dropFirst()).map { $1 - $0 }
            let d = zip(zip(y, y.dropFirst()), h).map { ($0.1 - $0.0) / $1 }
            self.x = x
            self.y = y
            let last = d.count - 1
            if last == 0 {
                slopes = [d[0], d[0]]
                return
            }
            var slopes = [Self.edge(h[0], h[1], d[0], d[1])]
            for i in 0..<last {
                let w1 = 2 * h[i + 1] + h[i]
                let w2 = h[i + 1] + 2 * h[i]
                slopes.append(d[i] * d[i + 1] <= 0 ? 0 : (w1 + w2) / (w1 / d[i] + w2 / d[i + 1]))
            }
            slopes.append(Self.edge(h[last], h[last - 1], d[last], d[last - 1]))
            self.slopes = slopes
        }

        private static func edge(_ h0: Double, _ h1: Double, _ d0: Double, _ d1: Double) -> Double {
            let slope = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1)
            if slope * d0 <= 0 { return 0 }
            return d0 * d1 <= 0 && abs(slope) > 3 * abs(d0) ? 3 * d0 : slope
        }

        /// Returns the integral over [low, high], which must lie inside the curve's range.
        func integral(from low: Double, to high: Double) -> Double {
            (0..<(x.count - 1)).reduce(0) { sum, i in
                let (a, b) = (max(low, x[i]), min(high, x[i + 1]))
                return b > a ? sum + primitive(i, b) - primitive(i, a) : sum
            }
        }

        /// Returns the antiderivative of piece `i`, which is zero at the start of the piece.
        private func primitive(_ i: Int, _ at: Double) -> Double {
            let h = x[i + 1] - x[i]
            let d = (y[i + 1] - y[i]) / h
            let c2 = (3 * d - 2 * slopes[i] - slopes[i + 1]) / h
            let c3 = (slopes[i] + slopes[i + 1] - 2 * d) / (h * h)
            let s = at - x[i]
            return s * (y[i] + s * (slopes[i] / 2 + s * (c2 / 3 + s * c3 / 4)))
        }
    }
}
