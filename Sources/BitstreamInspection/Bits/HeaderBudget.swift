/// The number of slices and SEI messages of a stream that are read. The limit exists because each takes far more memory
/// than its few bytes in the stream.
///
/// A stream whose slices have at least 128 bytes is read completely, and so are 250,000 slices of any size.
struct HeaderBudget {
    private var left: Int
    private var isReported = false
    private let whole: Int

    /// Returns the limit for a stream of this size.
    static func whole(byteCount: Int) -> Int { 250_000 + byteCount / 128 }

    init(byteCount: Int) {
        whole = Self.whole(byteCount: byteCount)
        left = whole
    }

    /// Whether items may be read.
    enum Answer {
        /// The items may be read.
        case take
        /// The items exceed the limit for the first time. The message must be reported.
        case report(String)
        /// The items exceed the limit, which was already reported.
        case leave
    }

    /// Takes `count` items from the budget and returns whether they may be read.
    mutating func take(_ count: Int = 1) -> Answer {
        if count <= left {
            left -= count
            return .take
        }
        left = 0
        if isReported { return .leave }
        isReported = true
        return .report(
            "there are more than \(whole) slices and SEI messages, too many for the size of the stream: the others are "
                + "not read")
    }
}
