import VideoBase

/// Determines the metadata that a format cannot store. It considers what libavformat writes and what other readers
/// find.
struct MetadataSupport {
    private let format: OutputFormat
    /// The format that contains the streams. HLS segments are MP4 or MPEG-TS.
    private let form: OutputFormat

    /// Creates the description of a format.
    /// - Parameter codec: The codec of the pictures.
    init(_ format: OutputFormat, codec: VideoCodec?) {
        self.format = format
        form = format != .hls ? format : codec?.segmentFormat ?? .ts
    }

    private static let itemsOfMP4: Set<String> = [
        "title", "artist", "album_artist", "composer", "album", "date", "comment", "genre", "copyright", "grouping", "lyrics", "description",
        "synopsis", "show", "episode_id", "network", "keywords", "episode_sort", "season_number", "media_type", "hd_video",
        "gapless_playback", "compilation", "track", "disc", "location", "creation_time",
    ]
    private static let itemsOfQuickTime: Set<String> = [
        "title", "artist", "album", "date", "comment", "genre", "copyright", "make", "model", "location", "creation_time",
    ]

    private func notStored(_ option: String, _ asked: String) -> EffectiveEntry {
        EffectiveEntry(option: option, asked: asked, used: "none", why: "\(format.rawValue) cannot store it")
    }

    /// Returns the losses of the file's metadata: chapters, title and other tags.
    func losses(chapters: Int, tags: [MediaMetadata.Tag]) -> [EffectiveEntry] {
        var entries: [EffectiveEntry] = []
        if chapters > 0, !format.hasSampleEntries, format != .mkv {
            entries.append(
                EffectiveEntry(
                    option: "chapters", asked: "\(chapters)", used: "none",
                    why: "\(format.rawValue) cannot store them"))
        }
        let lost = tags.filter { tag in !holds(tag) && !Self.isIdle(tag, among: tags) }
        for tag in lost where tag.key.lowercased() == "title" {
            var entry = notStored("title", tag.value)
            if form == .ts {
                let isWhole = ServiceNames.fitting(tags).contains(tag)
                entry.used = "\(isWhole ? "" : "its beginning as ")the service's name"
                entry.why = "\(format.rawValue) has no other field for it"
            }
            entries.append(entry)
        }
        if form == .ts {
            for (tag, used) in zip(tags, ServiceNames.fitting(tags)) where tag.key.lowercased() != "title" && tag != used {
                entries.append(
                    EffectiveEntry(
                        option: tag.key, asked: tag.value, used: used.value,
                        why: "\(format.rawValue) has no space for more"))
            }
        }
        for tag in lost where tag.key.lowercased() == "timecode" { entries.append(notStored("time code", tag.value)) }
        let others = lost.map(\.key).filter { !["title", "timecode"].contains($0.lowercased()) }
        if !others.isEmpty {
            entries.append(
                EffectiveEntry(
                    option: "tags", asked: others.joined(separator: ", "), used: "none",
                    why: "\(format.rawValue) cannot store \(others.count == 1 ? "it" : "them")"))
        }
        return entries
    }

    private func holds(_ tag: MediaMetadata.Tag) -> Bool {
        let key = tag.key.lowercased()
        if key == "timecode" { return holdsTimeCode }
        return switch form {
        case .mkv, .flv: true
        case .mp4, .fmp4: Self.itemsOfMP4.contains(key)
        case .mov: Self.itemsOfQuickTime.contains(key)
        case .ts: ["service_name", "service_provider"].contains(key)
        case .annexb, .avcc, .hls: false
        }
    }

    /// Whether a tag does not describe the content. It describes the file's format, comes from a clock that was not
    /// set, or repeats another tag for one language.
    private static func isIdle(_ tag: MediaMetadata.Tag, among tags: [MediaMetadata.Tag]) -> Bool {
        let key = tag.key.lowercased()
        if tag.value.isEmpty || MediaMetadata.ofForm.contains(key) || key == "encoding_tool" { return true }
        if key == "creation_time" { return tag.value.hasPrefix("1970-01-01T00:00:00") }
        let parts = key.split(separator: "-")
        return parts.count == 2 && parts[1].count == 3 && tags.contains { $0.key.lowercased() == parts[0] && $0.value == tag.value }
    }

