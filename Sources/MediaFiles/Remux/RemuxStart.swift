import VideoBase

/// Where a copy that is to leave out the beginning begins, of an input whose key frames no index names: at the last one that is
/// shown at or before the time that is asked for.
struct RemuxStart {
    private let wanted: MediaTime
    /// From the latest such key frame on.
    private var group: [TrackPacket] = []

    init(_ wanted: MediaTime) { self.wanted = wanted }

    /// Takes the next packet in decoding order; gives the first ones to be copied, once it is known which these are.
    mutating func add(_ packet: TrackPacket) -> [TrackPacket]? {
        guard let shown = packet.presentation ?? packet.decode else {
            if !group.isEmpty { group.append(packet) }
            return nil
        }
        if packet.isKey, group.isEmpty || !(wanted < shown) { group = [] } else if group.isEmpty { return nil }
        group.append(packet)
        // A key frame to come is shown no earlier than it is decoded.
        return wanted < packet.decode ?? shown ? finish() : nil
    }

    /// At the end of the stream.
    mutating func finish() -> [TrackPacket] {
        defer { group = [] }
        return group
    }
}
