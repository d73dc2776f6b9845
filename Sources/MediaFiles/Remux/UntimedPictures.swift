import VideoBase

/// The pictures of a copy that have no presentation time.
struct UntimedPictures {
    /// Whether the copy contains such pictures.
    private(set) var areCopied = false
    /// The number of pictures that are left out because they come before the first key frame. An input may begin between
    /// key frames.
    private var leftOutCount = 0

    /// Whether a packet is a picture without a presentation time, and what becomes of it.
    enum Verdict {
        case hasTime
        case leaveOut
        /// The picture is copied. `isReordered`: whether it is shown later than it is decoded.
        case copy(isReordered: Bool)
    }

    /// Takes the next packet of a track.
    ///
    /// - Parameter isFirst: Whether no packet of the track was copied.
    mutating func take(_ packet: TrackPacket, of track: MediaTrack, isFirst: Bool) -> Verdict {
        guard track.kind == .video, packet.presentation == nil else { return .hasTime }
        let isReordered = !track.isAttachedPicture && track.isReordered
        // Nothing can be decoded before the first key frame.
        if isReordered, !packet.isKey, isFirst {
            leftOutCount += 1
            return .leaveOut
        }
        areCopied = true
        return .copy(isReordered: isReordered)
    }

    /// The report about the pictures that are left out; nil if there are none.
    var entry: EffectiveEntry? {
        if leftOutCount == 0 { return nil }
        return EffectiveEntry(
            option: "times", asked: "as in the input", used: "\(leftOutCount) picture\(leftOutCount == 1 ? "" : "s") left out",
            why: "no key frame comes before them, and the input has no presentation times for undecodable pictures")
    }
}
