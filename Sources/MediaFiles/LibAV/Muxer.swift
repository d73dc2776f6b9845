import CLibAV
import Glibc
import LibAV
import VideoBase

/// A container with any number of tracks, through libavformat, which puts the tracks' packets in the order of their times.
/// One thread at a time.
@safe final class Muxer {
    let destination: any MuxerDestination
    // SAFETY: made in init, freed in deinit, used by this object's methods alone; `destination` outlives `context`.
    private let av: UnsafePointer<VaencLibAV>
    private var context: UnsafeMutablePointer<AVFormatContext>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    private var tracks: [MediaTrack] = []
    /// Of tracks of AAC whose headers the container does not hold.
    private var adtsFilters: [Int: ADTSFilter] = [:]
    private let format: String
    /// HLS tells lengths of segments, which libavformat adds up from the durations that packets say: each picture waits here
    /// until the next one's time is known.
    private var waiting: (packet: TrackPacket, track: Int, origin: MediaTime, copies: Bool)?
    /// Of those pictures: how much later the first is shown than decoded, and when the last shown ends.
    private var firstDelay: MediaTime?
    private var shownEnd: MediaTime?
    /// The last decoding time of each track, in its ticks.
    private var lastTicks: [Int: Int64] = [:]
    /// The same in MP4 and QuickTime.
    private var sampleTicks: [Int: Int64] = [:]
    /// Packets of an input that are decoded a little later than it says, for two of a track cannot be at one time.
    private(set) var movedCount = 0

    /// - Parameter format: libavformat's name.
    init(format: String, _ destination: any MuxerDestination) throws {
        let av = unsafe try LibAV.load([.codec, .format])
        unsafe self.av = unsafe av
        self.destination = destination
        self.format = format
        var context: UnsafeMutablePointer<AVFormatContext>?
        _ = LibAV.takeLog()
        let code = unsafe av.pointee.avformat_alloc_output_context2!(
            &context, nil, format, FileName.cString(destination.name))
        guard code >= 0, let context = unsafe context else {
            if LibAV.isNoMemory(code) { throw Self.noMemory }
            throw VaencError(
                .unavailable, "this FFmpeg cannot write \(format) (\(unsafe LibAV.message(code, av)))",
                remedy: "choose another `format`")
        }
        unsafe self.context = context
        unsafe packet = av.pointee.av_packet_alloc!()
        guard unsafe packet != nil else { throw Self.noMemory }
        unsafe try destination.attach(to: context)
        let flushPackets: Int32 = 0x0200
        if destination.isImmediate { unsafe context.pointee.flags |= flushPackets }
    }

    deinit {
        unsafe av.pointee.av_packet_free!(&packet)
        if let context = unsafe context { unsafe destination.detach(from: context) }
        unsafe av.pointee.avformat_free_context!(context)
    }

    private static let noMemory = VaencError.noMemory("to write a container")

    /// Adds a track, before the header is written. `timescale` is asked for; the container may choose its own.
    /// - Returns: its number.
    func add(_ track: MediaTrack, timescale: Int32? = nil) throws -> Int {
        guard let stream = unsafe av.pointee.avformat_new_stream!(context, nil),
            unsafe vaenc_copy_stream(av, stream, track.stream)
        else { throw Self.noMemory }
        unsafe vaenc_fit_codec_tag(av, stream, context!.pointee.oformat)
        if !track.adtsConfig.isEmpty, format != "mpegts", unsafe !MediaTrack.setExtradata(track.adtsConfig, of: stream, av) {
            throw Self.noMemory
        }
        if format == "mov", let language = track.language, let name = MacintoshLanguage.name(language), name != language {
            guard unsafe av.pointee.av_dict_set!(&stream.pointee.metadata, "language", name, 0) >= 0 else { throw Self.noMemory }
        }
        if let timescale { unsafe stream.pointee.time_base = AVRational(num: 1, den: timescale) }
        tracks.append(track)
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
        guard let stream = unsafe context!.pointee.streams[0] else { return }
        guard unsafe MediaMetadata.set(metadata.pictureTags, in: &stream.pointee.metadata, av) else { throw Self.noMemory }
        unsafe stream.pointee.disposition |= metadata.pictures.disposition
        let language = metadata.pictureTags.first { $0.key == "language" }?.value
        if format == "mov", let language, let name = MacintoshLanguage.name(language) {
            guard unsafe av.pointee.av_dict_set!(&stream.pointee.metadata, "language", name, 0) >= 0 else { throw Self.noMemory }
        }
    }

    /// Adds the chapters between two times, counted from the first: before the header or the trailer is written.
    func add(chaptersOf metadata: MediaMetadata, from start: MediaTime, to end: MediaTime?) throws {
        guard unsafe metadata.addChapters(to: context!, from: start, to: end, av) else { throw Self.noMemory }
    }

