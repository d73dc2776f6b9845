import MediaFiles
import VAAPI
import Vaenc

/// One run of source, encoders and sinks. The main thread reads frames and passes them on; packets arrive on the
/// encoders' threads.
struct EncodeJob {
    let source: any FrameSource
    let outputs: [EncodeOutput]
    /// Changes of the rate, by the index of the frame before which they apply.
    let rateChanges: [Int: RunningChange]
    let device: DeviceSelector
    let requireHardware: Bool
    let interruption: Interruption
    let progress: ProgressLine.Style
    /// Options of the effective configuration that always have a value and were not given on the command line.
    let unasked: Set<String>
    /// The maximum number of frames of the input, and the maximum number of seconds from the start; nil for no limit.
    let limits: (frames: Int?, seconds: Double?)
    /// Whether notices are also printed on stderr as they arise. Otherwise only the report contains them.
    let tellsNotices: Bool

    /// Encodes the input, finishes the outputs and reports the result.
    ///
    /// If an output fails, no file with its final name remains, and the other outputs continue. After an interruption,
    /// the outputs are finished with the frames encoded so far.
    ///
    /// - Returns: The report, and the first error that ended an output if other outputs succeeded.
    func run() throws -> (report: EncodeReport, failure: (any Error)?) {
        let branches = try makeBranches()
        defer { for branch in branches { branch.session.invalidate() } }
        let notices =
            source.info.notices + unique(branches.compactMap(\.session.choice.notice))
            + [speedNotice, assumedRateNotice, rateNotice].compactMap { $0 }
        // In a script's log an error stands alone: without a terminal, the first notices are printed only after
        // success.
        let tellsAtOnce = Terminal.isInteractive || source.info.isLive
        if tellsNotices, tellsAtOnce { for notice in notices { Terminal.note(notice) } }
        let kept = branches.compactMap(\.sink.keptNotice)
        interruption.whenFirst { [source, sinks = branches.map(\.sink)] in
            source.cancel()
            for sink in sinks { sink.abortBlockingIO() }
        }
        interruption.whenSecond { [sinks = branches.map(\.sink)] in sinks.compactMap { $0.abandonSoon() } }
        var line = ProgressLine(
            style: progress, expectedFrames: source.info.frameCount, expectedSeconds: source.info.durationSeconds,
            frameRate: source.info.frameRate)
        var interrupted = false
        var input = EncodeReport.Input()
        do {
            let isDeep = branches.contains { $0.description.profile.bitDepth > 8 }
            let group = try SessionGroup(branches.map(\.session), format: isDeep ? .p010 : .nv12)
            defer { input.framesCopied = group.copies }
            let decoding = try InputDecoding(source, for: group)
            defer {
                (input.decode, input.scaling, input.captureMemory) = (decodeEntry(decoding), decoding.scaledAt, decoding.captureMemory)
            }
            interrupted = try feed(decoding, group, branches, line: &line, framesRead: &input.framesRead)
            if !interrupted, outputs.contains(where: \.configuration.strict),
                let late = lateChangeNotice(input.framesRead) ?? forcedNotice(branches[0].tally.snapshot)
            {
                throw VaencError(
                    .unavailable, "strict: \(late)", remedy: "use an earlier frame or time, or leave out `strict`")
            }
            try hearTheRest(branches, interrupted: interrupted, framesRead: input.framesRead)
            try group.completeFrames()
            drop(branches, of: group)
        } catch {
            for branch in branches { branch.cancel(error) }
        }
        for branch in branches where branch.failure == nil {
            do { try branch.finish(interrupted: interrupted) } catch { branch.cancel(error) }
        }
        line.finish(branches[0].tally, lost: source.picturesLost)
        let failure = branches.lazy.compactMap(\.failure).first
        if let failure, !branches.contains(where: \.isFinished) { throw failure }
        interruption.whenSecond(nil)
        if tellsNotices, !tellsAtOnce { for notice in notices { Terminal.note(notice) } }
        let damaged = DamagedSound.merged(branches.flatMap(\.damagedSounds))
        input.damagedSoundPackets = damaged.reduce(0) { $0 + $1.packets }
        let late =
            unique(branches.flatMap { $0.session.statistics.broken.notices })
            + [
                unforeseenNotice(branches[0].tally.snapshot), leftOutNotice, source.lateChanges.notice,
                interrupted ? nil : forcedNotice(branches[0].tally.snapshot),
                interrupted ? nil : lateChangeNotice(input.framesRead),
            ].compactMap { $0 } + unique(damaged.map(\.notice) + branches.compactMap(boundNotice))
        for notice in late where tellsNotices { Terminal.note(notice) }
        return (report(branches, input, notices: notices + kept + late, interrupted: interrupted), failure)
    }

