import CLibAV
import LibAV
import VideoBase

/// The packets of a file's video stream, through libavformat. One thread at a time.
@safe final class Demuxer {
    // SAFETY: made in init, freed in deinit, used by this object's methods alone; `io` outlives `context`.
    let av: UnsafePointer<VaencLibAV>
    private var context: UnsafeMutablePointer<AVFormatContext>?
    private let io: ReadContext
    private let streamIndex: Int
    private let endsEarly: Bool
    let name: String

    /// What the container says; times are in `timeBase`.
    struct Stream {
        var timeBase: Rational
        var startTime: Int64?
        var frameRate: Rational?
        var aspect: Rational?
        var frameCount: Int?
        var durationSeconds: Double?
        var container: String
    }
    let stream: Stream

    /// The stream's codec parameters, for opening a decoder; valid while this object lives.
    var parameters: UnsafePointer<AVCodecParameters> {
        unsafe UnsafePointer(context!.pointee.streams[streamIndex]!.pointee.codecpar)
    }
    let decoder: UnsafePointer<AVCodec>

    /// Demuxers that make a picture of any text.
    private static let refused: Set<String> = ["tty", "bin", "xbin", "adf", "idf", "ansi", "rawvideo"]

    init(_ reader: ByteReader) throws {
        let av = unsafe try LibAV.load([.codec, .format])
        unsafe self.av = unsafe av
        name = reader.name
        guard let io = unsafe ReadContext(reader, av), let opened = unsafe av.pointee.avformat_alloc_context!() else {
            throw VaencError(.internalFault, "no memory to read \(reader.name)")
        }
        self.io = io
        endsEarly = try FileEnd.isEarly(reader)
        _ = LibAV.takeLog()
        var context: UnsafeMutablePointer<AVFormatContext>? = unsafe opened
        unsafe opened.pointee.pb = io.context
        unsafe opened.pointee.flags |= vaenc_flag_custom_io()
        // The name helps to tell formats without a signature apart. Frees the context where it fails.
        let code = unsafe av.pointee.avformat_open_input!(&context, reader.name, nil, nil)
        guard code >= 0, let context = unsafe context else {
            throw unsafe io.error ?? Self.unreadable(reader.name, LibAV.message(code, av))
        }
        var failure: (any Error)?
        var found: UnsafePointer<AVCodec>?
        let index = unsafe Self.findVideo(context, av, io, reader.name, &found, &failure)
        guard index >= 0, let found = unsafe found, failure == nil else {
            var closing: UnsafeMutablePointer<AVFormatContext>? = unsafe context
            unsafe av.pointee.avformat_close_input!(&closing)
            if endsEarly { throw Self.unreadable(reader.name, Self.cut) }
            throw failure ?? VaencError(
                .badInput, "\(reader.name) has no video stream", remedy: "name a file with video; this one holds sound or data")
        }
        unsafe self.context = context
        unsafe decoder = found
        streamIndex = index
        unsafe stream = Self.describe(context, index, av)
        for other in 0..<Int(unsafe context.pointee.nb_streams) where other != index {
            unsafe context.pointee.streams[other]!.pointee.discard = AVDISCARD_ALL
        }
    }

    /// What the file holds beside upright progressive pictures, none of which is carried over yet.
    var changes: [EffectiveEntry] {
        var changes: [EffectiveEntry] = []
        let video = unsafe context!.pointee.streams[streamIndex]!
        if unsafe vaenc_is_turned(video) != 0 {
            changes.append(
                EffectiveEntry(option: "rotation", asked: "turned or mirrored", used: "as stored", why: "turning is not built yet"))
        }
        let order = unsafe video.pointee.codecpar.pointee.field_order
        if order != AV_FIELD_UNKNOWN && order != AV_FIELD_PROGRESSIVE {
            changes.append(
                EffectiveEntry(option: "fields", asked: "interlaced", used: "progressive", why: "interlaced coding is not built yet"))
        }
        let sound = (0..<Int(unsafe context!.pointee.nb_streams)).contains {
            unsafe context!.pointee.streams[$0]!.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_AUDIO
        }
        if sound { changes.append(EffectiveEntry(option: "audio", asked: nil, used: "none", why: "sound is not built yet")) }
        return changes
    }

    /// What the container says of the display that the pictures were mastered on.
    var masteringDisplay: MasteringDisplay? {
        let video = unsafe context!.pointee.streams[streamIndex]!
        guard let data = unsafe vaenc_side_data(video, AV_PKT_DATA_MASTERING_DISPLAY_METADATA)?.pointee else { return nil }
        return unsafe HDRSideData.masteringDisplay(data.data, data.size)
    }

    var contentLight: ContentLight? {
        let video = unsafe context!.pointee.streams[streamIndex]!
        guard let data = unsafe vaenc_side_data(video, AV_PKT_DATA_CONTENT_LIGHT_LEVEL)?.pointee else { return nil }
        return unsafe HDRSideData.contentLight(data.data, data.size)
    }

    deinit { unsafe av.pointee.avformat_close_input!(&context) }

    static func unreadable(_ name: String, _ words: String, remedy: String? = nil) -> VaencError {
        VaencError(
            .badInput, "\(name) is not a video that can be read (\(words))",
            remedy: remedy ?? "check that the file is whole, or name its layout with --input-size and --input-format")
    }

