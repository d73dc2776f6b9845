import MediaFiles
import Threads
import VAAPI
import VideoBase

/// One run of a transcoder. Its thread reads frames and passes them on; packets arrive on the encoders' threads.
struct TranscodeRun {
    private let transcoder: Transcoder
    let source: any FrameSource
    let outputs: [Transcoder.Output]
    let options: Transcoder.Options

    /// Checks the outputs and options before anything is opened.
    ///
    /// - Throws: `usage`.
    init(_ transcoder: Transcoder) throws {
        self.transcoder = transcoder
        (source, options) = (transcoder.source, transcoder.options)
        if transcoder.outputs.isEmpty { throw VaencError(.usage, "a transcoder needs an output", remedy: "name at least one") }
        outputs = try transcoder.outputs.map { output in
            var output = output
            if output.codecReason == nil { try output.chooseCodec() }
            return output
        }
        for (index, output) in outputs.enumerated() {
            guard let name = output.name else { continue }
            let isTaken = outputs[..<index].contains { other in
                other.name.map { MediaOutput.refersToSameFile($0, name, options: output.options) } ?? false
            }
            if isTaken { throw VaencError(.usage, "two outputs would write \(name)", remedy: "use a different name for each") }
        }
        if let frame = options.rateChanges.keys.first(where: { $0 < 0 }) {
            throw VaencError(.usage, "`Transcoder.Options.rateChanges` \(frame) is not the index of a frame", remedy: "use 0 or more")
        }
        for configuration in outputs.map(\.configuration) {
            if configuration.size != source.info.size {
                throw VaencError(
                    .usage, "the output's size is \(configuration.size), but the source's is \(source.info.size)",
                    remedy: "open the source with `SourceOptions.outputSize` to scale the pictures")
            }
            if configuration.frameRate.reduced != source.info.frameRate.reduced, !source.info.isLive {
                throw VaencError(
                    .usage,
                    "the output's frame rate is \(configuration.frameRate.words), but the source's is \(source.info.frameRate.words)",
                    remedy: "open the source with `SourceOptions.frameRate` to change the times of the pictures")
            }
        }
    }

    /// Encodes the input, finishes the outputs and returns the result.
    func run(progress: @escaping (Transcoder.Progress) -> Void, onNotice: (Transcoder.Notice) -> Void) throws -> Transcoder.Result {
        var notices: [Transcoder.Notice] = []
        func note(_ text: String, _ moment: Transcoder.Notice.Moment) {
            notices.append(Transcoder.Notice(text: text, moment: moment))
            onNotice(notices[notices.count - 1])
        }
        let branches = try makeBranches { note($0, .preparation) }
        defer { for branch in branches { branch.session.invalidate() } }
        for text in startNotices(branches) { note(text, .start) }
        transcoder.begin(branches.map(\.sink))
        var state = ProgressReporter(source, handler: progress)
        var interrupted = false
        var result = Transcoder.Result(outputs: [])
        do {
            let isDeep = branches.contains { $0.description.profile.bitDepth > 8 }
            let group = try SessionGroup(branches.map(\.session), format: isDeep ? .p010 : .nv12)
            defer { result.framesCopied = group.copies }
            let decoding = try InputDecoding(source, for: group)
            defer {
                (result.decode, result.scaling, result.captureMemory) = (decodeEntry(decoding), decoding.scaledAt, decoding.captureMemory)
            }
            interrupted = try feed(decoding, to: group, branches: branches, state: &state, note: { note($0, .running) })
            if !interrupted, outputs.contains(where: \.configuration.strict),
                let late = lateChangeNotice(state.input.input) ?? forcedNotice(state.input)
            {
                throw VaencError(
                    .unavailable, "strict: \(late)", remedy: "use an earlier frame or time, or leave out `strict`")
            }
            try finishAudio(branches, state.input, interrupted: interrupted)
            try group.completeFrames()
            drop(branches, of: group, note: { note($0, .running) })
        } catch {
            if (error as? any DescribedError)?.category == .badInput {
                // The frames before the damage belong to the recording that remains.
                for branch in branches where branch.output.options.survivesKill { try? branch.session.completeFrames() }
            }
            for branch in branches { branch.cancel(error) }
        }
        for branch in branches where branch.failure == nil {
            do { try branch.finish(interrupted: interrupted) } catch { branch.cancel(error) }
        }
        state.report((branches.first { $0.failure == nil } ?? branches[0]).tally)
        if let cause = branches.lazy.compactMap(\.cause).first, !branches.contains(where: \.isFinished) {
            throw KeptRecording.error(cause, parts: branches.compactMap(\.keptPart))
        }
        let damaged = DamagedSound.merged(branches.flatMap(\.damagedSounds))
        // A stream may be copied in one output and encoded in another.
        result.damagedSoundPackets = Dictionary(damaged.map { ($0.stream, $0.packets) }, uniquingKeysWith: max).values.reduce(0, +)
        for text in endNotices(branches, damaged: damaged, counts: state.input, interrupted: interrupted) {
            notices.append(Transcoder.Notice(text: text, moment: .end))
        }
        (result.framesRead, result.isInterrupted, result.allNotices) = (state.input.input, interrupted, notices)
        result.outputs = branches.map { outputResult($0, result) }
        return result
    }

