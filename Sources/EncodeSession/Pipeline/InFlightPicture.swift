import EncodePlanning
import VAAPI
import VideoBase

/// A frame that `encode` took, until it is handed to the device.
struct TakenFrame: Sendable {
    let surface: Surface
    let timing: FrameTiming
    /// When `encode` was entered.
    let taken: ContinuousClock.Instant
}

/// A picture that the device works on.
struct InFlightPicture: Sendable {
    let plan: FramePlan
    let frame: TakenFrame
    let submitted: SubmittedPicture
    let qp: Int
}
