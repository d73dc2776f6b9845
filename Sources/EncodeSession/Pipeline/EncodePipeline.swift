import EncodePlanning
import Synchronization
import VAAPI
import VideoBase

/// Frames in, packets out: planning on the caller's thread, handing pictures to the device on a second, waiting for
/// them on a third. No caller makes a call on the device that could keep it.
///
/// It ends with its first failure; what it was given then belongs to whoever gave it (`Supervisor`), who makes another.
final class EncodePipeline: Sendable {
    /// What a pipeline needs to know of those before it in the session.
    struct Start: Sendable {
        /// 0 for the first.
        var generation = 0
        /// IDR pictures that were delivered before: two in a row differ in idr_pic_id (H.264 7.4.3).
        var sequenceIndex = 0
    }

    /// What all threads look at.
    struct State {
        var idleBuffers: [CodedBuffer]
        /// Pictures submitted and not yet read.
        var inFlight = 0
        /// Ends the pipeline; reported once, thrown by every later call.
        var failure: (any Error)?
        /// The failure came from handing a picture to the device: what waits for that is not handed to it any more.
        var submissionFailed = false
        /// The failure came from the device's output: what is still in flight is not waited for.
        var outputFailed = false
        var isClosed = false
    }

    /// What `encode` works on, one caller at a time.
    private struct Submission {
        var planner: FramePlanner
        /// Frames taken and not yet submitted, by display index.
        var waiting: [Int: TakenFrame] = [:]
        var nextDisplayIndex = 0
        /// How far the session's display indices are ahead of the planner's, from which frame on: they drift apart
        /// where frames were dropped.
        var offsets: [(from: Int, offset: Int)] = []
        var forcedKeys: ForcedKeys
    }

    let start: Start
    let watch: DriverCallWatchdog
    let settings: EncodeSettings
    let inputs: InputPool
    let state: Monitor<State>
    let handler: PacketHandler
    let assembler: Mutex<AccessUnitAssembler>
    let rate: RateSession
    /// How long a picture may take before the device counts as hung.
    let timeoutNanoseconds: UInt64
    private let submission: Mutex<Submission>
    /// Used on the submitting thread alone.
    let submitter: Mutex<PictureSubmitter>
    /// Hands pictures to the device.
    let submitting: DeviceThread
    /// Waits for them.
    let finishing: DeviceThread

    /// - Parameters:
    ///   - rate: goes on over the pipelines of a session.
    ///   - inputs: the pool of a pipeline before, on the same display; nil for a new one.
    ///   - codedScale: how many times larger than needed the coded buffers are.
    init(
        _ display: Display, _ settings: EncodeSettings, rate: RateSession, start: Start = Start(),
        inputs kept: InputPool? = nil, codedScale: Int = 1, timeoutNanoseconds: UInt64,
        handler: @escaping PacketHandler
    ) throws {
        let adapter = settings.adapter()
        let objects = try DeviceObjects(display, settings, inputs: kept?.surfaces, codedScale: codedScale)
        self.start = start
        watch = display.watch
        self.settings = settings
        self.rate = rate
        self.handler = handler
        self.timeoutNanoseconds = timeoutNanoseconds
        inputs = kept ?? InputPool(objects.inputs, visible: settings.inputSize)
        state = Monitor(State(idleBuffers: objects.coded))
        submission = Mutex(
            Submission(
                planner: FramePlanner(structure: settings.structure), forcedKeys: settings.forcedKeys))
        submitter = Mutex(
            PictureSubmitter(settings, adapter, objects, picturesSinceBuffering: rate.picturesSinceBuffering))
        let packsParameterSets = objects.packed.contains(.sequence)
        var assembler = AccessUnitAssembler(settings.profile.codec, adapter)
        if !packsParameterSets || settings.limits.rewritesParameterSets {
            let added = try ParameterSetProbe.run(
                settings, adapter, objects, inputs: inputs, timeoutNanoseconds: timeoutNanoseconds, &assembler)
            rate.startOver(addedBits: added * 8)
        }
        self.assembler = Mutex(assembler)
        (submitting, finishing) = try DeviceThread.pair()
        submitting.makesCalls { [weak self] in self?.fail($0) }
    }

