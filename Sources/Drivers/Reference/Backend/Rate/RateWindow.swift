/// The bits of the last pictures, of which any `count` in a row may take `limit`.
struct RateWindow: Sendable {
    let limit: Double
    let count: Int
    /// The last `count - 1` pictures, the oldest first; zeros before the stream's first.
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

    /// What the next picture may take, and it with 1, 2… after it.
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

    /// Other limits for the pictures to come.
    mutating func change(limit: Double, count: Int) {
        var new = RateWindow(limit: limit, count: count)
        // Where the rate rises, those so far hold by the lower limit. Where it falls, they cannot be made good: what they
        // took of the old limit, they take of the new one.
        let scale = min(limit / self.limit, 1)
        let kept = recent.suffix(new.recent.count).map { $0 * scale }
        new.recent.replaceSubrange((new.recent.count - kept.count)..., with: kept)
        self = new
    }
}
