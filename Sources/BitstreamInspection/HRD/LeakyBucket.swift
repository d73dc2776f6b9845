/// A leaky bucket for streams without HRD parameters: bits come in at a rate, whole pictures go out at their times.
package struct LeakyBucket: Sendable, Hashable {
    /// Bits per second.
    package var bitRate: Double
    /// Bits.
    package var size: Double
    /// Bits in the buffer when the first picture is taken out.
    package var initialFullness: Double
    /// Bits come in without pause, and a full buffer is a violation; otherwise they wait while it is full.
    package var isConstant: Bool

    package init(bitRate: Double, size: Double, initialFullness: Double, isConstant: Bool) {
        self.bitRate = bitRate
        self.size = size
        self.initialFullness = initialFullness
        self.isConstant = isConstant
    }

    /// Takes the pictures out one by one, in coding order.
    ///
    /// - Parameters:
    ///   - bytes: of each picture.
    ///   - seconds: from each picture's removal to the next one's; the last holds for what follows.
    package func check(bytes: [Int], seconds: [Double]) -> HRDReport {
        var fullness = initialFullness
        var time = 0.0
        var report = HRDReport()
        var samples: [HRDReport.Sample] = []
        for (frame, count) in bytes.enumerated() {
            let bits = Double(count) * 8
            if fullness > size + 0.5 {
                report.add([
                    Violation(
                        .codedPictureBuffer, frame: frame,
                        "overflow: \(Int(clamping: fullness)) bits are in the buffer of \(Int(clamping: size))")
                ])
            }
            if bits > fullness + 0.5 {
                report.add([
                    Violation(
                        .codedPictureBuffer, frame: frame,
                        "underflow: the picture has \(Int(clamping: bits)) bits, the buffer \(Int(clamping: fullness))")
                ])
            }
            samples.append(
                HRDReport.Sample(frame: frame, time: time, arrival: time, before: fullness, after: fullness - bits))
            let step = seconds.isEmpty ? 0 : seconds[min(frame, seconds.count - 1)]
            time += step
            // After an underflow the picture is late and the buffer starts again from nothing.
            fullness = max(fullness - bits, 0) + bitRate * step
            if !isConstant { fullness = min(fullness, size) }
        }
        report.schedules = [
            HRDReport.Schedule(
                isNAL: true, index: 0, bitRate: Int(clamping: bitRate), cpbSize: Int(clamping: size), isConstant: isConstant,
                fullness: samples)
        ]
        return report
    }
}
