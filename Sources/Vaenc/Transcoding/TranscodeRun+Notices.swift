import MediaFiles
import VideoBase

/// The decisions that a run reports.
extension TranscodeRun {
    /// Returns the notices before the first frame.
    func startNotices(_ branches: [OutputBranch]) -> [String] {
        source.info.notices + unique(branches.compactMap(\.session.choice.notice))
            + [speedNotice, assumedRateNotice, rateNotice].compactMap { $0 }
    }

    /// Returns the notices after the last frame.
    func endNotices(
        _ branches: [OutputBranch], damaged: [DamagedSound], counts: FrameCounts, interrupted: Bool
    ) -> [String] {
        let missed = interrupted ? [] : [forcedNotice(counts), lateChangeNotice(counts.input)]
        let exceeded = branches.flatMap { branch in
            branch.session.statistics.broken.notices.map { branches.count == 1 ? $0 : "\(branch.name): \($0)" }
        }
        return source.lateNotices + exceeded
            + ([unforeseenNotice(counts), leftOutNotice, source.lateChanges.notice] + missed).compactMap { $0 }
            + unique(damaged.map(\.notice) + branches.compactMap(boundNotice) + branches.compactMap(outdatedHRDNotice))
    }

    /// Returns the notice for HRD parameters of a rate that was changed.
    private func outdatedHRDNotice(_ branch: OutputBranch) -> String? {
        guard branch.description.effective.contains(where: { $0.option == "hrdParameters" && $0.used == EffectiveEntry.outdatedHRD })
        else { return nil }
        return "the rate was changed: the stream's HRD parameters are still those of the first rate (`hrdParameters` off omits them)"
    }

    func unique(_ texts: [String]) -> [String] {
        texts.enumerated().filter { texts.firstIndex(of: $0.element) == $0.offset }.map(\.element)
    }

    /// The notice for frames whose times differ from the input's.
    var speedNotice: String? {
        source.info.speedChange.map { "`frameRate` changes the playback speed to \($0.used): \($0.why)" }
    }

    /// The notice for an input without a frame rate.
    var assumedRateNotice: String? {
        let rate = source.info.frameRate
        guard source.info.frameRateIsAssumed else { return nil }
        return """
            \(source.info.kindWithoutRate) have no frame rate: \(decimal(rate.value, 0)) frames per second are assumed \
            (`frameRate` sets another rate)
            """
    }

    /// Whether the pictures' sizes depend on the frame rate.
    private var controlsRate: Bool {
        outputs.contains { ![.cqp, .icq].contains($0.configuration.wantedRateControl) || !$0.configuration.rate.dataRateLimits.isEmpty }
    }

    /// The notice for an input whose frame rate is known to vary.
    var rateNotice: String? {
        guard source.info.frameRateVaries, !source.info.isLive, let rate = outputs.first?.configuration.frameRate,
            controlsRate
        else { return nil }
        return """
            the input's frame rate varies: the bit rate and the buffer are controlled for a constant \
            \(decimal(rate.value, 2)) frames per second
            """
    }

    /// Returns the notice for an input whose actual frame rate differs from its nominal one.
    func unforeseenNotice(_ tally: FrameCounts) -> String? {
        guard let configuration = outputs.first?.configuration, !configuration.frameRateVaries, let rate = tally.frameRate,
            abs(rate / configuration.frameRate.value - 1) > 0.02
        else { return nil }
        let effect =
            controlsRate
            ? "the bit rate and the buffer were controlled for the declared rate" : "the output declares that rate too"
        return """
            the input has \(decimal(rate, 2)) frames per second, but declares \
            \(decimal(configuration.frameRate.value, 2)): \(effect)
            """
    }

    /// The entry with which `strict` rejects an input whose first pictures cannot be decoded.
    var leftOut: [EffectiveEntry] {
        let count = source.picturesLeftOut
        if count == 0 { return [] }
        return [
            EffectiveEntry(
                option: "pictures", asked: "all", used: "\(count) left out",
                why: "the input begins with pictures that cannot be decoded without earlier ones")
        ]
    }

    /// The notice for an input that starts between key frames.
    var leftOutNotice: String? {
        let count = source.picturesLeftOut
        if count == 0 { return nil }
        return "the input begins with \(counted(count, "picture")) that cannot be decoded and \(count == 1 ? "is" : "are") left out"
    }

    /// Returns the notice for forced key frames after the end of the input.
    func forcedNotice(_ tally: FrameCounts) -> String? {
        guard let configuration = outputs.first?.configuration else { return nil }
        let seconds = (tally.endOfInput(frameRate: configuration.frameRate) - (tally.firstInput ?? .zero)).seconds
        let late =
            configuration.structure.forcedKeyFrames.sorted().filter { $0 >= tally.input }.map { "\($0)" }
            + configuration.structure.forcedKeyTimes.map(\.seconds).sorted().filter { $0 >= seconds }.map { "\($0)s" }
        return late.isEmpty ? nil : "the input ended before the forced key frames at \(late.joined(separator: ", "))"
    }

    /// Returns the notice for rate changes after the end of the input.
    func lateChangeNotice(_ framesRead: Int) -> String? {
        let late = options.rateChanges.keys.filter { $0 >= framesRead }.sorted()
        if late.isEmpty { return nil }
        return
            "the input ended before the \(late.count == 1 ? "frame" : "frames") of `Transcoder.Options.rateChanges`: \(late.map(String.init).joined(separator: ", "))"
    }

    /// Returns the notice for a variable rate that was missed because `maxFrameBytes` limits the pictures.
    func boundNotice(_ branch: OutputBranch) -> String? {
        let configuration = branch.output.configuration
        let counts = branch.tally.snapshot
        let seconds = counts.mediaSeconds(frameRate: configuration.frameRate)
        let isUsed = branch.description.effective.contains { $0.option == "maxFrameBytes" && $0.used != "none" }
        guard branch.failure == nil, isUsed, options.rateChanges.isEmpty, [.vbr, .avbr].contains(configuration.rate.rateControl ?? .vbr),
            let most = configuration.rate.maxFrameBytes,
            let wanted = configuration.rate.bitrate?.value, seconds >= 1, Double(counts.largestPacket) > 0.85 * Double(most)
        else { return nil }
        let used = Double(counts.packetBytes) * 8 / seconds
        guard used < 0.9 * Double(wanted) else { return nil }
        return """
            the pictures used only \(Int(used / 1000)) of \(wanted / 1000) kbit/s, because `maxFrameBytes` limits \
            their size: raise it, or lower `bitrate`
            """
    }
}
