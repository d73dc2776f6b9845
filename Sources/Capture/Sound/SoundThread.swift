import CLibAV
import Glibc
import LibAV
import Threads
import VideoBase

/// The thread of a sound device: opens it, reads it and corrects its clock.
enum SoundThread {
    /// Runs until the input is closed or the device ends.
    static func run(_ name: String, _ link: Monitor<SoundLink>) {
        do {
            let device = try SoundDevice(name)
            let resampler = try DriftResampler(device)
            var clock = SoundClock(rate: device.rate)
            link.withLock { $0.info = SoundInput.Info(name: name, rate: device.rate, channels: device.channels) }
            while !link.withLockWithoutNotifying({ $0.isClosing }) {
                guard let end = try step(device, resampler: resampler, clock: &clock, link: link) else { continue }
                link.withLock { $0.end = end }
                return
            }
            link.withLock { $0.end = .stopped }
        } catch {
            link.withLock { $0.end = .failed(error as? VaencError ?? VaencError(.internalFault, "\(error)")) }
        }
    }

    /// Outputs samples of silence, in blocks of at most a second. What exceeds the capacity of the link is counted as
    /// dropped.
    private static func appendSilence(
        _ count: Int, frameBytes: Int, rate: Int, clock: inout SoundClock, link: Monitor<SoundLink>
    ) {
        let dropped = max(0, count - SoundLink.byteLimit / frameBytes)
        if dropped > 0 {
            _ = clock.recordOutput(dropped)
            link.withLock { $0.counts.samplesDropped += dropped }
        }
        var left = count - dropped
        while left > 0 {
            let samples = min(left, rate)
            left -= samples
            let block = SoundInput.Block(bytes: [UInt8](repeating: 0, count: samples * frameBytes), time: clock.recordOutput(samples))
            link.withLock { $0.append(block) }
        }
    }

    /// Processes one packet of the device. Returns the reason if the device has ended, else nil.
    private static func step(
        _ device: SoundDevice, resampler: DriftResampler, clock: inout SoundClock, link: Monitor<SoundLink>
    ) throws -> CaptureEnd? {
        guard try device.read() else { return .unplugged }
        while let count = try device.nextFrame() {
            let isImmediate = device.isImmediate || clock.isFasterThanTime(count)
            if isImmediate { clock.pace(count) }
            let plan = clock.recordCapture(count, at: isImmediate ? nil : device.captureTime())
            let frameBytes = device.channels * 4
            appendSilence(plan.silence, frameBytes: frameBytes, rate: device.rate, clock: &clock, link: link)
            resampler.correct(by: plan.correction)
            var bytes = unsafe try resampler.convert(device.frame)
            if plan.excess > 0 { bytes.removeFirst(min(bytes.count / frameBytes, plan.excess) * frameBytes) }
            let start = clock.recordOutput(bytes.count / frameBytes)
            let end = clock.position
            link.withLock { link in
                link.counts.samples += count
                if plan.silence > 0 || plan.excess > 0 { link.counts.gaps += 1 }
                link.counts.samplesFilled += plan.silence
                link.counts.driftPPM = clock.driftPPM
                link.capturedUntil = end
                if !bytes.isEmpty { link.append(SoundInput.Block(bytes: bytes, time: start)) }
            }
        }
        return nil
    }
}

/// Computes the times of a device's samples on the monotonic clock.
///
/// The device's own times jitter by the length of a period. Therefore the mean error relative to the output samples is
/// corrected: over two seconds, and by at most 1/200, which is inaudible. A sudden error of more than 0.1 s is a gap.
struct SoundClock {
    struct Plan: Equatable {
        /// The number of samples of silence to output first.
        var silence = 0
        /// The number of samples to discard.
        var excess = 0
        /// The number of samples to add (or to remove, if negative) over the next two seconds.
        var correction = 0
    }

    private let rate: Int
    /// The time of the first sample in nanoseconds; nil before it.
    private var start: Int64?
    /// The numbers of samples of a channel that were output, and that were captured, since the start.
    private var outputCount = 0
    private var captured = 0
    /// The mean error in samples; positive if too few samples were output.
    private var error = 0.0
    private var isFast = false
    /// The time of the last samples that had a time, and the number of samples before them.
    private var lastTime: Int64 = 0
    private var capturedBefore = 0
    /// The time from which drift is measured, and the number of samples before it. Samples that were lost in a gap do
    /// not count as drift.
    private var driftStart: Int64 = 0
    private var driftBase = 0

    init(rate: Int) { self.rate = rate }

    /// Records samples that were captured, and returns the correction for them.
    ///
    /// - Parameters:
    ///   - count: The number of samples of a channel.
    ///   - time: The capture time of the first sample in nanoseconds; nil for the end of the last samples.
    mutating func recordCapture(_ count: Int, at time: Int64?) -> Plan {
        defer { captured += count }
        guard let start else {
            start = time ?? MonotonicClock.nanoseconds
            lastTime = start ?? 0
            driftStart = lastTime
            return Plan()
        }
        guard let time else { return Plan() }
        (lastTime, capturedBefore) = (time, captured)
        let due = (Double(time) - Double(start)) / 1e9 * Double(rate)
        let off = due - Double(outputCount)
        let hole = Double(rate) / 10
        if abs(off - error) > hole { (driftStart, driftBase) = (time, captured) }
        if off - error > hole {
            error = 0
            return Plan(silence: Int(clamping: off))
        }
        if off - error < -hole {
            error = 0
            return Plan(excess: Int(clamping: -off))
        }
        // The mean covers about two seconds.
        let share = min(1, Double(count) / Double(2 * rate))
        error += (off - error) * share
        let limit = Double(2 * rate) / 200
        return Plan(correction: Int(max(-limit, min(limit, error))))
    }

    /// Records samples that are output. Returns the time of the first of them.
    mutating func recordOutput(_ count: Int) -> MediaTime {
        defer { outputCount += count }
        return position
    }

    /// The time of the next output sample.
    var position: MediaTime {
        let length = Int64(clamping: (Double(outputCount) / Double(rate) * 1e9).rounded())
        return MediaTime(value: Int64(clamping: Int128(start ?? 0) + Int128(length)), timescale: 1_000_000_000)
    }

    /// The drift of the device's clock relative to the system's clock since the last gap, in parts per million;
    /// positive if it is faster. 0 until 2 s were captured.
    var driftPPM: Double {
        let elapsed = Double(lastTime) - Double(driftStart)
        guard elapsed > 2e9 else { return 0 }
        let due = elapsed / 1e9 * Double(rate)
        return ((Double(capturedBefore - driftBase) / due - 1) * 1e7).rounded() / 10
    }

    /// Returns whether samples arrive before they can have been captured, as from a file that simulates a sound card.
    /// Only the first two seconds are checked: a card with a fast clock does not get so far ahead in that time.
    mutating func isFasterThanTime(_ count: Int) -> Bool {
        guard !isFast, let start, captured < 2 * rate else { return isFast }
        let length = Int64(Double(captured + count) / Double(rate) * 1e9)
        isFast = start + length - MonotonicClock.nanoseconds > 50_000_000
        return isFast
    }

    /// Waits until samples of a source without its own timing would have been captured.
    mutating func pace(_ count: Int) {
        guard let start else { return }
        let due = start + Int64(Double(captured + count) / Double(rate) * 1e9)
        let left = due - MonotonicClock.nanoseconds
        if left > 0 { usleep(UInt32(min(left / 1000, 1_000_000))) }
    }
}