    /// - Parameter copies: what does not go into the container is the input's fault.
    func writeHeader(options: [(name: String, value: String)], copies: Bool = false) throws {
        var dictionary: OpaquePointer?
        defer { unsafe av.pointee.av_dict_free!(&dictionary) }
        for option in options {
            guard unsafe av.pointee.av_dict_set!(&dictionary, option.name, option.value, 0) >= 0 else { throw Self.noMemory }
        }
        let holdsADTS = format == "mpegts" || options.contains { $0 == ("hls_segment_type", "mpegts") }
        for (index, track) in tracks.enumerated() where !holdsADTS && !track.adtsConfig.isEmpty {
            adtsFilters[index] = unsafe ADTSFilter(av)
        }
        try nameHandlers()
        destination.willWrite()
        hasCopies = copies
        try check(unsafe av.pointee.avformat_write_header!(context, &dictionary), copies: copies)
    }

    /// MP4 and QuickTime have no place for a track's title but the name of its handler.
    private func nameHandlers() throws {
        guard ["mp4", "mov", "hls"].contains(format) else { return }
        for index in tracks.indices {
            let stream = unsafe context!.pointee.streams[index]!
            guard let title = unsafe MediaTrack.text("title", stream.pointee.metadata, av),
                unsafe MediaTrack.takesTitle(handler: MediaTrack.text("handler_name", stream.pointee.metadata, av))
            else { continue }
            guard unsafe av.pointee.av_dict_set!(&stream.pointee.metadata, "handler_name", title, 0) >= 0 else { throw Self.noMemory }
        }
    }

    /// Ticks a second of a track's times, once the header is written.
    func timescale(of track: Int) -> Int32 { unsafe context!.pointee.streams[track]!.pointee.time_base.den }

    /// A time in the track's ticks.
    private func ticks(_ time: MediaTime, _ track: Int) -> Int64 {
        let base = unsafe context!.pointee.streams[track]!.pointee.time_base
        let fine = time.converted(to: base.den).value
        return base.num == 1 ? fine : MediaTime.rounded(Int128(fine), by: Int128(max(base.num, 1)))
    }

    /// Writes a track's next packet, in decoding order, with its times counted from `origin` on.
    /// - Parameter copies: it is of an input, whose fault it is if it does not go into the container.
    func write(_ packet: TrackPacket, track: Int, origin: MediaTime, copies: Bool = false) throws {
        guard format == "hls", tracks[track].kind == .video else { return try put(packet, track, origin, packet.duration, copies) }
        try putWaiting(before: packet)
        waiting = (packet, track, origin, copies)
    }

    private func putWaiting(before next: TrackPacket?) throws {
        guard let held = waiting else { return }
        waiting = nil
        var duration = held.packet.duration
        if let time = held.packet.decode, let shown = held.packet.presentation {
            firstDelay = firstDelay ?? shown - time
            shownEnd = max(shownEnd ?? shown, shown + duration)
            // The last one's length fills up what all are shown for.
            let end = next?.decode ?? (shownEnd ?? shown) - (firstDelay ?? .zero)
            if time < end { duration = end - time }
        }
        try put(held.packet, held.track, held.origin, duration, held.copies)
    }

    private func put(
        _ packet: TrackPacket, _ track: Int, _ origin: MediaTime, _ duration: MediaTime, _ copies: Bool
    ) throws {
        let scratch = unsafe self.packet!
        guard unsafe av.pointee.av_packet_ref!(scratch, packet.packet) >= 0 else { throw Self.noMemory }
        if let filter = adtsFilters[track] { try check(unsafe filter.filter(scratch), copies: copies) }
        let none = vaenc_no_pts()
        var shown = packet.presentation.map { ticks($0 - origin, track) }
        var decoded = packet.decode.map { ticks($0 - origin, track) }
        // Rounded apart, they may change places.
        if let shown, let time = decoded { decoded = min(time, shown) }
        if copies { (shown, decoded) = moved(shown, decoded, track) }
        let length = ticks(duration, track)
        if let time = decoded ?? shown { try checkDistance(to: time, shown: shown ?? time, length, track) }
        unsafe scratch.pointee.stream_index = Int32(track)
        unsafe scratch.pointee.pts = shown ?? none
        unsafe scratch.pointee.dts = decoded ?? none
        unsafe scratch.pointee.duration = length
        unsafe scratch.pointee.pos = -1
        destination.willWrite()
        let code = unsafe av.pointee.av_interleaved_write_frame!(context, scratch)
        unsafe av.pointee.av_packet_unref!(scratch)
        try check(code, copies: copies || hasCopies)
    }

