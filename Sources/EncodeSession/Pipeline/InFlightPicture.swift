import EncodePlanning
import VAAPI
import VideoBase

/// A frame that `encode` has accepted and whose packet is not delivered yet.
///
/// A copy costs little: the contents are one object.
struct TakenFrame: Sendable {
    /// The index in input order, from 0 over the session's life.
    var index: Int
    private let contents: Contents

    private final class Contents: Sendable {
        let input: InputSurface
        let pool: InputPool?
        let source: SurfaceBuffer?
        let timing: FrameTiming
        let taken: ContinuousClock.Instant
        let options: FrameOptions

        init(
            _ input: InputSurface, _ pool: InputPool?, _ source: SurfaceBuffer?, _ timing: FrameTiming,
            _ taken: ContinuousClock.Instant, _ options: FrameOptions
        ) {
            (self.input, self.pool, self.source) = (input, pool, source)
            (self.timing, self.taken, self.options) = (timing, taken, options)
        }
    }

    init(
        index: Int, input: InputSurface, pool: InputPool?, source: SurfaceBuffer? = nil, timing: FrameTiming,
        taken: ContinuousClock.Instant, options: FrameOptions = FrameOptions()
    ) {
        self.index = index
        contents = Contents(input, pool, source, timing, taken, options)
    }

    var input: InputSurface { contents.input }
    /// The pool that the surface returns to; nil if the surface belongs to the caller.
    var pool: InputPool? { contents.pool }
    /// The caller's picture on the device: the surface itself if there is no pool, otherwise the source of the pool's
    /// surface. It is kept until the frame is delivered.
    var source: SurfaceBuffer? { contents.source }
    var timing: FrameTiming { contents.timing }
    /// The time at which `encode` was entered.
    var taken: ContinuousClock.Instant { contents.taken }
    var options: FrameOptions { contents.options }

    /// Returns the frame in another surface.
    func moved(to input: InputSurface, of pool: InputPool, source: SurfaceBuffer?) -> TakenFrame {
        TakenFrame(index: index, input: input, pool: pool, source: source, timing: timing, taken: taken, options: options)
    }

    /// Returns the frame with other acknowledgement tokens.
    func acknowledging(_ tokens: [Int]) -> TakenFrame {
        var options = options
        options.acknowledgedTokens = tokens
        return TakenFrame(index: index, input: input, pool: pool, source: source, timing: timing, taken: taken, options: options)
    }

    var surface: Surface { input.surface }
    /// Whether the drawn samples did not reach the surface.
    var isLost: Bool { (input.mapping?.isLost ?? false) || (source?.isLost ?? false) }

    /// Whether a pipeline with that pool can encode the frame without a copy.
    func isUsable(in inputs: InputPool) -> Bool {
        pool.map { $0 === inputs } ?? (surface.display === inputs.display)
    }

    /// Passes drawn samples to the surface, so that the device can read them.
    func finishDrawing() throws {
        try input.mapping?.end()
        try source?.finishDrawing()
    }

    /// Returns the surface to its pool when the device no longer uses it. If the frame was drawn in memory, the surface
    /// is mapped for the next frame. Call it on a thread that makes device calls.
    func recycle() {
        if source == nil { pool?.recycleMapped(input) } else { pool?.recycle(InputSurface(surface: surface)) }
    }
}

/// A picture to encode.
final class PictureJob: Sendable {
    let plan: FramePlan
    let frame: TakenFrame
    let decision: RateSession.Decision

    init(_ plan: FramePlan, frame: TakenFrame, decision: RateSession.Decision) {
        (self.plan, self.frame, self.decision) = (plan, frame, decision)
    }
}

/// A picture in flight on the device.
final class InFlightPicture: Sendable {
    let job: PictureJob
    let submitted: SubmittedPicture
    let clock: PictureClock
    let numbered: any PictureSyntax
    private let writer: PictureWriter

    init(_ job: PictureJob, _ submitted: SubmittedPicture, clock: PictureClock, numbered: any PictureSyntax, writer: PictureWriter) {
        (self.job, self.submitted, self.clock, self.numbered, self.writer) = (job, submitted, clock, numbered, writer)
    }

    var plan: FramePlan { job.plan }
    var frame: TakenFrame { job.frame }
    /// The QP of the picture; nil if the driver chooses it.
    var qp: Int? { job.decision.isDriversChoice ? nil : job.decision.qp }

    /// Submits the picture again with another QP. Call it only while no other picture was submitted after it.
    func encodeAgain(qp: Int) throws -> SubmittedPicture {
        var decision = job.decision
        decision.qp = qp
        return try writer.encode(job, into: submitted.output, syntax: numbered, clock: clock, decision: decision)
    }
}
