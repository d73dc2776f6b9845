import MediaFiles
public import VideoBase

/// Several sessions that encode the same frames: each frame is drawn once, and copied to every session's own memory.
///
/// A session that fails is left out from then on, and the others go on; `failures` says which and why. What is wrong with a frame
/// or a change is an error of the call: no session has the frame, and all go on. Use it from one thread or one task. Each call that may wait exists twice, as in `CompressionSession`: one that blocks, and an `async` one.
/// docs/LIBRARY.md has a program.
public final class SessionGroup {
    public let sessions: [CompressionSession]
    /// What ended a session, by its place.
    public private(set) var failures: [Int: any Error] = [:]
    /// Frames copied to a session's own memory: none where there is one session.
    public private(set) var copies = 0
    private var shared: SystemPixelBuffer?
    private let format: PixelFormat
    private let size: VideoSize
    private let converters: [PixelConverter]

    /// - Parameters:
    ///   - sessions: at least one, each once, of one size.
    ///   - format: of what is drawn where there are several: NV12, or P010 where one of them codes 10 bits.
    /// - Throws: `usage` for sessions of different sizes.
    public init(_ sessions: [CompressionSession], format: PixelFormat = .nv12) throws {
        guard let first = sessions.first?.configuration else {
            throw VaencError(.usage, "a group needs a session", remedy: "give at least one")
        }
        guard Set(sessions.map { ObjectIdentifier($0) }).count == sessions.count else {
            throw VaencError(.usage, "a session is in the group twice", remedy: "give each session once")
        }
        guard sessions.allSatisfy({ $0.configuration.size == first.size }) else {
            throw VaencError(
                .usage, "sessions of different sizes cannot share their frames", remedy: "give them one size")
        }
        self.sessions = sessions
        self.format = format
        size = first.size
        converters = sessions.map { _ in PixelConverter(color: first.color) }
    }

    /// Leaves a session out from now on, for a reason from outside: what takes its packets has failed. A place without a session
    /// is no error.
    public func fail(_ index: Int, _ error: any Error) {
        guard sessions.indices.contains(index) else { return }
        if failures[index] == nil { failures[index] = error }
        sessions[index].invalidate()
    }

    /// What no session could encode.
    ///
    /// - Throws: `usage`, before any session has the frame.
    private func check(_ buffer: any PixelBuffer, _ timing: FrameTiming, _ options: FrameOptions) throws {
        try timing.check()
        try options.check(size)
        guard buffer.size == size else {
            throw VaencError(
                .usage, "a frame of \(buffer.size) was given to sessions of \(size)",
                remedy: "draw into a buffer of makePixelBuffer")
        }
        // One that cannot be read is no session's fault.
        if !(buffer is SystemPixelBuffer) { try unsafe buffer.withUnsafePlanes { unsafe try $0.check(of: buffer) } }
        for index in running {
            guard let last = sessions[index].core.lastPresentation, timing.presentation <= last else { continue }
            throw VaencError(
                .usage, "a frame at \(timing.presentation.seconds) s is not after the one before, at \(last.seconds) s",
                remedy: "give frames in the order in which they are shown")
        }
    }

    /// - Throws: `usage` for a reader that this call keeps from running, before any session has the frame. One that has gone ends
    ///   its own session.
    private func waitForReaders(_ caller: BlockingCall) throws {
        for index in running {
            guard let channel = sessions[index].channel else { continue }
            do { try channel.waitForRoom(caller) { false } } catch {
                if !channel.isWithoutReader { throw error }
            }
        }
    }

    private var running: [Int] { sessions.indices.filter { failures[$0] == nil } }

