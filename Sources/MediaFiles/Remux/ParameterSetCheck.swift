import BitstreamInspection
import CLibAV

/// Whether the parameter sets of an HEVC track can be read, where they stand behind start codes. libavformat makes the hvcC record
/// from them, and goes on reading for minutes where a damaged one announces millions of entries.
enum ParameterSetCheck {
    /// Returns what is wrong with the track's parameter sets; nil where nothing is, and for other codecs and records.
    static func damage(of track: MediaTrack) -> String? {
        let parameters = unsafe track.stream.pointee.codecpar!
        guard unsafe parameters.pointee.codec_id == AV_CODEC_ID_HEVC else { return nil }
        // SAFETY: extradata_size bytes, which the parameters own.
        let sets = unsafe [UInt8](
            UnsafeBufferPointer(start: parameters.pointee.extradata, count: Int(max(0, parameters.pointee.extradata_size))))
        // The first byte of an hvcC record is 1, and it has 23 bytes and more.
        guard sets.count > 4, sets[0] == 0 else { return nil }
        let stream = HEVCStream(annexB: sets)
        let kinds = Set(stream.nalUnits.map(\.type))
        let isUnread = [(33, stream.sequenceSets.isEmpty), (34, stream.pictureSets.isEmpty)].contains { kinds.contains($0) && $1 }
        guard isUnread, let first = stream.violations(of: .syntax).first else { return nil }
        return first.message
    }
}
