import MediaFiles
import VAAPI
import VideoBase

/// The requested and the effective settings of an output.
extension OutputBranch {
    /// The entries for sound.
    var soundEntries: [EffectiveEntry] {
        var entries = sound.entries
        for (index, why) in feedsLeftOut where feeds.indices.contains(index) {
            // If any audio stream is kept, there is an entry for each of the source's audio streams.
            let stream = feeds[index].stream
            guard entries.indices.contains(stream) else { continue }
            let entry = entries[stream]
            entries[stream] = EffectiveEntry(
                option: entry.option, asked: entry.asked ?? (entry.used == AudioMode.copy.rawValue ? EffectiveEntry.copied : entry.used),
                used: "left out",
                why: .explained(why))
        }
        let describesOnce = format.ofFile(description.codec) != .ts
        for (stream, feed) in feeds where describesOnce && feed.hasChanged && entries.indices.contains(stream) {
            entries[stream] = EffectiveEntry(
                option: entries[stream].option, asked: entries[stream].asked ?? EffectiveEntry.copied,
                used: "copied with the sampling rate and channels of its beginning",
                why: "they change in the input, and \(format.rawValue) describes them once: use `AudioMode.aac`")
        }
        return entries
    }

    /// The entries for settings that the container decides, and for audio.
    private var contained: [EffectiveEntry] {
        var entries: [EffectiveEntry] = []
        if let entry = output.requestedSampleEntry, format.hasSampleEntries {
            let (used, why): (String, SettingReason) =
                switch description.codec {
                case .h264: ("avc1", "H.264 has no other sample entry")
                case .hevc: (entry.rawValue, .requested)
                }
            entries.append(EffectiveEntry(option: "sampleEntry", asked: entry.rawValue, used: used, why: why))
        }
        entries += soundEntries
        let asksDelimiters = output.configuration.headers.accessUnitDelimiters
        let hasDelimiters = format.wantsDelimiters(of: description.codec, asked: asksDelimiters)
        if hasDelimiters != asksDelimiters {
            let container = format == .hls ? "hls of \(description.codec.rawValue)" : format.rawValue
            entries.append(
                EffectiveEntry(
                    option: "accessUnitDelimiters", asked: asksDelimiters ? "on" : nil, used: hasDelimiters ? "on" : "off",
                    why: hasDelimiters ? "\(container) always has them" : "\(container) cannot hold them"))
        }
        return entries
    }

    /// Returns the entries for the input's other streams and metadata that the output does not have.
    private func missing(_ info: SourceInfo) -> [EffectiveEntry] {
        var kinds: Set<MediaTrack.Kind> = [.video, .audio, .subtitle, .data, .attachment]
        kinds.subtract(output.unreportedStreams)
        if output.audio == AudioMode.none { kinds.remove(.audio) }
        let codec = description.codec
        return format.losses(of: sound.includedSounds, codec: codec, keepsMetadata: output.keepsMetadata)
            + info.missing(in: format, codec: codec, keepsMetadata: output.keepsMetadata, kinds: kinds)
    }

    /// Returns the entries that do not come from the session: changes of the input, and settings that the container
    /// decides.
    func changes(_ info: SourceInfo) -> [EffectiveEntry] {
        var changes = info.changes + contained + missing(info)
        if !info.displayMatrix.isEmpty {
            let turn = Rotation.name(info.displayMatrix)
            let isKept = format.hasSampleEntries
            changes.append(
                EffectiveEntry(
                    option: "rotation", asked: turn, used: isKept ? turn : "as stored",
                    why: isKept
                        ? "stored as metadata, the pictures are unchanged" : "\(format.rawValue) cannot store it"))
        }
        let depth = description.profile.bitDepth
        let used = depth > 8 ? PixelFormat.p010.rawValue : PixelFormat.nv12.rawValue
        let name = info.nativeFormat?.rawValue ?? info.nativeFormatName ?? ""
        if name.isEmpty { return changes }
        let same: [PixelFormat] = [.nv12, .i420, .yv12, .p010, .i420p10]
        if !(info.nativeFormat.map(same.contains) ?? name.hasPrefix("yuv420p")) {
            changes.append(
                // The camera determines this format; the user did not request it.
                EffectiveEntry(
                    option: "inputFormat", asked: info.isLive ? nil : name, used: used,
                    why: info.isLive ? "\(name), encoded as \(depth)-bit 4:2:0" : "encoded as \(depth)-bit 4:2:0"))
        } else if !description.effective.contains(where: { $0.option == "pixelFormat" }),
            let entry = EffectiveEntry.pixelFormat(
                name, depth: info.bitDepth, used: depth > 8 ? .p010 : .nv12, codec: description.codec)
        {
            changes.append(entry)
        }
        return changes
    }

    /// Returns each setting with its effective value, in the order in which reports show them.
    ///
    /// - Parameter inherited: Settings that always have a value and were not requested.
    func effective(_ info: SourceInfo, inherited: Set<String>) -> [EffectiveEntry] {
        let used = description.codec.rawValue
        let reason = output.codecReason ?? session.choice.codecReason
        let codec = EffectiveEntry(option: "codec", asked: reason == .requested ? used : nil, used: used, why: reason.settingReason)
        let contained = contained
        let ownRate: SettingReason = info.frameRateIsAssumed ? "assumed: \(info.kindWithoutRate) have no frame rate" : "the input's"
        let others = description.effective.filter { entry in
            entry.option != "codec" && !contained.contains { $0.option == entry.option }
        }
        let entries = others.map { entry in
            if entry.option == "size", let sizeEntry = size(entry, info: info, inherited: inherited) {
                return sizeEntry
            }
            guard inherited.contains(entry.option), !entry.differs else { return entry }
            var entry = entry
            entry.asked = nil
            if entry.why == .requested {
                entry.why = entry.option == "rateControl" ? "a QP is requested" : entry.option == "frameRate" ? ownRate : "the input's"
            }
            return entry
        }
        var rate = EffectiveEntry(
            option: "frameRate", asked: nil, used: description.frameRate.description, why: ownRate)
        if !inherited.contains("frameRate") {
            rate.asked = output.configuration.frameRate.description
            rate.why = .requested
        }
        return [codec] + entries + (entries.contains { $0.option == "frameRate" } ? [] : [rate]) + changes(info)
    }

    /// Returns the size entry with the displayed size, if the user requested a size and players rotate the pictures by
    /// 90° or 270°.
    private func size(_ entry: EffectiveEntry, info: SourceInfo, inherited: Set<String>) -> EffectiveEntry? {
        guard info.isTurnedOnItsSide, !inherited.contains("size"), info.size == output.configuration.size else {
            return nil
        }
        let seen = VideoSize(width: info.size.height, height: info.size.width)
        let isKept = format.hasSampleEntries
        return EffectiveEntry(
            option: entry.option, asked: "\(seen)", used: isKept && !entry.differs ? "\(seen)" : entry.used,
            why: isKept
                ? "the displayed size: stored as \(entry.used), and players rotate the pictures"
                : "\(seen) is the displayed size: the pictures are stored without rotation")
    }
}
