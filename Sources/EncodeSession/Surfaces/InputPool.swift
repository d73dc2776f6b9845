import Synchronization
import Threads
package import VAAPI
package import VideoBase

/// A surface of a pool, and its mapping if it is mapped.
struct InputSurface: Sendable {
    var surface: Surface
    var mapping: SurfaceMapping?
}

/// The input surfaces of frames. Taking one blocks while all are in use, which limits the number of frames in flight.
final class InputPool: Sendable {
    private struct State {
        var free: [InputSurface]
        var closed: (any Error)?
    }

    /// The error for waiting callers when another pool replaces this one.
    struct Replaced: Error {}

    /// The visible size of the surfaces.
    let visible: VideoSize
    /// All surfaces, in use or not.
    let surfaces: [Surface]
    private let state: Monitor<State>

    var display: Display? { surfaces.first?.display }

    init(_ surfaces: [Surface], visible: VideoSize) {
        self.visible = visible
        self.surfaces = surfaces
        state = Monitor(State(free: surfaces.map { InputSurface(surface: $0) }))
    }

    /// Takes a free surface. Blocks while all surfaces are in use.
    ///
    /// - Throws: The error given to `close`.
    func take() throws -> InputSurface {
        try state.wait { state in
            if let error = state.closed { throw error }
            return state.free.popLast()
        }
    }

    /// Takes a free surface, like `take()`. Stops waiting if the device hangs: the surfaces may then never return.
    ///
    /// - Throws: Also a `VAError` of status `.timedOut` if the device hangs.
    func take(on display: Display) throws -> InputSurface {
        while true {
            let free = try state.wait(atMostNanoseconds: 20_000_000) { state in
                if let error = state.closed { throw error }
                return state.free.popLast()
            }
            if let free { return free }
            guard display.watch.isHung else { continue }
            throw VAError(
                call: "vaSyncSurface2", status: .timedOut, object: "the pictures of a group", remedy: Surface.hangRemedy,
                category: .deviceFailed)
        }
    }

    /// Takes a free surface; nil if all are in use or the pool is closed.
    func takeIfFree() -> InputSurface? { state.withLock { $0.closed == nil ? $0.free.popLast() : nil } }

    func recycle(_ surface: InputSurface) {
        state.withLock { if $0.closed == nil { $0.free.append(surface) } }
    }

    /// Returns a surface that the device no longer uses, mapped for the next frame. Call it on a thread that makes
    /// device calls. The thread that fills the surface then needs no thread switch.
    func recycleMapped(_ input: InputSurface) {
        // The program's own memory stays mapped.
        if input.mapping != nil, input.surface.isInUserMemory { return recycle(input) }
        guard state.withLock({ $0.closed == nil }) else { return }
        // If mapping fails, the next user maps the surface again and gets the error.
        recycle(InputSurface(surface: input.surface, mapping: try? input.surface.map(.write)))
    }

    /// Frees the surfaces that are not in use, and the others when they are returned. Waiting callers get the error.
    func close(_ error: any Error) {
        let freed = state.withLock { state in
            defer { state.free = [] }
            state.closed = state.closed ?? error
            return state.free
        }
        _ = consume freed
    }
}

/// A surface that returns to its pool when it is released.
final class SurfaceLoan: Sendable {
    private let input: InputSurface
    private let pool: InputPool
    var surface: Surface { input.surface }

    init(_ input: InputSurface, of pool: InputPool) { (self.input, self.pool) = (input, pool) }

    deinit { pool.recycle(input) }
}

