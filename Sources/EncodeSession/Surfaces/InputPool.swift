import Synchronization
import VAAPI
import VideoBase

/// A surface of a pool, and its samples where they are mapped.
struct InputSurface: Sendable {
    var surface: Surface
    var mapping: SurfaceMapping?
}

/// The surfaces that frames are put into; taking one blocks while all are in use, which is the back-pressure.
final class InputPool: Sendable {
    private struct State {
        var free: [InputSurface]
        var closed: (any Error)?
    }

    /// What those who wait get when another pool takes this one's place.
    struct Replaced: Error {}

    /// What is to be seen of a surface.
    let visible: VideoSize
    /// All of them, in use or not.
    let surfaces: [Surface]
    private let state: Monitor<State>

    var display: Display? { surfaces.first?.display }

    init(_ surfaces: [Surface], visible: VideoSize) {
        self.visible = visible
        self.surfaces = surfaces
        state = Monitor(State(free: surfaces.map { InputSurface(surface: $0) }))
    }

    /// Blocks while all surfaces are in use.
    ///
    /// - Throws: what `close` was given.
    func take() throws -> InputSurface {
        try state.wait { state in
            if let error = state.closed { throw error }
            return state.free.popLast()
        }
    }

    /// nil while all surfaces are in use.
    func takeIfFree() -> InputSurface? { state.withLock { $0.closed == nil ? $0.free.popLast() : nil } }

    func giveBack(_ surface: InputSurface) {
        state.withLock { if $0.closed == nil { $0.free.append(surface) } }
    }

    /// Gives back a surface that the device is done with, mapped for the next frame. On a thread that makes calls on
    /// the device: the one that fills the surface then need not change threads for it.
    func giveBackMapped(_ surface: Surface) {
        guard state.withLock({ $0.closed == nil }) else { return }
        // Where it cannot be mapped, who takes it tries again and hears why.
        giveBack(InputSurface(surface: surface, mapping: try? surface.map(.write)))
    }

    /// Frees the surfaces that are not in use, and the others as they come back. Those who wait get the error.
    func close(_ error: any Error) {
        let freed = state.withLock { state in
            defer { state.free = [] }
            state.closed = state.closed ?? error
            return state.free
        }
        _ = consume freed
    }
}

/// A surface of the pool on loan, to be filled and handed to `encode`. Dropped, it goes back.
final class InputBuffer: PixelBuffer {
    /// Gives a pool in the place of one whose surfaces cannot be mapped any more.
    typealias Renewal = @Sendable (_ failed: InputPool, _ why: any Error) throws -> InputPool

    private struct State {
        var isEncoded = false
        var pool: InputPool
        var input: InputSurface
        /// How many draw into it.
        var drawers = 0
    }

    /// What `encode` takes over; its mapping is open still.
    struct Contents: Sendable {
        var input: InputSurface
        var pool: InputPool
    }

    /// NV12 or P010.
    let format: PixelFormat
    let size: VideoSize
    /// Of the session that it belongs to.
    let session: ObjectIdentifier
    private let renewal: Renewal
    private let state: Mutex<State>

    init(from pool: InputPool, of session: ObjectIdentifier, renewal: @escaping Renewal) throws {
        size = pool.visible
        self.session = session
        self.renewal = renewal
        let input = try pool.take()
        format = input.surface.format
        state = Mutex(State(pool: pool, input: input))
    }

    deinit {
        state.withLock { if !$0.isEncoded { $0.pool.giveBack($0.input) } }
    }

    var pool: InputPool { state.withLock { $0.pool } }

    /// The edges beyond the visible size are filled when `body` returns. The samples stay mapped until the frame is
    /// handed to the device.
    func withUnsafePlanes<R>(_ body: (PixelPlanes) throws -> R) throws -> R {
        let mapping = try mapping()
        try state.withLock { state in
            if state.isEncoded { throw Self.alreadyEncoded }
            state.drawers += 1
        }
        defer { state.withLock { $0.drawers -= 1 } }
        return unsafe try mapping.withUnsafePlanes(visible: size) { planes in
            let result = unsafe try body(planes)
            unsafe EdgePadding.fill(planes, coded: mapping.surface.size)
            return result
        }
    }

    /// The samples, mapped; of another surface where this one's cannot be.
    private func mapping() throws -> SurfaceMapping {
        while true {
            let (input, pool, isEncoded) = state.withLock { ($0.input, $0.pool, $0.isEncoded) }
            if isEncoded { throw Self.alreadyEncoded }
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
            let pool = try renewal(failed, error)
            do {
                let input = try pool.take()
                let old = state.withLock { state in
                    defer { (state.pool, state.input) = (pool, input) }
                    return (state.pool, state.input)
                }
                return old.0.giveBack(old.1)
            } catch is InputPool.Replaced { failed = pool }
        }
    }

    /// Takes the surface over for encoding; whoever takes it gives it back to the pool.
    func takeContents() throws -> Contents {
        try state.withLock { state in
            if state.isEncoded { throw Self.alreadyEncoded }
            guard state.drawers == 0 else {
                throw VaencError(
                    .usage, "the pixel buffer is being drawn into",
                    remedy: "encode it when withUnsafePlanes has returned")
            }
            state.isEncoded = true
            return Contents(input: state.input, pool: state.pool)
        }
    }

    private static var alreadyEncoded: VaencError {
        VaencError(.usage, "the pixel buffer was encoded already", remedy: "make a new one for each frame")
    }
}