    /// Takes a frame, and submits the pictures that it settles. Blocks while the device has all it may have.
    func encode(_ frame: TakenFrame) throws {
        try submission.withLock { submission in
            try throwIfEnded()
            let offset = frame.index - submission.nextDisplayIndex
            if submission.offsets.last?.offset != offset { submission.offsets.append((frame.index, offset)) }
            submission.waiting[submission.nextDisplayIndex] = frame
            submission.nextDisplayIndex += 1
            let isForced = submission.forcedKeys.take(frame.index, at: frame.timing.presentation)
            let options = frame.options
            try submit(
                submission.planner.add(
                    FrameRequest(
                        forceKey: isForced || options.forceKeyFrame, refreshFromLongTerm: options.refreshFromLongTerm,
                        acknowledgedTokens: options.acknowledgedTokens)), &submission)
        }
    }

    /// Submits the frames up to that time (nil: all) that wait for later ones.
    func flush(until time: MediaTime?) throws {
        try submission.withLock { submission in
            let waits = submission.waiting.values.contains { frame in time.map { frame.timing.presentation <= $0 } ?? true }
            let hasEnded = state.withLock { $0.failure != nil || $0.isClosed }
            if waits, !hasEnded { try submit(submission.planner.finish(), &submission) }
        }
    }

    /// Nothing planned from now on predicts from these frames, nor from what does. Frames that wait for later ones are
    /// planned anew.
    func invalidateReferences(_ displayIndices: [Int]) throws {
        try submission.withLock { submission in
            try throwIfEnded()
            let own = displayIndices.compactMap { index in
                submission.offsets.last { $0.from <= index }.map { index - $0.offset }
            }
            submission.planner.invalidate(displayIndices: own)
        }
    }

    /// Has every frame taken submitted; the next one is a key frame.
    func restart() throws {
        try submission.withLock { submission in
            try throwIfEnded()
            try submit(submission.planner.restart(), &submission)
        }
    }

    /// Takes no more frames, and reports nothing any more. Does not wait.
    func refuse() { state.withLock { $0.isClosed = true } }

    /// Ends the pipeline; returns when the device is done with what it has. Nothing is reported afterwards.
    func close() {
        refuse()
        submitting.sync {}
        finishing.sync {}
    }

    func throwIfEnded() throws {
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            if state.isClosed { throw Self.closed }
        }
    }

    static var closed: VaencError { VaencError(.usage, "the session was invalidated", remedy: "make a new one") }

    // MARK: Submission

    private func submit(_ plans: [FramePlan], _ submission: inout Submission) throws {
        for var plan in plans {
            plan.sequenceIndex += start.sequenceIndex
            do {
                guard let frame = submission.waiting.removeValue(forKey: plan.displayIndex) else {
                    throw VaencError(.internalFault, "the planner names frame \(plan.displayIndex), which is not there")
                }
                let output = try state.wait { state -> CodedBuffer? in
                    if let failure = state.failure { throw failure }
                    if state.isClosed { throw Self.closed }
                    guard state.inFlight == 0 || !rate.isSerial, let buffer = state.idleBuffers.popLast() else { return nil }
                    state.inFlight += 1
                    return buffer
                }
                let decision = rate.decide(plan)
                submitting.async { [plan] in self.submit(plan, frame, decision, into: output) }
            } catch {
                fail(error)
                throw error
            }
        }
    }

    /// Ends the pipeline with an error. What was submitted before is still delivered, then the error, once.
    func fail(_ error: any Error) {
        let isFirst = state.withLock { state in
            guard state.failure == nil, !state.isClosed else { return false }
            state.failure = error
            return true
        }
        guard isFirst else { return }
        submitting.async {
            self.finishing.async {
                if self.state.withLock({ $0.isClosed }) { return }
                self.handler(.failure(error))
            }
        }
    }
}
