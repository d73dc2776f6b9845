import CV4L2
import Glibc
import VideoBase

/// A buffer that the driver has filled.
struct FilledBuffer: Sendable {
    var buffers: CameraBuffers
    var index: UInt32
    var byteCount: Int
    var time: MediaTime
    var sequence: UInt32
}

/// The state of a camera: whether it runs, and whether its pictures are needed.
package enum StreamPhase: Int, Sendable, Comparable {
    /// The camera is configured and does not run.
    case idle
    /// The camera runs. Its pictures are released immediately and not counted.
    case warm
    /// The camera runs, and its pictures are queued for the reader.
    case active

    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// The state that a camera's thread and its reader share.
struct StreamLink: Sendable {
    /// The properties of the running camera; nil until the camera is ready.
    var info: CaptureInfo?
    /// The filled buffers, oldest first.
    var queue: [FilledBuffer] = []
    /// Buffers that were read and go back to the driver.
    var returned: [UInt32] = []
    var counts = CaptureCounts()
    var end: CaptureEnd?
    var isCancelled = false
    var isClosing = false
    var phase = StreamPhase.idle
    /// The end of the recording: pictures from this time on are not needed.
    var until: MediaTime?
    /// Whether a picture after the end has arrived. Earlier pictures in the queue are no longer dropped.
    var isPast = false

    mutating func releaseQueue() {
        returned += queue.map(\.index)
        counts.unused += queue.count
        queue = []
    }
}

/// Wakes a thread that polls.
final class WakeDescriptor: Sendable {
    let descriptor: Int32

    init() throws(VaencError) {
        descriptor = vaenc_wake_descriptor()
        if descriptor < 0 { throw VaencError.noDescriptor("for a camera") }
    }

    deinit { close(descriptor) }

    func wake() {
        var one: UInt64 = 1
        // SAFETY: eventfd(2) reads eight bytes.
        _ = unsafe write(descriptor, &one, 8)
    }

    func clear() {
        var count: UInt64 = 0
        // SAFETY: eventfd(2) writes eight bytes.
        _ = unsafe read(descriptor, &count, 8)
    }
}
