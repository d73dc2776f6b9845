import CLibAV
import CV4L2
import Glibc
import VideoBase

/// The times and numbers of a driver's pictures.
struct FrameClock {
    private var lastTime: Int64?
    private var lastSequence: UInt32?

    /// Nanoseconds on the monotonic clock.
    static var now: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// When a picture was captured: the driver's time where it is on the monotonic clock, else now; how many pictures are
    /// missing before it; and whether its time did not grow and was replaced.
    mutating func read(_ buffer: v4l2_buffer) -> (time: MediaTime, gap: Int, isReplaced: Bool) {
        let now = Self.now / 1000
        var time = now
        if unsafe buffer.flags & UInt32(V4L2_BUF_FLAG_TIMESTAMP_MASK) == UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC) {
            let stamp = unsafe Int64(clamping: Int128(buffer.timestamp.tv_sec) * 1_000_000 + Int128(buffer.timestamp.tv_usec))
            // Drivers have been seen to say 0, and times of other clocks.
            if abs(now.subtractingReportingOverflow(stamp).partialValue) < 10_000_000 { time = stamp }
        }
        let isReplaced = lastTime.map { time <= $0 } ?? false
        if isReplaced, let lastTime { time = max(lastTime + 1, now) }
        lastTime = time
        var gap = 0
        if let lastSequence {
            let step = unsafe buffer.sequence &- lastSequence
            // A driver that restarts its count, or does not count, says nothing.
            if step > 1, step < 1 << 31 { gap = Int(step) - 1 }
        }
        lastSequence = unsafe buffer.sequence
        return (MediaTime(value: time, timescale: 1_000_000), gap, isReplaced)
    }
}
