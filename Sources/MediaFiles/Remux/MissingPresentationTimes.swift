import CLibAV
import LibAV
import VideoBase

/// Fills in when pictures of MPEG-1 and MPEG-2 video are shown of which a file says when they are decoded alone: AVI says no more, and
/// program streams need not say it of each picture. A B picture is shown when it is decoded, any other when the next that is none is
/// decoded (H.262 6.1.1.11).
struct MissingPresentationTimes {
    /// Pictures that wait.
    private static let limit = 64

    /// A picture whose presentation time is not known, and the B pictures behind it.
    private var waiting: [TrackPacket] = []
    /// Before the first key frame nothing can be decoded.
    private var hasKeyFrame = false

    /// nil for tracks of other codecs, and for those whose pictures are decoded in the order in which they are shown.
    init?(_ track: MediaTrack) {
        let codec = unsafe track.stream.pointee.codecpar.pointee.codec_id
        guard codec == AV_CODEC_ID_MPEG1VIDEO || codec == AV_CODEC_ID_MPEG2VIDEO, !track.isAttachedPicture, track.isReordered else { return nil }
    }

    /// Takes the next packet in decoding order; returns those whose presentation times are known, in that order. What cannot be found
    /// stays unknown.
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

    /// Returns what waits at the end of the stream, where the last picture is shown behind all others.
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
