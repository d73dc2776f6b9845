import VideoBase

/// The time in the output that the copied packets cover.
struct CopiedSpan {
    /// The presentation time of the first packet, but not before the origin; nil before the first packet.
    private var earliest: MediaTime?
    /// The end of the last packet.
    private var end = MediaTime.zero

    /// Adds a packet.
    ///
    /// - Parameter origin: The input time that becomes zero.
    mutating func add(_ packet: TrackPacket, origin: MediaTime) {
        guard let shown = packet.presentation ?? packet.decode else { return }
        let over = shown + packet.duration - origin
        if end < over { end = over }
        earliest = max(min(earliest ?? (shown - origin), shown - origin), .zero)
    }

    var seconds: Double { max(end - (earliest ?? .zero), .zero).seconds }
}