    /// Prepares every session and opens every output. On failure, cancels all of them.
    private func makeBranches() throws -> [EncodeBranch] {
        var branches: [EncodeBranch] = []
        do {
            for output in outputs {
                branches.append(try EncodeBranch(output, device: device, requireHardware: requireHardware))
            }
            for branch in branches {
                if branch.output.configuration.strict, let error = branch.changes(source.info).strictError { throw error }
            }
            for branch in branches {
                try branch.open(source.sounds) { [interruption] in interruption.isRequested }
                // Printed immediately: a later step may fail.
                if let notice = branch.sink.keptNotice, tellsNotices { Terminal.note(notice) }
            }
        } catch {
            for branch in branches { branch.cancel(error) }
            throw error
        }
        return branches
    }

    private func unique(_ texts: [String]) -> [String] {
        texts.enumerated().filter { texts.firstIndex(of: $0.element) == $0.offset }.map(\.element)
    }

    /// The notice for frames whose times differ from the input's.
    private var speedNotice: String? {
        source.info.speedChange.map { "--fps changes the playback speed to \($0.used): \($0.why)" }
    }

    /// The notice for an input without a frame rate.
    private var assumedRateNotice: String? {
        let rate = source.info.frameRate
        guard source.info.frameRateIsAssumed else { return nil }
        return """
            \(source.info.kindWithoutRate) have no frame rate: \(decimal(rate.value, 0)) frames per second are assumed \
            (--fps sets another rate)
            """
    }

    /// The notice for an input whose frame rate is known to vary.
    private var rateNotice: String? {
        guard source.info.frameRateVaries, !source.info.isLive, let rate = outputs.first?.configuration.frameRate else { return nil }
        return """
            the input's frame rate varies: the bit rate and the buffer are controlled for a constant \
            \(decimal(rate.value, 2)) frames per second
            """
    }

    /// Returns the notice for an input whose actual frame rate differs from its nominal one.
    private func unforeseenNotice(_ tally: EncodeTally.Counts) -> String? {
        guard let configuration = outputs.first?.configuration, !configuration.frameRateVaries, let rate = tally.frameRate,
            abs(rate / configuration.frameRate.value - 1) > 0.02
        else { return nil }
        return """
            the input has \(decimal(rate, 2)) frames per second, but declares \
            \(decimal(configuration.frameRate.value, 2)): the bit rate and the buffer were controlled for the declared \
            rate
            """
    }

    /// The entry with which `strict` refuses an input whose first pictures cannot be decoded.
    private var leftOut: [EffectiveEntry] {
        let count = source.picturesLeftOut
        if count == 0 { return [] }
        return [
            EffectiveEntry(
                option: "pictures", asked: "all", used: "\(count) left out", why: "the input begins with pictures that cannot be decoded without earlier ones")
        ]
    }

    /// The notice for an input that starts between key frames.
    private var leftOutNotice: String? {
        let count = source.picturesLeftOut
        if count == 0 { return nil }
        return "the input begins with \(counted(count, "picture")) that cannot be decoded and \(count == 1 ? "is" : "are") left out"
    }