/// A surface on loan from the pool, to be filled and passed to `encode`. If it is released without being encoded, the
/// surface returns to the pool.
package final class InputBuffer: PixelBuffer {
    /// Makes the pool that replaces one whose surfaces cannot be mapped any more. All buffers of a session share it.
    final class Renewal: Sendable {
        /// Returns the new pool instead of the one that failed.
        let pool: @Sendable (_ failed: InputPool, _ why: any Error) throws -> InputPool
        init(_ pool: @escaping @Sendable (_ failed: InputPool, _ why: any Error) throws -> InputPool) { self.pool = pool }
    }

    private struct State {
        var isEncoded = false
        var pool: InputPool
        var input: InputSurface
        /// The number of callers that draw into it.
        var drawers = 0
    }

    /// The contents that `encode` takes over. The mapping is still open.
    struct Contents: Sendable {
        var input: InputSurface
        var pool: InputPool
    }

    /// The pixel format: NV12 or P010.
    package let format: PixelFormat
    package let size: VideoSize
    /// The session that the buffer belongs to.
    let session: ObjectIdentifier
    private let renewal: Renewal
    private let state: Mutex<State>

    init(from pool: InputPool, of session: ObjectIdentifier, renewal: Renewal) throws {
        size = pool.visible
        self.session = session
        self.renewal = renewal
        let input = try pool.take()
        format = input.surface.format
        state = Mutex(State(pool: pool, input: input))
    }

    deinit {
        state.withLock { if !$0.isEncoded { $0.pool.recycle($0.input) } }
    }

    var pool: InputPool { state.withLock { $0.pool } }

    /// The display of the surface.
    package var display: Display? { pool.display }

    /// Calls `body` with the samples. When `body` returns, the edges beyond the visible size are filled. The samples
    /// stay mapped until the frame is submitted to the device.
    package func withUnsafePlanes<R>(_ body: (PixelPlanes) throws -> R) throws -> R {
        let mapping = try mapping()
        try state.withLock { state in
            if state.isEncoded { throw VaencError.bufferAlreadyEncoded }
            state.drawers += 1
        }
        defer { state.withLock { $0.drawers -= 1 } }
        return unsafe try mapping.withUnsafePlanes(visible: size) { planes in
            let result = unsafe try body(planes)
            unsafe EdgePadding.fill(planes, coded: mapping.surface.size)
            return result
        }
    }

    /// Returns the mapped samples. If the surface cannot be mapped, another surface replaces it.
    private func mapping() throws -> SurfaceMapping {
        while true {
            let (input, pool, isEncoded) = state.withLock { ($0.input, $0.pool, $0.isEncoded) }
            if isEncoded { throw VaencError.bufferAlreadyEncoded }
            if let mapping = input.mapping { return mapping }
            do {
                let mapping = try input.surface.map(.write)
                state.withLock { $0.input.mapping = mapping }
                return mapping
            } catch {
                guard error.isDeviceFault else { throw error }
                try renew(instead: pool, error)
            }
        }
    }

    private func renew(instead failed: InputPool, _ error: any Error) throws {
        var failed = failed
        while true {
            let pool = try renewal.pool(failed, error)
            do {
                let input = try pool.take()
                let old = state.withLock { state in
                    defer { (state.pool, state.input) = (pool, input) }
                    return (state.pool, state.input)
                }
                return old.0.recycle(old.1)
            } catch is InputPool.Replaced { failed = pool }
        }
    }

    /// Takes over the surface for encoding. The caller must return it to the pool.
    func takeContents() throws -> Contents {
        try state.withLock { state in
            if state.isEncoded { throw VaencError.bufferAlreadyEncoded }
            guard state.drawers == 0 else {
                throw VaencError(
                    .usage, "the pixel buffer is still in use by withUnsafePlanes",
                    remedy: "encode it after withUnsafePlanes has returned")
            }
            state.isEncoded = true
            return Contents(input: state.input, pool: state.pool)
        }
    }

    /// Returns the drawn picture in a form that several encoders on the same display can read. The surface returns to
    /// the pool when all of them are done with it. The buffer then counts as encoded.
    package func lend() throws -> SurfaceBuffer {
        let contents = try takeContents()
        return try SurfaceBuffer(
            surface: contents.input.surface, visible: size, mapping: contents.input.mapping, owner: Loan(contents))
    }

    /// Returns a surface to its pool when it is released.
    private final class Loan: Sendable {
        private let contents: Contents
        init(_ contents: Contents) { self.contents = contents }
        deinit { contents.pool.recycleMapped(contents.input) }
    }
}
