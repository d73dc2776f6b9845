import Synchronization
import VAAPI
import VideoBase

/// The surfaces that frames are put into; taking one blocks while all are in use, which is the back-pressure.
final class InputPool: Sendable {
    private struct State {
        var free: [Surface]
        var closed: (any Error)?
    }

    /// What those who wait get when another pool takes this one's place.
    struct Replaced: Error {}

    /// What is to be seen of a surface.
    let visible: VideoSize
    /// All of them, in use or not.
    let surfaces: [Surface]
    private let state: Monitor<State>

    init(_ surfaces: [Surface], visible: VideoSize) {
        self.visible = visible
        self.surfaces = surfaces
        state = Monitor(State(free: surfaces))
    }

    /// Blocks while all surfaces are in use.
    ///
    /// - Throws: what `close` was given.
    func take() throws -> Surface {
        try state.wait { state in
            if let error = state.closed { throw error }
            return state.free.popLast()
        }
    }

    /// nil while all surfaces are in use.
    func takeIfFree() -> Surface? { state.withLock { $0.closed == nil ? $0.free.popLast() : nil } }

    func giveBack(_ surface: Surface) {
        state.withLock { if $0.closed == nil { $0.free.append(surface) } }
    }

    /// Frees the surfaces that are not in use, and the others as they come back. Those who wait get the error.
    func close(_ error: any Error) {
        state.withLock {
            $0.closed = $0.closed ?? error
            $0.free = []
        }
    }
}

/// A surface of the pool on loan, to be filled and handed to `encode`. Dropped, it goes back.
final class InputBuffer: PixelBuffer {
    /// Gives a pool in the place of one whose surfaces cannot be mapped any more.
    typealias Renewal = @Sendable (_ failed: InputPool, _ why: any Error) throws -> InputPool

    private enum Stage { case blank, filled, encoded }

    private struct State {
        var stage = Stage.blank
        var pool: InputPool
        var surface: Surface
        /// Why what was drawn did not reach the surface.
        var loss: (any Error)?
    }

    /// What `encode` takes over.
    struct Contents: Sendable {
        var surface: Surface
        var pool: InputPool
        var loss: (any Error)?
    }

    let format = PixelFormat.nv12
    let size: VideoSize
    /// Of the session that it belongs to.
    let session: ObjectIdentifier
    private let renewal: Renewal
    private let state: Mutex<State>

    init(from pool: InputPool, of session: ObjectIdentifier, renewal: @escaping Renewal) throws {
        size = pool.visible
        self.session = session
        self.renewal = renewal
        state = Mutex(State(pool: pool, surface: try pool.take()))
    }

    deinit {
        state.withLock { if $0.stage != .encoded { $0.pool.giveBack($0.surface) } }
    }

    var pool: InputPool { state.withLock { $0.pool } }

    /// The edges beyond the visible size are filled when `body` returns. Where the device fails afterwards, what was
    /// drawn is lost, and `encode` counts the frame as dropped.
    func withUnsafePlanes<R>(_ body: (PixelPlanes) throws -> R) throws -> R {
        while true {
            let (surface, pool, stage) = state.withLock { ($0.surface, $0.pool, $0.stage) }
            if stage == .encoded { throw Self.alreadyEncoded }
            var isMapped = false
            var drawn: R?
            do {
                return try unsafe surface.withUnsafePlanes(stage == .blank ? .write : .readWrite, visible: size) { planes in
                    isMapped = true
                    state.withLock { if $0.stage == .blank { $0.stage = .filled } }
                    let result = unsafe try body(planes)
                    drawn = result
                    unsafe EdgePadding.fill(planes, coded: surface.size)
                    return result
                }
            } catch {
                guard error.isDeviceFault else { throw error }
                if let drawn {
                    state.withLock { $0.loss = error }
                    return drawn
                }
                guard !isMapped, stage == .blank else { throw error }
                try renew(instead: pool, error)
            }
        }
    }

    private func renew(instead failed: InputPool, _ error: any Error) throws {
        var failed = failed
        while true {
            let pool = try renewal(failed, error)
            do {
                let surface = try pool.take()
                let old = state.withLock { state in
                    defer { (state.pool, state.surface) = (pool, surface) }
                    return (state.pool, state.surface)
                }
                return old.0.giveBack(old.1)
            } catch is InputPool.Replaced { failed = pool }
        }
    }

    /// Takes the surface over for encoding; whoever takes it gives it back to the pool.
    func takeContents() throws -> Contents {
        try state.withLock { state in
            if state.stage == .encoded { throw Self.alreadyEncoded }
            state.stage = .encoded
            return Contents(surface: state.surface, pool: state.pool, loss: state.loss)
        }
    }

    private static var alreadyEncoded: VaencError {
        VaencError(.usage, "the pixel buffer was encoded already", remedy: "make a new one for each frame")
    }
}
