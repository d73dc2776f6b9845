/// A leaky bucket for streams without HRD parameters: bits arrive at a constant rate, and whole pictures are removed at
/// their times.
package struct LeakyBucket: Sendable, Hashable {
    /// The rate in bits per second.
    package var bitrate: Double
    /// The capacity in bits.
    package var size: Double
    /// The number of bits in the buffer when the first picture is removed.
    package var initialFullness: Double
    /// Whether bits arrive without pause, so that a full buffer is a violation. Otherwise arrival pauses while the
    /// buffer is full.
    package var isConstant: Bool

    package init(bitrate: Double, size: Double, initialFullness: Double, isConstant: Bool) {
        self.bitrate = bitrate
        self.size = size
        self.initialFullness = initialFullness
        self.isConstant = isConstant
    }

    /// Removes the pictures one by one, in coding order, and reports overflow and underflow.
    ///
    /// - Parameters:
    ///   - bytes: The size of each picture.
    ///   - seconds: The time from each picture's removal to the next one's. The last value holds for all further
    ///     pictures.
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
                        "underflow: the picture has \(Int(clamping: bits)) bits, but the buffer contains "
                            + "\(Int(clamping: fullness))")
                ])
            }
            samples.append(
                HRDReport.Sample(frame: frame, time: time, arrival: time, before: fullness, after: fullness - bits))
            let step = seconds.isEmpty ? 0 : seconds[min(frame, seconds.count - 1)]
            time += step
            // After an underflow the picture is late, and the buffer continues from zero.
            fullness = max(fullness - bits, 0) + bitrate * step
            if !isConstant { fullness = min(fullness, size) }
        }
        report.schedules = [
            HRDReport.Schedule(
                isNAL: true, index: 0, bitrate: Int(clamping: bitrate), cpbSize: Int(clamping: size),
                isConstant: isConstant,
                fullness: samples)
        ]
        return report
    }
}
