import Glibc
import Threads
package import VideoBase

/// The pictures of one camera.
///
/// A separate thread makes all calls on the device, so that no call can block the caller for longer than the limits of
/// the request. That thread fills a bounded queue. One thread reads; any thread may call `cancel` and `close`.
public final class CameraStream: Sendable {
    /// The properties of the camera and its pictures.
    public let info: CaptureInfo
    private let link: Monitor<StreamLink>
    private let wake: WakeDescriptor
    private let decoder: Monitor<JPEGDecoder?>

    /// Opens a camera with the settings that are nearest to the request. Blocks until the camera is ready. Capturing
    /// begins with the first call of `next` or `enter`.
    ///
    /// - Throws: `noInput`, `noPermission`, `unavailable` if the camera is in use or has no layout that vaenc reads,
    ///   `badInput` if the device is not a camera, `deviceFailed` if a call fails or the camera is not ready in time;
    ///   `usage` if the size or the frame rate is out of range.
    public init(_ path: String, _ request: CaptureRequest = CaptureRequest()) throws {
        if let size = request.size, !size.isWithinLimits {
            throw VaencError(.usage, "the size \(size) is out of range", remedy: "sizes are \(VideoSize.limitWords)")
        }
        if let rate = request.frameRate { try Validation.validate(frameRate: rate) }
        let link = Monitor(StreamLink())
        let wake = try WakeDescriptor()
        let started = DedicatedThread.start("vaenc-camera") { StreamThread.run(path, request: request, link: link, wake: wake) }
        guard started else { throw VaencError.noThread("for the camera \(path)") }
        let limit = UInt64(clamping: max(request.openTimeout, .milliseconds(100)).wholeNanoseconds)
        guard
            let info = try link.wait(
                atMostNanoseconds: limit,
                { link in
                    if case .failed(let error)? = link.end { throw error }
                    return link.info
                })
        else {
            link.withLock { $0.isClosing = true }
            wake.wake()
            throw VaencError(
                .deviceFailed, "the camera \(path) is not ready after \(Int(clamping: request.openTimeout.seconds)) s",
                remedy: "unplug it and plug it in again")
        }
        self.info = info
        self.link = link
        self.wake = wake
        decoder = Monitor(info.layout == .mjpeg ? try JPEGDecoder() : nil)
    }

    deinit { stop() }

    /// The counts of the pictures so far.
    public var counts: CaptureCounts { link.withLock { $0.counts } }
    /// Whether the camera has reached the time of `end(at:)`, and all earlier pictures were read.
    package var isPast: Bool { link.withLockWithoutNotifying { $0.isPast && $0.queue.isEmpty } }

    /// Sets the end of the recording. Pictures from `time` on are released and not counted. A slow reader still gets
    /// all earlier pictures.
    package func end(at time: MediaTime) { link.withLock { $0.until = time } }

    /// The reason why the camera has ended; nil while it runs. Earlier pictures can still be read.
    public var end: CaptureEnd? { link.withLock { $0.end } }

    /// Returns the next picture; nil at the end, for which `end` has the reason. Blocks, but for no longer than the
    /// camera may stall.
    ///
    /// - Throws: `interrupted` after `cancel`.
    public func next() throws -> CapturedFrame? {
        while true {
            let starts = try link.withLock { link in
                if link.isCancelled { throw VaencError(.interrupted, "interrupted") }
                defer { link.phase = .active }
                return link.phase != .active
            }
            if starts { wake.wake() }
            let filled: FilledBuffer? = try link.wait { link -> FilledBuffer?? in
                if link.isCancelled { throw VaencError(.interrupted, "interrupted") }
                if !link.queue.isEmpty { return .some(link.queue.removeFirst()) }
                return link.end == nil && !link.isPast ? nil : .some(nil)
            }
            guard let filled else { return nil }
            wake.wake()
            if let frame = try frame(filled) { return frame }
            link.withLock { link in
                link.counts.captured -= 1
                link.counts.damaged += 1
            }
        }
    }

    /// Returns the picture in a buffer; nil if it is a damaged JPEG picture.
    private func frame(_ filled: FilledBuffer) throws -> CapturedFrame? {
        let returns = BufferReturn { [link, wake] index in
            link.withLock { $0.returned.append(index) }
            wake.wake()
        }
        if let layout = filled.buffers.layout {
            return CapturedFrame(
                .buffer(filled.buffers, index: Int(filled.index), layout: layout, returns: returns), time: filled.time,
                sequence: filled.sequence)
        }
        defer { returns.returnBuffer(filled.index) }
        return try decoder.withLock { decoder in
            // SAFETY: the driver has filled `byteCount` bytes of the mapping, and gets the buffer back after decoding.
            let bytes = unsafe UnsafeRawBufferPointer(rebasing: filled.buffers.mappings[Int(filled.index)][..<filled.byteCount])
            guard let picture = unsafe try decoder?.decode(bytes) else { return nil }
            return CapturedFrame(.decoded(picture), time: filled.time, sequence: filled.sequence)
        }
    }

    /// Counts a picture that was read and is not needed.
    package func countUnused() { link.withLockWithoutNotifying { $0.counts.unused += 1 } }

    /// Sets the phase, before the first picture is read or later. A camera that runs does not become idle again before
    /// it is closed.
    package func enter(_ phase: StreamPhase) {
        link.withLock { link in
            link.phase = phase
            if phase != .active { link.releaseQueue() }
        }
        wake.wake()
    }

    /// Ends the recording of this camera: the pictures in the queue are counted as unused, and later ones are not counted.
    /// The camera still runs. Has no effect before the first picture is wanted.
    package func rest() {
        link.withLock { link in
            guard link.phase == .active else { return }
            link.phase = .warm
            link.releaseQueue()
        }
        wake.wake()
    }

    /// Makes a running or later `next` throw `interrupted`.
    public func cancel() {
        link.withLock { $0.isCancelled = true }
        rest()
    }

    /// Stops the camera, releases the pictures in the queue, and waits for the camera's thread for at most two seconds.
    /// Idempotent.
    public func close() {
        stop()
        _ = link.wait(atMostNanoseconds: 2_000_000_000) { $0.end }
    }

    private func stop() {
        link.withLock { link in
            link.isClosing = true
            link.releaseQueue()
        }
        wake.wake()
    }
}
