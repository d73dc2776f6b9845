import EncodePlanning
import Synchronization
import Threads
import VAAPI
import VideoBase

extension Supervisor {
    /// Replaces the failed pipeline and encodes again the frames that were not delivered. Runs on the recovery thread.
    func recover(_ failed: Int) {
        submission.withLock { _ in
            let old: (pipeline: EncodePipeline?, reopens: Bool)? = state.withLock { state in
                guard case .recovering(failed) = state.phase else { return nil }
                defer { state.pipeline = nil }
                let isLost = state.pending.unsettled.contains { $0.isLost }
                return (state.pipeline, state.reopens || isLost || state.failuresInARow > 1)
            }
            guard let old else { return }
            old.pipeline?.close()
            rate.restart()
            let generation = failed + 1
            state.withLock { state in
                state.generation = generation
                state.pending.forgetHeld()
                state.statistics.rebuilds += 1
            }
            do {
                let replacement = try makePipeline(
                    generation: generation, reopens: old.reopens, stopsAtRefusals: false)
                try install(replacement)
                let frames = state.withLock { state in
                    state.statistics.retried += state.pending.unsettled.count
                    return state.pending.unsettled
                }
                submit(frames, to: replacement.pipeline)
                flushAwaited(replacement.pipeline)
            } catch {
                return end(error)
            }
            state.withLock { state in
                // The new pipeline may have failed in the meantime. Then its own recovery is in progress.
                if case .recovering(failed) = state.phase { state.phase = .running }
            }
        }
    }

    /// Submits frames to a pipeline. A fault is reported through the handler and ends the call.
    func submit(_ frames: [TakenFrame], to pipeline: EncodePipeline) {
        let generation = pipeline.start.generation
        for frame in frames {
            let tokens = frame.options.acknowledgedTokens
            let own = tokens.filter { $0 >> 32 == generation }.map { $0 & 0xffff_ffff }
            do { try pipeline.encode(tokens.isEmpty ? frame : frame.acknowledging(own)) } catch { return }
        }
    }

    private func flushAwaited(_ pipeline: EncodePipeline) {
        // Copy the array. With a shared array, the thread sanitizer cannot see that the last read precedes the next
        // change.
        for time in state.withLock({ $0.awaited.map { $0 } }) { flush(pipeline, until: time) }
    }

    /// Flushes a pipeline. A fault is reported through the handler and handled there.
    func flush(_ pipeline: EncodePipeline, until time: MediaTime?) {
        do { try pipeline.flush(until: time) } catch {}
    }

    /// Returns the error that ends the session: the device failed repeatedly, whatever a single status means.
    func describe(_ error: any Error) -> any Error {
        guard let error = error as? VAError else { return error }
        let rebuilds = state.withLock { $0.statistics.rebuilds }
        let advice = error.isNoMemory ? VaencError.memoryRemedy : "see `dmesg`" + VaencError.orSoftware
        return error.endingSession(remedy: rebuilds > 0 ? "the device was reinitialized \(rebuilds) times; \(advice)" : advice)
    }

    struct Replacement: Sendable {
        var pipeline: EncodePipeline
        var display: Display
        /// The frames to encode, in surfaces of the pipeline's pool.
        var frames: [TakenFrame]
    }

    /// Creates the device objects in a few attempts with growing pauses. From the second attempt on, it uses a new
    /// display.
    ///
    /// - Parameters:
    ///   - reopens: Whether the first attempt uses a new display too.
    ///   - stopsAtRefusals: Whether requests that the device rejects are not retried.
    func makePipeline(generation: Int, reopens: Bool, stopsAtRefusals: Bool) throws -> Replacement {
        var failure: any Error = EncodePipeline.closed
        for attempt in 0..<limits.setUpTries {
            if attempt > 0 { try pause(attempt) }
            do {
                return try makeOnce(generation: generation, reopens: reopens || attempt > 0)
            } catch {
                failure = error
                if !error.isDeviceFault { throw error }
                if stopsAtRefusals, error.isRefusal { throw error }
            }
        }
        throw failure.afterTries
    }

    private func makeOnce(generation: Int, reopens: Bool) throws -> Replacement {
        let (old, pool, frames, start, scale, settings) = state.withLock { state in
            (
                state.display, state.pool, state.pending.unsettled,
                EncodePipeline.Start(generation: generation, sequenceIndex: state.sequences), state.codedScale,
                state.settings
            )
        }
        let display = reopens ? (try old.reopened() ?? old) : old
        display.watch.limitNanoseconds = limits.pictureNanoseconds
        let isRefused = settings.refusedMemory != nil && pool?.surfaces.first?.directMemory != nil
        let kept = display === old && !isRefused ? pool : nil
        let limits = limits
        let handler: PacketHandler = { [weak self] in self?.receive($0, generation: generation) }
        return try display.watch.run("creating the encoder", on: "\(settings.grid.coded) pictures", scale: .setUp) {
            [rate] in
            let pipeline = try EncodePipeline(
                display, settings, rate: rate, start: start, inputs: kept, codedScale: scale,
                timeoutNanoseconds: limits.pictureNanoseconds, handler: handler)
            let moved =
                kept != nil
                ? frames.filter { !$0.isLost } : frames.compactMap { FrameMigration.move($0, to: pipeline.inputs) }
            return Replacement(pipeline: pipeline, display: display, frames: moved)
        }
    }

    /// Puts a pipeline into service and drops the frames that could not be moved to it.
    func install(_ replacement: Replacement) throws {
        let replaced: InputPool? = try state.withLock { state in
            try state.throwIfEnded()
            state.pipeline = replacement.pipeline
            state.display = replacement.display
            if !replacement.pipeline.inputMemory.isKept { state.inputMemory = replacement.pipeline.inputMemory }
            let kept = Set(replacement.frames.map(\.index))
            for frame in state.pending.unsettled where !kept.contains(frame.index) {
                state.statistics.dropped += 1
                state.decodeTimes.drop(frame.timing.presentation)
                if let pool = frame.pool, pool === replacement.pipeline.inputs {
                    pool.recycle(InputSurface(surface: frame.surface))
                }
            }
            state.pending.replace(with: replacement.frames)
            state.reopens = false
            defer { state.pool = replacement.pipeline.inputs }
            return state.pool === replacement.pipeline.inputs ? nil : state.pool
        }
        replaced?.close(InputPool.Replaced())
    }

    /// Pauses before an attempt. Throws if the session ends meanwhile.
    private func pause(_ attempt: Int) throws {
        let nanoseconds = limits.pauseNanoseconds << UInt64(attempt - 1)
        _ = try state.wait(atMostNanoseconds: nanoseconds) { state -> Void? in
            try state.throwIfEnded()
            return nil
        }
    }
}
