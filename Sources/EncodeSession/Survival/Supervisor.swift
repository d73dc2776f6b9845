import EncodePlanning
import Synchronization
import VAAPI
import VideoBase

/// Keeps a session going over faults of its device.
///
/// It owns what must outlive a fault: the frames taken, in their surfaces, until their packets are delivered; the
/// order and times of packets; the counts. What may fail is the pipeline: the device's objects, the plan, the pictures
/// in flight. When it fails it is made anew, on the same display first and then on a new one, and begins with a key
/// frame of the first frame that was not delivered.
final class Supervisor: Sendable {
    enum Phase {
        case running
        /// The pipeline of this generation failed.
        case recovering(Int)
        /// Delivered once, thrown by every later call.
        case failed(any Error)
        case closed
    }

    struct State {
        var phase = Phase.recovering(-1)
        var generation = 0
        var pipeline: EncodePipeline?
        var pool: InputPool?
        var display: Display
        var pending = PendingFrames()
        var decodeTimes: DecodeTimes
        var statistics = EncoderStatistics()
        var failuresInARow = 0
        var lastFault: (any Error)?
        var failureWasDelivered = false
        var nextCodingIndex = 0
        /// IDR pictures delivered: the next differs from the last in idr_pic_id.
        var sequences = 0
        /// The display is of no use any more.
        var reopens = false
        /// How many times larger than needed coded buffers are: drivers' wants differ.
        var codedScale = 1
        /// What pipelines are made with.
        var settings: EncodeSettings
        var hints = OptionalSettingsFallback()
        /// Times up to which callers wait for packets; nil for all.
        var awaited: [MediaTime?] = []
    }

    /// What `encode` works on, one caller at a time.
    struct Submission {
        var nextIndex = 0
        /// Of the latest frames, as many as `maxFrameDelay` reaches back over, the latest last.
        var presentations: [MediaTime] = []
    }

    let settings: EncodeSettings
    let limits: SurvivalLimits
    let rate: RateSession
    /// Makes pictures fit that callers bring on the device.
    let fitting = Mutex(DeviceFitting())
    let state: Monitor<State>
    let submission = Mutex(Submission())
    /// Held while packets go out, so that they keep their order over a rebuild.
    private let delivery = Mutex(())
    private let handler: PacketHandler
    private let recovery: DeviceThread

    /// Makes the first pipeline, in as many tries as `limits` says.
    init(
        _ display: Display, _ settings: EncodeSettings, limits: SurvivalLimits, handler: @escaping PacketHandler
    ) throws {
        self.settings = settings
        rate = RateSession(settings)
        self.limits = limits
        self.handler = handler
        recovery = try DeviceThread()
        state = Monitor(
            State(
                display: display,
                decodeTimes: DecodeTimes(depth: settings.structure.reorderDepth, frameRate: settings.frameRate),
                settings: settings))
        try install(try makePipeline(generation: 0, reopens: false, stopsAtRefusals: true), generation: 0)
        state.withLock { $0.phase = .running }
    }

    /// The parameter sets that the stream carries.
    var parameterSets: [[UInt8]] {
        get throws { try admitted { pipeline, _ in pipeline.assembler.withLock { $0.parameterSets } } }
    }

    var display: Display { state.withLock { $0.display } }

    /// What was asked for and what is used, also where that changed on the way.
    var effective: [EffectiveEntry] { rate.changed(state.withLock { $0.settings.effective }) }

    // MARK: Callers

    /// Takes a frame. Blocks while the device has all it may have, and while it is made anew.
    func encode(_ buffer: any PixelBuffer, timing: FrameTiming, options: FrameOptions) throws {
        try state.withLock { try $0.throwIfEnded() }
        try options.check(settings.inputSize)
        // What is refused here leaves the buffer as it was.
        try admitted { _, submission in try submission.check(timing) }
        let given = try frame(of: buffer, timing: timing, options: options)
        var place: Place?
        while place == nil { place = try take(given, timing) }
        if let place, let due = place.due { try wait(until: due, for: place.index) }
    }

    /// Where a frame stands that was taken.
    private struct Place {
        var index: Int
        /// The time up to which packets must be out before the next frame is taken; nil for none.
        var due: MediaTime?
    }

