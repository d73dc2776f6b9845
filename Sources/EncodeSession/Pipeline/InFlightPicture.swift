import EncodePlanning
import VAAPI
import VideoBase

/// A frame that `encode` took, until it is handed to the device.
struct TakenFrame: Sendable {
    /// Position in input order, from 0 over the session's life.
    var index: Int
    var input: InputSurface
    /// Where the surface goes back to; nil for the caller's own.
    var pool: InputPool?
    /// The caller's picture on the device: the surface itself where there is no pool, else what it was made of there.
    /// Kept until the frame is delivered.
    var source: SurfaceBuffer?
    let timing: FrameTiming
    /// When `encode` was entered.
    let taken: ContinuousClock.Instant
    var options = FrameOptions()

    var surface: Surface { input.surface }
    /// What was drawn did not reach the surface.
    var isLost: Bool { input.mapping?.isLost ?? false }

    /// Whether a pipeline with that pool can encode it where it is.
    func isAtHome(in inputs: InputPool) -> Bool {
        pool.map { $0 === inputs } ?? (surface.display === inputs.display)
    }

    /// The device is done with the surface: it goes back to its pool, mapped where the next frame will be drawn as this one
    /// was. On a thread that makes calls on the device.
    func giveBack() {
        if source == nil { pool?.giveBackMapped(surface) } else { pool?.giveBack(InputSurface(surface: surface)) }
    }
}

/// A picture that the device works on.
struct InFlightPicture: Sendable {
    let plan: FramePlan
    let frame: TakenFrame
    let submitted: SubmittedPicture
    let clock: PictureClock
    let numbered: any PictureSyntax
    /// nil where the driver chooses.
    let qp: Int?
    /// Hands the picture to the device once more with another QP; valid while nothing was submitted since.
    let encodeAgain: @Sendable (Int) throws -> SubmittedPicture
}
