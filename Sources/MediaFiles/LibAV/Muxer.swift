import CLibAV
import Glibc
import LibAV
import VideoBase

/// A container with any number of tracks, written with libavformat, which interleaves the tracks' packets by their
/// times. Only one thread may use it at a time.
@safe final class Muxer {
    let destination: any MuxerDestination
    // SAFETY: created in `init`, freed in `deinit`, and used only by this object's methods. `destination` outlives
    // `context`.
    let av: UnsafePointer<VaencLibAV>
    private(set) var context: UnsafeMutablePointer<AVFormatContext>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    /// libavformat's name of the format.
    let format: String
    var tracks: [AddedTrack] = []
    /// The filters of AAC tracks, if the container stores no ADTS headers.
    var adtsFilters: [Int: ADTSFilter] = [:]
    /// Whether the header is written and the trailer is not. libavformat takes packets only in between.
    var acceptsPackets = false
    /// Whether time codes of the input are not written.
    var omitsTimeCode = false
    /// The metadata that is written to the first track with the header.
    var pictureMetadata: MediaMetadata?
    /// Whether each fragment has its own index. Otherwise the index is at the end.
    var isFragmented = false
    /// The header that is not written yet; nil once it is written.
    var delayed: DelayedHeader?
    /// The picture that waits until the next one's time is known. HLS states the lengths of segments, and libavformat
    /// computes them from the durations of packets.
    private var waiting: (packet: TrackPacket, track: Int, origin: MediaTime, copies: Bool)?
    /// The delay from decoding to presentation of the first waiting picture.
    private var firstDelay: MediaTime?
    /// The end of the last waiting picture in presentation order.
    private var shownEnd: MediaTime?
    /// The last decoding time of each track, in its ticks.
    private var lastTicks: [Int: Int64] = [:]
    /// The last three times of each sound track whose packets have no duration.
    private var soundTimes: [Int: [MediaTime]] = [:]
    /// The last decoding time of each track, in its ticks, for formats that limit the distance between times.
    private var sampleTicks: [Int: Int64] = [:]
    /// The number of packets whose decoding time was moved to a slightly later one, because two packets of a track cannot
    /// have the same time.
    private(set) var movedCount = 0

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
        if destination.isImmediate { unsafe context.pointee.flags |= AVFMT_FLAG_FLUSH_PACKETS }
    }

    deinit {
        unsafe av.pointee.av_packet_free!(&packet)
        if let context = unsafe context { unsafe destination.detach(from: context) }
        unsafe av.pointee.avformat_free_context!(context)
    }

    static let noMemory = VaencError.noMemory("to write a container")

    /// Converts a time to the track's ticks.
    private func ticks(_ time: MediaTime, _ track: Int) -> Int64 {
        let base = unsafe output(of: track).pointee.time_base
        let fine = time.converted(to: base.den).value
        return base.num == 1 ? fine : MediaTime.rounded(Int128(fine), by: Int128(max(base.num, 1)))
    }

    /// Writes a track's next packet, in decoding order. Its times are written relative to `origin`.
    /// - Parameter copies: Whether the packet comes from an input. The input is then reported as the cause if the
    ///   container rejects it.
    func write(_ packet: TrackPacket, track: Int, origin: MediaTime, copies: Bool = false) throws {
        if delayed != nil { return try hold(packet, track: track, origin: origin, copies: copies) }
        tracks[track].packets += 1
        if tracks[track].stream == nil { return }
        guard format == "hls", tracks[track].track.kind == .video else {
            return try put(packet, track: track, origin: origin, duration: packet.duration, copies: copies)
        }
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
            // The last picture's duration extends to the end of the last picture in presentation order.
            let end = next?.decode ?? (shownEnd ?? shown) - (firstDelay ?? .zero)
            if time < end { duration = end - time }
        }
        try put(held.packet, track: held.track, origin: held.origin, duration: duration, copies: held.copies)
    }

    private func put(
        _ packet: TrackPacket, track: Int, origin: MediaTime, duration: MediaTime, copies: Bool
    ) throws {
        let scratch = unsafe self.packet!
        guard unsafe av.pointee.av_packet_ref!(scratch, packet.packet) >= 0 else { throw Self.noMemory }
        if let filter = adtsFilters[track] { try check(unsafe filter.filter(scratch), copies: copies) }
        let none = vaenc_no_pts()
        let delay = tracks[track].delay
        func timestamp(_ time: MediaTime) -> Int64 {
            Int64(clamping: Int128(ticks(time - origin, track)) + Int128(delay))
        }
        var shown = packet.presentation.map(timestamp)
        var decoded = packet.decode.map(timestamp)
        // After separate rounding, the decoding time could be later than the presentation time.
        if let shown, let time = decoded { decoded = min(time, shown) }
        (shown, decoded) = moved(shown, decoded: decoded, track: track)
        let length = ticks(duration.value > 0 ? duration : usualDuration(of: packet, track) ?? duration, track)
        if let time = decoded ?? shown { try checkDistance(to: time, shown: shown ?? time, length, track) }
        unsafe scratch.pointee.stream_index = Int32(clamping: tracks[track].stream ?? 0)
        unsafe scratch.pointee.pts = shown ?? none
        unsafe scratch.pointee.dts = decoded ?? none
        unsafe scratch.pointee.duration = length
        unsafe scratch.pointee.pos = -1
        destination.willWrite()
        let code = unsafe av.pointee.av_interleaved_write_frame!(context, scratch)
        unsafe av.pointee.av_packet_unref!(scratch)
        try check(code, copies: copies || hasCopies)
    }

    /// The maximum distance between a track's times, in ticks; nil if it is unlimited.
    ///
    /// In MP4 and QuickTime a sample's duration has 32 bits, of which libavformat uses 31, and so has the time from
    /// decoding to presentation. libavformat would change or reject larger distances. For MPEG-TS, readers choose the
    /// nearest time that agrees in 33 bits. In FLV the time from decoding to presentation has 23 bits and a sign.
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
            .badInput,
            "\(destination.name) cannot contain times that are \(seconds) s apart: here, the limit of \(format) is "
                + "\(limit) s",
            remedy: "check the input's times, or use another `format`, for example mkv")
    }

    /// Returns the duration of a sound packet that states none, as in fragmented MP4, computed from the packets before
    /// it. In MP4 libavformat needs the duration of a track's last packet: the edit list excludes a packet without
    /// duration.
    private func usualDuration(of packet: TrackPacket, _ track: Int) -> MediaTime? {
        guard tracks[track].track.kind == .audio, let time = packet.decode ?? packet.presentation else { return nil }
        var recent = soundTimes[track] ?? []
        recent.append(time)
        soundTimes[track] = Array(recent.suffix(3))
        // The longer of two distances may be a gap.
        return zip(recent.dropFirst(), recent).map { $0 - $1 }.filter { $0.value > 0 }.min()
    }

    /// Moves a packet's times so that they increase. Formats round times to their ticks, and most reject equal times. Some
    /// files have equal times, because their format counts milliseconds.
    private func moved(_ shown: Int64?, decoded: Int64?, track: Int) -> (Int64?, Int64?) {
        guard let time = decoded ?? shown else { return (shown, decoded) }
        let stream = unsafe output(of: track)
        // One hundredth of a second.
        let base = unsafe stream.pointee.time_base
        let rounding = Int64(base.den) / max(100 * Int64(base.num), 1)
        let mustIncrease = unsafe vaenc_needs_increasing_times(context!.pointee.oformat)
        guard mustIncrease, let last = lastTicks[track], time <= last, last - time < rounding else {
            lastTicks[track] = time
            return (shown, decoded)
        }
        movedCount += 1
        lastTicks[track] = last + 1
        return (shown.map { max($0, last + 1) }, last + 1)
    }

    /// Writes the packets that wait for later ones, and the fragment or cluster that they are in.
    func writeWaiting() throws {
        try writeDelayed()
        guard acceptsPackets else { return }
        try putWaiting(before: nil)
        destination.willWrite()
        try check(unsafe av.pointee.av_interleaved_write_frame!(context, nil))
        // In fragmented MP4 without a fragment so far, the first call writes the movie box alone.
        for _ in 0..<2 { try check(unsafe av.pointee.av_write_frame!(context, nil)) }
        try destination.flush()
    }

    func writeTrailer() throws {
        try writeDelayed()
        try putWaiting(before: nil)
        acceptsPackets = false
        destination.willWrite()
        try check(unsafe av.pointee.av_write_trailer!(context), copies: hasCopies)
        // For fragmented files, libavformat does not report that the description at the beginning could not be written.
        if isFragmented, Self.beginningFaults.contains(where: LibAV.hasLogged) {
            throw VaencError(
                .badInput,
                "\(destination.name) cannot contain this stream (\(LibAV.takeLog() ?? "its description could not be written"))",
                remedy: "check that the input is complete, or use another `format`")
        }
        try destination.flush()
        try check(0)
    }

    /// Whether packets or descriptions come from an input, which is then reported as the cause if the container rejects
    /// them.
    var hasCopies = false

    /// The messages that libavformat logs for tracks that it cannot describe in MP4.
    private static let beginningFaults = ["Cannot write moov atom", "is not defined by the ISOBMFF", "No valid AC3 bit rate code"]

    /// Whether an error code means that libavformat cannot write a value. Other codes are errors of the system.
    private static func isUnwritableValue(_ code: Int32) -> Bool {
        code < 0 && [0, EINVAL, ERANGE, EDOM, EOVERFLOW, ENOSYS].contains(vaenc_errno_of(code))
    }

    /// AVERROR_PATCHWELCOME: 'P', 'A', 'W', 'E', with the first letter in the low byte.
    private static let notImplemented = -Int32(0x4557_4150)

    func check(_ code: Int32, copies: Bool = false) throws {
        if let error = destination.error { throw error }
        if LibAV.isNoMemory(code) { throw Self.noMemory }
        if code == Self.notImplemented {
            throw VaencError(
                .badInput,
                "\(destination.name) cannot contain these times or values: libavformat does not write them in this "
                    + "format",
                remedy: "check the input's times, or choose another `format`")
        }
        if copies, destination.networkTimeout == nil, Self.isUnwritableValue(code) {
            throw VaencError(
                .badInput, "\(destination.name) cannot contain this stream (\(unsafe LibAV.message(code, av)))",
                remedy: "check that the input is complete, or use another `format`")
        }
        if code < 0 { throw unsafe destination.failure(code, LibAV.message(code, av)) }
    }
}

/// The output of a container.
protocol MuxerDestination: AnyObject {
    /// The name for libavformat and for messages.
    var name: String { get }
    /// Whether each packet is written immediately, not together with later ones.
    var isImmediate: Bool { get }
    /// The error of this destination that made a libav call fail; nil if writing did not fail.
    var error: (any Error)? { get }
    /// Sets the input and output functions of a muxer.
    func attach(to context: UnsafeMutablePointer<AVFormatContext>) throws
    func detach(from context: UnsafeMutablePointer<AVFormatContext>)
    func flush() throws
    /// The timeout of calls that wait for a network; nil if no call waits.
    var networkTimeout: NetworkTimeout? { get }
    /// Called before each call of libavformat that writes.
    func willWrite()
    /// Returns the error for libavformat's error code, if `error` is nil.
    func failure(_ code: Int32, _ words: String) -> VaencError
}

extension MuxerDestination {
    var networkTimeout: NetworkTimeout? { nil }
    func willWrite() {}

    func failure(_ code: Int32, _ words: String) -> VaencError {
        VaencError(.inputOutput, "writing \(name) failed (\(words))", remedy: "use another `format` or folder")
    }
}
