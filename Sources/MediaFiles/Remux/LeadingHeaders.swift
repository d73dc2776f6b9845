import CLibAV

/// Puts the headers of MPEG-4 Visual, which MP4 and others have in front of all packets, before the pictures that decoding can begin at: MPEG-TS
/// has no other place for them.
struct LeadingHeaders {
    private let headers: [UInt8]

    /// nil for tracks of other codecs, and where the container has none.
    init?(_ track: MediaTrack) {
        guard track.codecName == "mpeg4", let parameters = unsafe track.stream.pointee.codecpar else { return nil }
        // SAFETY: extradata_size bytes, which the parameters own, and which are copied.
        headers = unsafe Array(UnsafeBufferPointer(start: parameters.pointee.extradata, count: Int(max(0, parameters.pointee.extradata_size))))
        if !Self.describesLayer(headers) { return nil }
    }

    /// - Throws: where there is no memory.
    func piece(_ packet: TrackPacket) throws -> TrackPacket {
        guard packet.isKey else { return packet }
        let bytes = packet.bytes
        return Self.describesLayer(bytes) ? packet : try packet.replaced(by: headers + bytes)
    }

    /// A video_object_layer_start_code comes before the first picture (ISO/IEC 14496-2 6.2.1).
    private static func describesLayer(_ bytes: [UInt8]) -> Bool {
        var index = 2
        while index + 1 < bytes.count {
            if bytes[index] > 1 {
                index += 3
            } else if bytes[index] == 1, bytes[index - 1] == 0, bytes[index - 2] == 0 {
                let code = bytes[index + 1]
                if (0x20...0x2F).contains(code) { return true }
                if code == 0xB6 { return false }
                index += 4
            } else {
                index += 1
            }
        }
        return false
    }
}