    /// A buffer to draw the next frame into: of the only session, or memory that all are copied from. Encode it before
    /// asking for the next. Blocks while all are in use.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func makePixelBuffer() throws -> any PixelBuffer {
        if sessions.count == 1 { return try sessions[0].makePixelBuffer() }
        return try sharedBuffer()
    }

    public nonisolated(nonsending) func makePixelBuffer() async throws -> any PixelBuffer {
        if sessions.count == 1 { return try await sessions[0].makePixelBuffer() }
        return try sharedBuffer()
    }

    private func sharedBuffer() throws -> any PixelBuffer {
        let buffer = try shared ?? SystemPixelBuffer(format: format, size: size)
        shared = buffer
        return buffer
    }

    /// Hands the frame to every session that has not failed. Blocks while one of them is full.
    /// - Parameter isolation: the caller's actor.
    /// - Throws: `usage` for a frame that is none of the group's; what the last session failed with, when none is left.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func encode(
        _ buffer: any PixelBuffer, presentation: MediaTime, duration: MediaTime? = nil,
        options: FrameOptions = FrameOptions(), isolation: isolated (any Actor)? = #isolation
    ) throws {
        let (timing, caller) = (FrameTiming(presentation: presentation, duration: duration), BlockingCall(on: isolation))
        if sessions.count == 1 { return try sessions[0].encode(buffer, timing, options, from: caller) { false } }
        try check(buffer, timing, options)
        try waitForReaders(caller)
        try each { index in
            let own = try sessions[index].makePixelBuffer()
            try copy(buffer, to: own, of: index)
            try sessions[index].encode(own, timing, options, from: caller) { false }
        }
    }

    /// A cancelled call throws a `CancellationError` and has not taken the frame; once one session has taken it, all do.
    public nonisolated(nonsending) func encode(
        _ buffer: any PixelBuffer, presentation: MediaTime, duration: MediaTime? = nil,
        options: FrameOptions = FrameOptions()
    ) async throws {
        if sessions.count == 1 {
            return try await sessions[0].encode(buffer, presentation: presentation, duration: duration, options: options)
        }
        try check(buffer, FrameTiming(presentation: presentation, duration: duration), options)
        var isTaken = false
        try await each { index in
            let session = sessions[index]
            // A task of its own is not cancelled with the caller's.
            let own = isTaken ? try await Task { try await session.makePixelBuffer() }.value : try await session.makePixelBuffer()
            try copy(buffer, to: own, of: index)
            if isTaken {
                try await Task {
                    try await session.encode(own, presentation: presentation, duration: duration, options: options)
                }.value
            } else {
                try await session.encode(own, presentation: presentation, duration: duration, options: options)
            }
            isTaken = true
        }
    }

    private func copy(_ buffer: any PixelBuffer, to own: any PixelBuffer, of index: Int) throws {
        // SAFETY: both sets of planes are lent for the closures.
        try unsafe buffer.withUnsafePlanes { from in
            try unsafe own.withUnsafePlanes { unsafe try converters[index].convert(from, to: $0) }
        }
        copies += 1
    }

    /// Changes every session that can be changed so.
    ///
    /// - Throws: what the first one that cannot says, when the others are changed; that one goes on as it was. What the last
    ///   session failed with, when none is left.
    public func change(_ change: RunningChange) throws {
        var refusal: (any Error)?
        try each { index in
            do { try sessions[index].change(change) } catch {
                let category = (error as? any DescribedError)?.category
                guard category == .usage || category == .unavailable, !sessions[index].core.isInvalidated else { throw error }
                refusal = refusal ?? error
            }
        }
        if let refusal { throw refusal }
    }

    /// Blocks until the packets of all frames taken were delivered.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func completeFrames() throws { try each { try sessions[$0].completeFrames() } }

    public nonisolated(nonsending) func completeFrames() async throws {
        try await each { try await sessions[$0].completeFrames() }
    }

    public func invalidate() { for session in sessions { session.invalidate() } }

    private func each(_ body: (Int) throws -> Void) throws {
        for index in running {
            do { try body(index) } catch { try leaveOut(index, error) }
        }
        try checkRunning()
    }

    private nonisolated(nonsending) func each(_ body: nonisolated(nonsending) (Int) async throws -> Void) async throws {
        for index in running {
            do { try await body(index) } catch let error as CancellationError {
                throw error
            } catch {
                try leaveOut(index, error)
            }
        }
        try checkRunning()
    }

    /// - Throws: the error, if no session is left.
    private func leaveOut(_ index: Int, _ error: any Error) throws {
        fail(index, error)
        if running.isEmpty { throw error }
    }

    /// - Throws: what a session failed with, if none is left.
    private func checkRunning() throws {
        if let error = failures.min(by: { $0.key < $1.key })?.value, running.isEmpty { throw error }
    }
}
