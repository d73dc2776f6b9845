import CLibAV
import LibAV
import VideoBase

/// The packets of a file's video stream, and of its sound where that is asked for. One thread at a time.
@safe final class Demuxer {
    // SAFETY: libavformat's objects are the input's, which lives as long as this object.
    let av: UnsafePointer<VaencLibAV>
    private let input: InputContext
    private var context: UnsafeMutablePointer<AVFormatContext> { unsafe input.context }
    private let streamIndex: Int
    var name: String { input.name }
    var pipeRemedy: String? { input.pipeRemedy }
    /// The streams of sound that are read beside the pictures, in the file's order, and their packets so far.
    let sounds: [SoundStream]
    private var soundPackets: [[TrackPacket]]
    /// Of those, the one that FFmpeg takes for the best.
    let bestSound: Int?

    struct SoundStream {
        var index: Int
        var track: MediaTrack
    }

    /// What the container says; times are in `timeBase`.
    struct Stream {
        var timeBase: Rational
        var startTime: Int64?
        /// When the first of the file's pictures and sound begins, whether the sound is read or not.
        var beginning: Int64?
        var frameRate: Rational?
        var aspect: Rational?
        var frameCount: Int?
        var durationSeconds: Double?
        var container: String
        /// A stream without times; libavformat takes 25 pictures a second where it does not say its rate.
        var isBare: Bool { ["h264", "hevc"].contains(container) }
    }
    let stream: Stream

    /// The stream's codec parameters, for opening a decoder; valid while this object lives.
    var parameters: UnsafePointer<AVCodecParameters> {
        unsafe UnsafePointer(context.pointee.streams[streamIndex]!.pointee.codecpar)
    }
    let decoder: UnsafePointer<AVCodec>
    /// Says that other video streams are left.
    let notice: String?

    /// - Parameter readsSound: keeps the packets of the file's streams of sound, for `takeSounds`.
    init(_ reader: ByteReader, readsSound: Bool = false) throws {
        let input = try InputContext(reader)
        self.input = input
        unsafe av = input.av
        var found: UnsafePointer<AVCodec>?
        guard let index = unsafe try Self.findVideo(input, &found), let found = unsafe found else {
            if input.endsEarly { throw InputContext.unreadable(reader.name, InputContext.cut) }
            throw VaencError(
                .badInput, "\(reader.name) has no video stream", remedy: "name a file with video; this one holds sound or data")
        }
        unsafe decoder = found
        streamIndex = index
        notice = Self.othersNotice(input, taken: index)
        let context = unsafe input.context
        var described = unsafe Self.describe(context, index, av)
        described.beginning = [input.beginning(for: index), described.startTime].compactMap { $0 }.min()
        stream = described
        let best = unsafe av.pointee.av_find_best_stream!(context, AVMEDIA_TYPE_AUDIO, -1, Int32(index), nil, 0)
        hasSound = best >= 0
        let heard = readsSound ? Self.soundStreams(input, best: Int(best)) : []
        sounds = try heard.map { SoundStream(index: $0, track: try input.track($0)) }
        bestSound = heard.firstIndex(of: Int(best))
        soundPackets = heard.map { _ in [] }
        for other in 0..<Int(unsafe context.pointee.nb_streams) where other != index && !heard.contains(other) {
            unsafe context.pointee.streams[other]!.pointee.discard = AVDISCARD_ALL
        }
    }

    /// What the file says of itself.
    var metadata: MediaMetadata { MediaMetadata(input, pictures: streamIndex) }

    /// What is reported of times that jump, as far as they were read; nil where none do.
    var timesEntry: EffectiveEntry? { input.timesEntry }

    /// The streams that nothing is read of.
    func unreadStreams() throws -> [UnreadStream] {
        let read = [streamIndex] + sounds.map(\.index)
        return try (0..<Int(unsafe context.pointee.nb_streams)).filter { !read.contains($0) }.map {
            UnreadStream(index: $0, track: try input.track($0))
        }
    }

    /// There is sound in the file.
    let hasSound: Bool

    /// When each of the streams of sound begins, what players skip left out, where the file says it.
    var soundStarts: [MediaTime] {
        sounds.compactMap { sound in
            let start = unsafe context.pointee.streams[sound.index]!.pointee.start_time
            if start == vaenc_no_pts() { return nil }
            let base = sound.track.timeBase
            return MediaTime(
                value: Int64(clamping: Int128(start) * Int128(base.numerator)), timescale: Int32(clamping: base.denominator))
        }
    }