    /// Prepares every session and opens every output. On failure, cancels all of them.
    private func makeBranches(note: (String) -> Void) throws -> [OutputBranch] {
        var branches: [OutputBranch] = []
        do {
            let fits = options.soundFitsPictures && (source is CameraSource || source.info.speedChange == nil)
            let plans = try outputs.map { try SoundPlan($0, source, fits: fits) }
            for (output, plan) in zip(outputs, plans) {
                let other = branches.first?.session
                branches.append(try OutputBranch(output, plan, options: options, isAlone: outputs.count == 1, sharing: other))
            }
            let changes = options.rateChanges.sorted { $0.key < $1.key }.map(\.value)
            for branch in branches {
                try branch.session.check(changes)
                if branch.output.configuration.strict, let error = branch.changes(source.info).strictError { throw error }
            }
            for branch in branches {
                try branch.open(source.sounds, options: sinkOptions(branch.output)) { [weak transcoder] in transcoder?.isCancelled ?? true }
                // Reported immediately: a later step may fail.
                if let notice = branch.sink.keptNotice { note(notice) }
            }
        } catch {
            for branch in branches { branch.cancel(error) }
            throw error
        }
        return branches
    }

    /// Returns the options of a container, including those that the source and the configuration add.
    private func sinkOptions(_ output: Transcoder.Output) -> SinkOptions {
        var options = output.options
        let configuration = output.configuration
        options.color = configuration.display.color
        options.masteringDisplay = configuration.display.masteringDisplay
        options.contentLight = configuration.display.contentLight
        options.sampleAspectRatio = configuration.display.sampleAspectRatio
        options.displayMatrix = source.info.displayMatrix
        if output.keepsMetadata { options.metadata = source.info.metadata }
        return options
    }

    /// Returns the entry for the device that decoded a compressed input; nil for other inputs.
    private func decodeEntry(_ decoding: InputDecoding) -> EffectiveEntry? {
        guard decoding.isCompressed else { return nil }
        let backend = decoding.backend
        return EffectiveEntry(
            option: "decode", asked: nil, used: backend.kind == .software ? "software" : "device", why: .explained(backend.why))
    }

    /// Reads and encodes until the end of the input or an interruption. Returns whether it was interrupted.
    private func feed(
        _ decoding: InputDecoding, to group: SessionGroup, branches: [OutputBranch], state: inout ProgressReporter,
        note: (String) -> Void
    ) throws -> Bool {
        var frame = 0
        while true {
            defer { frame += 1 }
            if transcoder.isCancelled { return true }
            drop(branches, of: group, note: note)
            if !branches.contains(where: { $0.failure == nil }), let failure = branches[0].failure { throw failure }
            if let change = options.rateChanges[frame] { apply(change, to: branches, in: group) }
            let next: (buffer: any PixelBuffer, timing: FrameTiming)?
            do {
                next = try decoding.nextFrame { try group.makePixelBuffer() }
            } catch let error as any DescribedError where error.category == .interrupted && transcoder.isCancelled {
                return true
            }
            if branches.contains(where: \.output.configuration.strict), let error = (source.lateChanges + leftOut).strictError { throw error }
            guard let (buffer, timing) = next else { return false }
            do { try timing.check() } catch {
                throw VaencError(
                    .badInput, "frame \(frame) of the input: \(error.message)",
                    remedy: "check its times with `ffprobe -show_frames`, and make a copy with increasing times")
            }
            state.input.countInput(timing)
            for branch in branches where branch.failure == nil { branch.tally.countInput(timing) }
            var frameOptions = FrameOptions()
            frameOptions.dynamicHDR = source.dynamicHDR
            try group.encode(buffer, presentation: timing.presentation, duration: timing.duration, options: frameOptions)
            appendAudio(branches, timing)
            if let branch = branches.first(where: { $0.failure == nil }) { state.update(branch.tally) }
        }
    }

