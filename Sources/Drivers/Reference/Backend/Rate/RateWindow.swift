/// A sliding window over the last pictures: any `count` successive pictures may take at most `limit` bits.
struct RateWindow: Sendable {
    let limit: Double
    let count: Int
    /// The bits of the last `count - 1` pictures, the oldest first; zeros before the first picture of the stream.
    private var recent: [Double]

    init(limit: Double, count: Int) {
        self.limit = limit
        self.count = max(count, 1)
        recent = [Double](repeating: 0, count: self.count - 1)
    }

    mutating func add(_ bits: Double) {
        recent.append(bits)
        recent.removeFirst()
    }

    /// The maximum bits of the next picture alone, and of the next picture together with the following 1, 2… pictures.
    var rooms: [Double] {
        var room = limit - recent.reduce(0, +)
        var rooms = [room]
        rooms.reserveCapacity(count)
        for bits in recent {
            room += bits
            rooms.append(room)
        }
        return rooms
    }

    /// Changes the limits for the following pictures.
    mutating func change(limit: Double, count: Int) {
        var new = RateWindow(limit: limit, count: count)
        // If the limit rises, the pictures so far keep their bits, which are within the new limit. If it falls, their
        // bits may exceed it and cannot be changed, so they are scaled to the same share of the new limit.
        let scale = min(limit / self.limit, 1)
        let scaled = recent.suffix(new.recent.count).map { $0 * scale }
        new.recent.replaceSubrange((new.recent.count - scaled.count)..., with: scaled)
        self = new
    }
}
