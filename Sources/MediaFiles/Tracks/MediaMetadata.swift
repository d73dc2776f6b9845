import CLibAV
import LibAV
public import VideoBase

/// The metadata of a file: title, artist and other tags, and chapters.
public struct MediaMetadata: Sendable, Hashable {
    /// A tag of a file, stream or chapter.
    public struct Tag: Sendable, Hashable {
        /// libavformat's name, such as `title`, `artist` or `creation_time`.
        public var key: String
        /// The text of the tag.
        public var value: String

        /// Creates a tag.
        public init(key: String, value: String) { (self.key, self.value) = (key, value) }
    }

    /// A chapter of a file.
    public struct Chapter: Sendable, Hashable {
        /// The time at which the chapter begins.
        public var start: MediaTime
        /// The time at which the chapter ends; nil: the beginning of the next chapter, or the end of the media.
        public var end: MediaTime?
        /// The tags of the chapter, such as `title`.
        public var tags: [Tag]

        /// Creates a chapter.
        public init(start: MediaTime, end: MediaTime? = nil, tags: [Tag] = []) {
            (self.start, self.end, self.tags) = (start, end, tags)
        }
    }

    /// The tags of the file.
    public var tags: [Tag] = []
    /// The tags of the video stream, such as `language`, `title` and `timecode`.
    public var pictureTags: [Tag] = []
    /// The index of the video stream in the file.
    private var pictureStream = 0
    /// The dispositions of the video stream.
    private var pictureDisposition: Int32 = 0
    /// The chapters in the order of their times, which are on the pictures' timeline.
    public var chapters: [Chapter] = []

    /// Creates empty metadata.
    public init() {}

    /// Whether there are no tags and no chapters.
    public var isEmpty: Bool { tags.isEmpty && pictureTags.isEmpty && chapters.isEmpty }

    /// Returns the value of a tag of the file; nil if there is none. The key is in lower case.
    public func tag(_ key: String) -> String? { tags.first { $0.key.lowercased() == key }?.value }

    /// The metadata of the video stream.
    var pictures: StreamMetadata {
        StreamMetadata(index: pictureStream, kind: .video, tags: pictureTags, disposition: pictureDisposition)
    }

    /// The time code of the pictures, or else of the file; nil if there is none.
    var timeCode: String? { pictures.timeCode ?? tag("timecode") }

    /// Returns the chapters between two times, relative to `start`.
    func chapters(from start: MediaTime, to end: MediaTime?) -> [Chapter] {
        chapters.compactMap { chapter in
            if let end, !(chapter.start < end) { return nil }
            if let chapterEnd = chapter.end, !(start < chapterEnd) { return nil }
            var chapter = chapter
            if let end, chapter.end.map({ end < $0 }) ?? false { chapter.end = end }
            chapter.start = max(chapter.start, start) - start
            chapter.end = chapter.end.map { $0 - start }
            return chapter
        }
    }
}

// MARK: From libavformat

extension MediaMetadata {
    /// Tags that describe the format of the file from which they are read.
    static let ofForm: Set<String> = ["major_brand", "minor_version", "compatible_brands", "encoder", "vendor_id"]
    /// Prefixes of the statistics that Matroska's tools write for a stream. They are invalid after the stream is
    /// encoded again.
    private static let counts = ["BPS", "DURATION", "NUMBER_OF_", "_STATISTICS_"]
    static func isCount(_ key: String) -> Bool { counts.contains { key.hasPrefix($0) } }

    /// Reads the metadata of a file.
    /// - Parameter pictures: The index of the video stream.
    init(_ input: InputContext, pictures: Int) {
        let (av, context) = unsafe (input.av, input.context)
        tags = unsafe Self.tags(context.pointee.metadata, av)
        pictureTags = unsafe Self.tags(context.pointee.streams[pictures]!.pointee.metadata, av).filter { !Self.isCount($0.key) }
        pictureStream = pictures
        pictureDisposition = unsafe context.pointee.streams[pictures]!.pointee.disposition & StreamMetadata.carriedFlags
        for index in 0..<Int(unsafe context.pointee.nb_chapters) {
            guard let chapter = unsafe context.pointee.chapters[index]?.pointee else { continue }
            let base = unsafe chapter.time_base
            guard base.num > 0, base.den > 0 else { continue }
            func time(_ ticks: Int64) -> MediaTime {
                MediaTime(value: Int64(clamping: Int128(ticks) * Int128(base.num)), timescale: base.den)
            }
            let (start, end) = unsafe (chapter.start, chapter.end)
            // In some files the last chapter has no end.
            chapters.append(
                Chapter(start: time(start), end: end > start ? time(end) : nil, tags: unsafe Self.tags(chapter.metadata, av)))
        }
    }

    static func tags(_ dictionary: OpaquePointer?, _ av: UnsafePointer<VaencLibAV>) -> [Tag] {
        var tags: [Tag] = []
        var entry: UnsafeMutablePointer<AVDictionaryEntry>?
        // The suffix of an empty key is any key.
        // SAFETY: entries belong to the dictionary, which does not change meanwhile. The texts are copied.
        while let next = unsafe av.pointee.av_dict_get!(dictionary, "", entry, AV_DICT_IGNORE_SUFFIX) {
            let (key, value) = unsafe (String(cString: next.pointee.key), String(cString: next.pointee.value))
            if !ofForm.contains(key.lowercased()) { tags.append(Tag(key: key, value: value)) }
            unsafe entry = UnsafeMutablePointer(mutating: next)
        }
        return tags
    }

    /// Adds tags to a dictionary. Returns false if there is no memory.
    static func set(_ tags: [Tag], in dictionary: UnsafeMutablePointer<OpaquePointer?>, _ av: UnsafePointer<VaencLibAV>) -> Bool {
        tags.allSatisfy { unsafe av.pointee.av_dict_set!(dictionary, $0.key, $0.value, 0) >= 0 }
    }

    /// Adds the tags to a container that will be written. Returns false if there is no memory.
    func describe(_ context: UnsafeMutablePointer<AVFormatContext>, _ av: UnsafePointer<VaencLibAV>) -> Bool {
        unsafe Self.set(tags, in: &context.pointee.metadata, av)
    }

    /// Adds the chapters between two times, relative to `start`, to a container. Returns false if there is no memory.
    func addChapters(
        to context: UnsafeMutablePointer<AVFormatContext>, from start: MediaTime, to end: MediaTime?, _ av: UnsafePointer<VaencLibAV>
    ) -> Bool {
        let chapters = chapters(from: start, to: end)
        if chapters.isEmpty { return true }
        guard unsafe vaenc_reserve_chapters(av, context, UInt32(clamping: chapters.count)) else { return false }
        for (index, chapter) in chapters.enumerated() {
            let next = chapters.indices.contains(index + 1) ? chapters[index + 1].start : nil
            let scale = Int32(clamping: vaenc_time_base())
            let begin = chapter.start.converted(to: scale).value
            let over = (chapter.end ?? next ?? end.map { $0 - start } ?? chapter.start).converted(to: scale).value
            guard let made = unsafe vaenc_add_chapter(av, context, Int64(index) + 1, begin, max(begin, over)),
                unsafe Self.set(chapter.tags, in: &made.pointee.metadata, av)
            else { return false }
        }
        return true
    }
}
