import CLibAV
import CV4L2
import Glibc
import Threads
import VideoBase

/// Computes the times of a driver's pictures, and the gaps in its sequence numbers.
struct FrameClock {
    private var lastTime: Int64?
    private var lastSequence: UInt32?

    /// Returns the capture time of a picture, the number of pictures that are missing before it, and whether its time
    /// did not increase and was replaced. The capture time is the driver's time if that is on the monotonic clock, else
    /// the current time.
    mutating func read(_ buffer: v4l2_buffer) -> (time: MediaTime, gap: Int, isReplaced: Bool) {
        let now = MonotonicClock.nanoseconds / 1000
        var time = now
        if unsafe buffer.flags & UInt32(V4L2_BUF_FLAG_TIMESTAMP_MASK) == UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC) {
            let stamp = unsafe Int64(clamping: Int128(buffer.timestamp.tv_sec) * 1_000_000 + Int128(buffer.timestamp.tv_usec))
            // Some drivers report 0, or times of other clocks.
            if now.subtractingReportingOverflow(stamp).partialValue.magnitude < 10_000_000 { time = stamp }
        }
        let isReplaced = lastTime.map { time <= $0 } ?? false
        if isReplaced, let lastTime { time = max(lastTime + 1, now) }
        lastTime = time
        var gap = 0
        if let lastSequence {
            let step = unsafe buffer.sequence &- lastSequence
            // If a driver restarts its count or does not count, nothing is known about missing pictures.
            if step > 1, step < 1 << 31 { gap = Int(step) - 1 }
        }
        lastSequence = unsafe buffer.sequence
        return (MediaTime(value: time, timescale: 1_000_000), gap, isReplaced)
    }
}