    /// Returns the losses of the metadata of the output's streams.
    func losses(of streams: [StreamMetadata]) -> [EffectiveEntry] {
        streams.flatMap { stream in
            [
                languageLoss(stream), titleLoss(stream), timeCodeLoss(stream), tagLoss(stream), dispositionLoss(stream, streams),
            ].compactMap { $0 }
        }
    }

    private func languageLoss(_ stream: StreamMetadata) -> EffectiveEntry? {
        guard let language = stream.language else { return nil }
        let isCode = language.count == 3 && language.allSatisfy { $0.isASCII && $0.isLowercase }
        let isHeld =
            switch form {
            case .mkv: true
            case .mov: MacintoshLanguage.name(language) != nil
            case .mp4, .fmp4: isCode
            case .ts: isCode && (stream.kind == .audio || stream.kind == .subtitle)
            case .flv, .annexb, .avcc, .hls: false
            }
        if isHeld { return nil }
        var entry = notStored("language of stream \(stream.index)", language)
        if form == .mov { entry.why = "QuickTime has no code for it" }
        return entry
    }

    private func titleLoss(_ stream: StreamMetadata) -> EffectiveEntry? {
        guard form != .mkv, let title = stream.title, title != stream.value("handler_name") || !form.hasSampleEntries else { return nil }
        var entry = notStored("title of stream \(stream.index)", title)
        if form.hasSampleEntries, MediaTrack.takesTitle(handler: stream.value("handler_name")) {
            (entry.used, entry.why) = ("the handler's name", "\(format.rawValue) has no other field for it")
        }
        return entry
    }

    /// Whether the format stores a time code. In MP4 and QuickTime it is its own track, which HLS segments do not have.
    var holdsTimeCode: Bool { format.hasSampleEntries || format == .mkv }

    private func timeCodeLoss(_ stream: StreamMetadata) -> EffectiveEntry? {
        holdsTimeCode ? nil : stream.timeCode.map { notStored("time code", $0) }
    }

    private func tagLoss(_ stream: StreamMetadata) -> EffectiveEntry? {
        let lost = form == .mkv ? [] : stream.otherTags
        return lost.isEmpty ? nil : notStored("tags of stream \(stream.index)", lost.joined(separator: ", "))
    }

    private func dispositionLoss(_ stream: StreamMetadata, _ all: [StreamMetadata]) -> EffectiveEntry? {
        let asked = stream.dispositions
        var lost = asked.subtracting(heldDispositions(asked, stream.kind))
        // If no stream of a kind is marked as default, players choose the first.
        let first = all.first { $0.kind == stream.kind }
        if stream.isDefault, !form.hasSampleEntries, form != .mkv, first?.isDefault == false { lost.insert("default") }
        if lost.isEmpty { return nil }
        return notStored("disposition of stream \(stream.index)", lost.sorted().joined(separator: ", "))
    }

    private func heldDispositions(_ asked: Set<String>, _ kind: MediaTrack.Kind) -> Set<String> {
        switch form {
        case .mkv:
            var held: Set<String> = ["comment", "forced", "hearing_impaired", "visual_impaired"]
            // Matroska has one flag for both, so a track can hold only one of them.
            if !asked.isSuperset(of: ["dub", "original"]) { held.formUnion(["dub", "original"]) }
            return held.union(implied(held.intersection(asked)))
        case .mp4, .fmp4: return ["dub", "comment", "forced", "hearing_impaired", "visual_impaired", "captions", "descriptions"]
        case .ts:
            // MPEG-TS has one audio_type: ISO/IEC 13818-1 2.6.19.
            let type = kind == .audio ? ["clean_effects", "hearing_impaired", "visual_impaired"].first(where: asked.contains) : nil
            let held = Set([type].compactMap { $0 })
            return held.union(implied(held))
        case .mov, .flv, .annexb, .avcc, .hls: return []
        }
    }

    /// Returns the dispositions that MP4's roles imply: captions are for the hearing impaired, descriptions for the
    /// visually impaired.
    private func implied(_ held: Set<String>) -> Set<String> {
        Set([held.contains("hearing_impaired") ? "captions" : nil, held.contains("visual_impaired") ? "descriptions" : nil].compactMap { $0 })
    }
}
