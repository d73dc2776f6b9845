import EncodePlanning
import Synchronization
import Threads
import VAAPI
import VideoBase

/// Encodes frames into packets. Planning runs on the caller's thread. Two other threads submit pictures and wait for the
/// device: usually one of them does both, and the other one submits while the first is in the device or in a handler
/// (`PipelineState`). Callers make no device call that could block them.
///
/// The pipeline ends with its first failure. Its frames then belong to the `Supervisor` that submitted them, which
/// creates another pipeline.
final class EncodePipeline: Sendable {
    /// The state that a pipeline takes over from earlier pipelines of the session.
    struct Start: Sendable {
        /// The number of the pipeline in the session; 0 for the first one.
        var generation = 0
        /// The number of IDR pictures delivered before. Two consecutive IDR pictures differ in idr_pic_id (H.264
        /// 7.4.3).
        var sequenceIndex = 0
    }

    /// The state of `encode`, which serves one caller at a time.
    private struct Submission {
        var planner: FramePlanner
        /// The frames accepted and not submitted yet, by the planner's display index.
        var waiting: [(displayIndex: Int, frame: TakenFrame)] = []
        var nextDisplayIndex = 0
        /// The session's display index minus the planner's, and the first frame it applies to. Each dropped frame
        /// changes it.
        var offsets: [(from: Int, offset: Int)] = []
        var forcedKeys: ForcedKeys
    }

    let start: Start
    let watch: DriverCallWatchdog
    let settings: EncodeSettings
    let inputs: InputPool
    let inputMemory: InputMemory
    let state: Monitor<PipelineState>
    let handler: PacketHandler
    let assembler: Mutex<AccessUnitAssembler>
    let rate: RateSession
    /// The time that a picture may take before the device counts as hung.
    let timeoutNanoseconds: UInt64
    private let submission: Mutex<Submission>
    /// The submitter of pictures. One thread at a time uses it: the one for which `PipelineState` has set `isSubmitting`.
    let submitter: Mutex<PictureSubmitter>
    /// The thread that submits pictures to the device.
    let submitting: DeviceThread
    /// The thread that waits for pictures.
    let finishing: DeviceThread

    /// Creates the device objects. Blocks while the driver works.
    ///
    /// - Parameters:
    ///   - rate: The rate control, which continues over the pipelines of a session.
    ///   - kept: The input pool of an earlier pipeline on the same display; nil creates a new one.
    ///   - codedScale: The factor by which the coded buffers exceed their required size.
    init(
        _ display: Display, _ settings: EncodeSettings, rate: RateSession, start: Start = Start(),
        inputs kept: InputPool? = nil, codedScale: Int = 1, timeoutNanoseconds: UInt64,
        handler: @escaping PacketHandler
    ) throws {
        let adapter = try settings.adapter()
        let objects = try DeviceObjects(display, settings, inputs: kept?.surfaces, codedScale: codedScale)
        self.start = start
        watch = display.watch
        self.settings = settings
        self.rate = rate
        self.handler = handler
        self.timeoutNanoseconds = timeoutNanoseconds
        inputMemory = objects.inputMemory
        inputs = kept ?? InputPool(objects.inputs, visible: settings.inputSize)
        state = Monitor(
            PipelineState(
                idleBuffers: objects.coded, queueDepth: settings.queueDepth, isSerial: rate.isSerial,
                isAwaited: settings.maxFrameDelay != nil))
        submission = Mutex(
            Submission(
                planner: FramePlanner(structure: settings.structure), forcedKeys: settings.forcedKeys))
        submitter = Mutex(
            PictureSubmitter(
                settings, adapter: adapter, objects: objects, picturesSinceBuffering: rate.picturesSinceBuffering))
        let packsParameterSets = objects.packed.contains(.sequence)
        var assembler = AccessUnitAssembler(settings.profile.codec, adapter)
        if !packsParameterSets || settings.limits.rewritesParameterSets {
            let added = try ParameterSetProbe.run(
                settings, adapter: adapter, objects: objects, inputs: inputs, timeoutNanoseconds: timeoutNanoseconds,
                assembler: &assembler)
            rate.startOver(addedBits: added * 8)
        }
        self.assembler = Mutex(assembler)
        (submitting, finishing) = try DeviceThread.pair("vaenc-gpu")
        submitting.makesCalls { [weak self] error in
            // The lost thread may be the one that submits pictures.
            self?.state.withLock { $0.submissionFailed = true }
            self?.fail(error)
        }
    }