    /// How far apart a track's times may lie, in ticks; nil: as far as may be.
    ///
    /// A sample's duration has 32 bits in MP4 and QuickTime, of which libavformat uses 31, and so has the time from decoding to
    /// presentation: it would change times that lie farther apart, or refuse them. Of MPEG-TS's times readers take the
    /// nearest that agrees in 33 bits. In FLV the time from decoding to presentation has 23 bits and a sign.
    private var farthestTicks: (samples: Int64, presentation: Int64)? {
        switch format {
        case "mp4", "mov": (Int64(Int32.max), Int64(Int32.max))
        case "mpegts", "hls": (1 << 32, 1 << 32)
        case "flv": (.max, 1 << 23)
        default: nil
        }
    }

    private func checkDistance(to time: Int64, shown: Int64, _ length: Int64, _ track: Int) throws {
        guard let farthest = farthestTicks else { return }
        let last = sampleTicks.updateValue(time, forKey: track) ?? time
        let (samples, delay) = (max(Int128(time) - Int128(last), Int128(length)), Int128(shown) - Int128(time))
        let isDelay = delay >= Int128(farthest.presentation)
        guard isDelay || samples >= Int128(farthest.samples) else { return }
        let scale = Int128(max(timescale(of: track), 1))
        let (seconds, limit) = ((isDelay ? delay : samples) / scale, Int128(isDelay ? farthest.presentation : farthest.samples) / scale)
        throw VaencError(
            .badInput, "\(destination.name) cannot hold times that lie \(seconds) s apart: the limit of \(format) is \(limit) s here",
            remedy: "check the input's times, or choose another `format`, such as mkv")
    }

    /// Some files round the times of short packets to the same millisecond, which others take as no order.
    private func moved(_ shown: Int64?, _ decoded: Int64?, _ track: Int) -> (Int64?, Int64?) {
        guard let time = decoded ?? shown else { return (shown, decoded) }
        let stream = unsafe context!.pointee.streams[track]!
        // A hundredth of a second.
        let base = unsafe stream.pointee.time_base
        let rounding = Int64(base.den) / max(100 * Int64(base.num), 1)
        let mustGrow = unsafe vaenc_wants_growing_times(context!.pointee.oformat)
        guard mustGrow, let last = lastTicks[track], time <= last, last - time < rounding else {
            lastTicks[track] = time
            return (shown, decoded)
        }
        movedCount += 1
        lastTicks[track] = last + 1
        return (shown.map { max($0, last + 1) }, last + 1)
    }

    func writeTrailer() throws {
        try putWaiting(before: nil)
        destination.willWrite()
        try check(unsafe av.pointee.av_write_trailer!(context), copies: hasCopies)
        try destination.flush()
        try check(0)
    }

    /// Of an input's packets or descriptions, whose fault it is what the container does not take.
    private var hasCopies = false

    /// What libavformat says of values that it cannot write. Others are errors of the system.
    private static func refuses(_ code: Int32) -> Bool {
        code < 0 && [0, EINVAL, ERANGE, EDOM, EOVERFLOW, ENOSYS].contains(vaenc_errno_of(code))
    }

    /// AVERROR_PATCHWELCOME: 'P', 'A', 'W', 'E', the first in the low byte.
    private static let notImplemented = -Int32(0x4557_4150)

    private func check(_ code: Int32, copies: Bool = false) throws {
        if let error = destination.error { throw error }
        if LibAV.isNoMemory(code) { throw Self.noMemory }
        if code == Self.notImplemented {
            throw VaencError(
                .badInput, "\(destination.name) cannot hold such times or values: libavformat does not write them in this format",
                remedy: "check the input's times, or choose another `format`")
        }
        if copies, destination.patience == nil, Self.refuses(code) {
            throw VaencError(
                .badInput, "\(destination.name) takes no such stream (\(unsafe LibAV.message(code, av)))",
                remedy: "check that the input is whole, or choose another format")
        }
        if code < 0 { throw unsafe destination.failure(code, LibAV.message(code, av)) }
    }
}

/// Where a container goes.
protocol MuxerDestination: AnyObject {
    /// For libavformat and messages.
    var name: String { get }
    /// Each packet is passed on at once, rather than with those after it.
    var isImmediate: Bool { get }
    /// The error behind a failed libav call, where writing failed.
    var error: (any Error)? { get }
    /// Gives a muxer its input and output functions.
    func attach(to context: UnsafeMutablePointer<AVFormatContext>) throws
    func detach(from context: UnsafeMutablePointer<AVFormatContext>)
    func flush() throws
    /// How long calls that wait for a network may take; nil where none do.
    var patience: Patience? { get }
    /// A call of libavformat's begins.
    func willWrite()
    /// The error for a code of libavformat's that no error of the destination's own stands behind.
    func failure(_ code: Int32, _ words: String) -> VaencError
}

extension MuxerDestination {
    var patience: Patience? { nil }
    func willWrite() {}

    func failure(_ code: Int32, _ words: String) -> VaencError {
        VaencError(.inputOutput, "writing \(name) failed (\(words))", remedy: "choose another `format` or place")
    }
}
