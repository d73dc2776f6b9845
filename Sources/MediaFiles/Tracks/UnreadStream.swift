public import VideoBase

/// A stream of an input that is not read. It must be reported if it is expected in the output.
public struct UnreadStream: Sendable, Hashable {
    /// The index of the stream in the file.
    public let index: Int
    /// The kind of the stream.
    public let kind: MediaTrack.Kind
    /// libavcodec's name of the codec.
    public let codec: String
    /// Whether the stream is a picture that represents the file.
    public let isCover: Bool
    let isTimeCode: Bool
    let isChapters: Bool

    init(index: Int, track: MediaTrack) {
        self.index = index
        (kind, codec, isCover) = (track.kind, track.codecName, track.isAttachedPicture)
        (isTimeCode, isChapters) = (track.isTimeCode, track.isChapters)
    }

    /// The name in reports, such as `stream 2 (subtitle, subrip)`.
    public var name: String { "stream \(index) (\(kind.rawValue), \(codec))" }

    /// The reason why the stream is not in an encoder's output.
    fileprivate var reason: String {
        switch kind {
        case .video where isCover: "covers are not copied"
        case .video: "only one video stream is encoded"
        case .audio: "its header does not describe the sound"
        case .subtitle: "subtitles are not copied"
        case .data: "data streams are not copied"
        case .attachment: "attachments are not copied"
        }
    }
}

extension SourceInfo {
    /// Returns the streams and metadata of the file that are missing in the output of an encoder.
    ///
    /// - Parameters:
    ///   - format: The format of the output.
    ///   - codec: The codec of the output's pictures.
    ///   - keepsMetadata: Whether the output should have tags and chapters.
    ///   - kinds: The kinds of streams that the output should have.
    public func missing(
        in format: OutputFormat, codec: VideoCodec? = nil, keepsMetadata: Bool = true,
        kinds: Set<MediaTrack.Kind> = [.video, .audio, .subtitle, .data, .attachment]
    ) -> [EffectiveEntry] {
        let hasTimeCode = leftOutTimeCode != nil || metadata.timeCode != nil
        let streams = unreadStreams.filter { stream in
            // Tracks of chapters and time codes are written or reported from the metadata.
            if stream.isChapters && !metadata.chapters.isEmpty || stream.isTimeCode && hasTimeCode && keepsMetadata { return false }
            // A format for pictures only does not miss sound that is not read.
            return kinds.contains(stream.kind) && (format.holdsTracks || stream.kind != .audio)
        }
        let entries = streams.map { stream in
            let why = stream.kind == .audio && !readsSound ? "`SourceOptions.readsSound` is off" : stream.reason
            return EffectiveEntry(option: stream.name, asked: EffectiveEntry.copied, used: "left out", why: .explained(why))
        }
        if !keepsMetadata { return entries }
        let support = MetadataSupport(format, codec: codec)
        return entries + [leftOutTimeCode].compactMap { $0 }
            + support.losses(chapters: metadata.chapters.count, tags: metadata.tags)
            + support.losses(of: [metadata.pictures])
    }
}

extension SourceSound {
    fileprivate func metadata(keepsTags: Bool) -> StreamMetadata {
        var metadata = track.metadata(index: stream ?? 0)
        if !keepsTags {
            metadata.tags.removeAll { $0.key.lowercased() != "language" }
            metadata.disposition = 0
        }
        return metadata
    }
}

extension OutputFormat {
    /// Returns the metadata of sound streams that the format cannot store.
    ///
    /// - Parameters:
    ///   - sounds: The sound streams of the output.
    ///   - codec: The codec of the output's pictures.
    ///   - keepsMetadata: Whether the output should have titles and other tags.
    public func losses(of sounds: [SourceSound], codec: VideoCodec?, keepsMetadata: Bool) -> [EffectiveEntry] {
        MetadataSupport(self, codec: codec).losses(of: sounds.map { $0.metadata(keepsTags: keepsMetadata) })
    }
}

extension MediaMetadata {
    /// Removes the time code, which is invalid for other pictures or another rate. Returns the report about it; nil if
    /// there was none.
    mutating func removeTimeCode() -> EffectiveEntry? {
        func isTimeCode(_ tag: Tag) -> Bool { tag.key.lowercased() == "timecode" }
        guard let code = (pictureTags + tags).first(where: isTimeCode) else { return nil }
        pictureTags.removeAll(where: isTimeCode)
        tags.removeAll(where: isTimeCode)
        return EffectiveEntry(
            option: "time code", asked: code.value, used: "none", why: Self.timeCodeReason)
    }

    static let timeCodeReason: SettingReason = "it is valid only for the input's first picture and frame rate"
}