    /// Returns the notice for forced key frames after the end of the input.
    private func forcedNotice(_ tally: EncodeTally.Counts) -> String? {
        guard let configuration = outputs.first?.configuration else { return nil }
        let seconds = (tally.endOfInput(frameRate: configuration.frameRate) - (tally.firstInput ?? .zero)).seconds
        let late =
            configuration.forcedKeyFrames.sorted().filter { $0 >= tally.frames.input }.map { "\($0)" }
            + configuration.forcedKeyTimes.sorted().filter { $0 >= seconds }.map { "\($0)s" }
        return late.isEmpty ? nil : "the input ended before the forced key frames at \(late.joined(separator: ", "))"
    }

    /// Returns the notice for rate changes after the end of the input.
    private func lateChangeNotice(_ framesRead: Int) -> String? {
        let late = rateChanges.keys.filter { $0 >= framesRead }.sorted()
        if late.isEmpty { return nil }
        return "the input ended before the \(late.count == 1 ? "frame" : "frames") of --change-bitrate: \(late.map(String.init).joined(separator: ", "))"
    }

    /// Returns the notice for a variable rate that was missed because `maxFrameBytes` limits the pictures.
    private func boundNotice(_ branch: EncodeBranch) -> String? {
        let configuration = branch.output.configuration
        let counts = branch.tally.snapshot
        let seconds = counts.mediaSeconds(frameRate: configuration.frameRate)
        guard branch.failure == nil, rateChanges.isEmpty, configuration.rateControl ?? .vbr == .vbr, let most = configuration.maxFrameBytes,
            let wanted = configuration.bitrate?.value, seconds >= 1, Double(counts.largestPacket) > 0.85 * Double(most)
        else { return nil }
        let used = Double(counts.packetBytes) * 8 / seconds
        guard used < 0.9 * Double(wanted) else { return nil }
        return """
            the pictures used only \(Int(used / 1000)) of \(wanted / 1000) kbit/s, because `maxFrameBytes` limits \
            their size: raise it, or lower `bitrate`
            """
    }

    /// Returns the entry for the device that decoded a compressed input; nil for other inputs.
    private func decodeEntry(_ decoding: InputDecoding) -> EffectiveEntry? {
        guard decoding.isCompressed else { return nil }
        let place = decoding.place
        return EffectiveEntry(
            option: "decode", asked: nil, used: place.kind == .software ? "software" : "device", why: place.why)
    }

    /// Reads and encodes until the end of the input or an interruption. Returns whether it was interrupted.
    private func feed(
        _ decoding: InputDecoding, _ group: SessionGroup, _ branches: [EncodeBranch], line: inout ProgressLine, framesRead: inout Int
    ) throws -> Bool {
        var frame = 0
        while true {
            defer { frame += 1 }
            if interruption.isRequested { return true }
            drop(branches, of: group)
            if !branches.contains(where: { $0.failure == nil }), let failure = branches[0].failure { throw failure }
            if let change = rateChanges[frame] { try group.change(change) }
            let next: (buffer: any PixelBuffer, timing: FrameTiming)?
            do {
                next = try decoding.nextFrame { try group.makePixelBuffer() }
            } catch let error as any DescribedError where error.category == .interrupted && interruption.isRequested {
                return true
            }
            if branches.contains(where: \.output.configuration.strict), let error = (source.lateChanges + leftOut).strictError { throw error }
            guard let (buffer, timing) = next else { return false }
            framesRead += 1
            do { try timing.check() } catch {
                throw VaencError(
                    .badInput, "frame \(frame) of the input: \(error.message)",
                    remedy: "check its times with `ffprobe -show_frames`, and make a copy with increasing times")
            }
            for branch in branches where branch.failure == nil { branch.tally.took(timing) }
            var options = FrameOptions()
            options.dynamicHDR = source.dynamicHDR
            try group.encode(buffer, presentation: timing.presentation, duration: timing.duration, options: options)
            appendAudio(branches, timing)
            if let branch = branches.first(where: { $0.failure == nil }) {
                line.update(branch.tally, lost: source.picturesLost)
            }
        }
    }

