import CLibAV

/// Inserts the headers of MPEG-4 Visual before the pictures at which decoding can begin. MP4 and other containers store
/// the headers before all packets, but MPEG-TS can store them only in the stream.
struct RepeatedMPEG4Headers {
    private let headers: [UInt8]

    /// Creates the repetition for a track. Returns nil for tracks of other codecs, and if the container has no headers.
    init?(_ track: MediaTrack) {
        guard track.codecName == "mpeg4" else { return nil }
        headers = track.extradata
        if !Self.describesLayer(headers) { return nil }
    }

    /// Returns the packet, with the headers inserted if it is a key packet without them.
    /// - Throws: If there is no memory.
    func piece(_ packet: TrackPacket) throws -> TrackPacket {
        guard packet.isKey else { return packet }
        let bytes = packet.bytes
        return Self.describesLayer(bytes) ? packet : try packet.replaced(by: headers + bytes)
    }

    /// Whether a video_object_layer_start_code comes before the first picture (ISO/IEC 14496-2 6.2.1).
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
