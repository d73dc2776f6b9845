import CLibAV
import LibAV
public import VideoBase

/// The description of one stream of a file or of an output, as in containers: codec and its headers, time base,
/// language and other metadata, disposition, rotation, HDR metadata. It does not change after its creation.
@safe public final class MediaTrack: @unchecked Sendable {
    /// The kind of a track.
    public enum Kind: String, Sendable, Hashable {
        /// Video (AVMEDIA_TYPE_VIDEO).
        case video
        /// Sound (AVMEDIA_TYPE_AUDIO).
        case audio
        /// Subtitles (AVMEDIA_TYPE_SUBTITLE).
        case subtitle
        /// A stream of any other type, for example timed data (AVMEDIA_TYPE_DATA).
        case data
        /// A file in the container, such as a font (AVMEDIA_TYPE_ATTACHMENT).
        case attachment
    }

    // SAFETY: the context and its one stream are created in `init` and freed in `deinit`. After `init` they are only
    // read.
    let av: UnsafePointer<VaencLibAV>
    private let context: UnsafeMutablePointer<AVFormatContext>
    let stream: UnsafeMutablePointer<AVStream>
    /// The AudioSpecificConfig of AAC whose packets begin with ADTS headers; empty for other tracks.
    let adtsConfig: [UInt8]

    /// The unit of the packets' times, in seconds.
    public var timeBase: Rational {
        let base = unsafe stream.pointee.time_base
        return base.num > 0 && base.den > 0 ? Rational(Int(base.num), Int(base.den)) : Rational(1, 90_000)
    }

    /// The codec's header: parameter sets with start codes, a decoder configuration record, or whatever the codec has.
    var extradata: [UInt8] {
        guard let parameters = unsafe stream.pointee.codecpar else { return [] }
        // SAFETY: the parameters own `extradata_size` bytes, which are copied.
        return unsafe Array(
            UnsafeBufferPointer(start: parameters.pointee.extradata, count: Int(max(0, parameters.pointee.extradata_size))))
    }

    /// Whether the track's description applies to a packet. Each packet of AAC in MPEG-TS states its own sampling rate
    /// and channels (ADTS, ISO/IEC 14496-3 1.A.2.2), which may change.
    func describes(_ packet: TrackPacket) -> Bool {
        guard adtsConfig.count >= 2, packet.byteCount >= 4 else { return true }
        // SAFETY: the packet's data have at least 4 bytes.
        let header = unsafe UnsafeBufferPointer(start: packet.packet.pointee.data, count: 4)
        guard unsafe header[0] == 0xFF && header[1] & 0xF0 == 0xF0 else { return true }
        // The AudioSpecificConfig has the object type in 5 bits, then the sampling frequency index and the channel
        // configuration in 4 bits each.
        let (rate, channels) = (adtsConfig[0] << 1 & 0x0E | adtsConfig[1] >> 7, adtsConfig[1] >> 3 & 0x0F)
        return unsafe header[2] >> 2 & 0x0F == rate && header[2] << 2 & 0x04 | header[3] >> 6 == channels
    }

    /// The kind of the track.
    public var kind: Kind {
        switch unsafe stream.pointee.codecpar.pointee.codec_type {
        case AVMEDIA_TYPE_VIDEO: .video
        case AVMEDIA_TYPE_AUDIO: .audio
        case AVMEDIA_TYPE_SUBTITLE: .subtitle
        case AVMEDIA_TYPE_ATTACHMENT: .attachment
        default: .data
        }
    }

    /// libavcodec's name of the codec, such as `h264`, `aac` or `mov_text`.
    public var codecName: String {
        // SAFETY: the name is static.
        unsafe String(cString: av.pointee.avcodec_get_name!(stream.pointee.codecpar.pointee.codec_id)!)
    }

    /// The codec of pictures; nil if it is neither H.264 nor HEVC.
    var codec: VideoCodec? { unsafe VideoCodec(libavcodecID: stream.pointee.codecpar.pointee.codec_id) }

    /// Returns the track's name in reports.
    ///
    /// - Parameter index: The index of the stream in its file.
    func name(of index: Int) -> String { "stream \(index) (\(kind.rawValue), \(codecName))" }

    /// The sample rate of sound in Hz; 0 for other tracks.
    var sampleRate: Int32 { unsafe stream.pointee.codecpar.pointee.sample_rate }

    /// The length of the samples before the sound, which decoders discard; zero for other tracks.
    var priming: MediaTime {
        unsafe stream.pointee.codecpar.pointee.priming.map { MediaTime(value: Int64($0.samples), timescale: Int32(clamping: $0.rate)) } ?? .zero
    }

    /// Whether libavcodec has a decoder for the track.
    public var isDecodable: Bool {
        unsafe av.pointee.avcodec_find_decoder!(stream.pointee.codecpar.pointee.codec_id) != nil
    }

    /// Whether the track is a picture that represents the file, such as a cover. It has one packet.
    public var isAttachedPicture: Bool {
        unsafe stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0
    }

    /// The ISO 639-2 name of the language; nil if it is unknown.
    var language: String? {
        let language = unsafe Self.text("language", metadata: stream.pointee.metadata, av: av)
        return language == "und" ? nil : language
    }

    /// Returns the value of a metadata entry; nil if there is none.
    static func text(_ key: String, metadata: OpaquePointer?, av: UnsafePointer<VaencLibAV>) -> String? {
        // SAFETY: the value belongs to the dictionary, and is copied.
        unsafe av.pointee.av_dict_get!(metadata, key, nil, 0).map { unsafe String(cString: $0.pointee.value) }
    }

    /// Creates an empty description, which `body` fills. `body` returns false if there is no memory.
    init(
        _ av: UnsafePointer<VaencLibAV>, adtsConfig: [UInt8] = [], _ body: (UnsafeMutablePointer<AVStream>) -> Bool
    ) throws {
        guard let context = unsafe av.pointee.avformat_alloc_context!() else { throw Self.noMemory }
        guard let stream = unsafe av.pointee.avformat_new_stream!(context, nil), unsafe body(stream) else {
            unsafe av.pointee.avformat_free_context!(context)
            throw Self.noMemory
        }
        unsafe self.av = unsafe av
        unsafe self.context = unsafe context
        unsafe self.stream = unsafe stream
        self.adtsConfig = adtsConfig
    }

    /// Copies a file's description of a stream.
    convenience init(_ from: UnsafePointer<AVStream>, _ av: UnsafePointer<VaencLibAV>, adtsConfig: [UInt8] = []) throws {
        unsafe try self.init(av, adtsConfig: adtsConfig) { unsafe vaenc_copy_stream(av, $0, from) }
    }

    /// Sets a stream's codec header. Returns false if there is no memory.
    static func setExtradata<Bytes: Collection<UInt8>>(
        _ bytes: Bytes, of stream: UnsafeMutablePointer<AVStream>, _ av: UnsafePointer<VaencLibAV>
    ) -> Bool {
        let room = bytes.count + Int(vaenc_input_padding())
        guard let memory = unsafe av.pointee.av_mallocz!(room) else { return false }
        // SAFETY: the memory has `room` bytes, which the parameters own from here on.
        unsafe UnsafeMutableRawBufferPointer(start: memory, count: room).copyBytes(from: bytes)
        let parameters = unsafe stream.pointee.codecpar!
        unsafe av.pointee.av_free!(parameters.pointee.extradata)
        unsafe parameters.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
        unsafe parameters.pointee.extradata_size = Int32(bytes.count)
        return true
    }

    deinit { unsafe av.pointee.avformat_free_context!(context) }

    static let noMemory = VaencError.noMemory("for the description of a stream")
}
