/// Estimates the time of the remaining runs from that of the finished runs.
struct BenchEstimate {
    private var remaining: [String: Int] = [:]
    private var finished: [String: (seconds: Double, count: Int)] = [:]

    mutating func plan(_ runs: [(encoder: String, count: Int)]) {
        remaining = [:]
        for (encoder, count) in runs { remaining[encoder, default: 0] += count }
    }

    mutating func add(_ encoder: String, seconds: Double) {
        remaining[encoder, default: 1] -= 1
        let before = finished[encoder] ?? (0, 0)
        finished[encoder] = (before.seconds + seconds, before.count + 1)
    }

    /// Returns the seconds until all runs are finished; nil before the end of the first run.
    ///
    /// An encoder without a finished run is assumed to take the average of the others.
    ///
    /// - Parameter elapsed: The seconds since the start of the current run.
    func secondsLeft(in elapsed: Double) -> Double? {
        let all = finished.values.reduce((seconds: 0.0, count: 0)) { ($0.seconds + $1.seconds, $0.count + $1.count) }
        guard all.count > 0 else { return nil }
        let mean = all.seconds / Double(all.count)
        let left = remaining.reduce(0.0) { sum, item in
            sum + Double(max(item.value, 0)) * (finished[item.key].map { $0.seconds / Double($0.count) } ?? mean)
        }
        return max(left - elapsed, 0)
    }
}
