import CV4L2
import Glibc
import Threads
import VideoBase

/// The thread of a camera. Only this thread calls the device.
struct StreamThread {
    private let request: CaptureRequest
    private let link: Monitor<StreamLink>
    private let wake: WakeDescriptor
    private let buffers: CameraBuffers
    private let queueLimit: Int
    private var clock = FrameClock()
    /// The number of buffers that the driver has.
    private var driverBufferCount: Int
    /// The last time that the driver returned a buffer, or had no buffer to fill.
    private var lastActivity = MonotonicClock.nanoseconds
    private var failuresInARow = 0

    /// Runs until the stream is closed or the camera ends.
    static func run(_ path: String, request: CaptureRequest, link: Monitor<StreamLink>, wake: WakeDescriptor) {
        do {
            let setup = try StreamSetup(path, request)
            link.withLock { $0.info = setup.info }
            let isWanted: Bool = link.wait { $0.isClosing ? false : $0.phase != .idle ? true : nil }
            guard isWanted else { return link.withLock { $0.end = .stopped } }
            try setup.buffers.start()
            var thread = StreamThread(setup.buffers, request: request, link: link, wake: wake)
            let end = thread.loop()
            setup.buffers.stop()
            link.withLock { $0.end = end }
        } catch {
            link.withLock { $0.end = .failed(error) }
        }
    }

    private init(_ buffers: CameraBuffers, request: CaptureRequest, link: Monitor<StreamLink>, wake: WakeDescriptor) {
        (self.buffers, self.request, self.link, self.wake) = (buffers, request, link, wake)
        driverBufferCount = buffers.count
        // The driver keeps at least two buffers, one to fill and one for the next picture. The reader holds one.
        queueLimit = request.lateFrames == .keep ? buffers.count : max(1, min(4, buffers.count - 3))
    }

    private mutating func loop() -> CaptureEnd {
        while true {
            let (returned, isClosing) = link.withLockWithoutNotifying { link in
                defer { link.returned = [] }
                return (link.returned, link.isClosing)
            }
            if isClosing { return .stopped }
            for index in returned { if let end = requeue(index) { return end } }
            // A driver without buffers has not stalled.
            if driverBufferCount == 0 { lastActivity = MonotonicClock.nanoseconds }
            var polled = [
                pollfd(fd: buffers.node.descriptor, events: driverBufferCount > 0 ? Int16(POLLIN) : 0, revents: 0),
                pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            let left = Double(lastActivity) / 1e9 + request.stallTimeout.seconds - Double(MonotonicClock.nanoseconds) / 1e9
            if left <= 0 { return .stalled(after: request.stallTimeout) }
            unsafe poll(&polled, 2, Int32(clamping: min(left * 1000 + 1, 60_000)))
            if polled[1].revents != 0 { wake.clear() }
            let events = Int32(polled[0].revents)
            if events & (POLLIN | POLLERR | POLLHUP | POLLNVAL) != 0, let end = take(events) { return end }
        }
    }

    /// Takes one buffer from the driver. Returns the reason if the camera has ended, else nil.
    private mutating func take(_ events: Int32) -> CaptureEnd? {
        var buffer = unsafe v4l2_buffer()
        let code = unsafe buffers.dequeue(&buffer)
        switch code {
        case 0:
            failuresInARow = 0
            lastActivity = MonotonicClock.nanoseconds
            driverBufferCount -= 1
            return unsafe process(buffer)
        case ENODEV, ENXIO, EBADF: return .unplugged
        case EAGAIN where events & POLLHUP != 0: return .unplugged
        case EAGAIN:
            // The wait prevents a busy loop if poll immediately returns an error each time.
            if events & POLLERR != 0 { usleep(10_000) }
            return nil
        default:
            // EIO may be a temporary fault of one picture.
            failuresInARow += 1
            if failuresInARow >= 100 { return .failed(buffers.node.failure("VIDIOC_DQBUF", code)) }
            usleep(10_000)
            return nil
        }
    }

    private mutating func process(_ buffer: v4l2_buffer) -> CaptureEnd? {
        let index = unsafe buffer.index
        guard Int(index) < buffers.count else {
            return .failed(VaencError(.deviceFailed, "the camera \(buffers.node.path) returned an unknown buffer"))
        }
        let (time, gap, isReplaced) = unsafe clock.read(buffer)
        let byteCount = unsafe Int(buffer.bytesused)
        let room = unsafe buffers.mappings[Int(index)].count
        // Some drivers leave bytesused at 0 for raw pictures.
        let isShort = buffers.layout.map { byteCount != 0 && byteCount < $0.byteCount } ?? (byteCount == 0)
        let isDamaged = unsafe isShort || byteCount > room || buffer.flags & UInt32(V4L2_BUF_FLAG_ERROR) != 0
        let filled = unsafe FilledBuffer(
            buffers: buffers, index: index, byteCount: byteCount, time: time, sequence: buffer.sequence)
        let returned: UInt32? = link.withLock { link in
            guard link.phase == .active, !link.isClosing else { return index }
            if !link.isPast { link.counts.droppedByDriver += gap }
            if isDamaged {
                link.counts.damaged += 1
                return index
            }
            if link.isPast || link.until.map({ filled.time >= $0 }) ?? false {
                link.isPast = true
                return index
            }
            link.counts.captured += 1
            if isReplaced { link.counts.timesReplaced += 1 }
            link.queue.append(filled)
            guard link.queue.count > queueLimit else { return nil }
            link.counts.late += 1
            return link.queue.removeFirst().index
        }
        return returned.flatMap { requeue($0) }
    }

    private mutating func requeue(_ index: UInt32) -> CaptureEnd? {
        switch buffers.queue(index) {
        case 0:
            driverBufferCount += 1
            return nil
        case ENODEV, ENXIO, EBADF: return .unplugged
        case let code: return .failed(buffers.node.failure("VIDIOC_QBUF", code))
        }
    }
}
