/// A limit on the bits of any `count` consecutive pictures.
struct SlidingWindow: Sendable {
    let limit: Int
    let count: Int
    /// The number of coming pictures to ignore, because they were planned under another limit.
    var pause = 0
    /// The last `count - 1` pictures. When all are there, the oldest is at index `next`.
    private var stored: [Int] = []
    private var next = 0
    private var sum = 0

    init(limit: Int, count: Int) {
        self.limit = limit
        self.count = max(count, 1)
    }

    /// The bits of the last `count - 1` pictures, the oldest first.
    var recent: [Int] { Array(stored[next...] + stored[..<next]) }

    /// Adds a picture.
    ///
    /// - Returns: Whether the limit holds with the picture.
    mutating func add(_ bits: Int) -> Bool {
        if pause > 0 {
            pause -= 1
            return true
        }
        let holds = sum + bits <= limit
        store(bits)
        return holds
    }

    private mutating func store(_ bits: Int) {
        guard count > 1 else { return }
        sum += bits
        if stored.count < count - 1 {
            stored.append(bits)
        } else {
            sum -= stored[next]
            stored[next] = bits
            next = (next + 1) % stored.count
        }
    }

    /// Continues with the pictures of another window.
    mutating func takeOver(_ other: SlidingWindow) {
        (stored, next, sum) = ([], 0, 0)
        for bits in other.recent { store(bits) }
    }
}
