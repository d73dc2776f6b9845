import CLibAV
import LibAV
import NALUnits
import VideoBase

/// Checks that the packets of an H.264 or HEVC track consist of complete length-prefixed NAL units. libavformat copies
/// packets between containers of the same kind without checking them.
struct SampleCheck {
    private let lengthSize: LengthSize

    /// Creates the check of a track. Returns nil for tracks that do not have length-prefixed H.264 or HEVC.
    init?(_ track: MediaTrack) {
        let parameters = unsafe track.stream.pointee.codecpar!
        guard let codec = unsafe VideoCodec(libavcodecID: parameters.pointee.codec_id) else { return nil }
        // lengthSizeMinusOne in avcC and hvcC, whose first byte is 1: ISO/IEC 14496-15 5.3.3.1 and 8.3.3.1.
        let offset =
            switch codec {
            case .h264: 4
            case .hevc: 21
            }
        let record = track.extradata
        guard record.count > offset, record[0] == 1, let size = LengthSize(rawValue: Int(record[offset] & 3) + 1)
        else { return nil }
        lengthSize = size
    }

    /// Checks a packet.
    /// - Throws: If the lengths do not match the packet's size.
    func check(_ packet: TrackPacket) throws(MalformedStream) {
        // SAFETY: the bytes are the packet's data, which live as long as the packet.
        let bytes = unsafe UnsafeBufferPointer(start: packet.packet.pointee.data, count: packet.byteCount)
        _ = try LengthPrefixed.units(in: unsafe bytes.span, lengthSize: lengthSize)
    }
}
