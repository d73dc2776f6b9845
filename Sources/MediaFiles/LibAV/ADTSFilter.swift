import CLibAV
import Glibc
import LibAV

/// Removes the ADTS headers that AAC has in MPEG-TS, for containers that describe a stream only once (libavcodec's
/// aac_adtstoasc). Only one thread may use it at a time.
///
/// libavformat would insert the same filter itself, but would get the stream's description from the first packet only,
/// after the container's header was written.
@safe final class ADTSFilter {
    // SAFETY: created in `init`, freed in `deinit`, and used only by this object's methods.
    private let av: UnsafePointer<VaencLibAV>
    private var context: UnsafeMutablePointer<AVBSFContext>?
    private var hasBegun = false

    /// Creates the filter. Returns nil if libavcodec has no such filter.
    init?(_ av: UnsafePointer<VaencLibAV>) {
        unsafe self.av = unsafe av
        var context: UnsafeMutablePointer<AVBSFContext>?
        guard let filter = unsafe av.pointee.av_bsf_get_by_name!("aac_adtstoasc"),
            unsafe av.pointee.av_bsf_alloc!(filter, &context) >= 0, let made = unsafe context
        else { return nil }
        unsafe made.pointee.par_in.pointee.codec_type = AVMEDIA_TYPE_AUDIO
        unsafe made.pointee.par_in.pointee.codec_id = AV_CODEC_ID_AAC
        let code = unsafe av.pointee.av_bsf_init!(made)
        unsafe self.context = unsafe made
        if code < 0 { return nil }
    }

    deinit { unsafe av.pointee.av_bsf_free!(&context) }

    /// Filters a packet in place.
    /// - Returns: An error of libavcodec if negative; the packet is then empty.
    func filter(_ packet: UnsafeMutablePointer<AVPacket>) -> Int32 {
        if !hasBegun {
            // The first packet that the filter returns carries the stream's description, and muxers would overwrite
            // theirs with it. So a copy of the packet is filtered first.
            var copy = unsafe av.pointee.av_packet_clone!(packet)
            defer { unsafe av.pointee.av_packet_free!(&copy) }
            guard let first = unsafe copy else {
                unsafe av.pointee.av_packet_unref!(packet)
                return vaenc_averror(ENOMEM)
            }
            let code = unsafe pass(first)
            if code < 0 {
                unsafe av.pointee.av_packet_unref!(packet)
                return code
            }
            hasBegun = true
        }
        return unsafe pass(packet)
    }

    private func pass(_ packet: UnsafeMutablePointer<AVPacket>) -> Int32 {
        let code = unsafe av.pointee.av_bsf_send_packet!(context, packet)
        if code >= 0 { return unsafe av.pointee.av_bsf_receive_packet!(context, packet) }
        unsafe av.pointee.av_packet_unref!(packet)
        return code
    }

    /// Whether a packet begins with an ADTS header, detected by its syncword (ISO/IEC 13818-7 6.2.1).
    static func begins(_ packet: UnsafePointer<AVPacket>) -> Bool {
        // SAFETY: the packet's data have `size` bytes.
        unsafe packet.pointee.size > 7 && packet.pointee.data[0] == 0xFF && packet.pointee.data[1] & 0xF0 == 0xF0
    }

    /// Returns a stream's AudioSpecificConfig (ISO/IEC 14496-3 1.6.2.1) from the header of one of its packets; empty if
    /// the packet has no header.
    static func config(_ packet: UnsafePointer<AVPacket>, _ av: UnsafePointer<VaencLibAV>) -> [UInt8] {
        guard unsafe begins(packet), let filter = unsafe ADTSFilter(av) else { return [] }
        var copy = unsafe av.pointee.av_packet_clone!(packet)
        defer { unsafe av.pointee.av_packet_free!(&copy) }
        guard let first = unsafe copy, unsafe filter.pass(first) >= 0 else { return [] }
        var size = 0
        guard let bytes = unsafe av.pointee.av_packet_get_side_data!(first, AV_PKT_DATA_NEW_EXTRADATA, &size) else { return [] }
        // SAFETY: the packet's side data have `size` bytes, and are copied.
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: size))
    }
}
