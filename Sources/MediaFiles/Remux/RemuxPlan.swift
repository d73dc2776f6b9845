import CLibAV
import LibAV
import VideoBase

/// Selects the streams of a file that a container can hold.
struct RemuxPlan {
    var tracks: [MediaTrack] = []
    var report: [RemuxReport.Stream] = []
    /// The index of each stream's track in the output; nil if the stream is left out.
    var trackIndices: [Int?] = []
    var effective: [EffectiveEntry] = []
    /// The time code of the first picture; nil if there is none.
    let timeCode: String?

    /// Creates the plan.
    /// - Throws: `usage` for pictures or sound that the format cannot hold, and if no stream is left; with `strict`,
    ///   `unavailable` for anything else that the format cannot hold.
    init(_ input: InputContext, format: OutputFormat, named: VideoCodec?, strict: Bool) throws {
        let av = unsafe input.av
        let hasChapters = unsafe input.context.pointee.nb_chapters > 0
        let all = try (0..<Int(unsafe input.context.pointee.nb_streams)).map(input.track)
        if all.isEmpty {
            throw InputContext.unreadable(input.name, "it contains no stream", remedy: "use a file with video or sound")
        }
        var counts: [MediaTrack.Kind: Int] = [:]
        var copied: [StreamMetadata] = []
        let tags = unsafe MediaMetadata.tags(input.context.pointee.metadata, av)
        timeCode =
            all.enumerated().lazy.compactMap { $1.kind == .video ? $1.metadata(index: $0).timeCode : nil }.first
            ?? StreamMetadata(index: 0, kind: .data, tags: tags, disposition: 0).timeCode
        for (index, stored) in all.enumerated() {
            var stream = RemuxReport.Stream(index: index, kind: stored.kind, codec: stored.codecName)
            let isCover = format == .mkv && stored.isAttachedPicture
            let track = isCover ? unsafe try .attachedCover(input.context.pointee.streams[index]!, av) ?? stored : stored
            let why = try Self.rejectionReason(track, in: format, named: named, counts: counts)
            if why == nil {
                trackIndices.append(tracks.count)
                tracks.append(track)
                counts[track.isAttachedPicture ? .attachment : track.kind, default: 0] += 1
            } else {
                trackIndices.append(nil)
            }
            stream.leftOut = why
            report.append(stream)
            if why == nil, !track.isAttachedPicture, unsafe vaenc_is_turned(track.stream) != 0, !Self.turns(format) {
                effective.append(
                    EffectiveEntry(
                        option: "rotation", asked: "as in the input", used: "as stored",
                        why: "\(format.rawValue) cannot store it"))
            }
            guard let why else {
                try Self.checkParameterSets(track, input.name)
                if track.kind != .attachment { copied.append(track.metadata(index: index)) }
                continue
            }
            // Chapters and time codes that the metadata also state are written or reported from there.
            if track.kind == .data, hasChapters && track.isChapters || timeCode != nil && track.isTimeCode { continue }
            let name = track.name(of: index)
            if !track.isUndescribedSound, format.holdsTracks, track.kind == .video && !track.isAttachedPicture || track.kind == .audio {
                // libavformat does not know the sample entry, so another format does not help.
                if track.codecName == "none" {
                    throw InputContext.unreadable(
                        input.name, "stream \(index) is \(track.kind.rawValue) of an unknown codec",
                        remedy: "check that the file is complete")
                }
                throw VaencError(.usage, "\(name): \(why)", remedy: Self.remedy(all, isSurplus: format == .flv && counts[track.kind, default: 0] > 0))
            }
            effective.append(EffectiveEntry(option: name, asked: EffectiveEntry.copied, used: "left out", why: .explained(why)))
        }
        guard tracks.contains(where: { $0.kind == .video || $0.kind == .audio }) else {
            let kinds = [MediaTrack.Kind.video, .audio]
            let reasons = kinds.compactMap { kind in report.first { $0.kind == kind }?.leftOut }
            guard let why = reasons.first else {
                throw VaencError(
                    .badInput, "\(input.name) has no readable video or sound",
                    remedy: "check that the file is complete, and that it contains video or sound")
            }
            // This is a bare output. For containers the track was rejected above.
            let bare = all.lazy.filter { $0.kind == .video && !$0.isAttachedPicture }
                .compactMap { $0.codec?.fileExtension }.first
            throw VaencError(
                .usage, "\(format.rawValue) can contain nothing of \(input.name): \(why)",
                remedy: bare.map { "end the output's name in .\($0)" } ?? Self.remedy(all, isSurplus: false))
        }
        let support = MetadataSupport(format, codec: VideoCodec(ofPicturesIn: tracks))
        let chapters = Int(unsafe input.context.pointee.nb_chapters)
        effective += support.losses(of: copied) + support.losses(chapters: chapters, tags: tags)
        if strict, let error = effective.strictError { throw error }
    }

