/// How many slices and SEI messages of a stream are read: each takes far more memory than the few bytes that it can have.
///
/// Streams of slices of 128 bytes and more are read whole, and so are a quarter of a million slices of any size.
struct HeaderBudget {
    private var left: Int
    private var isReported = false
    private let whole: Int

    static func whole(byteCount: Int) -> Int { 250_000 + byteCount / 128 }

    init(byteCount: Int) {
        whole = Self.whole(byteCount: byteCount)
        left = whole
    }

    enum Answer {
        case take
        /// The first that is left out: the message says so.
        case report(String)
        case leave
    }

    mutating func take(_ count: Int = 1) -> Answer {
        if count <= left {
            left -= count
            return .take
        }
        left = 0
        if isReported { return .leave }
        isReported = true
        return .report("more than \(whole) slices and SEI messages in so few bytes: the others are not read")
    }
}
