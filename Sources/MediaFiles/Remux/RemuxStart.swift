import VideoBase

/// Finds the beginning of a copy that skips the input's beginning, if no index lists the input's key frames. It is the
/// last key frame that is shown at or before the requested time.
struct RemuxStart {
    private let requestedTime: MediaTime
    /// The packets from the latest such key frame on.
    private var group: [TrackPacket] = []

    init(_ requestedTime: MediaTime) { self.requestedTime = requestedTime }

    /// Adds the next packet in decoding order. Returns the first packets to copy once they are known.
    mutating func add(_ packet: TrackPacket) -> [TrackPacket]? {
        guard let shown = packet.presentation ?? packet.decode else {
            if !group.isEmpty { group.append(packet) }
            return nil
        }
        if packet.isKey, group.isEmpty || !(requestedTime < shown) { group = [] } else if group.isEmpty { return nil }
        group.append(packet)
        // A later key frame is not shown before it is decoded.
        return requestedTime < packet.decode ?? shown ? finish() : nil
    }

    /// Returns the first packets to copy, at the end of the stream.
    mutating func finish() -> [TrackPacket] {
        defer { group = [] }
        return group
    }
}
