import EncodeSession
import MediaFiles
import VAAPI
public import VideoBase

/// Several sessions that encode the same frames. Each frame is drawn once. Sessions that share a connection to the
/// driver (`sharingDeviceOf` of `CompressionSession`) read it from one surface; each other session gets a copy.
///
/// If a session fails, the group stops using it and continues with the others; `failures` has the error. If a frame or
/// a change is invalid, the call throws: no session accepts the frame, and all sessions continue. Use a group from one
/// thread or one task. Each call that may wait has a blocking and an `async` form, as in `CompressionSession`.
/// docs/LIBRARY.md has an example.
public final class SessionGroup {
    /// The sessions of the group, including those that have failed.
    public let sessions: [CompressionSession]
    /// The errors that ended sessions, by the index in `sessions`.
    public private(set) var failures: [Int: any Error] = [:]
    /// The number of frames that were copied to a session's memory; 0 if the group has one session.
    public private(set) var copies = 0
    private var shared: SystemPixelBuffer?
    /// The sessions that could share the latest buffer of `makePixelBuffer`.
    private var lastSharing: SurfaceSharing?
    private let format: PixelFormat
    private let size: VideoSize
    private let converters: [PixelConverter]

    /// Creates a group.
    ///
    /// - Parameters:
    ///   - sessions: The sessions: at least one, each once, all of the same size.
    ///   - format: The pixel format to draw in if the group has several sessions: NV12, or P010 if a session codes 10
    ///     bits.
    /// - Throws: `usage` if there is no session, a session is repeated, or the sizes differ.
    public init(_ sessions: [CompressionSession], format: PixelFormat = .nv12) throws {
        guard let first = sessions.first?.configuration else {
            throw VaencError(.usage, "a group needs at least one session", remedy: "add a session")
        }
        guard Set(sessions.map { ObjectIdentifier($0) }).count == sessions.count else {
            throw VaencError(.usage, "a session is in the group twice", remedy: "add each session once")
        }
        guard sessions.allSatisfy({ $0.configuration.size == first.size }) else {
            throw VaencError(
                .usage, "sessions of different sizes cannot share their frames",
                remedy: "use one size for all sessions")
        }
        self.sessions = sessions
        self.format = format
        size = first.size
        converters = sessions.map { _ in PixelConverter(color: first.display.color) }
    }

    /// Invalidates a session and stops using it, for a reason outside the group, such as an error of the code that
    /// reads its packets.
    ///
    /// - Parameters:
    ///   - index: The index in `sessions`. An invalid index is ignored.
    ///   - error: The error to store in `failures`.
    public func fail(_ index: Int, _ error: any Error) {
        guard sessions.indices.contains(index) else { return }
        if failures[index] == nil { failures[index] = error }
        sessions[index].invalidate()
    }

    /// Checks that the sessions can encode a frame.
    ///
    /// - Throws: `usage` for an invalid frame, before any session has accepted it.
    private func check(_ buffer: any PixelBuffer, timing: FrameTiming, options: FrameOptions) throws {
        try timing.check()
        try options.check(size)
        guard buffer.size == size else {
            throw VaencError(
                .usage, "the frame's size is \(buffer.size), but the sessions encode \(size)",
                remedy: "use a buffer that makePixelBuffer returns")
        }
        // An unreadable buffer is an error of the caller, not of a session. A picture on a device is not mapped for this.
        if !(buffer is SystemPixelBuffer || buffer is SurfaceBuffer) { try unsafe buffer.withUnsafePlanes { unsafe try $0.check(of: buffer) } }
        for index in running {
            guard let last = sessions[index].core.lastPresentation, timing.presentation <= last else { continue }
            throw VaencError(
                .usage,
                "the frame at \(timing.presentation.seconds) s is not after the previous frame, at \(last.seconds) s",
                remedy: "encode frames in presentation order")
        }
    }

    /// Waits until each session has room for more packets.
    ///
    /// - Throws: `usage` for a reader that this call would prevent from running, before any session has accepted the
    ///   frame. If a session's reader has ended, that session reports the error itself.
    private func waitForReaders(_ caller: BlockingCall) throws {
        for index in running {
            guard let channel = sessions[index].channel else { continue }
            do { try channel.waitForRoom(caller) { false } } catch {
                if !channel.isWithoutReader { throw error }
            }
        }
    }

