import CLibAV
import LibAV
import VideoBase

/// What stands at the beginning of a container. Where tracks are described there by their first packets, it waits for those.
extension Muxer {
    /// A track, as it was added.
    struct AddedTrack {
        var track: MediaTrack
        var timescale: Int32?
        /// Its place in the container once the header is written; nil: it is left out.
        var stream: Int?
        /// How many came, left out or not.
        var packets = 0
        /// Ticks that the container has its packets' times later than they are.
        var delay: Int64 = 0
    }

    /// A header that is still to be written, and what comes behind it.
    struct DelayedHeader {
        var options: [(name: String, value: String)]
        var copies: Bool
        /// Tracks that are described by their first packets, which have not come.
        var missing: Set<Int>
        var packets: [(packet: TrackPacket, track: Int, origin: MediaTime, copies: Bool)] = []
        var byteCount = 0
        /// When the first picture is shown.
        var start: MediaTime?
        /// When the picture is decoded that begins the second segment of HLS.
        var secondSegment: MediaTime?
    }

    /// Bytes that wait for the first packet of a track at most.
    private static let delayLimit = 64 << 20

    /// Adds a track, before the header is written. `timescale` is asked for; the container may choose its own.
    /// - Returns: its number.
    func add(_ track: MediaTrack, timescale: Int32? = nil) -> Int {
        tracks.append(AddedTrack(track: track, timescale: timescale))
        return tracks.count - 1
    }

    /// Takes over a file's metadata, and its chapters between two of its times, before the header is written.
    func copyFile(from input: InputContext, origin: MediaTime, end: MediaTime?) throws {
        let scale = Int32(clamping: vaenc_time_base())
        let (first, last) = (origin.converted(to: scale).value, end?.converted(to: scale).value ?? .max)
        guard unsafe vaenc_copy_file(av, context!, input.context, first, last) else { throw Self.noMemory }
    }

    /// Gives the file its tags, and the first track those and the dispositions of the pictures, before the header is written.
    func describe(_ metadata: MediaMetadata) throws {
        guard unsafe metadata.describe(context!, av) else { throw Self.noMemory }
        pictureWords = metadata
    }

    /// Adds the chapters between two times, counted from the first: before the header or the trailer is written.
    func add(chaptersOf metadata: MediaMetadata, from start: MediaTime, to end: MediaTime?) throws {
        guard unsafe metadata.addChapters(to: context!, from: start, to: end, av) else { throw Self.noMemory }
    }

    /// Ends the description. What is written from here on may wait for the first packets of tracks.
    ///
    /// - Parameter copies: what does not go into the container is the input's fault.
    func writeHeader(options: [(name: String, value: String)], copies: Bool = false) throws {
        isFragmented = options.contains { $0.name == "movflags" || $0 == ("hls_segment_type", "fmp4") }
        hasCopies = copies
        // In a file whose index comes last, libavformat has seen all packets.
        let missing = isFragmented ? tracks.indices.filter { Self.isDescribedByPackets(tracks[$0].track) } : []
        delayed = DelayedHeader(options: options, copies: copies, missing: Set(missing))
        if missing.isEmpty { try writeDelayed() }
    }

    /// How Dolby's codecs and DNxHD are coded stands in their packets alone, and libavformat writes no sample entry without it.
    private static func isDescribedByPackets(_ track: MediaTrack) -> Bool {
        switch track.codecName {
        case "ac3", "eac3", "dnxhd": true
        case "truehd": unsafe track.stream.pointee.codecpar.pointee.extradata_size <= 0
        default: false
        }
    }

    /// Keeps a packet until the header is written.
    func hold(_ packet: TrackPacket, _ track: Int, _ origin: MediaTime, _ copies: Bool) throws {
        delayed?.packets.append((packet, track, origin, copies))
        delayed?.byteCount += packet.byteCount
        let time = packet.decode ?? packet.presentation
        let isOver = format == "hls" && noteSegment(packet, track)
        // HLS describes all tracks when its first segment ends.
        let isLate = delayed?.secondSegment.flatMap { end in time.map { !($0 < end) } } ?? false
        if !isLate { delayed?.missing.remove(track) }
        guard let delayed, delayed.missing.isEmpty || isOver || delayed.byteCount > Self.delayLimit else { return }
        try writeDelayed()
    }

