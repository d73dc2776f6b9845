import VideoBase

/// Applies the beginning that an input's edit list cuts off, for an output without edit lists. Cut sound is dropped.
/// Cut pictures are kept, because the pictures after them need them for decoding.
struct EditCut {
    /// The video streams that were reported, and the sound streams that are cut.
    private var streams: Set<Int> = []

    /// Returns whether a packet is dropped.
    /// - Parameter report: Receives the difference from the input, once for each stream.
    mutating func leavesOut(
        _ packet: TrackPacket, of index: Int, _ kind: MediaTrack.Kind?, origin: MediaTime,
        report: (EffectiveEntry) throws -> Void
    ) rethrows -> Bool {
        guard let time = packet.presentation, time < origin else { return false }
        if kind == .video, packet.isCutOff, streams.insert(index).inserted {
            let seconds = ((origin - time).seconds * 1000).rounded() / 1000
            try report(
                EffectiveEntry(
                    option: "edit list", asked: "hides the beginning", used: "\(seconds) s of hidden pictures are shown",
                    why: "other pictures need them for decoding, and this container cannot hide pictures"))
        }
        guard kind == .audio else { return false }
        // An encoder's delay is not a cut.
        if SourceSound.isCut(before: origin, at: time) { streams.insert(index) }
        return streams.contains(index) && !(origin < time + packet.duration)
    }
}
