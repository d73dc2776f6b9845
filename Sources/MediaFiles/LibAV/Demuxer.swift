import CLibAV
import LibAV
import VideoBase

/// Reads the packets of a file's video stream, and of its sound if requested. Only one thread may use it at a time.
@safe final class Demuxer {
    // SAFETY: libavformat's objects belong to `input`, which lives as long as this object.
    let av: UnsafePointer<VaencLibAV>
    private let input: InputContext
    private var context: UnsafeMutablePointer<AVFormatContext> { unsafe input.context }
    private let streamIndex: Int
    var name: String { input.name }
    var pipeRemedy: String? { input.pipeRemedy }
    /// The sound streams that are read beside the pictures, in the file's order.
    let sounds: [SoundStream]
    private var soundPackets: [[TrackPacket]]
    /// The index in `sounds` of the stream that FFmpeg considers the best; nil if it is not read.
    let bestSound: Int?

    struct SoundStream {
        var index: Int
        var track: MediaTrack
    }

    /// The container's description of the video stream. Times are in `timeBase`.
    struct Stream {
        var timeBase: Rational
        var startTime: Int64?
        /// The earliest start of the file's pictures and sound, even if the sound is not read.
        var beginning: Int64?
        var frameRate: Rational?
        var aspect: Rational?
        var frameCount: Int?
        var durationSeconds: Double?
        var container: String
        /// Whether the stream has no times. If it also has no rate, libavformat assumes 25 pictures a second.
        var isBare: Bool { InputContext.isBare(container) }
    }
    let stream: Stream

    /// The stream's codec parameters, for opening a decoder. Valid while this object lives.
    var parameters: UnsafePointer<AVCodecParameters> {
        unsafe UnsafePointer(context.pointee.streams[streamIndex]!.pointee.codecpar)
    }
    let decoder: UnsafePointer<AVCodec>
    /// A notice about other video streams, which are not read; nil if there are none.
    let notice: String?

    /// Opens a file.
    /// - Parameter readsSound: Whether to keep the packets of the file's sound streams for `takeSounds`.
    /// - Throws: `badInput` if there is no readable video stream; `unavailable` if libavcodec has no decoder.
    init(_ reader: ByteReader, readsSound: Bool = false) throws {
        let input = try InputContext(reader)
        input.toleratesDamagedSound = true
        self.input = input
        unsafe av = input.av
        var found: UnsafePointer<AVCodec>?
        guard let index = unsafe try Self.findVideo(input, &found), let found = unsafe found else {
            if input.endsEarly { throw InputContext.unreadable(reader.name, InputContext.cut) }
            throw VaencError(
                .badInput, "\(reader.name) has no video stream",
                remedy: "use a file with video; this file contains only sound or data")
        }
        unsafe decoder = found
        streamIndex = index
        notice = Self.othersNotice(input, taken: index)
        let context = unsafe input.context
        var described = unsafe Self.describe(context, index: index, av: av)
        described.beginning = [input.beginning(for: index), described.startTime].compactMap { $0 }.min()
        stream = described
        let best = unsafe av.pointee.av_find_best_stream!(context, AVMEDIA_TYPE_AUDIO, -1, Int32(index), nil, 0)
        hasSound = best >= 0
        let selected = readsSound ? Self.soundStreams(input, best: Int(best)) : []
        sounds = try selected.map { SoundStream(index: $0, track: try input.track($0)) }
        bestSound = selected.firstIndex(of: Int(best))
        soundPackets = selected.map { _ in [] }
        for other in 0..<Int(unsafe context.pointee.nb_streams) where other != index && !selected.contains(other) {
            unsafe context.pointee.streams[other]!.pointee.discard = AVDISCARD_ALL
        }
    }

    /// The file's metadata.
    var metadata: MediaMetadata { MediaMetadata(input, pictures: streamIndex) }

    /// The report about discontinuous times that were read so far; nil if there are none.
    var timesEntry: EffectiveEntry? { input.timesEntry }

    /// Returns the streams that are not read.
    func unreadStreams() throws -> [UnreadStream] {
        let read = [streamIndex] + sounds.map(\.index)
        return try (0..<Int(unsafe context.pointee.nb_streams)).filter { !read.contains($0) }.map {
            UnreadStream(index: $0, track: try input.track($0))
        }
    }

    /// Whether the file has sound.
    let hasSound: Bool

    /// Whether the first packet of a stream lacked data and was left out.
    private(set) var lacksFirstPacket = false
    /// Whether a packet of the video stream was read.
    private var hasRead = false

    /// The start of each sound stream for which the file states one, without the samples that players skip.
    var soundStarts: [MediaTime] {
        sounds.compactMap { sound in
            let start = unsafe context.pointee.streams[sound.index]!.pointee.start_time
            if start == vaenc_no_pts() { return nil }
            let base = sound.track.timeBase
            return MediaTime(
                value: Int64(clamping: Int128(start) * Int128(base.numerator)), timescale: Int32(clamping: base.denominator))
        }
    }