    private static func findVideo(
        _ context: UnsafeMutablePointer<AVFormatContext>, _ av: UnsafePointer<VaencLibAV>, _ io: ReadContext,
        _ name: String, _ decoder: inout UnsafePointer<AVCodec>?, _ failure: inout (any Error)?
    ) -> Int {
        let format = unsafe String(cString: context.pointee.iformat.pointee.name)
        if refused.contains(format) {
            failure = unreadable(name, "it holds text or bare bytes")
            return -1
        }
        var code = unsafe av.pointee.avformat_find_stream_info!(context, nil)
        if code < 0 {
            failure = unsafe io.error ?? unreadable(name, LibAV.message(code, av))
            return -1
        }
        code = unsafe av.pointee.av_find_best_stream!(context, AVMEDIA_TYPE_VIDEO, -1, -1, nil, 0)
        guard code >= 0 else { return -1 }
        let stream = unsafe context.pointee.streams[Int(code)]!
        let attachedPicture: Int32 = 0x0400
        if unsafe stream.pointee.disposition & attachedPicture != 0 { return -1 }
        let parameters = unsafe stream.pointee.codecpar!
        let codec = unsafe parameters.pointee.codec_id
        unsafe decoder = av.pointee.avcodec_find_decoder!(codec)
        if unsafe decoder == nil {
            let codecName = unsafe String(cString: av.pointee.avcodec_get_name!(codec)!)
            failure = VaencError(
                .unavailable, "libavcodec has no decoder for the \(codecName) video of \(name)",
                remedy: "convert it to another codec first, or install a libavcodec that has it")
        } else if unsafe parameters.pointee.width <= 0 || parameters.pointee.height <= 0 {
            failure = unreadable(name, LibAV.takeLog() ?? "its video has no size")
        }
        return Int(code)
    }

    private static func describe(
        _ context: UnsafeMutablePointer<AVFormatContext>, _ index: Int, _ av: UnsafePointer<VaencLibAV>
    ) -> Stream {
        let stream = unsafe context.pointee.streams[index]!
        func positive(_ ratio: AVRational) -> Rational? {
            ratio.num > 0 && ratio.den > 0 ? Rational(Int(ratio.num), Int(ratio.den)).reduced : nil
        }
        let base = unsafe positive(stream.pointee.time_base) ?? Rational(1, 90000)
        let none = vaenc_no_pts()
        var seconds: Double?
        if unsafe stream.pointee.duration != none, unsafe stream.pointee.duration > 0 {
            seconds = unsafe Double(stream.pointee.duration) * base.value
        } else if unsafe context.pointee.duration != none, unsafe context.pointee.duration > 0 {
            seconds = unsafe Double(context.pointee.duration) / Double(vaenc_time_base())
        }
        let format = unsafe String(cString: context.pointee.iformat.pointee.name)
        return unsafe Stream(
            timeBase: base, startTime: stream.pointee.start_time == none ? nil : stream.pointee.start_time,
            frameRate: positive(av.pointee.av_guess_frame_rate!(context, stream, nil)),
            aspect: positive(av.pointee.av_guess_sample_aspect_ratio!(context, stream, nil)),
            frameCount: stream.pointee.nb_frames > 0 ? Int(stream.pointee.nb_frames) : nil, durationSeconds: seconds,
            container: format.split(separator: ",").first.map(String.init) ?? format)
    }

    /// Containers whose index names key frames. In others libavformat finds a time, and what follows may need pictures
    /// from before it.
    private static let indexed: Set<String> = ["mov", "matroska", "avi", "flv"]

    /// Moves to the last key frame at or before a time of the stream. False, and nothing is moved, where the container does
    /// not say where one is.
    func seek(to time: Int64) -> Bool {
        guard Self.indexed.contains(stream.container) else { return false }
        let backward: Int32 = 1
        return unsafe av.pointee.av_seek_frame!(context, Int32(streamIndex), time, backward) >= 0
    }

    static let cut = "the file ends early"
    /// What libavformat says of Matroska that makes no sense, before it goes on where it finds sense again.
    private static let nonsense = [
        "EBML number", "exceeds containing master element", "Unknown-sized element", "exceeds max length",
    ]

    enum Reading {
        case packet
        case end
        /// The file breaks off or is damaged here.
        case broken(String)
    }

    /// Fills `packet` with the stream's next packet.
    /// - Throws: what reading the file throws.
    func read(_ packet: UnsafeMutablePointer<AVPacket>) throws -> Reading {
        while true {
            let code = unsafe av.pointee.av_read_frame!(context, packet)
            if let error = io.error { throw error }
            if stream.container == "matroska", Self.nonsense.contains(where: LibAV.hasLogged) {
                unsafe av.pointee.av_packet_unref!(packet)
                return .broken(LibAV.takeLog() ?? Self.cut)
            }
            if code == vaenc_averror_again() { continue }
            if code == vaenc_averror_eof() {
                if endsEarly { return .broken(Self.cut) }
                // Matroska from a pipe says so and then gives an ordinary end.
                if let words = LibAV.takeLog(), words.hasPrefix("File ended prematurely") { return .broken(Self.cut) }
                return .end
            }
            if code < 0 { return unsafe .broken(LibAV.message(code, av)) }
            if unsafe Int(packet.pointee.stream_index) != streamIndex {
                unsafe av.pointee.av_packet_unref!(packet)
                continue
            }
            let corrupt: Int32 = 2
            if unsafe packet.pointee.flags & corrupt != 0 {
                unsafe av.pointee.av_packet_unref!(packet)
                return .broken(io.isAtEnd ? Self.cut : LibAV.takeLog() ?? "a packet is cut short")
            }
            return .packet
        }
    }
}