    /// Passes on the audio that was read along with a picture.
    private func appendAudio(_ branches: [EncodeBranch], _ timing: FrameTiming) {
        guard branches.contains(where: \.hears) else { return }
        let packets = source.takeSounds()
        for branch in branches where branch.failure == nil { branch.appendAudio(packets, until: timing.presentation) }
    }

    /// Reads and passes on the rest of the audio. The audio ends with the pictures if these were cut or interrupted.
    /// Otherwise it ends with the input.
    private func hearTheRest(_ branches: [EncodeBranch], interrupted: Bool, framesRead: Int) throws {
        guard branches.contains(where: \.hears) else { return }
        let end = endOfSound(branches[0].tally.snapshot, interrupted: interrupted, framesRead: framesRead)
        let packets = interrupted ? source.takeSounds() : try source.readSounds(until: end)
        for branch in branches where branch.failure == nil { branch.finishAudio(packets, end: end) }
    }

    /// Returns the time at which the audio ends; nil for the end of the input. If the pictures end before a time limit,
    /// the audio continues up to the limit.
    private func endOfSound(_ counts: EncodeTally.Counts, interrupted: Bool, framesRead: Int) -> MediaTime? {
        let end = counts.endOfInput(frameRate: source.info.frameRate)
        if interrupted || framesRead >= limits.frames ?? .max { return end }
        guard let seconds = limits.seconds else { return nil }
        let scale = 90_000.0
        return source.info.isLive ? end : max(end, MediaTime(value: Int64(saturating: (seconds * scale).rounded()), timescale: Int32(scale)))
    }

    /// Ends the outputs whose session or sink has failed.
    private func drop(_ branches: [EncodeBranch], of group: SessionGroup) {
        for (index, branch) in branches.enumerated() where branch.failure == nil {
            guard let error = branch.sink.failure ?? group.failures[index] else { continue }
            if group.failures[index] == nil { group.fail(index, error) }
            branch.cancel(error)
            // The notice is printed now because the other outputs may run for hours.
            if source.info.isLive, tellsNotices, branches.contains(where: { $0.failure == nil }) {
                let why = branch.failure.map { "\($0)" } ?? ""
                Terminal.note("\(branch.name) has failed, the other outputs continue: \(why)")
            }
        }
    }

    private func report(
        _ branches: [EncodeBranch], _ input: EncodeReport.Input, notices: [String], interrupted: Bool
    ) -> EncodeReport {
        let first = branches[0]
        let description = first.description
        let counts = first.tally.snapshot
        let outputs = branches.map { branch in
            EncodeReport.Output(
                driver: branch.description.driver, codec: branch.description.codec, profile: branch.description.profile.shortName,
                level: branch.description.level, bytes: branch.sink.bytesWritten, bitrate: branch.bitrate,
                frames: branch.frames,
                effective: (branch.effective(source.info, unasked: unasked)
                    + [input.decode, input.scaling, input.captureMemory].compactMap { $0 }).translated,
                statistics: branch.statistics, output: FileName.printable(branch.name),
                error: Nullable(branch.failure.map { OptionNames.translate(FileName.printable("\($0)")) }))
        }
        return EncodeReport(
            device: .init(kind: description.kind, path: Nullable(description.path), driver: description.driver),
            codec: description.codec, profile: description.profile.shortName, level: description.level,
            width: description.size.width, height: description.size.height, frameRate: description.frameRate,
            frames: first.frames, input: input, bytes: first.sink.bytesWritten, bitrate: first.bitrate,
            seconds: .init(
                media: rounded(counts.mediaSeconds(frameRate: description.frameRate)),
                wall: rounded(Clock.secondsSinceStart), cpu: rounded(Clock.processorSeconds)),
            latency: counts.latency(), effective: outputs[0].effective, notices: notices.map { OptionNames.translate(FileName.printable($0)) },
            statistics: first.statistics, output: outputs[0].output, interrupted: interrupted,
            outputs: outputs.count > 1 ? outputs : nil)
    }
}
