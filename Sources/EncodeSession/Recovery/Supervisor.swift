import EncodePlanning
import Synchronization
import Threads
import VAAPI
import VideoBase

/// Continues a session after faults of its device.
///
/// The supervisor owns everything that must outlive a fault: the frames in their surfaces until their packets are
/// delivered, the order and times of packets, and the counts. Only the pipeline may fail: the device objects, the plan,
/// and the pictures in flight. If the pipeline fails, it is reinitialized, first on the same display and then on a new
/// one. It restarts with a key frame at the first frame that was not delivered.
final class Supervisor: Sendable {
    enum Phase {
        case running
        /// The pipeline of this generation failed.
        case recovering(Int)
        /// The error was delivered once and is thrown by every later call.
        case failed(any Error)
        case closed
    }

    struct State {
        var phase = Phase.recovering(-1)
        var generation = 0
        var pipeline: EncodePipeline?
        var pool: InputPool?
        /// Replaces the pool of a buffer; nil before the first buffer.
        var renewal: InputBuffer.Renewal?
        var display: Display
        var pending = PendingFrames()
        var decodeTimes: DecodeTimes
        var statistics = EncoderStatistics()
        var failuresInARow = 0
        var failureWasDelivered = false
        var nextCodingIndex = 0
        /// The number of IDR pictures delivered. The next IDR picture differs from the last in idr_pic_id.
        var sequences = 0
        /// Whether the display is no longer usable.
        var reopens = false
        /// The factor by which coded buffers exceed their required size: drivers need different sizes.
        var codedScale = 1
        /// The settings of new pipelines.
        var settings: EncodeSettings
        var optionalSettings = OptionalSettingsFallback()
        /// The memory of the input surfaces; nil before the first pipeline.
        var inputMemory: InputMemory?
        /// The times up to which callers wait for packets; nil for all.
        var awaited: [MediaTime?] = []
    }

    /// The state of `encode`, which serves one caller at a time.
    struct Submission {
        var nextIndex = 0
        /// The presentation times of the latest frames that `maxFrameDelay` covers, the latest last.
        var presentations: [MediaTime] = []
    }

    let settings: EncodeSettings
    let limits: RecoveryLimits
    let rate: RateSession
    /// Converts pictures that callers provide on the device.
    let fitting = Mutex(DeviceFitting())
    /// Converts pictures in memory that cannot be copied; nil if they are rejected.
    let conversion: (any PictureConversion)?
    let state: Monitor<State>
    let submission = Mutex(Submission())
    /// The lock that is held while packets are delivered, so that they keep their order over a recovery.
    let delivery = Mutex(())
    let handler: PacketHandler
    let recovery: DeviceThread

    /// Creates the first pipeline, in as many attempts as `limits` allows.
    init(
        _ display: Display, _ settings: EncodeSettings, limits: RecoveryLimits,
        conversion: (any PictureConversion)? = nil, handler: @escaping PacketHandler
    ) throws {
        self.settings = settings
        rate = RateSession(settings)
        self.limits = limits
        self.conversion = conversion
        self.handler = handler
        recovery = try DeviceThread("vaenc-recover")
        state = Monitor(
            State(
                display: display,
                decodeTimes: DecodeTimes(depth: settings.structure.reorderDepth, frameRate: settings.frameRate),
                settings: settings))
        try install(try makePipeline(generation: 0, reopens: false, stopsAtRefusals: true))
        state.withLock { $0.phase = .running }
    }

    /// The parameter sets that the stream carries.
    var parameterSets: [[UInt8]] {
        get throws { try admitted { pipeline, _ in pipeline.assembler.withLock { $0.parameterSets } } }
    }

    var display: Display { state.withLock { $0.display } }

    /// The requested and used options, including changes since the start.
    var effective: [EffectiveEntry] {
        let (effective, memory) = state.withLock { ($0.settings.effective, $0.inputMemory) }
        return rate.changed(effective) + (memory.map { [$0.entry] } ?? [])
    }

