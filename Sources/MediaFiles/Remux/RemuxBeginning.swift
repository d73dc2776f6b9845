import VideoBase

/// The search for the packet at which a copy begins that skips the input's beginning.
struct RemuxBeginning {
    /// The search for the first key frame in an input that cannot seek to it; nil for other inputs.
    var search: RemuxStart?
    /// The leader's ticks to which the last seek went; nil if no earlier key frame may be searched.
    var lastSeekTicks: Int64?
    /// The packets of other streams that wait for the leader's first key frame, and the indices of their streams.
    private var held: [(index: Int, packet: TrackPacket)] = []

    /// Keeps a packet of another stream than the leader.
    mutating func hold(_ packet: TrackPacket, of index: Int) { held.append((index, packet)) }

    /// Forgets the packets that wait, after a seek.
    mutating func dropHeld() { held = [] }

    /// Forgets the packets that end before a time.
    mutating func dropHeld(before time: MediaTime) {
        held.removeAll { _, packet in packet.presentation.map { $0 + packet.duration < time } ?? false }
    }

    /// Returns the packets that wait and do not end before a time.
    mutating func takeHeld(from time: MediaTime) -> [(index: Int, packet: TrackPacket)] {
        dropHeld(before: time)
        defer { held = [] }
        return held
    }
}
