import BitstreamInspection
import VideoBase

/// Checks the parameter sets of HEVC tracks with start codes. libavformat creates the hvcC record from them, and reads
/// for minutes if a damaged set announces millions of entries.
enum ParameterSetCheck {
    /// Returns the first fault of the track's parameter sets; nil if there is none, and for other codecs and for
    /// records.
    static func damage(of track: MediaTrack) -> String? {
        switch track.codec {
        case .hevc: break
        case .h264, nil: return nil
        }
        let sets = track.extradata
        // An hvcC record begins with 1 and has at least 23 bytes.
        guard sets.count > 4, sets[0] == 0 else { return nil }
        let stream = HEVCStream(annexB: sets)
        let kinds = Set(stream.nalUnits.map(\.type))
        let isUnread = [(33, stream.sequenceSets.isEmpty), (34, stream.pictureSets.isEmpty)].contains { kinds.contains($0) && $1 }
        guard isUnread, let first = stream.violations(of: .syntax).first else { return nil }
        return first.message
    }
}
