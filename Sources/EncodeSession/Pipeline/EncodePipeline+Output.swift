import EncodePlanning
import Synchronization
import VAAPI
import VideoBase

/// What runs on the pipeline's own thread.
extension EncodePipeline {
    /// Waits for a picture, reads it and delivers its packet.
    func finish(_ picture: InFlightPicture) {
        if state.withLock({ $0.outputFailed }) { return }
        do {
            let packet = try read(picture)
            if state.withLock({ $0.isClosed }) { return }
            handler(.success(packet))
            state.withLock { state in
                if let index = state.pending.firstIndex(of: packet.presentation) { state.pending.remove(at: index) }
            }
        } catch {
            state.withLock { $0.outputFailed = true }
            fail(error)
        }
    }

    private func read(_ picture: InFlightPicture) throws -> EncodedPacket {
        let plan = picture.plan
        var bytes: [UInt8] = []
        try picture.submitted.sync(timeoutNanoseconds: timeoutNanoseconds)
        let segments = try picture.submitted.read(appendingTo: &bytes)
        inputs.giveBack(picture.frame.surface)
        state.withLock { $0.idleBuffers.append(picture.submitted.output) }
        try check(segments, frame: plan.displayIndex)
        try assembler.withLock { try $0.assemble(&bytes, type: plan.type, isFirst: plan.codingIndex == 0) }
        let timing = picture.frame.timing
        let latency = (ContinuousClock.now - picture.frame.taken).components
        return EncodedPacket(
            bytes: bytes, type: plan.type, presentation: timing.presentation, decode: timing.presentation,
            duration: timing.duration, displayIndex: plan.displayIndex, codingIndex: plan.codingIndex, qp: picture.qp,
            temporalLayer: plan.temporalLayer,
            latencyNanoseconds: latency.seconds * 1_000_000_000 + latency.attoseconds / 1_000_000_000)
    }

    /// The driver's own verdict on the access unit, which other clients log and ignore.
    private func check(_ segments: [CodedSegment], frame: Int) throws {
        guard settings.limits.reportsStatus else { return }
        let errors = segments.reduce(into: CodedStatus()) { $0.formUnion($1.status.errors) }
        guard !errors.isEmpty else { return }
        let isOverflow = !errors.contains(.badBitstream)
        throw VaencError(
            .deviceFailed, "frame \(frame): the driver marked its output \(errors.names.joined(separator: ", "))",
            remedy: isOverflow
                ? "raise --qp: the picture does not fit the coded buffer" : "see `dmesg`, update the driver")
    }
}