    /// Accepts a frame and submits the pictures that it settles. Blocks while the maximum number of pictures is in
    /// flight.
    func encode(_ frame: TakenFrame) throws {
        try submission.withLock { submission in
            try throwIfEnded()
            let offset = frame.index - submission.nextDisplayIndex
            if submission.offsets.last?.offset != offset { submission.offsets.append((frame.index, offset)) }
            submission.waiting.append((submission.nextDisplayIndex, frame))
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

    /// Submits the frames up to that time (nil: all) that wait for later frames.
    func flush(until time: MediaTime?) throws {
        try submission.withLock { submission in
            let waits = submission.waiting.contains { _, frame in time.map { frame.timing.presentation <= $0 } ?? true }
            let hasEnded = state.withLock { $0.failure != nil || $0.isClosed }
            if waits, !hasEnded { try submit(submission.planner.finish(), &submission) }
            // The handler may block, and no later frame may come.
            if state.withLockWithoutNotifying({ $0.beginSubmitting() }) {
                submitting.async { self.submitPictures() }
            } else {
                submitting.hurry()
            }
        }
    }

    /// Excludes these frames, and the pictures that depend on them, from the references of all pictures planned from
    /// now on. Frames that wait for later frames are planned after this call.
    func invalidateReferences(_ displayIndices: [Int]) throws {
        try submission.withLock { submission in
            try throwIfEnded()
            let own = displayIndices.compactMap { index in
                submission.offsets.last { $0.from <= index }.map { index - $0.offset }
            }
            submission.planner.invalidate(displayIndices: own)
        }
    }

    /// Makes the next frame a key frame. Frames that wait for later frames are planned again: the first of them becomes
    /// the key frame.
    func restart() throws {
        try submission.withLock { submission in
            try throwIfEnded()
            try submit(submission.planner.restart(), &submission)
        }
    }

    /// Accepts no more frames and reports nothing any more. Does not block.
    func stopAccepting() {
        state.withLock { $0.isClosed = true }
        discardQueue()
    }

    /// Releases the pictures that will not be submitted.
    private func discardQueue() {
        let discarded = state.withLock { $0.takeDiscarded() }
        _ = consume discarded
    }

    /// Ends the pipeline. Blocks until the device has finished its work. Nothing is reported afterwards.
    func close() {
        stopAccepting()
        submitting.sync {}
        // The finishing thread may submit one more picture before this call and finish it afterwards.
        finishing.sync {}
        finishing.sync {}
    }

    func throwIfEnded() throws { try state.withLockWithoutNotifying { try $0.throwIfEnded() } }

    static var closed: VaencError { VaencError(.usage, "the session was invalidated", remedy: "create a new session") }

    // MARK: Submission

    private func submit(_ plans: [FramePlan], _ submission: inout Submission) throws {
        for var plan in plans {
            plan.sequenceIndex += start.sequenceIndex
            do {
                guard let position = submission.waiting.firstIndex(where: { $0.displayIndex == plan.displayIndex }) else {
                    throw VaencError(.internalFault, "frame \(plan.displayIndex) of the plan is missing")
                }
                let frame = submission.waiting.remove(at: position).frame
                try state.waitWithoutNotifying { try $0.waitForRoom() }
                let job = PictureJob(plan, frame: frame, decision: rate.decide(plan))
                switch state.withLockWithoutNotifying({ $0.add(job) }) {
                case .nothing: break
                case .submit(let isUrgent): submitting.async(isUrgent: isUrgent) { self.submitPictures() }
                case .hurry: submitting.hurry()
                }
            } catch {
                fail(error)
                throw error
            }
        }
    }

    /// Ends the pipeline with an error. Pictures planned before are still delivered, then the error is reported once.
    func fail(_ error: any Error) {
        let isFirst = state.withLock { $0.fail(error) }
        discardQueue()
        if isFirst { submitting.async { self.reportFailure() } }
    }

    /// Reports the failure after the packets of the pictures that were planned before it. Does nothing while some of them
    /// are not submitted.
    func reportFailure() {
        guard let failure = state.withLockWithoutNotifying({ $0.takeFailure() }) else { return }
        finishing.async {
            if self.state.withLock({ $0.isClosed }) { return }
            self.handler(.failure(failure))
        }
    }
}
