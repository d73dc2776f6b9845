import Glibc
package import VideoBase

/// Pictures of one camera as they come.
///
/// A thread of its own makes every call on the device, so that none can hold up the caller for longer than the
/// limits of the request: it fills a bounded queue from which one thread reads. `cancel` and `close` may be
/// called from any.
public final class CameraStream: Sendable {
    public let info: CaptureInfo
    private let link: Monitor<StreamLink>
    private let wake: WakeDescriptor
    private let decoder: Monitor<JPEGDecoder?>

    /// Opens a camera and has it give what is nearest to the request. It runs from the first `next` on.
    ///
    /// - Throws: `noInput`, `noPermission`, `unavailable` (in use, or nothing that vaenc reads), `badInput` (no camera),
    ///   `deviceFailed` where calls fail or it is not ready in time.
    public init(_ path: String, _ request: CaptureRequest = CaptureRequest()) throws {
        let link = Monitor(StreamLink())
        let wake = try WakeDescriptor()
        let started = OwnThread.start { StreamThread.run(path, request, link, wake) }
        guard started else { throw VaencError.noThread("for the camera \(path)") }
        let limit = UInt64(clamping: max(request.openSeconds, 0.1) * 1e9)
        guard let info = try link.wait(atMostNanoseconds: limit, { link in
            if case .failed(let error)? = link.end { throw error }
            return link.info
        }) else {
            link.withLock { $0.isClosing = true }
            wake.wake()
            throw VaencError(
                .deviceFailed, "the camera \(path) is not ready after \(Int(clamping: request.openSeconds)) s",
                remedy: "unplug it and plug it in again")
        }
        self.info = info
        self.link = link
        self.wake = wake
        decoder = Monitor(info.layout == .mjpeg ? try JPEGDecoder() : nil)
    }

    deinit { stop() }

    public var counts: CaptureCounts { link.withLock { $0.counts } }
    /// All that was wanted has come, and was read.
    package var isPast: Bool { link.withLockWithoutNotifying { $0.isPast && $0.queue.isEmpty } }

    /// What comes at that time or later is let go, and counted nowhere. A reader that was held up finds what came before.
    package func end(at time: MediaTime) { link.withLock { $0.until = time } }

    /// Why nothing more comes; nil while it does. What came before can still be read.
    public var end: CaptureEnd? { link.withLock { $0.end } }

    /// The next picture; nil when there are no more, for which `end` says the reason. Blocks, but never for longer than the
    /// camera may stall.
    ///
    /// - Throws: `interrupted` after `cancel`.
    public func next() throws -> CapturedFrame? {
        while true {
            let starts = link.withLock { link in
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

    /// nil for a JPEG picture that is damaged.
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
        defer { returns.give(filled.index) }
        return try decoder.withLock { decoder in
            // SAFETY: the driver has filled so many bytes of the mapping, and gets the buffer back afterwards.
            let bytes = unsafe UnsafeRawBufferPointer(rebasing: filled.buffers.mappings[Int(filled.index)][..<filled.byteCount])
            guard let picture = unsafe try decoder?.decode(bytes) else { return nil }
            return CapturedFrame(.decoded(picture), time: filled.time, sequence: filled.sequence)
        }
    }

    /// Takes note of a picture that was read, and is of no use.
    package func countUnused() { link.withLockWithoutNotifying { $0.counts.unused += 1 } }

    /// Has it run before anyone reads, or after. It does not come to rest again before it is closed.
    package func enter(_ phase: StreamPhase) {
        link.withLock { link in
            link.phase = phase
            if phase != .active { link.giveBackQueue() }
        }
        wake.wake()
    }

    /// Makes a running or later `next` throw `interrupted`.
    public func cancel() { link.withLock { $0.isCancelled = true } }

    /// Stops the camera and waits for that, two seconds at most. Idempotent. What is in the queue is let go.
    public func close() {
        stop()
        _ = link.wait(atMostNanoseconds: 2_000_000_000) { $0.end }
    }

    private func stop() {
        link.withLock { link in
            link.isClosing = true
            link.giveBackQueue()
        }
        wake.wake()
    }
}