    /// Returns the remedy for pictures or sound that a format does not hold.
    ///
    /// - Parameters:
    ///   - all: The tracks of the input.
    ///   - isSurplus: Whether the format holds the track, but not beside another of its kind. Encoding does not change
    ///     this.
    private static func remedy(_ all: [MediaTrack], isSurplus: Bool) -> String {
        let media = all.filter { $0.kind == .video && !$0.isAttachedPicture || $0.kind == .audio }
        func formats(for tracks: [MediaTrack]) -> String? {
            let names = [OutputFormat.mp4, .mov, .mkv, .ts].filter { format in tracks.allSatisfy { (try? format.holds($0)) == true } }.map(\.rawValue)
            return names.count > 1 ? "\(names.dropLast().joined(separator: ", ")) or \(names[names.count - 1])" : names.first
        }
        let encode = isSurplus ? "`Transcoder`, which drops the additional stream" : "`Transcoder`"
        if let whole = formats(for: media + all.filter { $0.kind == .subtitle }) {
            return "use \(whole), which can contain the whole input, or \(encode)"
        }
        return formats(for: media).map { "use \($0), which can contain all pictures and sound, or \(encode)" } ?? "use \(encode)"
    }

    /// Checks that a track has parameter sets. Without them nothing is known about the pictures, and none can be
    /// decoded.
    private static func checkParameterSets(_ track: MediaTrack, _ name: String) throws {
        let parameters = unsafe track.stream.pointee.codecpar!
        guard track.kind == .video, !track.isAttachedPicture, track.codec != nil,
            unsafe parameters.pointee.width <= 0 || parameters.pointee.height <= 0
        else { return }
        throw InputContext.unreadable(
            name, "its \(track.codecName) has no parameter sets",
            remedy: "check that the file is complete; if the sets are in a record, add them with `StreamConversion`")
    }

    /// Whether a format stores how players rotate pictures. libavformat writes it in Matroska from FFmpeg 7 on.
    private static func turns(_ format: OutputFormat) -> Bool {
        format.hasSampleEntries || format == .mkv && vaenc_libav_major(LibAV.Parts.format.rawValue) >= 61
    }

    /// Returns the reason why a format cannot hold a track in addition to the selected ones; nil if it can.
    private static func rejectionReason(
        _ track: MediaTrack, in format: OutputFormat, named: VideoCodec?, counts: [MediaTrack.Kind: Int]
    ) throws -> String? {
        let name = format.rawValue
        let kind = track.isAttachedPicture ? MediaTrack.Kind.attachment : track.kind
        if !format.holdsTracks {
            guard kind == .video, let codec = track.codec else { return "\(name) can contain only H.264 or HEVC" }
            if let named, named != codec { return "the output's name means another codec" }
            return counts[.video, default: 0] > 0 ? "\(name) can contain only one stream" : nil
        }
        if kind == .attachment {
            // In Matroska covers are attachments.
            let isHeld = track.isAttachedPicture ? format == .mp4 : format == .mkv
            if isHeld { return nil }
            return track.isAttachedPicture
                ? "vaenc does not write covers into \(name)" : "\(name) cannot contain attachments"
        }
        if kind == .data, track.codecName == "none" || track.codecName == "bin_data" {
            // In QuickTime time codes and chapters are tracks, which the muxer creates again.
            let isTimeCode = unsafe track.stream.pointee.codecpar.pointee.codec_tag == 0x6463_6d74
            if format.hasSampleEntries, isTimeCode || track.codecName == "bin_data" {
                return isTimeCode ? "the muxer writes a new time code track" : "the muxer writes a new chapter track"
            }
            return "\(name) has no identifier for this kind of data"
        }
        if track.isUndescribedSound { return "the input does not describe the sound" }
        if format == .flv, counts[kind, default: 0] > 0 { return "flv can contain only one stream of each kind" }
        return try format.holds(track) ? nil : "\(name) cannot contain \(format.words(for: track))"
    }
}

extension MediaTrack {
    /// Whether this is sound of a known codec without a sample rate, which no format can hold.
    fileprivate var isUndescribedSound: Bool { kind == .audio && codecName != "none" && sampleRate <= 0 }

    private var tag: UInt32 { unsafe stream.pointee.codecpar.pointee.codec_tag }
    /// Whether the tag is QuickTime's `tmcd`, with the first character in the low byte.
    var isTimeCode: Bool { tag == 0x6463_6D74 }
    /// Whether the tag is QuickTime's `text`, if libavformat does not treat the track as subtitles: titles of chapters.
    var isChapters: Bool { tag == 0x7478_6574 }
}
