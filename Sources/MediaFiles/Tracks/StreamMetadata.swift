import CLibAV
import LibAV
import VideoBase

/// The metadata of a file's stream other than its codec: language, title and other tags, and dispositions.
struct StreamMetadata: Hashable {
    /// The index of the stream in the file.
    var index: Int
    var kind: MediaTrack.Kind
    var tags: [MediaMetadata.Tag]
    /// libavformat's AV_DISPOSITION_… flags.
    var disposition: Int32

    /// The language; nil if it is unknown.
    var language: String? { value("language").flatMap { $0 == "und" ? nil : $0 } }
    var title: String? { value("title") }
    var timeCode: String? { value("timecode") }

    func value(_ key: String) -> String? { tags.first { $0.key.lowercased() == key && !$0.value.isEmpty }?.value }

    /// Tags that describe the format of the file, or that are preserved in another way.
    private static let ofForm: Set<String> = [
        "language", "title", "timecode", "handler_name", "vendor_id", "encoder", "creation_time", "rotate", "filename", "mimetype",
    ]
    /// The names of the tags other than language, title and time code.
    var otherTags: [String] {
        tags.filter { !Self.ofForm.contains($0.key.lowercased()) && !MediaMetadata.isCount($0.key) && !$0.value.isEmpty }.map(\.key)
    }

    /// The flags of `disposition`, by ffprobe's names.
    static let flags: KeyValuePairs<String, Int32> = [
        "dub": AV_DISPOSITION_DUB, "original": AV_DISPOSITION_ORIGINAL, "comment": AV_DISPOSITION_COMMENT,
        "lyrics": AV_DISPOSITION_LYRICS, "karaoke": AV_DISPOSITION_KARAOKE, "forced": AV_DISPOSITION_FORCED,
        "hearing_impaired": AV_DISPOSITION_HEARING_IMPAIRED, "visual_impaired": AV_DISPOSITION_VISUAL_IMPAIRED,
        "clean_effects": AV_DISPOSITION_CLEAN_EFFECTS, "captions": AV_DISPOSITION_CAPTIONS,
        "descriptions": AV_DISPOSITION_DESCRIPTIONS, "metadata": AV_DISPOSITION_METADATA, "dependent": AV_DISPOSITION_DEPENDENT,
    ]
    /// The flags that describe the purpose of a stream.
    static let carriedFlags = flags.reduce(AV_DISPOSITION_DEFAULT) { $0 | $1.value }

    var isDefault: Bool { disposition & AV_DISPOSITION_DEFAULT != 0 }
    var dispositions: Set<String> { Set(Self.flags.filter { disposition & $0.value != 0 }.map(\.key)) }
}

extension MediaTrack {
    func metadata(index: Int) -> StreamMetadata {
        StreamMetadata(
            index: index, kind: kind, tags: unsafe MediaMetadata.tags(stream.pointee.metadata, av),
            disposition: unsafe stream.pointee.disposition)
    }

    /// The names of QuickTime's handlers that do not describe the stream.
    private static let usualHandlers: Set<String> = ["", "VideoHandler", "SoundHandler", "SubtitleHandler", "DataHandler"]

    /// Returns whether a title may replace a handler's name: there is no handler name, or it does not describe the
    /// stream.
    static func takesTitle(handler: String?) -> Bool { usualHandlers.contains(handler ?? "") }
}
