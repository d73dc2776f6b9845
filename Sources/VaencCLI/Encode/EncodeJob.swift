import Glibc
import MediaFiles
import Synchronization
import VAAPI
import Vaenc

/// One run of source → encoder → sink. The main thread reads and hands in; packets arrive on the encoder's thread.
struct EncodeJob {
    let source: any FrameSource
    let configuration: EncoderConfiguration
    /// By the frame before which they are made.
    let rateChanges: [Int: RunningChange]
    let device: DeviceSelector
    let requireHardware: Bool
    let output: String
    let sinkOptions: SinkOptions
    let interruption: Interruption
    let progress: ProgressLine.Style
    let codecWhy: String
    /// Options of the effective configuration that have a value always, and were not asked for on the command line.
    let unasked: Set<String>
    /// Notices are printed on stderr as they arise; else they stand in the report alone.
    let tellsNotices: Bool

    /// Encodes everything, finishes the output, and says what came of it.
    ///
    /// On an error nothing stands under the output's final name; when interrupted, what was encoded is finished.
    func run() throws -> EncodeReport {
        let tally = EncodeTally()
        let sink = SinkBox()
        let session = try CompressionSession(
            configuration: configuration, device: device, requireHardware: requireHardware
        ) { result in
            switch result {
            case .success(let packet):
                tally.delivered(packet)
                sink.write(packet)
            case .failure(let error): sink.fail(error)
            }
        }
        defer { session.invalidate() }
        let description = try session.encoderDescription
        let changes = changes(description)
        if configuration.strict, let change = changes.first(where: \.differs) {
            throw VaencError(
                .unavailable, "\(change.option): the input has \(change.asked ?? ""), and \(change.used) is what can be encoded (\(change.why))",
                remedy: "leave out --strict to accept that")
        }
        try sink.open(output, options: sinkOptions, description: description)
        for notice in [session.choice.notice, rateNotice].compactMap({ $0 }) where tellsNotices { Terminal.note(notice) }
        interruption.whenSecond { sink.cancelSoon() }
        var line = ProgressLine(style: progress, expectedFrames: source.info.frameCount, frameRate: configuration.frameRate)
        var interrupted = false
        var final = description
        do {
            interrupted = try feed(session, sink: sink, tally: tally, line: &line)
            try session.completeFrames()
            final = try session.encoderDescription
            guard tally.snapshot.frames.encoded > 0 else {
                if interrupted { throw VaencError(.interrupted, "interrupted before the first frame: nothing was written") }
                throw VaencError(.badInput, "the input has no frames to encode", remedy: "look at --start, --duration and the input")
            }
            try sink.finish()
        } catch {
            session.invalidate()
            sink.cancel()
            line.finish(tally)
            throw sink.failure ?? error
        }
        interruption.whenSecond(nil)
        line.finish(tally)
        let late = session.statistics.broken.notices + [unforeseenNotice(tally.snapshot)].compactMap { $0 }
        for notice in late where tellsNotices { Terminal.note(notice) }
        return report(
            final, session: session, tally: tally.snapshot, bytes: sink.bytesWritten,
            notices: [session.choice.notice, rateNotice].compactMap { $0 } + late, interrupted: interrupted)
    }

    /// Of an input that is known to vary.
    private var rateNotice: String? {
        guard configuration.frameRateVaries else { return nil }
        return """
            the input's frame rate varies: rate and buffer are kept as if it were \
            \(decimal(configuration.frameRate.value, 2)) frames per second all the time
            """
    }

    /// Of an input whose frames came at another rate than it said.
    private func unforeseenNotice(_ tally: EncodeTally.Counts) -> String? {
        guard !configuration.frameRateVaries, let rate = tally.frameRate,
            abs(rate / configuration.frameRate.value - 1) > 0.02
        else { return nil }
        return """
            the input's frames came at \(decimal(rate, 2)) a second, not at \(decimal(configuration.frameRate.value, 2)) \
            as it says: rate and buffer were kept as if they had
            """
    }

    /// Reads until the end or an interruption; true when interrupted.
    private func feed(
        _ session: CompressionSession, sink: SinkBox, tally: EncodeTally, line: inout ProgressLine
    ) throws -> Bool {
        var frame = 0
        while true {
            defer { frame += 1 }
            if interruption.isRequested { return true }
            if let failure = sink.failure { throw failure }
            if let change = rateChanges[frame] { try session.change(change) }
            let buffer = try session.makePixelBuffer()
            let timing: FrameTiming?
            do {
                // SAFETY: the source writes only inside the planes, which are mapped while the closure runs.
                timing = unsafe try buffer.withUnsafePlanes { unsafe try source.readFrame(into: $0) }
            } catch let error as any DescribedError where error.category == .interrupted && interruption.isRequested {
                return true
            }
            guard let timing else { return false }
            do { try timing.check() } catch {
                throw VaencError(
                    .badInput, "frame \(frame) of the input: \(error.message)",
                    remedy: "look at its times with `ffprobe -show_frames`, and write it anew with times that go on")
            }
            tally.took(at: timing.presentation)
            try session.encode(buffer, presentation: timing.presentation, duration: timing.duration)
            line.update(tally)
        }
    }