    /// The packets of each stream of sound that were met since the last call.
    func takeSounds() -> [[TrackPacket]] {
        defer { soundPackets = sounds.map { _ in [] } }
        return soundPackets
    }

    /// What of the file is not in the pictures that its decoder gives.
    var changes: [EffectiveEntry] {
        let order = unsafe context.pointee.streams[streamIndex]!.pointee.codecpar.pointee.field_order
        if order == AV_FIELD_UNKNOWN || order == AV_FIELD_PROGRESSIVE { return [] }
        return [Self.deinterlaced]
    }
    static let deinterlaced = EffectiveEntry(
        option: "fields", asked: "interlaced", used: "progressive", why: "one picture is made of two fields (bwdif)")

    /// How players are asked to turn or mirror the pictures: `SinkOptions.displayMatrix`.
    var displayMatrix: [Int32] {
        let video = unsafe context.pointee.streams[streamIndex]!
        guard unsafe vaenc_is_turned(video) != 0,
            let data = unsafe vaenc_side_data(video, AV_PKT_DATA_DISPLAYMATRIX)?.pointee, unsafe data.size >= 36
        else { return [] }
        // SAFETY: nine numbers, as the size says; libav aligns side data.
        return (0..<9).map { unsafe UnsafeRawPointer(data.data!).loadUnaligned(fromByteOffset: 4 * $0, as: Int32.self) }
    }

    /// What the container says of the display that the pictures were mastered on.
    var masteringDisplay: MasteringDisplay? {
        let video = unsafe context.pointee.streams[streamIndex]!
        guard let data = unsafe vaenc_side_data(video, AV_PKT_DATA_MASTERING_DISPLAY_METADATA)?.pointee else { return nil }
        return unsafe HDRSideData.masteringDisplay(data.data, data.size)
    }

    var contentLight: ContentLight? {
        let video = unsafe context.pointee.streams[streamIndex]!
        guard let data = unsafe vaenc_side_data(video, AV_PKT_DATA_CONTENT_LIGHT_LEVEL)?.pointee else { return nil }
        return unsafe HDRSideData.contentLight(data.data, data.size)
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
            timeBase: base, startTime: stream.pointee.start_time == none ? nil : stream.pointee.start_time, beginning: nil,
            // What is out of all range is a damaged header's, or no rate at all.
            frameRate: positive(av.pointee.av_guess_frame_rate!(context, stream, nil)).flatMap {
                (0.001...1000).contains($0.value) ? $0 : nil
            },
            aspect: positive(av.pointee.av_guess_sample_aspect_ratio!(context, stream, nil))?.asSampleAspect,
            frameCount: stream.pointee.nb_frames > 0 ? Int(stream.pointee.nb_frames) : nil, durationSeconds: seconds,
            container: format.split(separator: ",").first.map(String.init) ?? format)
    }

    /// Containers whose index names key frames. In others libavformat finds a time, and what follows may need pictures
    /// from before it. Pictures before 0 are in no index.
    static let indexed: Set<String> = ["mov", "matroska", "avi", "flv"]

    /// Moves to the last key frame at or before a time of the stream. False, and nothing is moved, where the container does
    /// not say where one is.
    /// - Throws: `badInput` where reading cannot go on at the beginning after a failed search.
    func seek(to time: Int64) throws -> Bool {
        guard input.isSeekable, Self.indexed.contains(stream.container), !input.hasEarlyTimes else { return false }
        if input.seek(streamIndex, to: time) >= 0 { return true }
        // The search has dropped the packets that were read ahead.
        guard input.seekToFirst(streamIndex) >= 0 else { throw InputContext.unreadable(input.name, "its index is damaged") }
        return true
    }

    /// Fills `packet` with the stream's next packet.
    /// - Throws: what reading the file throws.
    func read(_ packet: UnsafeMutablePointer<AVPacket>) throws -> InputContext.Reading {
        while true {
            let reading = try unsafe input.read(packet)
            guard case .packet = reading else { return reading }
            let index = unsafe Int(packet.pointee.stream_index)
            if index == streamIndex { return reading }
            if let place = sounds.firstIndex(where: { $0.index == index }) {
                soundPackets[place].append(unsafe try TrackPacket(taking: packet, timeBase: sounds[place].track.timeBase, av))
            } else {
                unsafe av.pointee.av_packet_unref!(packet)
            }
        }
    }
}