    /// Changes the encoders that run. If an encoder rejects the change, its output ends.
    private func apply(_ change: RunningChange, to branches: [OutputBranch], in group: SessionGroup) {
        for (index, branch) in branches.enumerated() where branch.failure == nil {
            do { try branch.session.change(change) } catch {
                group.fail(index, error)
                branch.cancel(error)
            }
        }
    }

    /// Passes on the audio that was read along with a picture.
    private func appendAudio(_ branches: [OutputBranch], _ timing: FrameTiming) {
        guard branches.contains(where: \.hasSound) else { return }
        let packets = source.takeSounds()
        for branch in branches where branch.failure == nil { branch.appendAudio(packets, until: timing.presentation) }
    }

    /// Reads and passes on the rest of the audio. The audio ends with the pictures if these were cut or interrupted.
    /// Otherwise it ends with the input.
    private func finishAudio(_ branches: [OutputBranch], _ input: FrameCounts, interrupted: Bool) throws {
        guard branches.contains(where: \.hasSound) else { return }
        let endOfPictures = input.endOfInput(frameRate: source.info.frameRate)
        let end = interrupted ? endOfPictures : source.info.endOfSound(pictures: input.input, end: endOfPictures)
        let packets = interrupted ? source.takeSounds() : try source.readSounds(until: end)
        for branch in branches where branch.failure == nil { branch.finishAudio(packets, end: end) }
    }

    /// Ends the outputs whose session or sink has failed.
    private func drop(_ branches: [OutputBranch], of group: SessionGroup, note: (String) -> Void) {
        for (index, branch) in branches.enumerated() where branch.failure == nil {
            guard let error = branch.sink.failure ?? group.failures[index] else { continue }
            if group.failures[index] == nil { group.fail(index, error) }
            branch.cancel(error)
            // Reported immediately because the other outputs may run for hours.
            if source.info.isLive, branches.contains(where: { $0.failure == nil }) {
                note("\(branch.name) has failed, the other outputs continue: \(branch.failure.map { "\($0)" } ?? "")")
            }
        }
    }

    private func outputResult(_ branch: OutputBranch, _ result: Transcoder.Result) -> Transcoder.OutputResult {
        var effective = branch.effective(source.info, inherited: options.inheritedSettings)
        effective += [result.decode, result.scaling, result.captureMemory].compactMap { $0 }
        return Transcoder.OutputResult(
            name: branch.name, description: branch.description, bytes: branch.sink.bytesWritten, counts: branch.tally.snapshot,
            statistics: branch.session.statistics, effective: effective, error: branch.failure)
    }
}

/// Reports the state of a run at most ten times a second.
private struct ProgressReporter {
    private let source: any FrameSource
    private let handler: (Transcoder.Progress) -> Void
    private let began = MonotonicClock.nanoseconds
    private var lastReported: Int64 = 0
    /// The counts of the input, also if an output has failed.
    var input = FrameCounts()

    init(_ source: any FrameSource, handler: @escaping (Transcoder.Progress) -> Void) {
        (self.source, self.handler) = (source, handler)
    }

    /// Reports the state unless the latest report is less than 100 ms old.
    mutating func update(_ tally: FrameTally) {
        let now = MonotonicClock.nanoseconds
        guard now - lastReported >= 100_000_000 else { return }
        lastReported = now
        report(tally)
    }

    /// Reports the state at once.
    func report(_ tally: FrameTally) {
        let (counts, info) = (tally.snapshot, source.info)
        handler(
            Transcoder.Progress(
                framesRead: input.input, framesEncoded: counts.encoded, expectedFrames: info.frameCount,
                expectedDuration: info.duration, elapsed: .nanoseconds(MonotonicClock.nanoseconds - began),
                mediaDuration: counts.mediaDuration(frameRate: info.frameRate),
                packetBytes: counts.packetBytes, framesLost: source.picturesLost))
    }
}
