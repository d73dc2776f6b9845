import CLibAV
import LibAV
public import VideoBase

/// A file format, or a form of bare streams.
public enum OutputFormat: String, Sendable, Hashable, CaseIterable {
    /// A bare stream of NAL units with start codes.
    case annexb
    /// A bare stream of NAL units with 4-byte lengths.
    case avcc
    /// MP4 with one index.
    case mp4
    /// QuickTime.
    case mov
    /// Matroska.
    case mkv
    /// MPEG transport stream.
    case ts
    /// MP4 in fragments, each with its own index.
    case fmp4
    /// Flash Video, H.264 only.
    case flv
    /// A playlist and its segments: MPEG-TS for H.264, fragmented MP4 for HEVC.
    case hls

    /// Whether the format can hold a stream of the codec.
    public func holds(_ codec: VideoCodec) -> Bool { self != .flv || codec.isHeldByFLV }

    /// Whether the format can hold more tracks than the pictures.
    public var holdsTracks: Bool { self != .annexb && self != .avcc }

    /// Whether the format belongs to the MP4 family, in which the sample entry of a track has a name such as `avc1` or
    /// `hvc1`.
    public var hasSampleEntries: Bool { [.mp4, .fmp4, .mov].contains(self) }

    /// Whether access unit delimiters are written. Containers that mark each picture themselves leave them out.
    package var holdsDelimiters: Bool { [.annexb, .avcc, .ts, .hls].contains(self) }

    /// Whether an encoder should write access unit delimiters (`EncoderConfiguration.headers.accessUnitDelimiters`).
    /// Its HRD parameters then count the same bytes as the output has. MPEG-TS always has delimiters (H.222.0 2.14.1
    /// and 2.17.1). libavformat adds those that the encoder did not write, and the encoder does not count them.
    ///
    /// - Parameters:
    ///   - codec: The codec; nil if it is unknown. HLS contains MPEG-TS for H.264, and MP4 for HEVC.
    ///   - asked: Whether the user requested delimiters.
    package func wantsDelimiters(of codec: VideoCodec?, asked: Bool) -> Bool {
        switch self {
        case .ts: true
        case .hls: codec.map { $0.segmentFormat == .ts } ?? asked
        default: asked && holdsDelimiters
        }
    }
}

extension OutputFormat {
    /// libavformat's name of the muxer; for bare streams the name for H.264.
    var muxerName: String {
        switch self {
        case .annexb, .avcc: "h264"
        case .mp4, .fmp4: "mp4"
        case .mkv: "matroska"
        case .ts: "mpegts"
        case .mov, .flv, .hls: rawValue
        }
    }

    /// Returns the format of the file; for HLS, that of its segments.
    ///
    /// - Parameter codec: The codec of the pictures.
    package func ofFile(_ codec: VideoCodec) -> OutputFormat { self == .hls ? codec.segmentFormat : self }

    /// Whether NAL units have length prefixes, and the header contains the parameter sets.
    func isLengthPrefixed(_ codec: VideoCodec) -> Bool { ![.annexb, .ts].contains(ofFile(codec)) }

    /// Returns the options of libavformat's muxer.
    func muxerOptions(
        _ codec: VideoCodec?, isFragmented: Bool, isSeekable: Bool, survivesKill: Bool, segments: SegmentFolder?
    ) -> [(name: String, value: String)] {
        switch self {
        case .mp4, .mov, .fmp4:
            // A specification for FLAC in MP4 exists, but libavformat before 6 calls it experimental.
            let plain = [("strict", "experimental")]
            if !isFragmented { return plain }
            // The movie box waits for the first fragment, because the edit lists are known then.
            let flags = plain + [("movflags", "+frag_keyframe+empty_moov+default_base_moof+delay_moov")]
            return survivesKill ? flags + [("frag_duration", "1000000")] : flags
        case .flv:
            // An output that cannot seek has a header without the length.
            return isSeekable ? [] : [("flvflags", "+no_duration_filesize")]
        case .mkv: return survivesKill ? [("cluster_time_limit", "1000")] : []
        case .hls:
            guard let segments else { return [] }
            let isTS = codec?.segmentFormat ?? .ts == .ts
            let names = [
                ("hls_segment_type", isTS ? "mpegts" : "fmp4"),
                ("hls_segment_filename", segments.pattern(isTS ? "ts" : "m4s")),
                ("hls_fmp4_init_filename", segments.initialName),
            ]
            // The playlist lists complete segments only, and all from the first one on.
            return names + [
                ("hls_time", "\(Self.segmentSeconds)"), ("hls_list_size", "0"), ("hls_playlist_type", "event"), ("hls_flags", "+temp_file"),
            ]
        case .annexb, .avcc, .ts: return []
        }
    }

