import EncodePlanning
import VAAPI
import VideoBase

/// A frame that `encode` has accepted and whose packet is not delivered yet.
struct TakenFrame: Sendable {
    /// The index in input order, from 0 over the session's life.
    var index: Int
    var input: InputSurface
    /// The pool that the surface returns to; nil if the surface belongs to the caller.
    var pool: InputPool?
    /// The caller's picture on the device: the surface itself if there is no pool, otherwise the source of the pool's
    /// surface. It is kept until the frame is delivered.
    var source: SurfaceBuffer?
    let timing: FrameTiming
    /// The time at which `encode` was entered.
    let taken: ContinuousClock.Instant
    var options = FrameOptions()

    var surface: Surface { input.surface }
    /// Whether the drawn samples did not reach the surface.
    var isLost: Bool { input.mapping?.isLost ?? false }

    /// Whether a pipeline with that pool can encode the frame without a copy.
    func isUsable(in inputs: InputPool) -> Bool {
        pool.map { $0 === inputs } ?? (surface.display === inputs.display)
    }

    /// Returns the surface to its pool when the device no longer uses it. If the frame was drawn in memory, the surface
    /// is mapped for the next frame. Call it on a thread that makes device calls.
    func recycle() {
        if source == nil { pool?.recycleMapped(surface) } else { pool?.recycle(InputSurface(surface: surface)) }
    }
}

/// A picture in flight on the device.
struct InFlightPicture: Sendable {
    let plan: FramePlan
    let frame: TakenFrame
    let submitted: SubmittedPicture
    let clock: PictureClock
    let numbered: any PictureSyntax
    /// The QP of the picture; nil if the driver chooses it.
    let qp: Int?
    /// Submits the picture again with another QP. Valid while no other picture was submitted after it.
    let encodeAgain: @Sendable (Int) throws -> SubmittedPicture
}
