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

/// Whether a camera gives pictures, and whether anyone wants them.
package enum StreamPhase: Int, Sendable, Comparable {
    /// It is set up, and does not run.
    case idle
    /// It runs, and its pictures are let go as they come, counted nowhere.
    case warm
    case active

    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// What a camera's thread and its reader share.
struct StreamLink: Sendable {
    /// nil until the camera gives pictures.
    var info: CaptureInfo?
    /// Oldest first.
    var queue: [FilledBuffer] = []
    /// Buffers that were read, and go back to the driver.
    var returned: [UInt32] = []
    var counts = CaptureCounts()
    var end: CaptureEnd?
    var isCancelled = false
    var isClosing = false
    var phase = StreamPhase.idle
    /// Pictures of this time and later are not wanted.
    var until: MediaTime?
    /// Such a picture has come: those before it are not to make room for any more.
    var isPast = false

    mutating func giveBackQueue() {
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
        // SAFETY: eight bytes, as eventfd(2) wants them.
        _ = unsafe write(descriptor, &one, 8)
    }

    func clear() {
        var count: UInt64 = 0
        // SAFETY: as above.
        _ = unsafe read(descriptor, &count, 8)
    }
}
