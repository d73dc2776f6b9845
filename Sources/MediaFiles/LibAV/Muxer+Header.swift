import CLibAV
import LibAV
import VideoBase

/// The header of a container. If tracks are described by their first packets, the header waits for those.
extension Muxer {
    /// A track that was added.
    struct AddedTrack {
        var track: MediaTrack
        var timescale: Int32?
        /// The index of the track's stream once the header is written; nil if the track is left out.
        var stream: Int?
        /// The number of packets that arrived, whether or not the track is left out.
        var packets = 0
        /// The ticks that the container adds to the times of the track's packets.
        var delay: Int64 = 0
    }

    /// A header that is not written yet, and the packets after it.
    struct DelayedHeader {
        var options: [(name: String, value: String)]
        var copies: Bool
        /// The tracks that are described by their first packets, and whose first packets have not arrived.
        var missing: Set<Int>
        /// The packets that wait for the header.
        var packets: [(packet: TrackPacket, track: Int, origin: MediaTime, copies: Bool)] = []
        var byteCount = 0
        /// The presentation time of the first picture.
        var start: MediaTime?
        /// The decoding time of the picture that begins the second HLS segment.
        var secondSegment: MediaTime?
    }

    /// The maximum size of the packets that wait for a track's first packet, in bytes.
    private static let delayLimit = 64 << 20

    /// Adds a track. Call it before the header is written.
    /// - Parameter timescale: The requested timescale; the container may choose another.
    /// - Returns: The track's index.
    func add(_ track: MediaTrack, timescale: Int32? = nil) -> Int {
        tracks.append(AddedTrack(track: track, timescale: timescale))
        return tracks.count - 1
    }

    /// Copies a file's metadata, and its chapters between `origin` and `end`. Call it before the header is written.
    func copyFile(from input: InputContext, origin: MediaTime, end: MediaTime?) throws {
        let scale = Int32(clamping: vaenc_time_base())
        let (first, last) = (origin.converted(to: scale).value, end?.converted(to: scale).value ?? .max)
        guard unsafe vaenc_copy_file(av, context!, input.context, first, last) else { throw Self.noMemory }
    }

    /// Adds the file's tags, and the pictures' tags and dispositions for the first track. Call it before the header is
    /// written.
    func describe(_ metadata: MediaMetadata) throws {
        guard unsafe metadata.describe(context!, av) else { throw Self.noMemory }
        pictureMetadata = metadata
    }

    /// Adds the chapters between two times, relative to `start`. Call it before the header or the trailer is written.
    func add(chaptersOf metadata: MediaMetadata, from start: MediaTime, to end: MediaTime?) throws {
        guard unsafe metadata.addChapters(to: context!, from: start, to: end, av) else { throw Self.noMemory }
    }

    /// Ends the description of the file. The packets that follow may wait for the first packets of tracks.
    ///
    /// - Parameter copies: Whether tracks come from an input. The input is then reported as the cause if the container
    ///   rejects them.
    func writeHeader(options: [(name: String, value: String)], copies: Bool = false) throws {
        isFragmented = options.contains { $0.name == "movflags" || $0 == ("hls_segment_type", "fmp4") }
        hasCopies = copies
        // If the index is at the end of the file, libavformat has seen all packets before it writes the descriptions.
        let missing = isFragmented ? tracks.indices.filter { Self.isDescribedByPackets(tracks[$0].track) } : []
        delayed = DelayedHeader(options: options, copies: copies, missing: Set(missing))
        if missing.isEmpty { try writeDelayed() }
    }

    /// Whether only a track's packets describe its coding, as with Dolby's codecs and DNxHD. libavformat needs that
    /// description for the sample entry.
    private static func isDescribedByPackets(_ track: MediaTrack) -> Bool {
        switch track.codecName {
        case "ac3", "eac3", "dnxhd": true
        case "truehd": unsafe track.stream.pointee.codecpar.pointee.extradata_size <= 0
        default: false
        }
    }

    /// Keeps a packet until the header is written.
    func hold(_ packet: TrackPacket, track: Int, origin: MediaTime, copies: Bool) throws {
        delayed?.packets.append((packet, track, origin, copies))
        delayed?.byteCount += packet.byteCount
        let time = packet.decode ?? packet.presentation
        let isOver = format == "hls" && noteSegment(packet, track)
        // HLS describes all tracks at the end of its first segment.
        let isLate = delayed?.secondSegment.flatMap { end in time.map { !($0 < end) } } ?? false
        if !isLate { delayed?.missing.remove(track) }
        guard let delayed, delayed.missing.isEmpty || isOver || delayed.byteCount > Self.delayLimit else { return }
        try writeDelayed()
    }

    /// Searches for the end of the first HLS segment. As in libavformat, it is the first key picture at or after the
    /// segment length.
    ///
    /// - Returns: Whether the pictures are at least one second past that end. Until then, packets of other tracks from
    ///   before that end may still arrive.
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

    /// Writes the header without the tracks that could not be described, and then the packets that wait for it.
    func writeDelayed() throws {
        guard let header = delayed else { return }
        delayed = nil
        try makeStreams(without: header.missing)
        try begin(header.options, copies: header.copies)
        for (packet, track, origin, copies) in header.packets { try write(packet, track: track, origin: origin, copies: copies) }
    }

