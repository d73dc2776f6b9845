import CLibAV
import LibAV
import NALUnits
import VideoBase

/// Sets the times of packets of a bare H.264 or HEVC stream, which has no times. Pictures are shown in the order of
/// their picture order counts, at the intervals of the frame rate. They are decoded at the same intervals, earlier by
/// the reordering delay, and never later than they are shown.
@safe final class PresentationOrder {
    // SAFETY: created in `init`, freed in `deinit`, and used only by this object's methods.
    private let av: UnsafePointer<VaencLibAV>
    private let parser: UnsafeMutablePointer<AVCodecParserContext>
    private var context: UnsafeMutablePointer<AVCodecContext>?
    private let rate: Rational
    /// The number of pictures that are decoded before the first one is shown.
    private let delay: Int

    private struct Waiting {
        var packet: TrackPacket
        var order: Int
        /// The picture's index in presentation order; nil until it is known.
        var shown: Int?
    }
    /// The pictures in decoding order, from the first whose index is unknown. Those after it wait too.
    private var waiting: [Waiting] = []
    private let codec: VideoCodec
    private var shownCount = 0
    private var decodedCount = 0

    /// Creates the order of a track with H.264 or HEVC. Returns nil for other codecs.
    init?(_ track: MediaTrack, rate: Rational) throws {
        unsafe av = track.av
        let parameters = unsafe track.stream.pointee.codecpar!
        guard let codec = unsafe VideoCodec(libavcodecID: parameters.pointee.codec_id),
            let parser = unsafe av.pointee.av_parser_init!(Int32(parameters.pointee.codec_id.rawValue))
        else { return nil }
        unsafe self.parser = unsafe parser
        self.codec = codec
        unsafe context = av.pointee.avcodec_alloc_context3!(nil)
        self.rate = rate.reduced
        delay = max(0, Int(unsafe parameters.pointee.video_delay))
        unsafe parser.pointee.flags |= PARSER_FLAG_COMPLETE_FRAMES
        guard let context = unsafe context, unsafe av.pointee.avcodec_parameters_to_context!(context, parameters) >= 0 else {
            throw TrackPacket.noMemory
        }
    }

    deinit {
        unsafe av.pointee.av_parser_close!(parser)
        unsafe av.pointee.avcodec_free_context!(&context)
    }

    /// Adds the next packet in decoding order. Returns the packets whose times are known, in that order.
    func add(_ packet: TrackPacket) throws -> [TrackPacket] {
        var bytes: UnsafeMutablePointer<UInt8>?
        var count: Int32 = 0
        let none = vaenc_no_pts()
        // SAFETY: the packet's data have padding after them. With complete frames the parser returns its input.
        _ = unsafe av.pointee.av_parser_parse2!(
            parser, context, &bytes, &count, packet.packet.pointee.data, packet.packet.pointee.size, none, none, 0)
        // All pictures before an IDR picture are shown before it.
        if isIDR(packet) { showAll() }
        waiting.append(Waiting(packet: packet, order: Int(unsafe parser.pointee.output_picture_number)))
        while waiting.count(where: { $0.shown == nil }) > delay { showNext() }
        return try take()
    }

    func finish() throws -> [TrackPacket] {
        showAll()
        return try take()
    }

    /// Whether the first slice belongs to an IDR picture (H.264 7.4.1), or to a BLA or IDR picture (HEVC table 7-1).
    /// Other IRAP pictures with NoRaslOutputFlag also reset the picture order count, but a CRA picture in the middle of
    /// a stream does not.
    private func isIDR(_ packet: TrackPacket) -> Bool {
        guard let header = packet.firstSliceHeader(codec) else { return false }
        return switch codec {
        case .h264: header & 31 == 5
        case .hevc: (16...20).contains(header >> 1 & 63)
        }
    }

    private func showAll() { while waiting.contains(where: { $0.shown == nil }) { showNext() } }

    private func showNext() {
        let next = waiting.indices.filter { waiting[$0].shown == nil }.min { waiting[$0].order < waiting[$1].order }
        guard let next else { return }
        waiting[next].shown = shownCount
        shownCount += 1
    }

    private func take() throws -> [TrackPacket] {
        let ready = waiting.prefix { $0.shown != nil }
        waiting.removeFirst(ready.count)
        let scale = Int32(clamping: rate.numerator)
        func time(_ index: Int) -> MediaTime {
            MediaTime(value: Int64(clamping: Int128(index) * Int128(rate.denominator)), timescale: scale)
        }
        return try ready.map { one in
            defer { decodedCount += 1 }
            return try one.packet.shown(
                at: time(one.shown ?? 0), decoded: time(min(decodedCount - delay, one.shown ?? 0)), duration: time(1), timescale: scale)
        }
    }
}
