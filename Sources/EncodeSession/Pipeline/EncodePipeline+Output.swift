import EncodePlanning
import NALUnits
import RateControl
import Synchronization
import Threads
import VAAPI
import VideoBase

/// The work on the pipeline's own threads.
extension EncodePipeline {
    /// Submits the queued pictures for which there are coded buffers. Call it only after `PipelineState` has set
    /// `isSubmitting`: one thread at a time submits pictures.
    func submitPictures() {
        while true {
            let (next, wakes) = state.withLockWithoutNotifying { ($0.next(), $0.mustWakeCaller) }
            if wakes { state.wakeOne() }
            guard let next else { return reportFailure() }
            submit(next.job, into: next.output)
        }
    }

    private func submit(_ job: PictureJob, into output: CodedBuffer) {
        do {
            try job.frame.finishDrawing()
            let picture = try watch.runHere("vaEndPicture", frame: job.frame.index) {
                // Nothing uses the submitter after a call that does not return.
                try submitter.withLock { try $0.submit(job, into: output) }
            }
            finishing.async { self.finish(picture) }
        } catch {
            state.withLock { $0.submissionFails() }
            fail(error)
        }
    }

    /// Waits for a picture, reads it and delivers its packet.
    func finish(_ picture: InFlightPicture) {
        defer { if state.withLockWithoutNotifying({ $0.endFinishing() }) { submitting.async { self.submitPictures() } } }
        if state.withLockWithoutNotifying({ $0.outputFailed }) { return }
        do {
            let packet = try read(picture)
            guard state.withLockWithoutNotifying({ $0.beginHandler() }) else { return }
            handler(.success(packet))
        } catch {
            state.withLock { $0.outputFailed = true }
            fail(error)
        }
    }

    private func read(_ picture: InFlightPicture) throws -> EncodedPacket {
        let plan = picture.plan
        let (bytes, units, qp) = try bytes(of: picture)
        let (submits, wakes) = state.withLockWithoutNotifying { state in
            state.read(picture.submitted.output)
            return (state.beginSubmitting(), state.mustWakeCaller)
        }
        if wakes { state.wakeOne() }
        // Give the device work before the packet is delivered.
        if submits { submitPictures() }
        let timing = picture.frame.timing
        let latency = ContinuousClock.now - picture.frame.taken
        var packet = EncodedPacket(
            codec: settings.profile.codec, bytes: bytes, type: plan.type, presentation: timing.presentation,
            decode: timing.presentation, duration: timing.duration, displayIndex: picture.frame.index,
            codingIndex: plan.codingIndex, qp: qp, temporalLayer: plan.temporalLayer,
            latency: latency)
        // Pictures after an I picture may refer to long-term references before it.
        packet.isRandomAccess = plan.type.isKey || (plan.type == .i && settings.structure.longTermReferences == 0)
        packet.knownUnitRanges = units
        packet.isReference = plan.isReference
        packet.recoveryFrameCount = plan.recoveryFrameCount
        packet.acknowledgementToken = plan.acknowledgementToken
        return packet
    }

    /// Returns the access unit, the ranges of its NAL units and its QP. A picture that violates a rate limit is encoded
    /// again.
    private func bytes(of picture: InFlightPicture) throws -> (bytes: [UInt8], units: [Range<Int>], qp: Int?) {
        var submitted = picture.submitted
        var qp = picture.qp
        for attempt in 1... {
            var (bytes, segments) = try take(submitted)
            try check(segments, bytes, capacity: submitted.output.capacity, frame: picture.frame.index)
            let driverBytes = bytes.count
            var units = try assembler.withLock { try $0.assemble(&bytes, picture, delay: rate.initialDelay) }
            switch rate.finish(
                &bytes, units: &units, driverBytes: driverBytes, plan: picture.plan, canRepeat: attempt < Self.attempts)
            {
            case .accepted(let breaking):
                if settings.isStrict, let limit = rate.asked(breaking) { throw limit.error(frame: picture.frame.index) }
                return (bytes, units, qp)
            case .encodeAgain(let better):
                submitted = try watch.runHere("vaEndPicture", frame: picture.frame.index) { try picture.encodeAgain(qp: better) }
                qp = better
            }
        }
        throw VaencError(.internalFault, "the attempts to encode a picture did not end")
    }

