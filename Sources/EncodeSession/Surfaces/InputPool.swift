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
    private enum State { case blank, filled, encoded }

    let format = PixelFormat.nv12
    var size: VideoSize { pool.visible }
    let pool: InputPool
    private let surface: Surface
    private let state = Mutex(State.blank)

    init(from pool: InputPool) throws {
        self.pool = pool
        surface = try pool.take()
    }

    deinit {
        if state.withLock({ $0 != .encoded }) { pool.giveBack(surface) }
    }

    /// The edges beyond the visible size are filled when `body` returns.
    func withUnsafePlanes<R>(_ body: (PixelPlanes) throws -> R) throws -> R {
        let access = try state.withLock { state in
            defer { if state == .blank { state = .filled } }
            switch state {
            case .blank: return Surface.Access.write
            case .filled: return .readWrite
            case .encoded: throw Self.alreadyEncoded
            }
        }
        return try unsafe surface.withUnsafePlanes(access, visible: pool.visible) { planes in
            let result = unsafe try body(planes)
            unsafe EdgePadding.fill(planes, coded: surface.size)
            return result
        }
    }

    /// Takes the surface over for encoding; whoever takes it gives it back to the pool.
    func takeSurface() throws -> Surface {
        try state.withLock { state in
            if state == .encoded { throw Self.alreadyEncoded }
            state = .encoded
            return surface
        }
    }

    private static var alreadyEncoded: VaencError {
        VaencError(.usage, "the pixel buffer was encoded already", remedy: "make a new one for each frame")
    }
}
