/// A histogram of latencies that uses a fixed amount of memory. It stores the sum of all values and the number of
/// values per bucket. The bounds of a bucket are at most 0.4 percent apart.
package struct LatencyHistogram: Sendable {
    /// The resolution: each value below 2^8 has its own bucket, and each power of two above has 2^8 buckets.
    private static let bits = 8
    private static let buckets = (64 - bits) << bits

    package private(set) var count = 0
    private var nanoseconds = 0.0
    private var counts: [Int] = []

    package init() {}

    package mutating func add(_ value: Int64) {
        if counts.isEmpty { counts = [Int](repeating: 0, count: Self.buckets) }
        let value = max(0, value)
        count += 1
        nanoseconds += Double(value)
        counts[Self.bucket(of: value)] += 1
    }

    /// The mean in nanoseconds, or 0 without values.
    package var mean: Double { count == 0 ? 0 : nanoseconds / Double(count) }

    /// Returns a percentile in nanoseconds: the middle of the bucket that holds it, or 0 without values.
    ///
    /// - Parameter hundredths: The percentage of values below the percentile.
    package func percentile(_ hundredths: Int) -> Double {
        var rank = min(count - 1, count / 100 * hundredths + count % 100 * hundredths / 100)
        for (bucket, number) in counts.enumerated() {
            if rank < number {
                let (least, width) = Self.bounds(of: bucket)
                return Double(least) + Double(width - 1) / 2
            }
            rank -= number
        }
        return 0
    }

    static func bucket(of value: Int64) -> Int {
        let shift = max(0, Int64.bitWidth - value.leadingZeroBitCount - bits - 1)
        return shift << bits + Int(value >> Int64(shift))
    }

    /// Returns the smallest value of a bucket and the number of values that the bucket covers.
    static func bounds(of bucket: Int) -> (least: Int64, width: Int64) {
        let shift = max(0, bucket >> bits - 1)
        return (Int64(bucket - shift << bits) << Int64(shift), 1 << Int64(shift))
    }
}