    /// Looks for the end of the first segment of HLS, as libavformat sets it: at the first key picture from its length on.
    ///
    /// - Returns: whether a second more has passed since, in which packets of other tracks may still come from before.
    private func noteSegment(_ packet: TrackPacket, _ track: Int) -> Bool {
        guard tracks[track].track.kind == .video, let shown = packet.presentation else { return false }
        guard let start = delayed?.start else {
            delayed?.start = shown
            return false
        }
        let time = packet.decode ?? shown
        if let end = delayed?.secondSegment { return (time - end).seconds >= 1 }
        if packet.isKey, (shown - start).seconds >= Double(OutputFormat.segmentSeconds) { delayed?.secondSegment = time }
        return false
    }

    /// Writes the header, without the tracks that could not be described, and what waits for it.
    func writeDelayed() throws {
        guard let header = delayed else { return }
        delayed = nil
        try makeStreams(without: header.missing)
        try begin(header.options, copies: header.copies)
        for (packet, track, origin, copies) in header.packets { try write(packet, track: track, origin: origin, copies: copies) }
    }

    /// Tracks that are not in the container, and why. Call it when all packets are written, before `writeTrailer`.
    var leftOut: [(track: Int, why: String)] {
        let none = "no packet of it comes, and \(isFragmented ? "fragmented MP4" : format) cannot hold it without one"
        return tracks.indices.compactMap { index in
            let one = tracks[index]
            if delayed?.missing.contains(index) ?? (one.stream == nil) {
                return (index, one.packets == 0 ? none : "its first packet comes too late to describe it at the beginning of the file")
            }
            // libavformat leaves such tracks out by itself.
            guard ["mp4", "mov"].contains(format), !isFragmented, one.packets == 0, Self.isDroppedIfEmpty(one.track) else { return nil }
            return (index, none)
        }
    }

    /// Covers lie elsewhere, and subtitles begin with an empty packet that libavformat makes.
    private static func isDroppedIfEmpty(_ track: MediaTrack) -> Bool {
        !track.isAttachedPicture && track.kind != .attachment && track.codecName != "mov_text"
    }

    /// The container's stream of a track that is not left out, once the header is written.
    func output(of track: Int) -> UnsafeMutablePointer<AVStream> { unsafe context!.pointee.streams[tracks[track].stream ?? 0]! }

    /// Ticks a second of a track's times: what was asked for until the header is written.
    func timescale(of track: Int) -> Int32 {
        tracks[track].stream == nil ? tracks[track].timescale ?? 90_000 : unsafe output(of: track).pointee.time_base.den
    }

    private func makeStreams(without missing: Set<Int>) throws {
        var count = 0
        for index in tracks.indices where !missing.contains(index) {
            let (track, timescale) = (tracks[index].track, tracks[index].timescale)
            guard let stream = unsafe av.pointee.avformat_new_stream!(context, nil),
                unsafe vaenc_copy_stream(av, stream, track.stream)
            else { throw Self.noMemory }
            unsafe vaenc_fit_codec_tag(av, stream, context!.pointee.oformat)
            if !track.adtsConfig.isEmpty, format != "mpegts", unsafe !MediaTrack.setExtradata(track.adtsConfig, of: stream, av) {
                throw Self.noMemory
            }
            if let language = track.language { try unsafe setLanguage(language, of: stream) }
            if let timescale { unsafe stream.pointee.time_base = AVRational(num: 1, den: timescale) }
            tracks[index].stream = count
            count += 1
        }
        guard let metadata = pictureWords, tracks.first?.stream == 0, let stream = unsafe context!.pointee.streams[0] else { return }
        guard unsafe MediaMetadata.set(metadata.pictureTags, in: &stream.pointee.metadata, av) else { throw Self.noMemory }
        unsafe stream.pointee.disposition |= metadata.pictures.disposition
        if let language = metadata.pictureTags.first(where: { $0.key == "language" })?.value { try unsafe setLanguage(language, of: stream) }
    }