    /// Gives nil where the device was reinitialized in between.
    ///
    /// - Parameter given: nil for a picture that was lost with its device: it counts as taken and dropped.
    private func take(_ given: TakenFrame?, _ timing: FrameTiming) throws -> Place? {
        // The device may have been reinitialized since the buffer was filled.
        let current = try given.flatMap { try inCurrentSurface($0) }
        return try admitted { pipeline, submission -> Place? in
            if let current, !current.isAtHome(in: pipeline.inputs) {
                if current.pool !== given?.pool { current.pool?.giveBack(current.input) }
                return nil
            }
            do { try submission.check(timing) } catch {
                // Another caller's frame came in between.
                if let current { current.pool?.giveBack(current.input) }
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
            return Place(index: index, due: submission.due(settings.maxFrameDelay))
        }
    }

    /// Has the frames taken so far, up to that time (nil: all), encoded, and waits for their packets.
    func complete(until time: MediaTime?) throws {
        state.withLock { $0.awaited.append(time) }
        defer {
            state.withLock { state in
                if let index = state.awaited.firstIndex(of: time) { state.awaited.remove(at: index) }
            }
        }
        let hasEnded = state.withLock { $0.isEnded }
        // Frames that are taken while this waits are not its own: they may wait for others after them.
        var end = Int.max
        if !hasEnded {
            end = try admitted { pipeline, submission in
                // A fault comes back through the handler, and is dealt with there.
                flush(pipeline, until: time)
                return submission.nextIndex
            }
        }
        try wait(until: time, before: end)
    }

    /// - Parameter frame: the caller's own: where its packet comes out, all is well, whatever becomes of the session.
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

    /// Runs `body` alone with a pipeline that has not failed yet. Blocks while there is none.
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

    /// Ends the session; returns when the device is done with what it has.
    func close() {
        let (pool, running) = state.withLock { state in
            // A session that fails just now counts its frames itself.
            if !state.isEnded {
                state.phase = .closed
                state.statistics.dropped += state.pending.dropUnsettled()
            }
            return (state.pool, state.pipeline)
        }
        pool?.close(EncodePipeline.closed)
        // A recovery that hands frames to it may wait for room, which comes when the handler returns: this call may be made in there.
        running?.refuse()
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

    /// Nothing coded from now on predicts from these frames.
    func invalidateReferences(_ displayIndices: [Int]) throws {
        try admitted { pipeline, _ -> Void in
            // A pipeline that has ended predicts from nothing any more.
            do { try pipeline.invalidateReferences(displayIndices) } catch {}
        }
    }

    /// From the next picture that is planned on.
    func change(_ change: RunningChange) throws {
        try state.withLock { try $0.throwIfEnded() }
        try rate.change(change)
    }

    /// Delivers what was taken; the next frame is a key frame.
    func refresh() throws {
        try complete(until: nil)
        try admitted { pipeline, _ -> Void in
            // A fault on the way is dealt with by the handler: the pipeline in its place begins with a key frame.
            do { try pipeline.restart() } catch {}
        }
    }

    var statistics: EncoderStatistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.pending = state.pending.count
            statistics.driverRates = rate.told
            (statistics.broken, statistics.limitsBroken) = rate.broken
            return statistics
        }
    }

    var pendingCount: Int { state.withLock { $0.pending.count } }

    // MARK: What pipelines report

    func receive(_ result: Result<EncodedPacket, any Error>, generation: Int) {
        switch result {
        case .success(let packet): deliver(packet, generation: generation)
        case .failure(let error): fault(error, generation: generation)
        }
    }

    private func deliver(_ packet: EncodedPacket, generation: Int) {
        let done = delivery.withLock { _ in
            let group = state.withLock { state in
                guard generation == state.generation, !state.isEnded else { return [EncodedPacket]() }
                let group = state.pending.take(packet)
                rate.delivered(group.count)
                if !group.isEmpty { state.failuresInARow = 0 }
                state.hints.delivered()
                return group
            }
            return send(group, generation: generation)
        }
        for frame in done { frame.giveBack() }
    }

    /// Only with `delivery` held.
    ///
    /// - Returns: the frames that are done.
    private func send(_ group: [EncodedPacket], generation: Int) -> [TakenFrame] {
        group.compactMap { packet in
            var packet = packet
            state.withLock { state in
                packet.codingIndex = state.nextCodingIndex
                packet.decode = state.decodeTimes.next() ?? packet.presentation
                packet.acknowledgementToken = packet.acknowledgementToken.map { $0 + generation << 32 }
                state.nextCodingIndex += 1
                if packet.isKey { state.sequences += 1 }
            }
            DeviceThread.lent { handler(.success(packet)) }
            return state.withLock { state in
                state.statistics.delivered += 1
                return state.pending.remove(packet.displayIndex)
            }
        }
    }

    func fault(_ error: any Error, generation: Int) {
        var error = error
        let recovers: Bool? = state.withLock { state in
            guard generation == state.generation, !state.isEnded else { return nil }
            state.failuresInARow += 1
            state.lastFault = error
            guard error.isDeviceFault, state.failuresInARow < limits.failuresInARow else { return false }
            if error is OutputOverflow {
                guard state.failuresInARow < OutputOverflow.tries else { return false }
                if state.codedScale < 8 { state.codedScale *= 2 }
            }
            if state.hints.failed(error), state.settings.hasHints {
                if settings.isStrict {
                    error = OptionalSettingsFallback.strictError(error)
                    return false
                }
                state.settings = state.settings.withoutHints
            }
            state.phase = .recovering(generation)
            return true
        }
        switch recovers {
        case true?: recovery.async { [weak self] in self?.recover(generation) }
        case false?: end(error)
        case nil: break
        }
    }

    /// Ends the session with an error. Packets that are there go out before it.
    func end(_ cause: any Error) {
        let error = describe(cause)
        delivery.withLock { _ in
            let (pool, held, generation) = state.withLock { state -> (InputPool?, [EncodedPacket]?, Int) in
                guard !state.isEnded else { return (nil, nil, 0) }
                state.phase = .failed(error)
                return (state.pool, state.pending.takeHeld(), state.generation)
            }
            guard let held else { return }
            pool?.close(error)
            _ = send(held, generation: generation)
            state.withLock { $0.statistics.dropped += $0.pending.dropUnsettled() }
            DeviceThread.lent { handler(.failure(error)) }
            state.withLock { $0.failureWasDelivered = true }
        }
    }
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
    /// Frames come in the order in which they are shown.
    func check(_ timing: FrameTiming) throws {
        guard let last = presentations.last, timing.presentation <= last else { return }
        throw VaencError(
            .usage, "frame \(nextIndex) at \(timing.presentation.seconds) s is not after the one before",
            remedy: "give frames in the order in which they are shown")
    }

    /// The time up to which packets must be out before the next frame is taken; nil for none.
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