    private func take(_ submitted: SubmittedPicture) throws -> ([UInt8], [CodedSegment]) {
        let limit = timeoutNanoseconds
        if state.withLockWithoutNotifying({ $0.beginSync() }) { submitPictures() }
        defer { state.withLockWithoutNotifying { $0.endSync() } }
        let mapsAfterSurface = settings.limits.mapsAfterSurfaceSync
        return try watch.runHere("vaSyncBuffer", frame: submitted.frame, scale: .wait) {
            var bytes: [UInt8] = []
            try submitted.sync(timeoutNanoseconds: limit)
            do {
                let segments = try submitted.read(appendingTo: &bytes)
                return (bytes, segments)
            } catch let error as VAError where mapsAfterSurface && error.status != .timedOut {}
            try submitted.surface.sync(timeoutNanoseconds: limit, frame: submitted.frame)
            let segments = try submitted.read(appendingTo: &bytes)
            return (bytes, segments)
        }
    }

    /// The maximum number of times that a picture is encoded to fit its limits.
    private static var attempts: Int { 4 }

    /// Checks the driver's status flags of the access unit. Other clients log and ignore them.
    private func check(_ segments: [CodedSegment], _ bytes: [UInt8], capacity: Int, frame: Int) throws {
        guard settings.limits.reportsStatus else { return }
        let errors = segments.reduce(into: CodedStatus()) { $0.formUnion($1.status.errors) }
        guard !errors.isEmpty else { return }
        guard errors.contains(.badBitstream) else {
            if isOfLimits(errors, bytes, capacity: capacity) { return }
            throw OutputOverflow(frame: frame, flags: errors, limits: limitOptions)
        }
        throw VaencError(
            .deviceFailed, "frame \(frame): the driver marked its output \(errors.names.joined(separator: ", "))",
            remedy: "see `dmesg`, and update the driver")
    }

    /// Whether an access unit is complete and only marked for a requested limit. It is then delivered and counted as a
    /// violation.
    private func isOfLimits(_ errors: CodedStatus, _ bytes: [UInt8], capacity: Int) -> Bool {
        // An access unit that nearly fills its buffer may lack slices.
        let slices = AccessUnitAssembler.slices(in: bytes, AnnexB.units(in: bytes.span), settings.profile.codec)
        guard bytes.count <= capacity / 2, slices.count >= settings.sliceRows.count else { return false }
        let isFrame = settings.rate.maxFrameBytes.map { bytes.count > $0 } ?? false
        // Drivers count the start code.
        let isSlice = settings.maxSliceBytes.map { limit in slices.contains { $0 + 4 > limit } } ?? false
        return (isFrame || !errors.contains(.frameSizeOverflow)) && (isSlice || !errors.contains(.sliceOverflow))
    }

    /// The options for which a driver may mark an access unit.
    private var limitOptions: [String] {
        (settings.rate.maxFrameBytes == nil ? [] : ["`maxFrameBytes`"])
            + (settings.maxSliceBytes == nil ? [] : ["`maxSliceBytes`"])
    }
}

extension DriverCallWatchdog {
    /// Runs `body` like `callHere`, and without a time limit if the call has none of its own. It is compiled for each
    /// type of result, because it runs for each picture.
    func runHere<R>(_ call: String, frame: Int?, scale: TimeoutScale = .call, _ body: () throws -> R) throws -> R {
        var result: R?
        if try callHere(call, frame: frame, scale: scale, { result = try body() }), let result { return result }
        return try body()
    }
}
