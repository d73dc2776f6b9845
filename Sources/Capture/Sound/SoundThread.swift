import CLibAV
import Glibc
import LibAV
import VideoBase

/// The thread of a sound device: opens it, reads it, keeps its clock.
enum SoundThread {
    /// Until the input is closed or the device ends.
    static func run(_ name: String, _ link: Monitor<SoundLink>) {
        do {
            let device = try SoundDevice(name)
            let resampler = try DriftResampler(device)
            var clock = SoundClock(rate: device.rate)
            link.withLock { $0.info = SoundInput.Info(name: name, rate: device.rate, channels: device.channels) }
            while !link.withLockWithoutNotifying({ $0.isClosing }) {
                guard let end = try step(device, resampler, &clock, link) else { continue }
                link.withLock { $0.end = end }
                return
            }
            link.withLock { $0.end = .stopped }
        } catch {
            link.withLock { $0.end = .failed(error as? VaencError ?? VaencError(.internalFault, "\(error)")) }
        }
    }

    /// One packet of the device; why there is no more, else nil.
    private static func step(
        _ device: SoundDevice, _ resampler: DriftResampler, _ clock: inout SoundClock, _ link: Monitor<SoundLink>
    ) throws -> CaptureEnd? {
        guard try device.read() else { return .unplugged }
        while let count = try device.nextFrame() {
            let isImmediate = device.isImmediate || clock.isFasterThanTime(count)
            if isImmediate { clock.pace(count) }
            let plan = clock.hear(count, at: isImmediate ? nil : device.captureTime())
            var bytes: [UInt8] = []
            let frameBytes = device.channels * 4
            if plan.silence > 0 { bytes = [UInt8](repeating: 0, count: plan.silence * frameBytes) }
            resampler.correct(by: plan.correction)
            bytes += unsafe try resampler.convert(device.frame)
            if plan.excess > 0 { bytes.removeFirst(min(bytes.count, plan.excess * frameBytes)) }
            let start = clock.put(bytes.count / frameBytes)
            let end = clock.position
            link.withLock { link in
                link.counts.samples += count
                if plan.silence > 0 || plan.excess > 0 { link.counts.gaps += 1 }
                link.counts.samplesFilled += plan.silence
                link.counts.driftPPM = clock.driftPPM
                link.heard = end
                if !bytes.isEmpty { link.append(SoundInput.Block(bytes: bytes, time: start)) }
            }
        }
        return nil
    }
}

/// Where a device's samples belong on the monotonic clock.
///
/// Its own times jitter by the length of a period, so their mean error against the samples put out is what is corrected:
/// over two seconds, and by at most a two-hundredth, which nobody hears. A tenth of a second at once is a hole.
struct SoundClock {
    struct Plan: Equatable {
        /// Samples of silence to put out first.
        var silence = 0
        /// Samples to leave out.
        var excess = 0
        /// Samples to be put out more (or fewer) in the next two seconds.
        var correction = 0
    }

    private let rate: Int
    /// Nanoseconds, of the first sample.
    private var start: Int64?
    /// Of a channel, put out since the start, and heard.
    private var put = 0
    private var heard = 0
    /// Mean error in samples: more is due than was put out.
    private var error = 0.0
    private var isFast = false
    /// When the last samples came that had a time, and how many came before them.
    private var lastTime: Int64 = 0
    private var heardBefore = 0
    /// From when on drift is measured, and how many samples came before: what was lost in a hole is no drift.
    private var driftStart: Int64 = 0
    private var driftBase = 0

    init(rate: Int) { self.rate = rate }

    /// Takes note of samples that were heard from `time` on (nanoseconds; nil: right where the last ended).
    mutating func hear(_ count: Int, at time: Int64?) -> Plan {
        defer { heard += count }
        guard let start else {
            start = time ?? FrameClock.now
            lastTime = start ?? 0
            driftStart = lastTime
            return Plan()
        }
        guard let time else { return Plan() }
        (lastTime, heardBefore) = (time, heard)
        let due = Double(time - start) / 1e9 * Double(rate)
        let off = due - Double(put)
        let hole = Double(rate) / 10
        if abs(off - error) > hole { (driftStart, driftBase) = (time, heard) }
        if off - error > hole {
            error = 0
            return Plan(silence: Int(off))
        }
        if off - error < -hole {
            error = 0
            return Plan(excess: Int(-off))
        }
        // A mean over about two seconds.
        let share = min(1, Double(count) / Double(2 * rate))
        error += (off - error) * share
        let limit = Double(2 * rate) / 200
        return Plan(correction: Int(max(-limit, min(limit, error))))
    }

    /// Takes note of samples that are put out; when the first of them is heard.
    mutating func put(_ count: Int) -> MediaTime {
        defer { put += count }
        return position
    }

    /// When the next sample is heard.
    var position: MediaTime {
        let nanoseconds = (start ?? 0) + Int64((Double(put) / Double(rate) * 1e9).rounded())
        return MediaTime(value: nanoseconds, timescale: 1_000_000_000)
    }

    /// How much faster the device's clock is than the system's, in millionths, since the last hole; 0 until 2 s are heard.
    var driftPPM: Double {
        guard lastTime - driftStart > 2_000_000_000 else { return 0 }
        let due = Double(lastTime - driftStart) / 1e9 * Double(rate)
        return ((Double(heardBefore - driftBase) / due - 1) * 1e7).rounded() / 10
    }

    /// Whether samples come before they can have been heard: from a file that plays a sound card. A card whose clock is
    /// too fast takes longer than the beginning for it.
    mutating func isFasterThanTime(_ count: Int) -> Bool {
        guard !isFast, let start, heard < 2 * rate else { return isFast }
        let length = Int64(Double(heard + count) / Double(rate) * 1e9)
        isFast = start + length - FrameClock.now > 50_000_000
        return isFast
    }

    /// Waits until samples of a source that is as fast as the machine would have been heard.
    mutating func pace(_ count: Int) {
        guard let start else { return }
        let due = start + Int64(Double(heard + count) / Double(rate) * 1e9)
        let left = due - FrameClock.now
        if left > 0 { usleep(UInt32(min(left / 1000, 1_000_000))) }
    }
}
