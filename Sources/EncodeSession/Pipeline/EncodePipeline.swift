import EncodePlanning
import Synchronization
import VAAPI
import VideoBase

/// Frames in, packets out: planning and submission on the caller's thread, waiting for the device on one of its own.
final class EncodePipeline: Sendable {
    /// What both threads look at.
    struct State {
        var idleBuffers: [CodedBuffer]
        /// Presentation times of the frames taken whose packets were not delivered.
        var pending: [MediaTime] = []
        /// Ends the session; delivered once, thrown by every later call.
        var failure: (any Error)?
        var failureWasDelivered = false
        /// The failure came from the device's output: what is still in flight is not waited for.
        var outputFailed = false
        var isClosed = false
    }

    /// What `encode` works on, one caller at a time.
    private struct Submission {
        var planner: FramePlanner
        var submitter: PictureSubmitter
        /// Frames taken and not yet submitted, by display index.
        var waiting: [Int: TakenFrame] = [:]
        var nextDisplayIndex = 0
        var lastPresentation: MediaTime?
    }

    let settings: EncodeSettings
    let inputs: InputPool
    let state: Monitor<State>
    let handler: PacketHandler
    let assembler: Mutex<AccessUnitAssembler>
    /// How long a picture may take before the device counts as hung.
    let timeoutNanoseconds: UInt64
    private let submission: Mutex<Submission>
    private let thread: DeviceThread

    init(_ display: Display, _ settings: EncodeSettings, handler: @escaping PacketHandler) throws {
        let headers = StreamHeaders(settings)
        let objects = try DeviceObjects(display, settings)
        self.settings = settings
        self.handler = handler
        inputs = InputPool(objects.inputs, visible: settings.inputSize)
        state = Monitor(State(idleBuffers: objects.coded))
        submission = Mutex(
            Submission(
                planner: FramePlanner(structure: settings.structure),
                submitter: PictureSubmitter(settings, headers, objects)))
        // The reference driver encodes in software, on a machine that may be busy.
        timeoutNanoseconds = display.kind == .reference ? 120_000_000_000 : 10_000_000_000
        let packsParameterSets = objects.packed.contains(.sequence)
        var assembler = AccessUnitAssembler(headers, packsParameterSets: packsParameterSets)
        if !packsParameterSets || settings.limits.rewritesParameterSets {
            try HeaderTrial.run(
                settings, headers, objects, timeoutNanoseconds: timeoutNanoseconds, &assembler)
        }
        self.assembler = Mutex(assembler)
        thread = try DeviceThread()
    }

    /// Takes a frame, and submits the pictures that it settles. Blocks while the device has all it may have.
    func encode(_ buffer: any PixelBuffer, timing: FrameTiming, options: FrameOptions) throws {
        let taken = ContinuousClock.now
        try check(buffer)
        try submission.withLock { submission in
            try throwIfEnded()
            if let last = submission.lastPresentation, timing.presentation <= last {
                throw VaencError(
                    .usage,
                    "frame \(submission.nextDisplayIndex) at \(timing.presentation.seconds) s is not after the one before",
                    remedy: "give frames in the order in which they are shown")
            }
            let surface = try surface(of: buffer)
            let index = submission.nextDisplayIndex
            submission.nextDisplayIndex += 1
            submission.lastPresentation = timing.presentation
            submission.waiting[index] = TakenFrame(surface: surface, timing: timing, taken: taken)
            state.withLock { $0.pending.append(timing.presentation) }
            let forceKey = options.forceKeyFrame || settings.forcedKeyFrames.contains(index)
            try submit(submission.planner.add(forceKey: forceKey), &submission)
        }
        if settings.lowLatency { try complete(until: timing.presentation) }
    }

    /// Submits what waits for later frames, and waits for packets; a failure is thrown once it was delivered.
    func complete(until time: MediaTime?) throws {
        if time == nil {
            try submission.withLock { submission in
                let hasEnded = state.withLock { $0.failure != nil || $0.isClosed }
                if !hasEnded { try submit(submission.planner.finish(), &submission) }
            }
        }
        try state.wait { state -> Void? in
            if let failure = state.failure {
                if state.failureWasDelivered { throw failure }
                return nil
            }
            if state.isClosed { throw Self.closed }
            let waits = time.map { time in state.pending.contains { $0 <= time } } ?? !state.pending.isEmpty
            return waits ? nil : ()
        }
    }

    /// Ends the session; returns when the device is done with what it has.
    func close() {
        let first = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        if first { inputs.close(state.withLock { $0.failure } ?? Self.closed) }
        thread.sync {}
    }

    func throwIfEnded() throws {
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            if state.isClosed { throw Self.closed }
        }
    }

    static var closed: VaencError { VaencError(.usage, "the encoder was invalidated") }

    // MARK: Submission

    private func check(_ buffer: any PixelBuffer) throws {
        guard buffer.size == settings.inputSize else {
            throw VaencError(.usage, "a frame of \(buffer.size) for an encoder of \(settings.inputSize)")
        }
        guard FrameCopy.formats.contains(buffer.format) else {
            throw VaencError(
                .usage, "the encoder takes nv12, i420 and yv12, not \(buffer.format.rawValue)",
                remedy: "convert the frame into a buffer of makePixelBuffer")
        }
    }

    /// The buffer's own surface, or a copy in one of the pool.
    private func surface(of buffer: any PixelBuffer) throws -> Surface {
        if let own = buffer as? InputBuffer, own.pool === inputs { return try own.takeSurface() }
        let copy = try InputBuffer(from: inputs)
        try unsafe buffer.withUnsafePlanes { source in
            try unsafe copy.withUnsafePlanes { target in unsafe FrameCopy.copy(source, to: target) }
        }
        return try copy.takeSurface()
    }

    private func submit(_ plans: [FramePlan], _ submission: inout Submission) throws {
        for plan in plans {
            guard let frame = submission.waiting.removeValue(forKey: plan.displayIndex) else {
                throw VaencError(.internalFault, "the planner names frame \(plan.displayIndex), which is not there")
            }
            do {
                let output = try state.wait { state -> CodedBuffer? in
                    if let failure = state.failure { throw failure }
                    if state.isClosed { throw Self.closed }
                    return state.idleBuffers.popLast()
                }
                let picture = try submission.submitter.submit(plan, frame, into: output)
                thread.async { self.finish(picture) }
            } catch {
                fail(error)
                throw error
            }
        }
    }

    /// Ends the session with an error. What was submitted before is still delivered, then the error, once.
    func fail(_ error: any Error) {
        let isFirst = state.withLock { state in
            guard state.failure == nil, !state.isClosed else { return false }
            state.failure = error
            return true
        }
        guard isFirst else { return }
        inputs.close(error)
        thread.async {
            self.handler(.failure(error))
            self.state.withLock { $0.failureWasDelivered = true }
        }
    }
}