    var running: [Int] { sessions.indices.filter { failures[$0] == nil } }

    /// Returns a buffer for the next frame. A single session provides its own buffer. If all sessions share a device,
    /// one of them provides its buffer. Otherwise all sessions copy from a shared buffer. Encode the buffer before you
    /// request the next one. Blocks while all buffers of a session are in use.
    ///
    /// - Throws: The errors of `CompressionSession.makePixelBuffer` if no session is left.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func makePixelBuffer() throws -> any PixelBuffer {
        if sessions.count == 1 { return try sessions[0].makePixelBuffer() }
        while let lender = findLender() {
            do { return try sessions[lender].makePixelBuffer() } catch {
                if isRejection(error, by: lender, [.usage]) { throw error }
                try leaveOut(lender, error)
            }
        }
        return try sharedBuffer()
    }

    /// Returns a buffer for the next frame, as the blocking form does. Suspends while all buffers of a session are in
    /// use.
    public nonisolated(nonsending) func makePixelBuffer() async throws -> any PixelBuffer {
        if sessions.count == 1 { return try await sessions[0].makePixelBuffer() }
        while let lender = findLender() {
            do { return try await sessions[lender].makePixelBuffer() } catch let error as CancellationError {
                throw error
            } catch {
                if isRejection(error, by: lender, [.usage]) { throw error }
                try leaveOut(lender, error)
            }
        }
        return try sharedBuffer()
    }

    /// The sessions that read each picture from one surface.
    var sharing: SurfaceSharing { SurfaceSharing(sessions, running: running, format: format) }

    /// Returns the sessions that can share a buffer. For a buffer of `makePixelBuffer`, they are known.
    private func sharing(of buffer: any PixelBuffer) -> SurfaceSharing {
        if buffer is InputBuffer, let lastSharing { return lastSharing }
        return sharing
    }

    /// Returns the session whose surfaces all sessions read; nil if there is none.
    private func findLender() -> Int? {
        let sharing = sharing
        lastSharing = sharing
        return sharing.lenderOfAll(running)
    }

    private func sharedBuffer() throws -> any PixelBuffer {
        let buffer = try shared ?? SystemPixelBuffer(format: format, size: size)
        shared = buffer
        return buffer
    }

    /// Passes a frame to each session that has not failed. Blocks while one of them is full.
    ///
    /// - Parameters:
    ///   - buffer: The picture, of the sessions' size.
    ///   - presentation: The presentation time. Times must increase.
    ///   - duration: The time for which the frame is shown; nil if it is not known.
    ///   - options: Requests for this frame only.
    ///   - isolation: The caller's actor.
    /// - Throws: `usage` for an invalid frame; the error of the last session to fail if no session is left.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func encode(
        _ buffer: any PixelBuffer, presentation: MediaTime, duration: MediaTime? = nil,
        options: FrameOptions = FrameOptions(), isolation: isolated (any Actor)? = #isolation
    ) throws {
        let (timing, caller) = (FrameTiming(presentation: presentation, duration: duration), BlockingCall(on: isolation))
        if sessions.count == 1 {
            return try sessions[0].encode(buffer, timing: timing, options: options, from: caller) { false }
        }
        try check(buffer, timing: timing, options: options)
        try waitForReaders(caller)
        var picture = try FramePicture(buffer, sharing(of: buffer))
        try each(picture.order(running)) { index in
            var drawn: any PixelBuffer
            if let surface = picture.surface(for: index) {
                drawn = surface
            } else {
                drawn = try sessions[index].makePixelBuffer()
                try copy(picture.source, to: drawn, of: index)
                drawn = try picture.lend(drawn, of: index)
            }
            try sessions[index].encode(drawn, timing: timing, options: options, from: caller) { false }
        }
    }

    /// Passes a frame to each session that has not failed. Suspends while one of them is full. If the call is cancelled
    /// before a session has accepted the frame, it throws a `CancellationError`. Once one session has accepted the
    /// frame, all sessions accept it.
    public nonisolated(nonsending) func encode(
        _ buffer: any PixelBuffer, presentation: MediaTime, duration: MediaTime? = nil,
        options: FrameOptions = FrameOptions()
    ) async throws {
        if sessions.count == 1 {
            return try await sessions[0].encode(buffer, presentation: presentation, duration: duration, options: options)
        }
        try check(buffer, timing: FrameTiming(presentation: presentation, duration: duration), options: options)
        var picture = try FramePicture(buffer, sharing(of: buffer))
        var isTaken = false
        try await each(picture.order(running)) { index in
            let session = sessions[index]
            var drawn: any PixelBuffer
            if let surface = picture.surface(for: index) {
                drawn = surface
            } else {
                // A separate task is not cancelled together with the caller's task.
                drawn =
                    isTaken
                    ? try await Task { try await session.makePixelBuffer() }.value : try await session.makePixelBuffer()
                try copy(picture.source, to: drawn, of: index)
                drawn = try picture.lend(drawn, of: index)
            }
            if isTaken {
                try await Task { [drawn] in
                    try await session.encode(drawn, presentation: presentation, duration: duration, options: options)
                }.value
            } else {
                try await session.encode(drawn, presentation: presentation, duration: duration, options: options)
            }
            isTaken = true
        }
    }

    private func copy(_ buffer: any PixelBuffer, to sessionBuffer: any PixelBuffer, of index: Int) throws {
        // SAFETY: both sets of planes are valid while the closures run.
        try unsafe buffer.withUnsafePlanes { from in
            try unsafe sessionBuffer.withUnsafePlanes { unsafe try converters[index].convert(from, to: $0) }
        }
        copies += 1
    }

    /// Applies a change to each session that has not failed.
    ///
    /// - Throws: The error of the first session that rejects the change, after the other sessions are changed; that
    ///   session continues unchanged. The error of the last session to fail if no session is left.
    public func change(_ change: RunningChange) throws {
        var rejection: (any Error)?
        try each { index in
            do { try sessions[index].change(change) } catch {
                guard isRejection(error, by: index, [.usage, .unavailable]) else { throw error }
                rejection = rejection ?? error
            }
        }
        if let rejection { throw rejection }
    }

    /// Blocks until the packets of all frames accepted so far are delivered.
    ///
    /// - Throws: The error of the last session to fail if no session is left.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func completeFrames() throws { try each { try sessions[$0].completeFrames() } }

    /// Suspends until the packets of all frames accepted so far are delivered. A cancelled call only stops waiting.
    public nonisolated(nonsending) func completeFrames() async throws {
        try await each { try await sessions[$0].completeFrames() }
    }

    /// Ends all sessions, as `CompressionSession.invalidate` does. Idempotent.
    public func invalidate() { for session in sessions { session.invalidate() } }

    /// Whether a session has only rejected a call, and continues.
    ///
    /// - Parameter categories: The categories of the errors with which the call rejects.
    private func isRejection(_ error: any Error, by index: Int, _ categories: Set<ErrorCategory>) -> Bool {
        guard let category = (error as? any DescribedError)?.category else { return false }
        return categories.contains(category) && !sessions[index].core.isInvalidated
    }

    private func each(_ indices: [Int]? = nil, _ body: (Int) throws -> Void) throws {
        for index in indices ?? running {
            do { try body(index) } catch { try leaveOut(index, error) }
        }
        try checkRunning()
    }

    private nonisolated(nonsending) func each(
        _ indices: [Int]? = nil, _ body: nonisolated(nonsending) (Int) async throws -> Void
    ) async throws {
        for index in indices ?? running {
            do { try await body(index) } catch let error as CancellationError {
                throw error
            } catch {
                try leaveOut(index, error)
            }
        }
        try checkRunning()
    }

    /// Stops using a session that has failed.
    ///
    /// - Throws: The error, if no session is left.
    private func leaveOut(_ index: Int, _ error: any Error) throws {
        fail(index, error)
        if running.isEmpty { throw error }
    }

    /// - Throws: The error of the failed session with the lowest index, if no session is left.
    private func checkRunning() throws {
        if let error = failures.min(by: { $0.key < $1.key })?.value, running.isEmpty { throw error }
    }
}