    // MARK: Callers

    /// Accepts a frame. Blocks while the maximum number of pictures is in flight and while the device is reinitialized.
    func encode(_ buffer: any PixelBuffer, timing: FrameTiming, options: FrameOptions) throws {
        try state.withLock { try $0.throwIfEnded() }
        try options.check(settings.inputSize)
        // A rejection here leaves the buffer unchanged.
        try admitted { _, submission in try submission.check(timing) }
        let given = try frame(of: buffer, timing: timing, options: options)
        var admission: Admission?
        while admission == nil { admission = try take(given, timing) }
        if let admission, let due = admission.due { try wait(until: due, for: admission.index) }
    }

    /// Counts a frame as accepted and dropped. Blocks while the device is reinitialized.
    func drop(_ timing: FrameTiming) throws {
        try state.withLock { try $0.throwIfEnded() }
        _ = try take(nil, timing)
    }

    /// The index of a frame that was accepted, and the wait that it requires.
    private struct Admission {
        var index: Int
        /// The time up to which packets must be delivered before the next frame is accepted; nil for none.
        var due: MediaTime?
    }

    /// Accepts a frame. Returns nil if the device was reinitialized in between.
    ///
    /// - Parameter given: The frame; nil for a picture that was lost with its device, which counts as accepted and
    ///   dropped.
    private func take(_ given: TakenFrame?, _ timing: FrameTiming) throws -> Admission? {
        // The device may have been reinitialized since the buffer was filled.
        let current = try given.flatMap { try inCurrentSurface($0) }
        return try admitted { pipeline, submission -> Admission? in
            if let current, !current.isUsable(in: pipeline.inputs) {
                if current.pool !== given?.pool { current.pool?.recycle(current.input) }
                return nil
            }
            do { try submission.check(timing) } catch {
                // A frame of another caller was accepted in between.
                if let current { current.pool?.recycle(current.input) }
                throw error
            }
            var frame = current
            let index = submission.nextIndex
            frame?.index = index
            submission.nextIndex += 1
            submission.presentations.append(timing.presentation)
            state.withLock { state in
                state.statistics.taken += 1
                guard let frame else { return state.statistics.dropped += 1 }
                state.pending.add(frame)
                state.decodeTimes.add(timing.presentation)
            }
            if let frame { submit([frame], to: pipeline) }
            return Admission(index: index, due: submission.due(settings.maxFrameDelay))
        }
    }

    /// Encodes the frames accepted so far, up to that time (nil: all), and blocks until their packets are delivered.
    func complete(until time: MediaTime?) throws {
        state.withLock { $0.awaited.append(time) }
        defer {
            state.withLock { state in
                if let index = state.awaited.firstIndex(of: time) { state.awaited.remove(at: index) }
            }
        }
        let hasEnded = state.withLock { $0.isEnded }
        // Do not wait for frames that are accepted meanwhile: they may wait for later frames.
        var end = Int.max
        if !hasEnded {
            end = try admitted { pipeline, submission in
                // A fault is reported through the handler and handled there.
                flush(pipeline, until: time)
                return submission.nextIndex
            }
        }
        try wait(until: time, before: end)
    }

    /// Blocks until the packets of the frames up to that time are delivered.
    ///
    /// - Parameters:
    ///   - end: The index of the first frame that is not waited for.
    ///   - frame: The caller's own frame. If its packet is delivered, the call succeeds even if the session has ended.
    private func wait(until time: MediaTime?, before end: Int = .max, for frame: Int? = nil) throws {
        try state.wait { state -> Void? in
            if let frame, state.isEnded {
                if state.pending.wasDelivered(frame) == true { return () }
                if state.pending.isLeaving(frame) { return nil }
            }
            if case .failed(let error) = state.phase {
                if state.failureWasDelivered { throw error }
                return nil
            }
            if case .closed = state.phase { throw EncodePipeline.closed }
            return state.pending.contains(until: time, before: end) ? nil : ()
        }
    }