    /// What of the input does not come out as it went in.
    private func changes(_ description: EncoderDescription) -> [EffectiveEntry] {
        var changes = source.info.changes
        if let native = source.info.nativeFormat, ![.nv12, .i420, .yv12].contains(native) {
            changes.append(
                EffectiveEntry(
                    option: "inputFormat", asked: native.rawValue, used: "nv12", why: "encoded as 8-bit 4:2:0 in this version"))
        }
        return changes
    }

    /// The encoder knows the codec only as told; the command line knows why.
    private func effective(_ description: EncoderDescription) -> [EffectiveEntry] {
        let asked = codecWhy == "asked" ? description.codec.rawValue : nil
        let entries = description.effective.filter { $0.option != "codec" }.map { entry in
            guard unasked.contains(entry.option), !entry.differs else { return entry }
            var entry = entry
            entry.asked = nil
            if entry.why == "as asked" { entry.why = entry.option == "rateControl" ? "a QP is asked for" : "the input's" }
            return entry
        }
        var rate = EffectiveEntry(
            option: "frameRate", asked: nil, used: description.frameRate.description, why: "the input's")
        if !unasked.contains("frameRate") {
            rate.asked = configuration.frameRate.description
            rate.why = "as asked"
        }
        return [EffectiveEntry(option: "codec", asked: asked, used: description.codec.rawValue, why: codecWhy)]
            + entries + (entries.contains { $0.option == "frameRate" } ? [] : [rate]) + changes(description)
    }

    private func report(
        _ description: EncoderDescription, session: CompressionSession, tally: EncodeTally.Counts, bytes: Int,
        notices: [String], interrupted: Bool
    ) -> EncodeReport {
        let media = tally.mediaSeconds(frameRate: description.frameRate)
        let counts = session.statistics
        var frames = tally.frames
        frames.dropped = frames.input - frames.encoded
        return EncodeReport(
            device: .init(kind: description.kind, path: Nullable(description.path), driver: description.driver),
            codec: description.codec, profile: description.profile.shortName, level: description.level,
            width: description.size.width, height: description.size.height, frameRate: description.frameRate,
            frames: frames, bytes: bytes,
            bitrate: media > 0 ? Int((Double(tally.packetBytes) * 8 / media).rounded()) : 0,
            seconds: .init(media: rounded(media), wall: rounded(Clock.secondsSinceStart), cpu: rounded(Clock.processorSeconds)),
            latency: tally.latency(),
            effective: effective(description), notices: notices.map { FileName.printable($0) },
            statistics: .init(
                taken: counts.taken, delivered: counts.delivered, dropped: counts.dropped, retried: counts.retried,
                rebuilds: counts.rebuilds, limitsBroken: counts.limitsBroken, broken: counts.broken,
                driverRates: counts.driverRates),
            output: FileName.printable(output), interrupted: interrupted)
    }
}

/// The sink, shared between the thread that opens and finishes it and the encoder's that writes.
final class SinkBox: Sendable {
    private struct State {
        var sink: (any PacketSink)?
        var failure: (any Error)?
    }

    private let state = Mutex(State())

    var failure: (any Error)? { state.withLock { $0.failure } }
    var bytesWritten: Int { state.withLock { $0.sink?.bytesWritten ?? 0 } }

    func open(_ output: String, options: SinkOptions, description: EncoderDescription) throws {
        try state.withLock {
            let sink = try MediaOutput.open(output, options: options)
            $0.sink = sink
            do {
                try sink.start(description)
            } catch {
                sink.cancel()
                throw error
            }
        }
    }

    func write(_ packet: EncodedPacket) {
        state.withLock {
            guard $0.failure == nil else { return }
            do { try $0.sink?.write(packet) } catch { $0.failure = error }
        }
    }

    func fail(_ error: any Error) {
        state.withLock { if $0.failure == nil { $0.failure = error } }
    }

    func finish() throws {
        try state.withLock {
            if let failure = $0.failure { throw failure }
            try $0.sink?.finish()
        }
    }

    func cancel() { state.withLock { $0.sink?.cancel() } }

    /// The same for a program that is about to end: gives up soon where a write to a stalled reader holds the sink.
    func cancelSoon() {
        for _ in 0..<20 {
            if state.withLockIfAvailable({ $0.sink?.cancel() }) != nil { return }
            usleep(10_000)
        }
    }
}
