import CLibAV
import LibAV
import NALUnits
import VideoBase

/// Whether the packets of a track of H.264 or HEVC are made of whole NAL units behind lengths. libavformat copies them into
/// containers of the same kind without a look.
struct SampleCheck {
    private let lengthSize: LengthSize

    /// nil for tracks that are stored otherwise.
    init?(_ track: MediaTrack) {
        let parameters = unsafe track.stream.pointee.codecpar!
        guard let codec = unsafe VideoCodec(libavcodecID: parameters.pointee.codec_id) else { return nil }
        // lengthSizeMinusOne in avcC and hvcC, whose first byte is 1: ISO/IEC 14496-15 5.3.3.1 and 8.3.3.1.
        let offset =
            switch codec {
            case .h264: 4
            case .hevc: 21
            }
        // SAFETY: extradata_size bytes, which the parameters own.
        let record = unsafe UnsafeBufferPointer(
            start: parameters.pointee.extradata, count: Int(max(0, parameters.pointee.extradata_size)))
        guard record.count > offset, unsafe record[0] == 1,
            let size = LengthSize(rawValue: Int(unsafe record[offset] & 3) + 1)
        else { return nil }
        lengthSize = size
    }

    /// - Throws: where the lengths do not add up to the packet.
    func check(_ packet: TrackPacket) throws(MalformedStream) {
        // SAFETY: the packet's data, which live as long as it.
        let bytes = unsafe UnsafeBufferPointer(start: packet.packet.pointee.data, count: packet.byteCount)
        _ = try LengthPrefixed.units(in: unsafe bytes.span, lengthSize: lengthSize)
    }
}
