import CLibAV
import LibAV
import VideoBase

/// Fills in missing presentation times of MPEG-1 and MPEG-2 pictures that have only a decoding time. AVI has no
/// presentation times, and program streams need not have one for each picture. A B picture is shown when it is decoded.
/// Any other picture is shown when the next picture that is not a B picture is decoded (H.262 6.1.1.11).
struct MissingPresentationTimes {
    /// The maximum number of pictures that wait.
    private static let limit = 64

    /// A picture with unknown presentation time, and the B pictures after it.
    private var waiting: [TrackPacket] = []
    /// Whether a key frame has arrived. Nothing can be decoded before the first one.
    private var hasKeyFrame = false

    /// Creates the completion of a track's times. Returns nil for tracks of other codecs, and for tracks whose pictures
    /// are decoded in presentation order.
    init?(_ track: MediaTrack) {
        let codec = unsafe track.stream.pointee.codecpar.pointee.codec_id
        guard codec == AV_CODEC_ID_MPEG1VIDEO || codec == AV_CODEC_ID_MPEG2VIDEO, !track.isAttachedPicture, track.isReordered else { return nil }
    }

    /// Adds the next packet in decoding order. Returns the packets whose presentation times are known, in that order. A
    /// time that cannot be derived stays unknown.
    mutating func add(_ packet: TrackPacket) throws -> [TrackPacket] {
        if packet.isKey { hasKeyFrame = true }
        let (shown, decoded) = (packet.presentationTicks, packet.decodeTicks)
        let isB = !packet.isKey && shown != nil && shown == decoded
        if isB, !waiting.isEmpty, waiting.count < Self.limit {
            waiting.append(packet)
            return []
        }
        let ready = try take(shownAt: isB ? nil : decoded)
        if !hasKeyFrame || shown != nil || decoded == nil { return ready + [packet] }
        waiting = [packet]
        return ready
    }

    /// Returns the packets that still wait at the end of the stream. The last picture is shown after all others.
    mutating func finish() throws -> [TrackPacket] {
        guard let last = waiting.last else { return [] }
        let end = last.decodeTicks.map { Int64(clamping: Int128($0) + Int128(max(last.durationTicks, 1))) }
        return try take(shownAt: end)
    }

    private mutating func take(shownAt time: Int64?) throws -> [TrackPacket] {
        let pictures = waiting
        waiting = []
        guard let first = pictures.first, let time, let decoded = first.decodeTicks, decoded < time else { return pictures }
        return try [first.shown(at: time)] + pictures.dropFirst()
    }
}
