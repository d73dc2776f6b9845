import Testing

@testable import VideoBase

@Suite struct LatencyHistogramTests {
    @Test func everyValueLiesInItsBucket() {
        var values = Array(Int64(0)...5000)
        for power in 9..<63 { values += [-1, 0, 1].map { (1 << Int64(power)) + $0 } }
        values += [.max - 1, .max]
        values.sort()
        var last = 0
        for value in values {
            let bucket = LatencyHistogram.bucket(of: value)
            let (least, width) = LatencyHistogram.bounds(of: bucket)
            #expect(value >= least && value - least < width && width - 1 <= least / 256)
            #expect(bucket >= last)
            last = bucket
        }
    }

    /// The histogram's statistics must agree with those of the sorted list.
    @Test(arguments: [1, 2, 3, 99, 100, 101, 1000, 100_000]) func percentilesAgreeWithTheSortedList(_ number: Int) {
        var random = SystemRandomNumberGenerator()
        var histogram = LatencyHistogram()
        var values: [Int64] = []
        for _ in 0..<number {
            let value = Int64.random(in: 0..<1 << Int64.random(in: 1..<40, using: &random), using: &random)
            values.append(value)
            histogram.add(value)
        }
        values.sort()
        #expect(histogram.count == number)
        let mean = values.reduce(0) { $0 + Double($1) } / Double(number)
        #expect(abs(histogram.mean - mean) <= mean * 1e-9)
        for hundredths in [0, 1, 50, 99, 100] {
            let exact = Double(values[min(number - 1, number * hundredths / 100)])
            let reported = histogram.percentile(hundredths)
            #expect(abs(reported - exact) <= exact / 256, "\(hundredths) %: \(reported) for \(exact)")
        }
    }

    @Test func extremeAndMissingValuesAreHandled() {
        var histogram = LatencyHistogram()
        #expect(histogram.count == 0 && histogram.mean == 0 && histogram.percentile(99) == 0)
        histogram.add(-5)
        #expect(histogram.count == 1 && histogram.mean == 0 && histogram.percentile(99) == 0)
        histogram.add(.max)
        #expect(histogram.percentile(100) >= 9.2e18)
    }
}