    /// Returns the packets of each sound stream since the last call.
    func takeSounds() -> [[TrackPacket]] {
        defer { soundPackets = sounds.map { _ in [] } }
        return soundPackets
    }

    /// The differences between the file's pictures and the decoded pictures: interlaced pictures are deinterlaced.
    var changes: [EffectiveEntry] {
        let order = unsafe context.pointee.streams[streamIndex]!.pointee.codecpar.pointee.field_order
        if order == AV_FIELD_UNKNOWN || order == AV_FIELD_PROGRESSIVE { return [] }
        return [Self.deinterlaced]
    }
    static let deinterlaced = EffectiveEntry(
        option: "fields", asked: "interlaced", used: "progressive",
        why: "the filter bwdif makes one picture from two fields")

    /// The display matrix, by which players rotate or mirror the pictures (`SinkOptions.displayMatrix`); empty if there
    /// is none.
    var displayMatrix: [Int32] {
        let video = unsafe context.pointee.streams[streamIndex]!
        guard unsafe vaenc_is_turned(video) != 0,
            let data = unsafe vaenc_side_data(video, AV_PKT_DATA_DISPLAYMATRIX)?.pointee, unsafe data.size >= 36
        else { return [] }
        // SAFETY: `size` guarantees nine numbers. libav aligns side data.
        return (0..<9).map { unsafe UnsafeRawPointer(data.data!).loadUnaligned(fromByteOffset: 4 * $0, as: Int32.self) }
    }

    /// The container's description of the mastering display; nil if there is none.
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
        _ context: UnsafeMutablePointer<AVFormatContext>, index: Int, av: UnsafePointer<VaencLibAV>
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
            // A rate outside this range comes from a damaged header, or is not a rate at all.
            frameRate: positive(av.pointee.av_guess_frame_rate!(context, stream, nil)).flatMap {
                (0.001...1000).contains($0.value) ? $0 : nil
            },
            aspect: positive(av.pointee.av_guess_sample_aspect_ratio!(context, stream, nil))?.asSampleAspect,
            frameCount: stream.pointee.nb_frames > 0 ? Int(stream.pointee.nb_frames) : nil, durationSeconds: seconds,
            container: format.split(separator: ",").first.map(String.init) ?? format)
    }

    /// The containers whose index lists key frames. In other containers libavformat searches for a time only, and the
    /// packets from there on may need earlier pictures. Pictures before 0 are in no index.
    static let indexed: Set<String> = ["mov", "matroska", "avi", "flv"]

    /// Moves to the last key frame at or before a time of the stream. Returns false, without moving, if the container
    /// does not list key frames.
    /// - Throws: `badInput` if the seek failed and reading cannot restart at the beginning.
    func seek(to time: Int64) throws -> Bool {
        guard input.isSeekable, Self.indexed.contains(stream.container), !input.hasEarlyTimes else { return false }
        if input.seek(streamIndex, to: time) >= 0 { return true }
        // The failed seek discarded the packets that were read ahead.
        guard input.seekToFirst(streamIndex) >= 0 else { throw InputContext.unreadable(input.name, "its index is damaged") }
        return true
    }

    /// The notices about losses in the streams so far.
    var lossNotices: [String] { input.lossNotices(of: Set([streamIndex] + sounds.map(\.index))) }

    /// A flag that `read` sets in addition to libavformat's (AVPacket.flags): the times jump before the packet. Another
    /// recording follows, or its clock was set.
    static let timesJump: Int32 = 1 << 24
    /// The flag beside `timesJump` if the continuity counter jumps too: another recording follows.
    static let startsRecording: Int32 = 1 << 25

    /// Fills `packet` with the stream's next packet. Sound packets before it are kept for `takeSounds`.
    /// - Throws: The errors of reading the file.
    func read(_ packet: UnsafeMutablePointer<AVPacket>) throws -> InputContext.Reading {
        while true {
            let reading = try unsafe input.read(packet)
            if case .broken = reading, !hasRead, let rejected = input.rejected, rejected.stream == streamIndex, rejected.words != InputContext.cut {
                // The packet is left out. libavformat continues with the next packet.
                lacksFirstPacket = true
                continue
            }
            guard case .packet = reading else { return reading }
            let index = unsafe Int(packet.pointee.stream_index)
            if index == streamIndex {
                hasRead = true
                switch input.discontinuity {
                case .none: break
                case .times: unsafe packet.pointee.flags |= Self.timesJump
                case .recording: unsafe packet.pointee.flags |= Self.timesJump | Self.startsRecording
                }
                return reading
            }
            if let position = sounds.firstIndex(where: { $0.index == index }) {
                let timeBase = sounds[position].track.timeBase
                soundPackets[position].append(unsafe try TrackPacket(taking: packet, timeBase: timeBase, av))
            } else {
                unsafe av.pointee.av_packet_unref!(packet)
            }
        }
    }
}
