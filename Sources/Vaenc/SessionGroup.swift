import EncodeSession
import MediaFiles
import Synchronization
import Threads
import VAAPI
public import VideoBase

/// Several sessions that encode the same frames. Each frame is drawn once. Sessions that share a connection to the
/// driver (`sharingDeviceOf` of `CompressionSession`) read it from one surface; each other session gets a copy.
///
/// Sessions may have several sizes and bit depths. For a session of another size than the frames', the whole picture is
/// scaled to the session's size. If the session shares the connection of a session of the frames' size, the device's
/// video processor scales, once for all sessions of a size and depth, without a copy. If no session has the frames' size,
/// each frame is copied once to the device for this. Otherwise libswscale scales. The entry `scaling` of the session's
/// effective configuration says which, and why. Color range and matrix stay the same.
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
    /// The size of the frames.
    public let frameSize: VideoSize
    /// The number of pictures that the CPU wrote to a session's memory, including those that it scaled; 0 if the group
    /// has one session of the frames' size.
    public private(set) var copies = 0
    /// The number of pictures that the video processor scaled or converted. A picture that several sessions read counts
    /// once.
    public private(set) var scaledOnDevice = 0
    private var shared: SystemPixelBuffer?
    /// The sessions that could share the latest buffer of `makePixelBuffer`.
    private var lastSharing: SurfaceSharing?
    private let format: PixelFormat
    private let converters: [PixelConverter]
    private let scaling: GroupScaling
    /// Makes the blocking calls of the video processor for tasks.
    private let thread = SerialThread("vaenc-scale")
    /// Whether the group only passes frames on to one session.
    private let isAlone: Bool

    /// Creates a group.
    ///
    /// - Parameters:
    ///   - sessions: The sessions: at least one, each once.
    ///   - format: The pixel format to draw in if the group has several sessions: NV12, or P010 if a session codes 10
    ///     bits.
    ///   - frameSize: The size of the frames in luma samples; nil for the size of the session with the most samples, the
    ///     first of them if there are several.
    /// - Throws: `usage` if there is no session, a session is repeated, or the size is invalid.
    public init(_ sessions: [CompressionSession], format: PixelFormat = .nv12, frameSize: VideoSize? = nil) throws {
        guard let first = sessions.first?.configuration else {
            throw VaencError(.usage, "a group needs at least one session", remedy: "add a session")
        }
        guard Set(sessions.map { ObjectIdentifier($0) }).count == sessions.count else {
            throw VaencError(.usage, "a session is in the group twice", remedy: "add each session once")
        }
        let sizes = sessions.map(\.configuration.size)
        let largest = sizes.reduce(sizes[0]) { $1.width * $1.height > $0.width * $0.height ? $1 : $0 }
        let size = frameSize ?? largest
        guard size.width > 0, size.height > 0, size.width <= 16384, size.height <= 16384 else {
            throw VaencError(.usage, "frames of \(size) are not possible", remedy: "use 1 to 16384 columns and rows")
        }
        self.sessions = sessions
        self.format = format
        self.frameSize = size
        isAlone = sizes == [size]
        converters = sessions.map { _ in PixelConverter(color: first.display.color) }
        scaling = GroupScaling(color: first.display.color)
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
        try options.check(frameSize)
        guard buffer.size == frameSize else {
            throw VaencError(
                .usage, "the frame's size is \(buffer.size), but the group encodes frames of \(frameSize)",
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

    /// Returns a buffer for the next frame, of the size `frameSize`. A single session provides its own buffer. If the
    /// buffer of one session reaches all of them without a copy, because they share a device, that buffer is returned. Otherwise all sessions copy from a shared buffer. Encode the buffer before you
    /// request the next one. Blocks while all buffers of a session are in use.
    ///
    /// - Throws: The errors of `CompressionSession.makePixelBuffer` if no session is left.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func makePixelBuffer() throws -> any PixelBuffer {
        if isAlone { return try sessions[0].makePixelBuffer() }
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
        if isAlone { return try await sessions[0].makePixelBuffer() }
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
    private var sharing: SurfaceSharing { SurfaceSharing(sessions, running: running, format: format, size: frameSize) }

    /// Whether all sessions read a frame from one surface, or pictures that the device scales from it.
    var isCopyFree: Bool { findLender() != nil }

    /// Returns the sessions that can share a buffer. For a buffer of `makePixelBuffer`, they are known.
    private func sharing(of buffer: any PixelBuffer) -> SurfaceSharing {
        if buffer is InputBuffer, let lastSharing { return lastSharing }
        return sharing
    }

    /// Returns the session whose surfaces all sessions read; nil if there is none.
    private func findLender() -> Int? {
        let sharing = sharing
        lastSharing = sharing
        guard let display = sharing.display else { return nil }
        let (running, reach) = (running, sharing.reach)
        let renditions = scaling.renditions(for: reach.audiences, on: display, separately: reach.separately)
        for index in running where sizeDiffers(index) {
            note(index, isOnDevice: renditions.contains { $0.scaler != nil && $0.sessions.contains(index) })
        }
        return sharing.reachesAll(running, with: renditions) ? sharing.lender : nil
    }

    private func sharedBuffer() throws -> any PixelBuffer {
        let buffer = try shared ?? SystemPixelBuffer(format: format, size: frameSize)
        shared = buffer
        return buffer
    }

    /// Passes a frame to each session that has not failed. Blocks while one of them is full.
    ///
    /// - Parameters:
    ///   - buffer: The picture, of the size `frameSize`.
    ///   - presentation: The presentation time. Times must increase.
    ///   - duration: The time for which the frame is shown; nil if it is not known.
    ///   - options: Requests for this frame only. Regions are in samples of the frame.
    ///   - isolation: The caller's actor.
    /// - Throws: `usage` for an invalid frame; the error of the last session to fail if no session is left.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func encode(
        _ buffer: any PixelBuffer, presentation: MediaTime, duration: MediaTime? = nil,
        options: FrameOptions = FrameOptions(), isolation: isolated (any Actor)? = #isolation
    ) throws {
        let (timing, caller) = (FrameTiming(presentation: presentation, duration: duration), BlockingCall(on: isolation))
        if isAlone {
            return try sessions[0].encode(buffer, timing: timing, options: options, from: caller) { false }
        }
        try check(buffer, timing: timing, options: options)
        try waitForReaders(caller)
        var picture = try FramePicture(buffer, sharing(of: buffer), scaling)
        if picture.isUploaded { copies += 1 }
        try each(picture.order(running)) { index in
            let session = sessions[index]
            func startScaling() {
                guard picture.isOnDevice(for: index), picture.work == nil, let surface = picture.surface else { return }
                picture.work = GroupScaling.Scalers(picture.renditions).start(surface)
            }
            startScaling()
            var drawn: (any PixelBuffer)? = picture.surface(for: index)
            if drawn == nil, picture.isOnDevice(for: index), let work = picture.work {
                if picture.scaled == nil { finishScaling(&picture, GroupScaling.Scalers.finish(work)) }
                drawn = picture.scaled?[index]
            }
            account(index, picture, isScaled: drawn != nil)
            if drawn == nil {
                let own = try session.makePixelBuffer()
                do { try copy(picture.source, to: own, of: index) } catch let error as VAError where picture.source is SurfaceBuffer {
                    return try session.core.drop(timing, because: error)
                }
                drawn = try picture.lend(own, of: index)
                startScaling()
            }
            guard let drawn else { return }
            try session.encode(drawn, timing: timing, options: scaled(options, for: index), from: caller) { false }
        }
    }

    /// Passes a frame to each session that has not failed. Suspends while one of them is full. If the call is cancelled
    /// before a session has accepted the frame, it throws a `CancellationError`. Once one session has accepted the
    /// frame, all sessions accept it.
    public nonisolated(nonsending) func encode(
        _ buffer: any PixelBuffer, presentation: MediaTime, duration: MediaTime? = nil,
        options: FrameOptions = FrameOptions()
    ) async throws {
        if isAlone {
            return try await sessions[0].encode(buffer, presentation: presentation, duration: duration, options: options)
        }
        let timing = FrameTiming(presentation: presentation, duration: duration)
        try check(buffer, timing: timing, options: options)
        var picture = try FramePicture(buffer, sharing(of: buffer), scaling)
        if picture.isUploaded { copies += 1 }
        var isTaken = false
        try await each(picture.order(running)) { index in
            let session = sessions[index]
            if picture.isOnDevice(for: index), picture.work == nil, let surface = picture.surface {
                picture.work = try await startScaling(surface, picture.renditions, isShielded: isTaken)
            }
            var drawn: (any PixelBuffer)? = picture.surface(for: index)
            if drawn == nil, picture.isOnDevice(for: index), let work = picture.work {
                if picture.scaled == nil {
                    finishScaling(&picture, try await run(isShielded: isTaken) { GroupScaling.Scalers.finish(work) })
                }
                drawn = picture.scaled?[index]
            }
            account(index, picture, isScaled: drawn != nil)
            if drawn == nil {
                // A separate task is not cancelled together with the caller's task.
                let own =
                    isTaken
                    ? try await Task { try await session.makePixelBuffer() }.value : try await session.makePixelBuffer()
                do { try copy(picture.source, to: own, of: index) } catch let error as VAError where picture.source is SurfaceBuffer {
                    try await run(isShielded: isTaken) { try session.core.drop(timing, because: error) }
                    isTaken = true
                    return
                }
                drawn = try picture.lend(own, of: index)
                if picture.isOnDevice(for: index), picture.work == nil, let surface = picture.surface {
                    picture.work = try await startScaling(surface, picture.renditions, isShielded: isTaken)
                }
            }
            guard let drawn else { return }
            let options = scaled(options, for: index)
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

    private nonisolated(nonsending) func startScaling(
        _ surface: SurfaceBuffer, _ renditions: [GroupScaling.Rendition], isShielded: Bool
    ) async throws -> GroupScaling.Work {
        let scalers = GroupScaling.Scalers(renditions)
        return try await run(isShielded: isShielded) { scalers.start(surface) }
    }

    /// Runs blocking work on the group's thread. If it is shielded, it also runs if the caller's task is cancelled.
    private nonisolated(nonsending) func run<R: Sendable>(
        isShielded: Bool, _ body: @escaping @Sendable () throws -> R
    ) async throws -> R {
        let thread = thread
        if isShielded { return try await Task { try await thread.run { _ in try body() } }.value }
        return try await thread.run { _ in try body() }
    }

    private func finishScaling(_ picture: inout FramePicture, _ results: GroupScaling.Results) {
        let pictures = GroupScaling.account(results, of: picture.renditions)
        scaledOnDevice += picture.renditions.count { $0.sessions.contains { pictures[$0] != nil } }
        picture.scaled = pictures
    }

    private func sizeDiffers(_ index: Int) -> Bool { sessions[index].configuration.size != frameSize }

    /// Notes whether the device will scale for a session of another size.
    private func note(_ index: Int, isOnDevice: Bool) {
        sessions[index].core.scaling.withLock { ($0.frameSize, $0.isOnDevice) = (frameSize, isOnDevice) }
    }

    /// Counts a picture of a session of another size.
    ///
    /// - Parameter isScaled: Whether the device scaled the picture.
    private func account(_ index: Int, _ picture: FramePicture, isScaled: Bool) {
        guard sizeDiffers(index) else { return }
        note(index, isOnDevice: isScaled)
        sessions[index].core.scaling.withLock { account in
            if isScaled {
                account.onDevice += 1
            } else {
                account.inSoftware += 1
                account.reason = picture.reasonAgainstScaling(for: index)
            }
        }
    }

    /// Returns the options with the regions in samples of a session's pictures.
    private func scaled(_ options: FrameOptions, for index: Int) -> FrameOptions {
        guard let regions = options.regionsOfInterest, sizeDiffers(index) else { return options }
        var result = options
        let size = sessions[index].configuration.size
        result.regionsOfInterest = regions.compactMap { $0.scaled(from: frameSize, to: size) }
        return result
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