    /// The tracks that are not in the container, and the reasons. Call it after all packets are written, before
    /// `writeTrailer`.
    var leftOut: [(track: Int, why: String)] {
        let none = "it has no packets, and \(isFragmented ? "fragmented MP4" : format) cannot describe it without one"
        return tracks.indices.compactMap { index in
            let one = tracks[index]
            if delayed?.missing.contains(index) ?? (one.stream == nil) {
                let late = "its first packet comes too late for the description at the beginning of the file"
                return (index, one.packets == 0 ? none : late)
            }
            // libavformat itself leaves out these tracks.
            guard ["mp4", "mov"].contains(format), !isFragmented, one.packets == 0, Self.isDroppedIfEmpty(one.track) else { return nil }
            return (index, none)
        }
    }

    /// Whether libavformat leaves out a track without packets. Covers are stored elsewhere, and libavformat begins
    /// subtitles with an empty packet.
    private static func isDroppedIfEmpty(_ track: MediaTrack) -> Bool {
        !track.isAttachedPicture && track.kind != .attachment && track.codecName != "mov_text"
    }

    /// Returns the container's stream of a track that is not left out. Call it after the header is written.
    func output(of track: Int) -> UnsafeMutablePointer<AVStream> { unsafe context!.pointee.streams[tracks[track].stream ?? 0]! }

    /// Returns the timescale of a track, in ticks per second. Before the header is written, it is the requested one.
    func timescale(of track: Int) -> Int32 {
        tracks[track].stream == nil ? tracks[track].timescale ?? 90_000 : unsafe output(of: track).pointee.time_base.den
    }

    private func makeStreams(without missing: Set<Int>) throws {
        if omitsTimeCode { _ = unsafe av.pointee.av_dict_set!(&context!.pointee.metadata, "timecode", nil, 0) }
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
            if omitsTimeCode { _ = unsafe av.pointee.av_dict_set!(&stream.pointee.metadata, "timecode", nil, 0) }
            if let language = track.language { try unsafe setLanguage(language, of: stream) }
            if let timescale { unsafe stream.pointee.time_base = AVRational(num: 1, den: timescale) }
            tracks[index].stream = count
            count += 1
        }
        guard let metadata = pictureMetadata, tracks.first?.stream == 0, let stream = unsafe context!.pointee.streams[0]
        else { return }
        guard unsafe MediaMetadata.set(metadata.pictureTags, in: &stream.pointee.metadata, av) else { throw Self.noMemory }
        unsafe stream.pointee.disposition |= metadata.pictures.disposition
        if let language = metadata.pictureTags.first(where: { $0.key == "language" })?.value { try unsafe setLanguage(language, of: stream) }
    }

    /// Sets a stream's language. QuickTime has its own names for some languages.
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
        acceptsPackets = true
        for index in tracks.indices where tracks[index].stream != nil { tracks[index].delay = codecDelay(of: index) }
    }

    /// Returns the ticks to add to the times of Opus in Matroska. The header states how much a decoder discards at the
    /// beginning (RFC 9559, CodecDelay), and players subtract it from the times of the blocks. libavformat before
    /// FFmpeg 6 subtracts it when it reads, but does not add it when it writes.
    private func codecDelay(of track: Int) -> Int64 {
        let stream = unsafe output(of: track)
        let parameters = unsafe stream.pointee.codecpar!
        let (padding, base) = unsafe (parameters.pointee.initial_padding, stream.pointee.time_base)
        guard format == "matroska", vaenc_libav_major(LibAV.Parts.format.rawValue) < 60, padding > 0, base.num > 0, base.den > 0,
            unsafe parameters.pointee.codec_id == AV_CODEC_ID_OPUS
        else { return 0 }
        // Computes the delay as a reader does, through nanoseconds (RFC 7845 4.2 counts at 48 kHz).
        let nanoseconds = MediaTime.rounded(Int128(padding) * 1_000_000_000, by: 48_000)
        return MediaTime.rounded(Int128(nanoseconds) * Int128(base.den), by: Int128(base.num) * 1_000_000_000)
    }

    /// Shortens the service names. libavformat uses the title as the service name, and fails if a name is too long for
    /// MPEG-TS.
    private func fitServiceNames() throws {
        guard format == "mpegts" || format == "hls" else { return }
        let tags = unsafe MediaMetadata.tags(context!.pointee.metadata, av)
        let fitting = ServiceNames.fitting(tags)
        guard unsafe MediaMetadata.set(zip(tags, fitting).filter { $0 != $1 }.map(\.1), in: &context!.pointee.metadata, av) else {
            throw Self.noMemory
        }
    }

    /// Sets the handler name to the track's title. MP4 and QuickTime store a track's title only there.
    private func nameHandlers() throws {
        guard ["mp4", "mov", "hls"].contains(format) else { return }
        for index in tracks.indices where tracks[index].stream != nil {
            let stream = unsafe output(of: index)
            guard let title = unsafe MediaTrack.text("title", metadata: stream.pointee.metadata, av: av),
                unsafe MediaTrack.takesTitle(
                    handler: MediaTrack.text("handler_name", metadata: stream.pointee.metadata, av: av))
            else { continue }
            guard unsafe av.pointee.av_dict_set!(&stream.pointee.metadata, "handler_name", title, 0) >= 0 else { throw Self.noMemory }
        }
    }
}
