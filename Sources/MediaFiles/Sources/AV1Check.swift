import CLibAV

/// Finds packets of AV1 that hold something else, such as the zeros of an unfinished download. libavcodec's decoders
/// skip them and report nothing.
enum AV1Check {
    /// Whether the packet does not begin with an open bitstream unit of a known type (AV1 5.3.2, 6.2.2). False for
    /// other codecs.
    static func isDamaged(_ packet: UnsafePointer<AVPacket>, _ parameters: UnsafePointer<AVCodecParameters>) -> Bool {
        guard unsafe parameters.pointee.codec_id == AV_CODEC_ID_AV1 else { return false }
        guard unsafe packet.pointee.size > 0, let header = unsafe packet.pointee.data?.pointee else { return true }
        let isForbidden = header & 0x80 != 0
        let obu_type = header >> 3 & 15
        return isForbidden || !(1...8).contains(obu_type) && obu_type != 15
    }
}
