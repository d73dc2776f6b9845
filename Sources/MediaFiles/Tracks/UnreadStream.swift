public import VideoBase

/// A stream of an input that is not read: it has to be reported where it is expected in the output.
public struct UnreadStream: Sendable, Hashable {
    /// In the file.
    public let index: Int
    public let kind: MediaTrack.Kind
    /// libavcodec's name.
    public let codec: String
    /// A picture that stands for the file.
    public let isCover: Bool
    let isTimeCode: Bool
    let isChapters: Bool

    init(index: Int, track: MediaTrack) {
        self.index = index
        (kind, codec, isCover) = (track.kind, track.codecName, track.isAttachedPicture)
        (isTimeCode, isChapters) = (track.isTimeCode, track.isChapters)
    }

    /// `stream 2 (subtitle, subrip)`
    public var name: String { "stream \(index) (\(kind.rawValue), \(codec))" }

    /// Why it is not in an encoder's output.
    fileprivate var reason: String {
        switch kind {
        case .video where isCover: "covers are not carried"
        case .video: "one stream of pictures is encoded"
        case .audio: "its header does not say how it is heard"
        case .subtitle: "subtitles are not carried yet"
        case .data: "data is not carried"
        case .attachment: "attachments are not carried"
        }
    }
}

extension SourceInfo {
    /// What of the file is missing in the output of an encoder.
    ///
    /// - Parameters:
    ///   - keepsMetadata: tags and chapters are wanted.
    ///   - kinds: streams of other kinds are not wanted.
    public func missing(
        in format: OutputFormat, keepsMetadata: Bool = true, kinds: Set<MediaTrack.Kind> = [.video, .audio, .subtitle, .data, .attachment]
    ) -> [EffectiveEntry] {
        let streams = unreadStreams.filter { stream in
            // Tracks that say chapters and time codes are written from the metadata.
            if stream.isChapters && !metadata.chapters.isEmpty || stream.isTimeCode && format.hasSampleEntries { return false }
            // Sound that is not read is no part of a format for pictures alone.
            return kinds.contains(stream.kind) && (format.holdsTracks || stream.kind != .audio)
        }
        let entries = streams.map { EffectiveEntry(option: $0.name, asked: "copied", used: "left out", why: $0.reason) }
        if !keepsMetadata { return entries }
        return entries + [leftOutTimeCode].compactMap { $0 } + format.losses(chapters: metadata.chapters.count, title: metadata.tag("title"))
    }
}

extension SourceSound {
    /// Its language, where a format has no place for that.
    public func languageLoss(in format: OutputFormat) -> EffectiveEntry? { format.loss(of: track.language, stream: stream ?? 0) }
}

extension MediaMetadata {
    /// Takes the time code out: it does not go for other pictures, or another rate.
    mutating func removeTimeCode() -> EffectiveEntry? {
        func isTimeCode(_ tag: Tag) -> Bool { tag.key.lowercased() == "timecode" }
        guard let code = (pictureTags + tags).first(where: isTimeCode) else { return nil }
        pictureTags.removeAll(where: isTimeCode)
        tags.removeAll(where: isTimeCode)
        return EffectiveEntry(
            option: "time code", asked: code.value, used: "none", why: "it is of the input's first picture and frame rate")
    }
}

extension OutputFormat {
    /// What of a file's metadata the format has no place for.
    func losses(chapters: Int, title: String?) -> [EffectiveEntry] {
        var entries: [EffectiveEntry] = []
        if chapters > 0, !hasSampleEntries, self != .mkv {
            entries.append(EffectiveEntry(option: "chapters", asked: "\(chapters)", used: "none", why: "\(rawValue) has no place for them"))
        }
        if let title, !hasSampleEntries, ![.mkv, .flv].contains(self) {
            let isTS = self == .ts || self == .hls
            entries.append(
                EffectiveEntry(
                    option: "title", asked: title, used: isTS ? "the service's name" : "none",
                    why: "\(rawValue) has no \(isTS ? "other " : "")place for it"))
        }
        return entries
    }

    /// What of a track's metadata the format has no place for.
    func loss(of language: String?, stream index: Int) -> EffectiveEntry? {
        guard let language else { return nil }
        let isHeld = self == .mov ? MacintoshLanguage.name(language) != nil : holdsTracks && self != .flv
        if isHeld { return nil }
        return EffectiveEntry(
            option: "language of stream \(index)", asked: language, used: "none",
            why: self == .mov ? "QuickTime has no code for it" : "\(rawValue) has no place for it")
    }
}
