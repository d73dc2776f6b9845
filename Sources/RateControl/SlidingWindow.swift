/// Checks that no `count` consecutive pictures have more than `limit` bits.
struct SlidingWindow: Sendable {
    let limit: Int
    let count: Int
    /// The bits of the last `count - 1` pictures, the oldest first.
    private(set) var recent: [Int] = []

    init(limit: Int, count: Int) {
        self.limit = limit
        self.count = max(count, 1)
    }

    var sum: Int { recent.reduce(0, +) }

    /// Adds a picture.
    ///
    /// - Returns: Whether the limit holds with the picture.
    mutating func add(_ bits: Int) -> Bool {
        let holds = sum + bits <= limit
        recent.append(bits)
        if recent.count >= count { recent.removeFirst(recent.count - count + 1) }
        return holds
    }

    mutating func takeOver(_ other: SlidingWindow) { recent = Array(other.recent.suffix(max(count - 1, 0))) }
}
