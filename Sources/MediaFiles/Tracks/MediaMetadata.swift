import CLibAV
import LibAV
public import VideoBase

/// What a file says of itself: title, artist and other tags, and chapters.
public struct MediaMetadata: Sendable, Hashable {
    public struct Tag: Sendable, Hashable {
        /// libavformat's name: `title`, `artist`, `creation_time`.
        public var key: String
        public var value: String

        public init(key: String, value: String) { (self.key, self.value) = (key, value) }
    }

    public struct Chapter: Sendable, Hashable {
        public var start: MediaTime
        /// nil: the beginning of the next one, or the end of the media.
        public var end: MediaTime?
        public var tags: [Tag]

        public init(start: MediaTime, end: MediaTime? = nil, tags: [Tag] = []) {
            (self.start, self.end, self.tags) = (start, end, tags)
        }
    }

    public var tags: [Tag] = []
    /// Tags of the stream of pictures: `language`, `title`, `timecode`.
    public var pictureTags: [Tag] = []
    /// The index of the stream of pictures in the file, and its dispositions.
    private var pictureStream = 0
    private var pictureDisposition: Int32 = 0
    /// In the order of their times, which are those of the pictures.
    public var chapters: [Chapter] = []

    public init() {}

    public var isEmpty: Bool { tags.isEmpty && pictureTags.isEmpty && chapters.isEmpty }

    /// The value of a tag of the file.
    public func tag(_ key: String) -> String? { tags.first { $0.key.lowercased() == key }?.value }

    /// The stream of pictures.
    var pictures: StreamWords { StreamWords(index: pictureStream, kind: .video, tags: pictureTags, disposition: pictureDisposition) }

    /// Of the pictures, or else of the file.
    var timeCode: String? { pictures.timeCode ?? tag("timecode") }

    /// The chapters between two times, counted from the first.
    func chapters(from start: MediaTime, to end: MediaTime?) -> [Chapter] {
        chapters.compactMap { chapter in
            if let end, !(chapter.start < end) { return nil }
            if let own = chapter.end, !(start < own) { return nil }
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
    /// Tags that name the form of the file that they are read from.
    static let ofForm: Set<String> = ["major_brand", "minor_version", "compatible_brands", "encoder", "vendor_id"]
    /// Counts that Matroska's tools write of a stream, and that go for no other coding of it.
    private static let counts = ["BPS", "DURATION", "NUMBER_OF_", "_STATISTICS_"]
    static func isCount(_ key: String) -> Bool { counts.contains { key.hasPrefix($0) } }

    /// - Parameter pictures: the index of the stream of pictures.
    init(_ input: InputContext, pictures: Int) {
        let (av, context) = unsafe (input.av, input.context)
        tags = unsafe Self.tags(context.pointee.metadata, av)
        pictureTags = unsafe Self.tags(context.pointee.streams[pictures]!.pointee.metadata, av).filter { !Self.isCount($0.key) }
        pictureStream = pictures
        pictureDisposition = unsafe context.pointee.streams[pictures]!.pointee.disposition & StreamWords.carriedFlags
        for index in 0..<Int(unsafe context.pointee.nb_chapters) {
            guard let chapter = unsafe context.pointee.chapters[index]?.pointee else { continue }
            let base = unsafe chapter.time_base
            guard base.num > 0, base.den > 0 else { continue }
            func time(_ ticks: Int64) -> MediaTime {
                MediaTime(value: Int64(clamping: Int128(ticks) * Int128(base.num)), timescale: base.den)
            }
            let (start, end) = unsafe (chapter.start, chapter.end)
            // The last chapters of some files have no end.
            chapters.append(
                Chapter(start: time(start), end: end > start ? time(end) : nil, tags: unsafe Self.tags(chapter.metadata, av)))
        }
    }

    static func tags(_ dictionary: OpaquePointer?, _ av: UnsafePointer<VaencLibAV>) -> [Tag] {
        var tags: [Tag] = []
        var entry: UnsafeMutablePointer<AVDictionaryEntry>?
        let everyKey: Int32 = 2
        // SAFETY: entries belong to the dictionary, which nobody changes meanwhile; the texts are copied.
        while let next = unsafe av.pointee.av_dict_get!(dictionary, "", entry, everyKey) {
            let (key, value) = unsafe (String(cString: next.pointee.key), String(cString: next.pointee.value))
            if !ofForm.contains(key.lowercased()) { tags.append(Tag(key: key, value: value)) }
            unsafe entry = UnsafeMutablePointer(mutating: next)
        }
        return tags
    }

    /// False: no memory.
    static func set(_ tags: [Tag], in dictionary: UnsafeMutablePointer<OpaquePointer?>, _ av: UnsafePointer<VaencLibAV>) -> Bool {
        tags.allSatisfy { unsafe av.pointee.av_dict_set!(dictionary, $0.key, $0.value, 0) >= 0 }
    }

    /// Puts the tags into a container that is to be written. False: no memory.
    func describe(_ context: UnsafeMutablePointer<AVFormatContext>, _ av: UnsafePointer<VaencLibAV>) -> Bool {
        unsafe Self.set(tags, in: &context.pointee.metadata, av)
    }

    /// Puts chapters between two times in, counted from the first. False: no memory.
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