    /// The codecs that MPEG-TS can hold. libavformat has no table of them that can be queried.
    private static let transportStream: Set<String> = [
        "h264", "hevc", "mpeg2video", "mpeg1video", "mpeg4", "aac", "aac_latm", "mp2", "mp3", "ac3", "eac3", "dts", "opus",
        "dvb_subtitle", "dvb_teletext", "timed_id3", "scte_35", "klv",
    ]

    /// The target duration of HLS segments in seconds. Each segment ends at the first key picture at or after that
    /// time.
    static let segmentSeconds = 4

    /// Codecs in libavformat's QuickTime table that its muxer writes in MP4 only, or not at all.
    private static let notInQuickTime: Set<String> = ["opus", "flac", "truehd", "vp8", "vp9", "av1"]

    /// Codecs in libavformat's FLV table that its muxer writes only as extensions outside the specification, and
    /// samples in a byte order that readers do not expect.
    private static let notInFLV: Set<String> = ["mpeg4", "h263", "pcm_s16be"]

    /// The sample rates of the sound codecs that FLV supports at some rates only (Adobe's Flash Video File Format
    /// Specification 10.1, E.4.2.1), as libavformat writes them.
    private static let ratesInFLV: [String: Set<Int32>] = {
        let usual: Set<Int32> = [5512, 11_025, 22_050, 44_100]
        // Readers always interpret G.711 as 8000 Hz, and other samples of 8000 and 16000 Hz as 5512 Hz.
        return [
            "mp3": [11_025, 22_050, 44_100, 48_000], "speex": [16_000], "nellymoser": usual.union([8000, 16_000]), "adpcm_swf": usual,
            "pcm_u8": usual, "pcm_s16le": usual, "pcm_alaw": [8000], "pcm_mulaw": [8000],
        ]
    }()

    /// Whether the format is FLV, which holds the track's codec, but not at the track's sample rate.
    private func lacksRate(of track: MediaTrack) -> Bool {
        guard self == .flv, let rates = Self.ratesInFLV[track.codecName] else { return false }
        return !rates.contains(track.sampleRate)
    }

    /// Returns the description of a track for the message that the format does not hold it: `vp9`; `mp3 of 8000 Hz` if
    /// the rate is the reason; `rawvideo of yuv420p10le` for MKV if the layout is the reason.
    package func words(for track: MediaTrack) -> String {
        if lacksRate(of: track) { return "\(track.codecName) of \(track.sampleRate) Hz" }
        let layout = track.codecName == "rawvideo" && self == .mkv ? track.pixelFormatName : ""
        return layout.isEmpty ? track.codecName : "\(track.codecName) of \(layout)"
    }

    /// Whether the format can hold a track.
    /// - Throws: `unavailable` if libavformat is missing or cannot write the format.
    public func holds(_ track: MediaTrack) throws -> Bool {
        if !holdsTracks { return false }
        if self == .flv, Self.notInFLV.contains(track.codecName) || lacksRate(of: track) { return false }
        if self == .ts || self == .hls { return Self.transportStream.contains(track.codecName) }
        if self == .mov, Self.notInQuickTime.contains(track.codecName) { return false }
        let av = unsafe track.av
        var context: UnsafeMutablePointer<AVFormatContext>?
        guard unsafe av.pointee.avformat_alloc_output_context2!(&context, nil, muxerName, nil) >= 0,
            let context = unsafe context
        else { throw VaencError(.unavailable, "this FFmpeg cannot write \(rawValue)", remedy: "choose another `format`") }
        defer { unsafe av.pointee.avformat_free_context!(context) }
        let (container, codec) = unsafe (context.pointee.oformat!, track.stream.pointee.codecpar.pointee.codec_id)
        guard unsafe holdsLayout(of: track, container) else { return false }
        if unsafe av.pointee.avformat_query_codec!(container, codec, FF_COMPLIANCE_NORMAL) == 1 { return true }
        // Matroska stores codecs without a Matroska name as AVI and WAV do. libavformat's query does not report that.
        guard self == .mkv, track.kind == .video || track.kind == .audio else { return false }
        var tag: UInt32 = 0
        return unsafe av.pointee.av_codec_get_tag2!(container.pointee.codec_tag, codec, &tag) != 0
    }
}