    /// QuickTime has names of its own for some languages.
    private func setLanguage(_ language: String, of stream: UnsafeMutablePointer<AVStream>) throws {
        guard format == "mov", let name = MacintoshLanguage.name(language), name != language else { return }
        guard unsafe av.pointee.av_dict_set!(&stream.pointee.metadata, "language", name, 0) >= 0 else { throw Self.noMemory }
    }

    private func begin(_ options: [(name: String, value: String)], copies: Bool) throws {
        var dictionary: OpaquePointer?
        defer { unsafe av.pointee.av_dict_free!(&dictionary) }
        for option in options {
            guard unsafe av.pointee.av_dict_set!(&dictionary, option.name, option.value, 0) >= 0 else { throw Self.noMemory }
        }
        let holdsADTS = format == "mpegts" || options.contains { $0 == ("hls_segment_type", "mpegts") }
        for (index, one) in tracks.enumerated() where !holdsADTS && one.stream != nil && !one.track.adtsConfig.isEmpty {
            adtsFilters[index] = unsafe ADTSFilter(av)
        }
        try nameHandlers()
        try fitServiceNames()
        destination.willWrite()
        try check(unsafe av.pointee.avformat_write_header!(context, &dictionary), copies: copies)
        for index in tracks.indices where tracks[index].stream != nil { tracks[index].delay = codecDelay(of: index) }
    }

    /// What Matroska adds to the times of Opus: its header says what a decoder leaves out at the beginning (RFC 9559, CodecDelay), and players subtract
    /// that from the times of the blocks. Before FFmpeg 6 libavformat does so when it reads, and does not add it when it writes.
    private func codecDelay(of track: Int) -> Int64 {
        let stream = unsafe output(of: track)
        let parameters = unsafe stream.pointee.codecpar!
        let (padding, base) = unsafe (parameters.pointee.initial_padding, stream.pointee.time_base)
        guard format == "matroska", vaenc_libav_major(LibAV.Parts.format.rawValue) < 60, padding > 0, base.num > 0, base.den > 0,
            unsafe parameters.pointee.codec_id == AV_CODEC_ID_OPUS
        else { return 0 }
        // As it is read: of nanoseconds (RFC 7845 4.2 counts in 48 kHz).
        let nanoseconds = MediaTime.rounded(Int128(padding) * 1_000_000_000, by: 48_000)
        return MediaTime.rounded(Int128(nanoseconds) * Int128(base.den), by: Int128(base.num) * 1_000_000_000)
    }

    /// libavformat makes the service's name of the title, and fails where the names are too long for MPEG-TS.
    private func fitServiceNames() throws {
        guard format == "mpegts" || format == "hls" else { return }
        let tags = unsafe MediaMetadata.tags(context!.pointee.metadata, av)
        let fitting = ServiceNames.fitting(tags)
        guard unsafe MediaMetadata.set(zip(tags, fitting).filter { $0 != $1 }.map(\.1), in: &context!.pointee.metadata, av) else { throw Self.noMemory }
    }

    /// MP4 and QuickTime have no place for a track's title but the name of its handler.
    private func nameHandlers() throws {
        guard ["mp4", "mov", "hls"].contains(format) else { return }
        for index in tracks.indices where tracks[index].stream != nil {
            let stream = unsafe output(of: index)
            guard let title = unsafe MediaTrack.text("title", stream.pointee.metadata, av),
                unsafe MediaTrack.takesTitle(handler: MediaTrack.text("handler_name", stream.pointee.metadata, av))
            else { continue }
            guard unsafe av.pointee.av_dict_set!(&stream.pointee.metadata, "handler_name", title, 0) >= 0 else { throw Self.noMemory }
        }
    }
}
