import VideoBase

/// What an input's edit list cuts off the beginning, for an output that has no such list: sound is left out; pictures stay, for
/// those after them are decoded with them.
struct EditCut {
    /// What was told of already, and streams of sound that are cut.
    private var streams: Set<Int> = []

    /// - Parameter tell: is called with what is otherwise than in the input, once for each stream.
    /// - Returns: whether a packet is left out.
    mutating func leavesOut(
        _ packet: TrackPacket, of index: Int, _ kind: MediaTrack.Kind?, origin: MediaTime, tell: (EffectiveEntry) throws -> Void
    ) rethrows -> Bool {
        guard let time = packet.presentation, time < origin else { return false }
        if kind == .video, packet.isCutOff, streams.insert(index).inserted {
            let seconds = ((origin - time).seconds * 1000).rounded() / 1000
            try tell(
                EffectiveEntry(
                    option: "edit list", asked: "the beginning cut off", used: "\(seconds) s of pictures more are shown",
                    why: "others are decoded with them, and this container hides none"))
        }
        guard kind == .audio else { return false }
        // An encoder's delay is no cut.
        if SourceSound.isCut(before: origin, at: time) { streams.insert(index) }
        return streams.contains(index) && !(origin < time + packet.duration)
    }
}