    /// Runs `body` exclusively with a pipeline that has not failed yet. Blocks while there is none.
    func admitted<R: Sendable>(_ body: (EncodePipeline, inout Submission) throws -> R) throws -> R {
        while true {
            try state.wait { state -> Void? in
                try state.throwIfEnded()
                return state.runningPipeline == nil ? nil : ()
            }
            let result: R? = try submission.withLock { submission in
                let current = try state.withLock { state -> EncodePipeline? in
                    try state.throwIfEnded()
                    return state.runningPipeline
                }
                guard let current else { return nil }
                return try body(current, &submission)
            }
            if let result { return result }
        }
    }

    /// Ends the session. Blocks until the device has finished its work.
    func close() {
        let (pool, running) = state.withLock { state in
            // A session that is failing at this moment counts its frames itself.
            if !state.isEnded {
                state.phase = .closed
                state.statistics.dropped += state.pending.dropUnsettled()
            }
            return (state.pool, state.pipeline)
        }
        pool?.close(EncodePipeline.closed)
        // A recovery that submits frames to the pipeline may wait for room. Room comes when the handler returns, and
        // the handler may be the caller of this function.
        running?.stopAccepting()
        recovery.sync {}
        let pipeline = state.withLock { state in
            defer { state.pipeline = nil }
            return state.pipeline
        }
        pipeline?.close()
        state.withLock { state in
            state.phase = .closed
            state.statistics.dropped += state.pending.dropUnsettled()
            state.pool = nil
        }
    }

    /// Excludes these frames from the references of all pictures coded from now on.
    func invalidateReferences(_ displayIndices: [Int]) throws {
        try admitted { pipeline, _ -> Void in
            // A pipeline that has ended predicts from no picture any more.
            do { try pipeline.invalidateReferences(displayIndices) } catch {}
        }
    }

    /// Applies a change from the next planned picture on.
    func change(_ change: RunningChange) throws {
        try state.withLock { try $0.throwIfEnded() }
        try rate.change(change)
    }

    /// Delivers all frames accepted. The next frame is a key frame.
    func refresh() throws {
        try complete(until: nil)
        try admitted { pipeline, _ -> Void in
            // The handler deals with a fault. The next pipeline begins with a key frame anyway.
            do { try pipeline.restart() } catch {}
        }
    }

    var statistics: EncoderStatistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.pending = state.pending.count
            statistics.driverRates = rate.driverRates
            (statistics.broken, statistics.limitsBroken) = rate.broken
            return statistics
        }
    }

    var pendingCount: Int { state.withLock { $0.pending.count } }
}

extension Supervisor.State {
    var runningPipeline: EncodePipeline? {
        if case .running = phase { pipeline } else { nil }
    }

    var isClosed: Bool {
        if case .closed = phase { true } else { false }
    }

    var isEnded: Bool {
        switch phase {
        case .running, .recovering: false
        case .failed, .closed: true
        }
    }

    func throwIfEnded() throws {
        switch phase {
        case .running, .recovering: break
        case .failed(let error): throw error
        case .closed: throw EncodePipeline.closed
        }
    }
}

extension Supervisor.Submission {
    /// Checks that frames arrive in display order.
    func check(_ timing: FrameTiming) throws {
        guard let last = presentations.last, timing.presentation <= last else { return }
        throw VaencError(
            .usage, "frame \(nextIndex) at \(timing.presentation.seconds) s is not after the previous frame",
            remedy: "encode frames in presentation order")
    }

    /// Returns the time up to which packets must be delivered before the next frame is accepted; nil for none.
    mutating func due(_ maxFrameDelay: Int?) -> MediaTime? {
        guard let delay = maxFrameDelay else {
            presentations.removeFirst(presentations.count - 1)
            return nil
        }
        guard presentations.count > delay else { return nil }
        presentations.removeFirst(presentations.count - max(delay + 1, 1))
        return presentations[0]
    }
}
