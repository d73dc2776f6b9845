import MediaFiles
public import VideoBase

/// Several sessions that encode the same frames: each frame is drawn once, and copied to every session's own memory.
///
/// ```swift
/// let group = try SessionGroup([h264, hevc])
/// for time in times {
///     let buffer = try group.makePixelBuffer()
///     try unsafe buffer.withUnsafePlanes { planes in draw(into: planes) }
///     try group.encode(buffer, presentation: time)
/// }
/// try group.completeFrames()
/// ```
///
/// A session that fails is left out from then on, and the others go on; `failures` says which and why. Calls block; use
/// it from one thread.
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
    ///   - sessions: at least one, of one size.
    ///   - format: of what is drawn where there are several: NV12, or P010 where one of them codes 10 bits.
    /// - Throws: `usage` for sessions of different sizes.
    public init(_ sessions: [CompressionSession], format: PixelFormat = .nv12) throws {
        guard let first = sessions.first?.configuration else {
            throw VaencError(.usage, "a group needs a session", remedy: "give at least one")
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

    /// Leaves a session out from now on, for a reason from outside: what takes its packets has failed.
    public func fail(_ index: Int, _ error: any Error) {
        if failures[index] == nil { failures[index] = error }
        sessions[index].invalidate()
    }

    private var running: [Int] { sessions.indices.filter { failures[$0] == nil } }

    /// A buffer to draw the next frame into: of the only session, or memory that all are copied from. Encode it before
    /// asking for the next.
    public func makePixelBuffer() throws -> any PixelBuffer {
        if sessions.count == 1 { return try sessions[0].makePixelBuffer() }
        let buffer = shared ?? SystemPixelBuffer(format: format, size: size)
        shared = buffer
        return buffer
    }

    /// Hands the frame to every session that has not failed.
    /// - Throws: what the last session failed with, when none is left.
    public func encode(
        _ buffer: any PixelBuffer, presentation: MediaTime, duration: MediaTime? = nil,
        options: FrameOptions = FrameOptions()
    ) throws {
        if sessions.count == 1 {
            return try sessions[0].encode(buffer, presentation: presentation, duration: duration, options: options)
        }
        try each { index in
            let own = try sessions[index].makePixelBuffer()
            // SAFETY: both sets of planes are lent for the closures.
            try unsafe buffer.withUnsafePlanes { from in
                try unsafe own.withUnsafePlanes { unsafe try converters[index].convert(from, to: $0) }
            }
            copies += 1
            try sessions[index].encode(own, presentation: presentation, duration: duration, options: options)
        }
    }

    /// Changes every session.
    public func change(_ change: RunningChange) throws { try each { try sessions[$0].change(change) } }

    /// Blocks until the packets of all frames taken were delivered.
    public func completeFrames() throws { try each { try sessions[$0].completeFrames() } }

    public func invalidate() { for session in sessions { session.invalidate() } }

    private func each(_ body: (Int) throws -> Void) throws {
        for index in running {
            do { try body(index) } catch {
                fail(index, error)
                if running.isEmpty { throw error }
            }
        }
        if let error = failures.min(by: { $0.key < $1.key })?.value, running.isEmpty { throw error }
    }
}
