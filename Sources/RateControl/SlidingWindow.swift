/// The bits of the last pictures, of which any `count` in a row may have `limit`.
struct SlidingWindow: Sendable {
    let limit: Int
    let count: Int
    /// The last `count - 1` pictures, the oldest first.
    private(set) var recent: [Int] = []

    init(limit: Int, count: Int) {
        self.limit = limit
        self.count = max(count, 1)
    }

    var sum: Int { recent.reduce(0, +) }

    /// - Returns: whether the window holds with the picture.
    mutating func add(_ bits: Int) -> Bool {
        let holds = sum + bits <= limit
        recent.append(bits)
        if recent.count >= count { recent.removeFirst(recent.count - count + 1) }
        return holds
    }

    mutating func takeOver(_ other: SlidingWindow) { recent = Array(other.recent.suffix(max(count - 1, 0))) }
}
